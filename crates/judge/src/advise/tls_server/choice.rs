//! From a question and documents to the answer: what each setting costs, and the rules that reject, each with
//! its source.

use crate::advise::tls_server::{
    self, Advice, Basis, Candidate, Change, Choice, ClientCost, Cost, FORMAT_VERSION, Fitting,
    Question, Rejected, Secret, can_use,
};
use crate::load::{Agreement, Calibration, ClientOutcome, Inputs, Regime, load};
use record::tls::{Case, Certificate, Exchange, Row, Run, Stack, Suite, Version};
use record::{LeakVerdict, Leaks, State};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

pub fn advise(question: &Question, evidence: &Evidence<'_>) -> Result<Advice, String> {
    let judged = judge(question, evidence)?;
    let changes = changes(question, evidence, judged.best())?;
    let named: BTreeSet<&str> = judged.rejected.iter().map(|r| r.rule.as_str()).collect();
    let rules = RULES.iter().filter(|rule| named.contains(rule.id)).copied().collect();
    let document = evidence.handshakes;
    let missing = missing(&judged);
    Ok(Advice {
        format_version: FORMAT_VERSION.to_owned(),
        kind: "tls-advice".to_owned(),
        question: question.clone(),
        basis: Basis {
            cpu: document.host.cpu.name.clone(),
            started: document.started.clone(),
            priced_by: evidence.in_words(question),
            stale: None,
        },
        choice: judged.best().map(|best| choice(best, question, evidence, &judged)),
        missing,
        fitting: fitting(&judged),
        rejected: judged.rejected,
        changes,
        rules,
    })
}

/// The rule that rejects what has no price.
pub(crate) const NOT_MEASURED: &str = "not-measured";

/// The settings without a price that would be chosen if it were low enough: those whose profile is no wider than the chosen
/// one's.
fn missing(judged: &Judged) -> Vec<Candidate> {
    let widest = judged.best().map_or(usize::MAX, |best| best.candidate.width());
    let unpriced = judged.rejected.iter().filter(|r| r.rule == NOT_MEASURED);
    let all = unpriced.map(|r| &r.candidate).filter(|c| c.width() <= widest);
    all.cloned().collect()
}

/// The handshakes that have to be measured to answer.
pub fn cases(question: &Question) -> Result<Vec<Case>, String> {
    let mut cases = BTreeSet::new();
    // With ML-KEM and, for stacks that have none, without; and by either rule of picking a group.
    let stacks = ["openssl@3.0", "openssl@3.5"];
    let all = stacks.iter().flat_map(|stack| Candidate::all(stack, question));
    for candidate in all {
        for lacking in [&[][..], &[Exchange::X25519Mlkem768]] {
            for outcome in candidate.outcomes(question, lacking)? {
                if let Agreement::Agreed { case, .. } = outcome.agreement {
                    // The suite makes little difference to a handshake.
                    let case = Case { suite: record::tls::Suite::Aes128Gcm, ..case };
                    cases.insert(case);
                    if question.resumed_share > 0.0 {
                        cases.insert(resumption(case));
                    }
                }
            }
        }
    }
    Ok(cases.into_iter().filter(Case::exists).collect())
}

/// The resumption of a full handshake, of TLS 1.2 by a ticket.
fn resumption(full: Case) -> Case {
    crate::load::resumed(full, record::tls::Kind::ResumedTicket)
}

impl Secret {
    /// Whether traces were seen to differ with the secret. Of ECDSA and RSA they may differ with what is no secret, too: with
    /// r, which is public, and with numbers that blinding makes others at each signature.
    fn gives_it_away(&self) -> bool {
        let is_sure = !self.primitive.starts_with("ecdsa-") && !self.primitive.starts_with("rsa-");
        is_sure && self.verdict == Some(LeakVerdict::Depends)
    }
}

struct Served {
    candidate: Candidate,
    cost: Cost,
    per_core_second: Option<f64>,
    clients: Vec<ClientCost>,
    secrets: Vec<Secret>,
    remarks: Vec<String>,
}

struct Judged {
    /// By the narrowest profile that serves all, the cheapest first.
    served: Vec<Served>,
    rejected: Vec<Rejected>,
}

impl Judged {
    fn best(&self) -> Option<&Served> {
        self.served.first()
    }
}

fn judge(question: &Question, evidence: &Evidence<'_>) -> Result<Judged, String> {
    let (mut served, mut rejected) = (Vec::new(), Vec::new());
    for stack in evidence.handshakes.stacks.iter().map(|stack| stack.label.as_str()) {
        let lacking = evidence.lacking(stack);
        for candidate in Candidate::all(stack, question) {
            if let Some(only) = question.only.as_deref().filter(|only| !can_use(only, stack)) {
                let detail = format!("{only} with {stack}");
                rejected.push(Rejected { candidate, rule: "cannot-use".to_owned(), detail });
                continue;
            }
            match serve(&candidate, question, evidence, &lacking) {
                Ok(one) => served.push(one),
                Err(Refusal::Rule(rule, detail)) => {
                    rejected.push(Rejected { candidate, rule: rule.to_owned(), detail });
                }
                Err(Refusal::Wrong(why)) => return Err(why),
            }
        }
    }
    let narrowest = served.iter().map(|s: &Served| s.candidate.width()).min();
    let is_wider = |s: &Served| narrowest.is_some_and(|n| s.candidate.width() > n);
    let (wider, mut kept): (Vec<_>, Vec<_>) = served.into_iter().partition(is_wider);
    kept.sort_by(|a, b| a.cost.us.total_cmp(&b.cost.us));
    rejected.extend(wider.into_iter().map(|one| Rejected {
        detail:
            kept.first().map_or(String::new(), |k| format!("{} is enough", k.candidate.profile)),
        rule: "wider-than-needed".to_owned(),
        candidate: one.candidate,
    }));
    Ok(Judged { served: kept, rejected })
}

enum Refusal {
    /// A rule's name, and of whom it speaks.
    Rule(&'static str, String),
    Wrong(String),
}

impl From<String> for Refusal {
    fn from(error: String) -> Self {
        Self::Wrong(error)
    }
}

fn serve(
    candidate: &Candidate,
    question: &Question,
    evidence: &Evidence<'_>,
    lacking: &[Exchange],
) -> Result<Served, Refusal> {
    let (mut cost, mut clients) = (Cost::NOTHING, Vec::new());
    let mut remarks = BTreeSet::new();
    let outcomes = candidate.outcomes(question, lacking)?;
    let agreed = outcomes.iter().map(agreed).collect::<Result<Vec<Case>, Refusal>>()?;
    let used: BTreeSet<&str> = agreed.iter().flat_map(primitives).collect();
    let secrets: Vec<Secret> =
        used.iter().map(|primitive| evidence.secret(&candidate.stack, primitive)).collect();
    if let Some(secret) = secrets.iter().find(|secret| secret.gives_it_away()) {
        let Secret { primitive, library, .. } = secret;
        let detail = format!("{primitive} in {}", library.as_deref().unwrap_or_default());
        return Err(Refusal::Rule("depends-on-secret", detail));
    }
    for (outcome, case) in outcomes.iter().zip(agreed) {
        let refused = |rule, what: &str| Refusal::Rule(rule, format!("{}{what}", outcome.class));
        let no_price = |no| match no {
            NoPrice::NotOffered(words) => refused("not-offered", &format!(": {words}")),
            NoPrice::NotMeasured(what) => refused(NOT_MEASURED, &format!(": {what}")),
            NoPrice::Dearer(what) => refused("dearer", &format!(": {what}")),
        };
        let price =
            |case: &Case| evidence.handshake(&candidate.stack, question, case).map_err(no_price);
        let full = price(&case)?;
        let resumes = outcome.resumed_share > 0.0;
        let again = resumes.then(|| price(&resumption(case))).transpose()?;
        let share = outcome.share;
        let sent = evidence.records(&candidate.stack, question, &case).map_err(no_price)?;
        remarks.extend(sent.remark);
        cost = cost
            .plus(full.cost, share * (1.0 - outcome.resumed_share))
            .plus(again.as_ref().map_or(Cost::NOTHING, |a| a.cost), share * outcome.resumed_share)
            .plus(sent.cost, share);
        remarks.extend(full.remark);
        clients.push(ClientCost {
            class: outcome.class.clone(),
            share,
            negotiated: case.to_string(),
            full: full.cost,
            resumed: again.map(|a| a.cost),
        });
    }
    let mut per_core_second = Some(1e6 / cost.us);
    match evidence.by_formula(candidate, question) {
        Some(Err(NoPrice::NotOffered(why) | NoPrice::NotMeasured(why) | NoPrice::Dearer(why))) => {
            return Err(Refusal::Rule(NOT_MEASURED, why));
        }
        Some(Ok(by_formula)) => {
            (cost, per_core_second) = (by_formula.cost, by_formula.per_core_second);
            remarks.extend(by_formula.remarks);
        }
        None => {}
    }
    let remarks = remarks.into_iter().collect();
    let candidate = candidate.clone();
    Ok(Served { candidate, cost, per_core_second, clients, secrets, remarks })
}

/// What of a connection has a secret of the server's and can be judged: the records' cipher, the key exchange, the signature.
/// Of X25519MLKEM768 the server has no key of ML-KEM.
fn primitives(case: &Case) -> Vec<&'static str> {
    let exchange = match case.exchange {
        Exchange::X25519 | Exchange::X25519Mlkem768 => Some("x25519"),
        Exchange::P256 => Some("p256"),
        _ => None,
    };
    let signature = match (case.certificate, case.version) {
        (Certificate::P256, _) => Some("ecdsa-p256"),
        (Certificate::Ed25519, _) => Some("ed25519"),
        (Certificate::Rsa2048, Version::Tls13) => Some("rsa-2048-pss"),
        (Certificate::Rsa2048, _) => Some("rsa-2048-pkcs1"),
        _ => None,
    };
    [Some(case.suite.name()), exchange, signature].into_iter().flatten().collect()
}

/// What a class of clients negotiates, if that may be.
fn agreed(outcome: &ClientOutcome) -> Result<Case, Refusal> {
    let refused = |rule, what: &str| Err(Refusal::Rule(rule, format!("{}{what}", outcome.class)));
    match &outcome.agreement {
        Agreement::Agreed { case, .. } if case.exchange == Exchange::Rsa => {
            refused("no-forward-secrecy", " negotiates RSA key exchange")
        }
        Agreement::Agreed { case, .. } => Ok(*case),
        Agreement::Refused { reason } => refused("client-refused", &format!(": {reason}")),
        Agreement::Unpriced { what } => refused("not-modelled", &format!(" negotiates {what}")),
    }
}

fn choice(best: &Served, question: &Question, evidence: &Evidence<'_>, judged: &Judged) -> Choice {
    let set = tls_server::directives(&best.candidate, question, evidence);
    let mut remarks: Vec<String> = best.remarks.iter().cloned().chain(set.left_out).collect();
    if set.directives.is_empty() {
        let usable = judged.served.iter().find(|s| can_use("nginx", &s.candidate.stack));
        remarks.extend(usable.map(|s| {
            format!(
                "of what nginx can use, this costs least: {} ({:.2} times)",
                s.candidate,
                s.cost.us / best.cost.us
            )
        }));
    }
    let others = || judged.served.iter().skip(1);
    let same = others().filter(|other| other.cost.is_same(&best.cost));
    let undecided = others().filter(|other| other.cost.may_be_lower(&best.cost));
    Choice {
        candidate: best.candidate.clone(),
        cost: best.cost,
        connections_per_core_second: best.per_core_second,
        clients: best.clients.clone(),
        secrets: best.secrets.clone(),
        nginx: set.directives,
        ties_with: same.map(|other| other.candidate.to_string()).collect(),
        undecided: undecided.map(|other| other.candidate.to_string()).collect(),
        remarks,
    }
}

fn fitting(judged: &Judged) -> Vec<Fitting> {
    let Some(best) = judged.best() else { return Vec::new() };
    let of = |one: &Served| Fitting {
        candidate: one.candidate.clone(),
        cost: one.cost,
        times: one.cost.us / best.cost.us,
    };
    judged.served.iter().skip(1).map(of).collect()
}

/// One wish less, and what would be chosen then.
fn changes(
    question: &Question,
    evidence: &Evidence<'_>,
    best: Option<&Served>,
) -> Result<Vec<Change>, String> {
    let mut wishes: Vec<(String, Question)> = Vec::new();
    if question.clients.len() > 1 {
        for dropped in &question.clients {
            let mut other = question.clone();
            other.clients.retain(|c| c.class != dropped.class);
            let left: f64 = other.clients.iter().map(|c| c.share).sum();
            if left > 0.0 {
                other.clients.iter_mut().for_each(|c| c.share /= left);
                wishes.push((format!("without the clients {}", dropped.class), other));
            }
        }
    }
    for certificate in record::tls::Certificate::classic() {
        if !question.certificates.contains(&certificate) {
            let mut other = question.clone();
            other.certificates.push(certificate);
            wishes.push((format!("with a certificate {certificate}"), other));
        }
    }
    if question.post_quantum {
        let other = Question { post_quantum: false, ..question.clone() };
        wishes.push(("--post-quantum no".to_owned(), other));
    }
    let mut changes = Vec::new();
    for (wish, other) in wishes {
        let judged = judge(&other, evidence)?;
        let Some(then) = judged.best() else { continue };
        let differs =
            best.is_none_or(|b| b.candidate != then.candidate || !b.cost.is_same(&then.cost));
        if differs {
            changes.push(Change {
                wish,
                candidate: then.candidate.clone(),
                cost: then.cost,
                times: best.map(|b| then.cost.us / b.cost.us),
            });
        }
    }
    Ok(changes)
}

// What connections cost, from documents.

#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// A run of `tls handshake`.
    pub handshakes: &'a Run,
    /// A run of `tls records` of the same stacks.
    pub records: Option<&'a Run>,
    /// A calibration of `tls load`: connections are then priced by its formula, in the stack that it is of.
    pub calibration: Option<&'a Calibration>,
    /// What is known of secrets in the libraries behind the stacks.
    pub secrets: &'a [StackLeaks],
}

/// A verdict on a primitive in the library behind a stack: of what the stack itself does with a secret there is none.
#[derive(Clone, Debug)]
pub struct StackLeaks {
    pub stack: String,
    pub leaks: Leaks,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoPrice {
    /// The stack's own words.
    NotOffered(String),
    NotMeasured(String),
    /// Others were seen to be faster in everything.
    Dearer(String),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Priced {
    pub(crate) cost: Cost,
    pub(crate) remark: Option<String>,
}

/// A connection as the formula of a load has it.
pub(crate) struct ByFormula {
    cost: Cost,
    /// Connections a second that fill a core, by what they cost a core that is full.
    per_core_second: Option<f64>,
    remarks: Vec<String>,
}

impl Evidence<'_> {
    /// In words, what prices rest on.
    pub(crate) fn in_words(&self, question: &Question) -> String {
        let temperature = question.temperature;
        match self.calibration {
            Some(calibration) => format!(
                "the formula of tls load with the calibration of {} in {}",
                calibration.started, calibration.stack.label
            ),
            None if self.records.is_some() && question.bytes_per_connection > 0 => {
                format!("{temperature} handshakes and records in memory: no sockets, no web server")
            }
            None => format!("{temperature} handshakes in memory: no sockets, no web server"),
        }
    }

    /// What is known of a primitive in the library behind a stack.
    pub(crate) fn secret(&self, stack: &str, primitive: &str) -> Secret {
        let is_it = |s: &&StackLeaks| s.stack == stack && s.leaks.algorithm == primitive;
        let all = || self.secrets.iter().filter(is_it).map(|s| &s.leaks);
        Secret {
            primitive: primitive.to_owned(),
            library: all().next().map(|l| l.library.label()),
            verdict: all().map(|l| l.verdict).max(),
        }
    }

    /// Key exchanges that a stack was asked for and has not, of the versions that it has.
    pub(crate) fn lacking(&self, stack: &str) -> Vec<Exchange> {
        let rows = || self.of(stack);
        let is_offered = |(row, _): &(&Row, &Case)| row.state != State::Unsupported;
        let has = |version| rows().filter(is_offered).any(|(_, case)| case.version == version);
        let lacks = |exchange: &Exchange| {
            let is_it = |(_, case): &(&Row, &Case)| case.exchange == *exchange && has(case.version);
            let mut of_it = rows().filter(is_it).peekable();
            of_it.peek().is_some() && !of_it.any(|row| is_offered(&row))
        };
        Exchange::ALL.iter().copied().filter(lacks).collect()
    }

    /// Suites of TLS 1.2 that a stack was asked for records of and has not.
    pub(crate) fn lacking_suites(&self, stack: &str) -> Vec<Suite> {
        let rows = || self.records.into_iter().flat_map(|records| &records.rows);
        let lacks = |suite: &Suite| {
            let is_it = |row: &&Row| {
                let of = row.records().map(|(of, _)| (of.suite, of.version));
                row.stack == stack && of == Some((*suite, Version::Tls12))
            };
            let mut of_it = rows().filter(is_it).peekable();
            of_it.peek().is_some() && of_it.all(|row| row.state == State::Unsupported)
        };
        Suite::ALL.iter().copied().filter(lacks).collect()
    }

    /// Whether a handshake with it was measured in the stack.
    pub(crate) fn has(&self, stack: &str, exchange: Exchange) -> bool {
        let mut of_it = self.of(stack).filter(|(_, case)| case.exchange == exchange);
        of_it.any(|(row, _)| row.state == State::Measured)
    }

    fn of(&self, stack: &str) -> impl Iterator<Item = (&Row, &Case)> {
        let rows = self.handshakes.rows.iter().filter(move |row| row.stack == stack);
        rows.filter_map(|row| Some((row, row.case()?)))
    }

    fn row(
        &self,
        stack: &str,
        question: &Question,
        is_it: impl Fn(&Case) -> bool,
    ) -> Option<(&Row, &Case)> {
        let mut rows = self.of(stack);
        rows.find(|(row, case)| row.temperature == question.temperature && is_it(case))
    }

    /// A handshake's price. The suite makes little difference to it, so that another one's stands in.
    pub(crate) fn handshake(
        &self,
        stack: &str,
        question: &Question,
        case: &Case,
    ) -> Result<Priced, NoPrice> {
        let exact = self.row(stack, question, |c| c == case);
        let like = |c: &Case| Case { suite: case.suite, ..*c } == *case;
        let found = exact.or_else(|| self.row(stack, question, like));
        let found = found.or_else(|| {
            // A resumption has no certificate.
            let resumed = |c: &Case| {
                let same = c.kind == case.kind && c.version == case.version;
                case.kind.is_resumed() && same && !c.client_auth
            };
            let same_exchange = |c: &Case| resumed(c) && c.exchange == case.exchange;
            let row = self.row(stack, question, same_exchange);
            row.or_else(|| {
                self.row(stack, question, |c| resumed(c) && case.version == Version::Tls12)
            })
        });
        let (row, of) = found.ok_or_else(|| NoPrice::NotMeasured(case.to_string()))?;
        match (row.state, row.cost()) {
            (State::Measured, Some(cost)) => {
                let us = |ns: f64| ns / 1000.0;
                let part = |end: f64| us(cost.mean_ns) * end / cost.median_ns;
                Ok(Priced {
                    cost: Cost {
                        us: us(cost.mean_ns),
                        low_us: part(cost.low_ns),
                        high_us: part(cost.high_ns),
                    },
                    remark: (of.suite != case.suite).then(|| {
                        format!("handshakes with {} are priced as with {}", case.suite, of.suite)
                    }),
                })
            }
            (State::Unsupported, _) => {
                Err(NoPrice::NotOffered(row.reason.clone().unwrap_or_else(|| case.to_string())))
            }
            _ if row.stopped == Some(record::Stopped::Screened) => {
                Err(NoPrice::Dearer(format!("{case}: another stack is faster in every handshake")))
            }
            (state, _) => Err(NoPrice::NotMeasured(format!("{case} was {}", state.name()))),
        }
    }

    /// What sending a connection's bytes costs: nothing where there are none.
    pub(crate) fn records(
        &self,
        stack: &str,
        question: &Question,
        case: &Case,
    ) -> Result<Priced, NoPrice> {
        let bytes = question.bytes_per_connection as f64;
        // A formula has the price of bytes in it.
        if bytes <= 0.0 || self.calibration.is_some() {
            return Ok(Priced { cost: Cost::NOTHING, remark: None });
        }
        let missing = || NoPrice::NotMeasured(format!("records of {} in {stack}", case.suite));
        let Some(records) = self.records else { return Err(missing()) };
        let lines = records.lines();
        let is_it = |suite: Suite| {
            lines.iter().find(|line| {
                line.stack == stack
                    && line.protection.version == case.version
                    && line.protection.suite == suite
            })
        };
        let found = is_it(case.suite).or_else(|| is_it(Suite::Aes128Gcm)).ok_or_else(missing)?;
        let line = found.send.ok_or_else(missing)?;
        let like = found.protection.suite;
        let remark = (like != case.suite)
            .then(|| format!("bytes under {} are priced as under {like}", case.suite));
        let count = (bytes / record::tls::LARGEST_RECORD as f64).ceil();
        let us = (count * line.fixed_ns + bytes * line.ns_per_byte) / 1000.0;
        let width = us * line.residual;
        let cost = Cost { us, low_us: us - width, high_us: us + width };
        Ok(Priced { cost, remark })
    }

    /// A connection's price by the formula of a load; none without a calibration.
    pub(crate) fn by_formula(
        &self,
        candidate: &Candidate,
        question: &Question,
    ) -> Option<Result<ByFormula, NoPrice>> {
        let calibration = self.calibration?;
        let own = self.handshakes.stacks.iter().find(|stack| stack.label == candidate.stack);
        let files = |stack: &Stack| (stack.id.clone(), stack.crypto_id.clone());
        if own.map(files) != Some(files(&calibration.stack)) {
            let is_twin = calibration.stack.label == candidate.stack;
            let what = if is_twin { "another build of " } else { "another stack than " };
            let why = format!("the calibration is of {what}{}", candidate.stack);
            return Some(Err(NoPrice::NotMeasured(why)));
        }
        let mut spec = candidate.spec(question);
        if question.bytes_per_connection > 0 {
            spec.traffic.responses[0].bytes = question.bytes_per_connection;
        }
        let inputs = Inputs { calibration, records: self.records, parts: None };
        let found = load(&spec, &inputs, false);
        let found = found.map_err(|e| NoPrice::NotMeasured(e.to_string()));
        Some(found.map(|load| {
            // One connection a second was asked for.
            let cpu = load.cpu_us_per_s;
            let saturated = load.regimes.iter().find(|sum| sum.regime == Regime::Saturated);
            let most = saturated.and_then(|sum| sum.most_connections_per_s);
            ByFormula {
                cost: Cost { us: cpu.value, low_us: cpu.low, high_us: cpu.high },
                per_core_second: most.map(|most| most.value),
                remarks: load.remarks,
            }
        }))
    }
}

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rule {
    /// Name.
    pub id: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Standard and section, or who else.
    pub source: &'static str,
    /// Its address.
    pub url: &'static str,
}

pub const RULES: &[Rule] = &[
    Rule {
        id: "client-refused",
        says: "a client that must be served has no version, suite, group or certificate in common with the server",
        source: "RFC 8446 4.1.1; RFC 5246 7.4.1.3",
        url: "https://www.rfc-editor.org/rfc/rfc8446#section-4.1.1",
    },
    Rule {
        id: "no-forward-secrecy",
        says: "a client would encrypt its secret with the server's RSA key: who gets the key later reads everything",
        source: "RFC 9325 4.1",
        url: "https://www.rfc-editor.org/rfc/rfc9325#section-4.1",
    },
    Rule {
        id: "wider-than-needed",
        says: "a narrower profile serves all of these clients: what nobody needs is attacked only",
        source: "Mozilla, Server Side TLS",
        url: "https://wiki.mozilla.org/Security/Server_Side_TLS",
    },
    Rule {
        id: "not-offered",
        says: "the stack does not do what a client would negotiate",
        source: "measured here",
        url: "",
    },
    Rule {
        id: "not-measured",
        says: "there is no price for what a client would negotiate",
        source: "the run that is asked",
        url: "",
    },
    Rule {
        id: "not-modelled",
        says: "what a client would negotiate is none of the handshakes that can be measured",
        source: "measured here",
        url: "",
    },
    Rule {
        id: "cannot-use",
        says: "the program that serves cannot be built with this stack",
        source: "nginx, HAProxy: INSTALL; Apache: mod_ssl",
        url: "https://github.com/haproxy/haproxy/blob/master/INSTALL",
    },
    Rule {
        id: "depends-on-secret",
        says: "what a primitive of the library behind the stack executes depends on the secret, which others on the core can see",
        source: "judged here",
        url: "",
    },
    Rule {
        id: "dearer",
        says: "it costs the server more CPU for each connection",
        source: "measured here",
        url: "",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Profile;
    use crate::sample::{self, advice_of, evidence, lacking, leaks, library, question};

    /// A run in which a stack has another name.
    fn renamed(stack: &str, name: &str) -> Run {
        let mut handshakes = sample::handshakes();
        for row in handshakes.rows.iter_mut().filter(|r| r.stack == stack) {
            row.stack = name.to_owned();
        }
        let stacks = handshakes.stacks.iter_mut().filter(|s| s.label == stack);
        stacks.for_each(|s| s.label = name.to_owned());
        handshakes
    }

    #[test]
    fn browsers_get_the_narrowest_profile_and_the_cheapest_certificate() {
        let advice = advice_of(&sample::handshakes(), &question(&["browser"]));
        let choice = advice.choice.unwrap();
        assert_eq!(choice.candidate.profile, Profile::Modern);
        assert_eq!(choice.candidate.certificates, [Certificate::P256]);
        assert_eq!(choice.candidate.stack, "fast@1.0");
        assert_eq!(choice.clients[0].negotiated, "1.3 x25519mlkem768 p256 full");
        assert!((choice.cost.us - 80.0).abs() < 1e-9, "{:?}", choice.cost);
        assert!(choice.nginx.contains(&"ssl_protocols TLSv1.3;".to_owned()), "{:?}", choice.nginx);
        let wider = advice.rejected.iter().filter(|r| r.rule == "wider-than-needed");
        assert!(wider.count() > 0);
        assert!(advice.rules.iter().any(|r| r.id == "wider-than-needed"));
        assert!(advice.fitting.iter().all(|f| f.times >= 1.0));
        // Without ML-KEM it is priced without, and may be dearer.
        let slow = advice.fitting.iter().find(|f| f.candidate.stack == "slow@1.0").unwrap();
        assert!(slow.times > 1.0, "{slow:?}");
    }

    #[test]
    fn clients_of_tls_12_need_more_than_modern_and_it_is_said_what_they_cost() {
        let advice =
            advice_of(&sample::handshakes(), &question(&["browser=90%", "firefox-45=10%"]));
        let choice = advice.choice.unwrap();
        assert_eq!(choice.candidate.profile, Profile::Intermediate);
        let refused = advice.rejected.iter().find(|r| r.candidate.profile == Profile::Modern);
        let refused = refused.unwrap();
        assert_eq!(refused.rule, "client-refused");
        assert_eq!(refused.detail, "firefox-45: no version in common");
        let without = advice.changes.iter().find(|c| c.wish == "without the clients firefox-45");
        assert_eq!(without.unwrap().candidate.profile, Profile::Modern);
        assert!((choice.cost.us - (0.9 * 80.0 + 0.1 * 90.0)).abs() < 1e-9, "{:?}", choice.cost);
    }

    #[test]
    fn what_no_certificate_serves_has_no_choice_and_says_what_would_help() {
        let mut asked = question(&["browser"]);
        asked.certificates = vec![Certificate::Ed25519];
        let advice = advice_of(&sample::handshakes(), &asked);
        assert_eq!(advice.choice, None);
        assert!(
            advice.rejected.iter().all(|r| r.rule == "client-refused"),
            "{:?}",
            advice.rejected
        );
        let with = advice.changes.iter().find(|c| c.wish == "with a certificate p256").unwrap();
        assert_eq!(
            (with.candidate.certificates.clone(), with.times),
            (vec![Certificate::P256], None)
        );
    }

    #[test]
    fn a_stack_whose_bytes_have_no_price_is_missing_and_wins_nothing() {
        let (handshakes, records) =
            (sample::handshakes(), lacking("slow@1.0", record::tls::Suite::Aes128Gcm));
        let evidence = Evidence { records: Some(&records), ..evidence(&handshakes) };
        let asked = Question { bytes_per_connection: 10 << 20, ..question(&["browser"]) };
        let advice = advise(&asked, &evidence).unwrap();
        assert_eq!(advice.choice, None);
        assert!(advice.missing.iter().any(|c| c.stack == "fast@1.0"), "{:?}", advice.missing);
        let text = crate::advise::tls_server::render(
            &advice,
            crate::advise::Format::Text,
            base::text::Options { width: 100, color: false },
        );
        assert!(text.starts_with("Not enough measured"), "{text}");
        assert!(text.contains("OPEN: "), "{text}");
    }

    #[test]
    fn connections_that_fill_a_core_are_priced_as_on_a_full_core_and_the_loads_remarks_are_kept() {
        let handshakes = sample::handshakes();
        let mut calibration = crate::load::sample::calibration();
        let fast = handshakes.stacks.iter().find(|s| s.label == "fast@1.0").unwrap();
        calibration.stack = fast.clone();
        let choice = |calibration: &Calibration| {
            let calibration = Some(calibration);
            let evidence = Evidence { calibration, ..evidence(&handshakes) };
            super::advise(&question(&["browser"]), &evidence).unwrap().choice.unwrap()
        };
        let with = choice(&calibration);
        assert!(with.connections_per_core_second.unwrap() > 1.1 * 1e6 / with.cost.us, "{with:?}");
        assert!(with.remarks.iter().any(|r| r.contains("loopback")), "{:?}", with.remarks);
        calibration.points.retain(|p| p.regime != Regime::Saturated);
        assert_eq!(choice(&calibration).connections_per_core_second, None);
    }

    fn verdict(stack: &str, algorithm: &str, verdict: LeakVerdict) -> StackLeaks {
        let leaks = leaks(library("behind", "1", ""), algorithm, verdict);
        StackLeaks { stack: stack.to_owned(), leaks }
    }

    /// Whatever it costs, and whichever of its primitives: the records' cipher or the key exchange.
    #[test]
    fn a_stack_whose_primitives_depend_on_the_secret_is_not_chosen_however_cheap() {
        let handshakes = sample::handshakes();
        let advised = |secrets: &[StackLeaks]| {
            let evidence = Evidence { secrets, ..evidence(&handshakes) };
            super::advise(&question(&["browser"]), &evidence).unwrap()
        };
        let before = advised(&[]).choice.unwrap();
        let first = before.candidate.stack;
        let named: Vec<(&str, Option<LeakVerdict>)> =
            before.secrets.iter().map(|s| (&*s.primitive, s.verdict)).collect();
        assert_eq!(named, [("aes-128-gcm", None), ("ecdsa-p256", None), ("x25519", None)]);
        for primitive in ["aes-128-gcm", "x25519"] {
            let advice = advised(&[verdict(&first, primitive, LeakVerdict::Depends)]);
            assert_ne!(advice.choice.unwrap().candidate.stack, first, "{primitive}");
            let lost = advice.rejected.iter().find(|r| r.candidate.stack == first).unwrap();
            let why = format!("{primitive} in behind@1");
            assert_eq!((&*lost.rule, &*lost.detail), ("depends-on-secret", &*why));
        }
        let all = handshakes.stacks.iter();
        let all: Vec<StackLeaks> =
            all.map(|s| verdict(&s.label, "x25519", LeakVerdict::Depends)).collect();
        assert!(advised(&all).choice.is_none());
        // What may differ with what is public rejects nothing, and is said.
        let choice =
            advised(&[verdict(&first, "ecdsa-p256", LeakVerdict::Depends)]).choice.unwrap();
        assert_eq!(choice.candidate.stack, first);
        assert!(choice.secrets.iter().any(|s| s.verdict == Some(LeakVerdict::Depends)));
    }

    #[test]
    fn a_stack_that_nginx_cannot_use_gets_no_settings_of_nginx() {
        let handshakes = renamed("fast@1.0", "rustls-graviola@0.4");
        let choice = advice_of(&handshakes, &question(&["browser"])).choice.unwrap();
        assert_eq!(choice.candidate.stack, "rustls-graviola@0.4");
        assert_eq!(choice.nginx, Vec::<String>::new());
        let said = |words: &str| choice.remarks.iter().any(|r| r.starts_with(words));
        assert!(said("nginx cannot use rustls-graviola@0.4"), "{:?}", choice.remarks);
        assert!(said("of what nginx can use, this costs least: modern, p256, slow@1.0"));
    }

    #[test]
    fn costs_that_may_differ_by_more_than_a_twentieth_are_undecided_and_no_tie() {
        let mut handshakes = sample::handshakes();
        for row in handshakes.rows.iter_mut().filter(|r| r.stack == "slow@1.0") {
            if let Some([server, _]) = &mut row.costs {
                server.low_ns = server.median_ns * 0.1;
                server.high_ns = server.median_ns * 1.9;
            }
        }
        let choice = advice_of(&handshakes, &question(&["browser"])).choice.unwrap();
        assert_eq!(choice.candidate.stack, "fast@1.0");
        assert!(choice.undecided.iter().any(|c| c.contains("slow@1.0")), "{:?}", choice.undecided);
        assert!(choice.ties_with.iter().all(|c| !c.contains("slow@1.0")));
    }

    #[test]
    fn a_program_is_advised_only_what_it_can_be_built_with() {
        let asked = Question { only: Some("nginx".to_owned()), ..question(&["browser"]) };
        let advice = advice_of(&renamed("fast@1.0", "rustls-ring@0.23"), &asked);
        assert_eq!(advice.choice.unwrap().candidate.stack, "slow@1.0");
        let out = advice.rejected.iter().filter(|r| r.candidate.stack == "rustls-ring@0.23");
        assert!(out.clone().count() > 0 && out.clone().all(|r| r.rule == "cannot-use"));
        for (program, stack, may) in [
            ("nginx", "boringssl@44", true),
            ("nginx", "wolfssl@5.9", false),
            ("haproxy", "wolfssl-noasm@5.9", true),
            ("haproxy", "rustls-ring@1", false),
            ("apache", "aws-lc@5", false),
            ("apache", "mine@1", true),
        ] {
            assert_eq!(can_use(program, stack), may, "{program} {stack}");
        }
    }

    #[test]
    fn what_a_race_has_ruled_out_is_dearer_and_nothing_is_open() {
        let mut handshakes = sample::handshakes();
        for row in handshakes.rows.iter_mut().filter(|r| r.stack == "slow@1.0") {
            (row.state, row.costs) = (State::Failed, None);
            row.stopped = Some(record::Stopped::Screened);
        }
        let advice = advice_of(&handshakes, &question(&["browser"]));
        assert_eq!(advice.choice.unwrap().candidate.stack, "fast@1.0");
        assert_eq!(advice.missing, []);
        let dearer = advice.rejected.iter().filter(|r| r.rule == "dearer");
        assert!(dearer.count() > 0, "{:?}", advice.rejected);
    }

    #[test]
    fn a_stack_without_a_version_is_not_one_that_lacks_its_groups_and_nothing_is_open() {
        let mut handshakes = sample::handshakes();
        let is_of_13 = |row: &Row| row.case().is_some_and(|case| case.version == Version::Tls13);
        let of_slow = |row: &&mut Row| row.stack == "slow@1.0" && is_of_13(row);
        for row in handshakes.rows.iter_mut().filter(of_slow) {
            (row.state, row.costs) = (State::Unsupported, None);
            row.reason = Some("no TLS 1.3".to_owned());
        }
        // As where the handshakes were measured for the question.
        let is_asked = |c: &Case| c.version == Version::Tls13 && c.exchange != Exchange::P256;
        handshakes.rows.retain(|r| r.case().is_some_and(is_asked));
        let advice = advice_of(&handshakes, &question(&["browser"]));
        assert_eq!(advice.missing, []);
        let out = advice.rejected.iter().filter(|r| r.candidate.stack == "slow@1.0");
        assert!(out.clone().count() > 0 && out.clone().all(|r| r.rule == "not-offered"));
    }

    #[test]
    fn resumption_is_counted_by_its_share() {
        let asked = Question { resumed_share: 0.5, ..question(&["browser"]) };
        let choice = advice_of(&sample::handshakes(), &asked).choice.unwrap();
        assert!((choice.cost.us - (0.5 * 80.0 + 0.5 * 50.0)).abs() < 1e-9, "{:?}", choice.cost);
        assert!(cases(&asked).unwrap().iter().any(|c| c.kind.is_resumed()));
        assert!(cases(&question(&["browser"])).unwrap().iter().all(|c| !c.kind.is_resumed()));
    }
}
