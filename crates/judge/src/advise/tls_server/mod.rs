//! What a TLS server should be set to, for the clients that it must serve: profile, certificate and stack,
//! priced by measured handshakes, with the rule that rejects each other choice. Here: the question, the
//! answer (`docs/tls-advice.schema.json`) and how it is written; what a server can be set to, and the
//! directives of nginx's `ngx_http_ssl_module` that set it so. nginx does not start with a group that its
//! library lacks: what is not known to be there is left out, and named. Pure: no I/O, no clock.

mod choice;

use crate::advise::Format;
use crate::advise::evaluate::{Beside, beside};
use crate::load::{
    ClientOutcome, ClientShare, Picking, Profile, Settings, Spec, client_classes, outcomes,
};
use base::analysis::Estimate;
use base::text::{Options, PLAIN, clean, escape_markdown};
pub use choice::{Evidence, RULES, Rule, StackLeaks, advise, cases};
use record::LeakVerdict;
use record::tls::{Certificate, Exchange, Suite, Temperature, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

// What is asked.

/// What the server must do, and may be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// Classes of clients that must be able to connect, with their shares of the connections.
    pub clients: Vec<ClientShare>,
    /// Kinds of certificates that can be had.
    pub certificates: Vec<Certificate>,
    /// Share of connections that resume, 0 to 1.
    pub resumed_share: f64,
    /// Whether X25519MLKEM768 comes first for those who have it.
    pub post_quantum: bool,
    /// Bytes of responses over a connection, which are priced where records were measured.
    pub bytes_per_connection: u64,
    /// Whether hot or cold handshakes are counted.
    pub temperature: Temperature,
    /// The program that serves, where only its stacks are asked about; null for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
}

/// Programs that serve, each with the stacks that it can be built with, by their names.
pub const PROGRAMS: [(&str, &[&str]); 3] = [
    ("apache", &["openssl", "libressl"]),
    ("haproxy", &["openssl", "libressl", "aws-lc", "wolfssl"]),
    ("nginx", &["openssl", "libressl", "boringssl", "aws-lc"]),
];

/// Stacks that no program here can be built with.
const OTHERS: [&str; 8] = ["rustls", "gnutls", "mbedtls", "s2n", "botan", "nss", "go", "java"];

/// Whether a program can use a stack, by its label. Of a name that somebody gave, it is not known.
pub fn can_use(program: &str, stack: &str) -> bool {
    let is_of = |names: &[&str]| names.iter().any(|name| stack.starts_with(name));
    let own = PROGRAMS.iter().any(|(name, stacks)| *name == program && is_of(stacks));
    own || !is_of(&OTHERS) && !PROGRAMS.iter().any(|(_, stacks)| is_of(stacks))
}

impl Question {
    /// Reads clients: `browser,java-8=10%`; the shares of those without one are what is left, in equal
    /// parts.
    pub fn clients(texts: &[String]) -> Result<Vec<ClientShare>, String> {
        let named = texts.iter().map(|text| one(text)).collect::<Result<Vec<_>, _>>()?;
        let given: f64 = named.iter().filter_map(|(_, share)| *share).sum();
        let open = named.iter().filter(|(_, share)| share.is_none()).count();
        let left = 1.0 - given;
        if left < -1e-9 || (open == 0 && left.abs() > 1e-6) || (open > 0 && left < 1e-9) {
            let sum = given * 100.0;
            return Err(format!("the shares of the clients come to {sum:.0} %"));
        }
        let mut clients: Vec<ClientShare> = Vec::new();
        for (class, share) in named {
            if clients.iter().any(|c| c.class == class) {
                return Err(format!("the class '{class}' is named twice"));
            }
            clients.push(ClientShare::of(class, share.unwrap_or(left / open.max(1) as f64)));
        }
        Ok(clients)
    }
}

fn one(text: &str) -> Result<(&'static str, Option<f64>), String> {
    let (class, share) = match text.split_once('=') {
        Some((class, share)) => (class.trim(), Some(share.trim())),
        None => (text.trim(), None),
    };
    let known = client_classes();
    let Some((name, _)) = known.iter().find(|(name, _)| *name == class) else {
        let all: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let all = all.join(", ");
        return Err(format!("'{class}' is no class of clients; there are {all}"));
    };
    let share = share.map(|text| {
        let number = text.strip_suffix('%').unwrap_or(text).parse::<f64>().ok();
        let is_share = |n: &f64| (0.0..=100.0).contains(n);
        let number = number.filter(is_share).map(|n| n / 100.0);
        number.ok_or_else(|| format!("'{text}' is no share: 0% to 100%"))
    });
    Ok((name, share.transpose()?))
}

pub const FORMAT_VERSION: &str = "1.1";

/// Advice for a server of TLS.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// [`FORMAT_VERSION`].
    pub format_version: String,
    /// `tls-advice`.
    pub kind: String,
    /// What was asked.
    pub question: Question,
    /// What it is answered from.
    pub basis: Basis,
    /// The choice; null where nothing serves all clients.
    pub choice: Option<Choice>,
    /// What could be chosen and has no price, or not all of it; where it is empty, the answer is settled.
    pub missing: Vec<Candidate>,
    /// Everything else that serves all clients by the same profile, the cheapest first.
    pub fitting: Vec<Fitting>,
    /// What was rejected, and by which rule.
    pub rejected: Vec<Rejected>,
    /// What would change the answer.
    pub changes: Vec<Change>,
    /// The rules that are named.
    pub rules: Vec<Rule>,
}

/// What an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Basis {
    /// The machine's CPU.
    pub cpu: String,
    /// When the handshakes were measured (RFC 3339).
    pub started: String,
    /// How prices came about, in words.
    pub priced_by: String,
    /// Why the answer may be another one on the machine that asks; null where it is the one that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
}

/// µs of the server's CPU for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Cost {
    /// The estimate: means, as CPU per second is a sum.
    pub us: f64,
    /// Lower end of its interval.
    pub low_us: f64,
    /// Upper end.
    pub high_us: f64,
}

impl Cost {
    pub(crate) const NOTHING: Self = Self { us: 0.0, low_us: 0.0, high_us: 0.0 };

    pub(crate) fn plus(self, other: Self, times: f64) -> Self {
        Self {
            us: self.us + other.us * times,
            low_us: self.low_us + other.low_us * times,
            high_us: self.high_us + other.high_us * times,
        }
    }

    fn beside(&self, other: &Self) -> Beside {
        let interval = |c: &Self| Estimate { median: c.us, low: c.low_us, high: c.high_us };
        beside(interval(self), interval(other))
    }

    /// Whether both are shown to be the same within 5 %.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.beside(other).is_same()
    }

    pub(crate) fn may_be_lower(&self, other: &Self) -> bool {
        self.beside(other).may_be_lower()
    }
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// What is chosen.
    pub candidate: Candidate,
    /// What it costs for each connection, over all clients.
    pub cost: Cost,
    /// Connections per second that one core can do, if it did nothing else; null where no full core is calibrated.
    pub connections_per_core_second: Option<f64>,
    /// What each class negotiates, and what it costs.
    pub clients: Vec<ClientCost>,
    /// What has a secret of the server's in it, by the library behind the stack: how the stack uses it is not judged.
    pub secrets: Vec<Secret>,
    /// Directives of nginx that set it so; none where nginx cannot use the stack.
    pub nginx: Vec<String>,
    /// Others that are shown to cost the same within 5 %.
    pub ties_with: Vec<String>,
    /// Others that may cost less by more than that.
    pub undecided: Vec<String>,
    /// What to know of the price.
    pub remarks: Vec<String>,
}

/// What is known of the secret of a primitive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Secret {
    /// `aes-128-gcm`, `x25519`, `ecdsa-p256`, …
    pub primitive: String,
    /// The library that was judged; null where none was.
    pub library: Option<String>,
    /// Null where it was not judged.
    pub verdict: Option<LeakVerdict>,
}

/// One class of clients.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ClientCost {
    /// The class.
    pub class: String,
    /// Its share of the connections.
    pub share: f64,
    /// What is negotiated: version, key exchange, certificate, suite.
    pub negotiated: String,
    /// A full handshake.
    pub full: Cost,
    /// A resumed one; null where none resumes.
    pub resumed: Option<Cost>,
}

/// Another that serves all clients.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Fitting {
    /// What it is.
    pub candidate: Candidate,
    /// What it costs for each connection.
    pub cost: Cost,
    /// That over the choice's.
    pub times: f64,
}

/// One that was rejected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rejected {
    /// What it is.
    pub candidate: Candidate,
    /// The rule's name.
    pub rule: String,
    /// Which client, which case.
    pub detail: String,
}

/// Another wish and its answer.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// What would be asked otherwise.
    pub wish: String,
    /// What would be chosen then.
    pub candidate: Candidate,
    /// What that costs for each connection.
    pub cost: Cost,
    /// That over the choice's; null where there is no choice now.
    pub times: Option<f64>,
}

#[cfg(test)]
#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    crate::load::sample::is_documented::<Advice>("tls-advice");
}

// Advice as text, JSON or Markdown.

pub fn render(advice: &Advice, format: Format, options: Options) -> String {
    match format {
        Format::Json => record::pretty(advice),
        Format::Text => {
            let directives = advice.choice.as_ref().map_or(&[][..], |choice| &choice.nginx);
            let printed = |line: &String| match line.strip_prefix("  ") {
                // A list of suites is one word, which nginx refuses in two lines.
                Some(item) if directives.iter().any(|d| d == item) => format!("{line}\n"),
                Some(item) => options.behind("  ", 4, item, PLAIN),
                None => options.hang(line, 2, PLAIN),
            };
            lines(advice).iter().map(printed).collect()
        }
        Format::Markdown => {
            let item = |line: &String| match line.strip_prefix("  ") {
                Some(item) => format!("- {}\n", escape_markdown(item.trim())),
                None => format!("\n{}\n\n", escape_markdown(line)),
            };
            lines(advice).iter().filter(|line| !line.is_empty()).map(item).collect()
        }
    }
}

fn us(cost: &Cost) -> String {
    let half = (cost.high_us - cost.low_us) / 2.0 / cost.us.max(f64::MIN_POSITIVE) * 100.0;
    let digits = usize::from(cost.us < 100.0);
    format!("{:.digits$} µs ±{half:.1} %", cost.us)
}

fn lines(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    match &advice.choice {
        Some(choice) => lines.extend(chosen(choice)),
        None if advice.missing.is_empty() => {
            lines.push("None: no setting serves all of these clients.".to_owned());
            lines.extend(whys(advice));
        }
        None => lines.push("Not enough measured: nothing that would do has a price.".to_owned()),
    }
    lines.extend(missing(advice));
    lines.extend(advice.basis.stale.as_ref().map(|why| format!("STALE: {}", clean(why))));
    if !advice.changes.is_empty() {
        lines.extend([String::new(), "What would change the answer:".to_owned()]);
    }
    for change in &advice.changes {
        let times = change.times.map_or(String::new(), |t| format!(", {t:.2} times the cost"));
        let then = clean(&change.candidate.to_string());
        lines.push(format!("  {}: {then}: {}{times}", change.wish, us(&change.cost)));
    }
    if !advice.fitting.is_empty() {
        lines.extend([String::new(), "Serve these clients too:".to_owned()]);
    }
    for one in advice.fitting.iter().take(SHOWN) {
        let what = clean(&one.candidate.to_string());
        lines.push(format!("  {what}: {}, {:.2} times", us(&one.cost), one.times));
    }
    lines.extend(more(advice.fitting.len()));
    lines.extend(rejected(advice));
    lines.push(String::new());
    lines.push(format!(
        "Priced by {}; measured {} on {}.",
        clean(&advice.basis.priced_by),
        clean(&advice.basis.started),
        clean(&advice.basis.cpu)
    ));
    lines
}

/// Settings that are shown of each kind; JSON has all.
const SHOWN: usize = 8;

fn more(all: usize) -> Option<String> {
    (all > SHOWN).then(|| format!("  and {} more (--format json)", all - SHOWN))
}

/// Why nothing serves: of each rule how many settings it rejects, and for what.
fn whys(advice: &Advice) -> Vec<String> {
    let of = |rule: &Rule| {
        let rejected: Vec<_> = advice.rejected.iter().filter(|r| r.rule == rule.id).collect();
        let details: BTreeSet<String> = rejected.iter().map(|r| clean(&r.detail)).collect();
        let more = if details.len() > 3 { "; …" } else { "" };
        let shown = details.into_iter().take(3).collect::<Vec<_>>().join("; ");
        format!("  {} settings, {}: {shown}{more}", rejected.len(), rule.id)
    };
    advice.rules.iter().map(of).collect()
}

/// What could be chosen and has no price.
fn missing(advice: &Advice) -> Option<String> {
    let all = &advice.missing;
    let first = all.iter().take(3).map(|c| clean(&c.to_string())).collect::<Vec<_>>().join("; ");
    let others =
        if all.len() > 3 { format!("; and {} more", all.len() - 3) } else { String::new() };
    (!all.is_empty()).then(|| {
        format!(
            "OPEN: {} settings that could cost less have no price, or not all of it: {first}{others}. \
             Without a record --thorough measures all; a calibration prices its own stack alone.",
            all.len()
        )
    })
}

fn chosen(choice: &Choice) -> Vec<String> {
    let most = choice.connections_per_core_second;
    let most = most.map(|most| format!("; {most:.0} connections a second fill a core"));
    let mut lines = vec![
        clean(&choice.candidate.to_string()),
        format!(
            "  {} of the server's CPU for a connection{}",
            us(&choice.cost),
            most.unwrap_or_default()
        ),
    ];
    for client in &choice.clients {
        let resumed =
            client.resumed.as_ref().map_or(String::new(), |r| format!(", resumed {}", us(r)));
        lines.push(format!(
            "  {} ({:.0} %): {}: {}{resumed}",
            client.class,
            client.share * 100.0,
            client.negotiated,
            us(&client.full)
        ));
    }
    lines.extend(choice.remarks.iter().map(|remark| format!("  {}", clean(remark))));
    if !choice.ties_with.is_empty() {
        lines.push(format!("  costs the same within 5 %: {}", clean(&choice.ties_with.join("; "))));
    }
    if !choice.undecided.is_empty() {
        lines
            .push(format!("  undecided, could cost less: {}", clean(&choice.undecided.join("; "))));
    }
    lines.push(format!("  secrets: {}", secrets(choice)));
    if !choice.nginx.is_empty() {
        lines.extend([String::new(), "Settings of nginx:".to_owned()]);
        lines.extend(choice.nginx.iter().map(|line| format!("  {line}")));
    }
    lines
}

/// What is known of each primitive, and what judges the others.
fn secrets(choice: &Choice) -> String {
    let mut of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for secret in &choice.secrets {
        let words = match secret.verdict {
            None => "not judged",
            Some(LeakVerdict::NotJudged) => "nothing found, not all could be judged",
            Some(LeakVerdict::SameTrace) => "same trace for every secret that was compared",
            Some(LeakVerdict::MayDepend) => "may depend on the secret, by taint only",
            Some(LeakVerdict::Depends) => {
                "traces differ, perhaps with what is public (docs/CONSTANT-TIME.md)"
            }
        };
        of.entry(words).or_default().push(&secret.primitive);
    }
    let mut words: Vec<String> =
        of.iter().map(|(words, of)| format!("{}: {words}", clean(&of.join(", ")))).collect();
    let library = choice.secrets.iter().find_map(|s| s.library.as_ref());
    words.extend(
        library.map(|l| format!("judged in {}, not in what the stack does with it", clean(l))),
    );
    let open = choice.secrets.iter().filter(|s| s.verdict.is_none());
    let open: Vec<&str> = open.map(|s| &*s.primitive).collect();
    let stack = clean(&choice.candidate.stack);
    let name = library.map_or(&*stack, |l| l).split('@').next().unwrap_or_default();
    words.extend((!open.is_empty()).then(|| {
        format!(
            "`ciphermark leaks -l {} -a {}` takes minutes and is remembered",
            clean(name),
            open.join(",")
        )
    }));
    words.join("; ")
}

fn rejected(advice: &Advice) -> Vec<String> {
    let mut lines = Vec::new();
    for rule in &advice.rules {
        lines.push(String::new());
        lines.push(format!("Rejected, {}: {} [{}]", rule.id, rule.says, rule.source));
        let all: Vec<_> = advice.rejected.iter().filter(|r| r.rule == rule.id).collect();
        let line =
            |r: &&Rejected| format!("  {}: {}", clean(&r.candidate.to_string()), clean(&r.detail));
        lines.extend(all.iter().take(SHOWN).map(line));
        lines.extend(more(all.len()));
    }
    lines
}

/// A stack with a profile and certificates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Candidate {
    /// The stack, by its label.
    pub stack: String,
    /// Mozilla's profile.
    pub profile: Profile,
    /// Certificates: one, or one of ECDSA beside one of RSA.
    pub certificates: Vec<Certificate>,
}

/// Profiles, the narrowest first. That of 2016 is history.
const PROFILES: [Profile; 3] = [Profile::Modern, Profile::Intermediate, Profile::Old];
/// Groups without ML-KEM.
pub(crate) const CLASSIC: &str = "X25519:P-256:P-384";

impl Candidate {
    /// Everything that the certificates allow, in a stack.
    pub(crate) fn all(stack: &str, question: &Question) -> Vec<Self> {
        let has = &question.certificates;
        let alone = has.iter().map(|certificate| vec![*certificate]);
        let ecdsa = has.iter().copied().find(|c| *c == Certificate::P256);
        let rsa = has.iter().copied().filter(|c| c.is_rsa()).min();
        let both = ecdsa.zip(rsa).map(|(ecdsa, rsa)| vec![ecdsa, rsa]);
        let certificates: Vec<Vec<Certificate>> = alone.chain(both).collect();
        let of = |profile: &Profile| {
            let profile = *profile;
            certificates.clone().into_iter().map(move |certificates| Self {
                stack: stack.to_owned(),
                profile,
                certificates,
            })
        };
        PROFILES.iter().flat_map(of).collect()
    }

    /// How narrow its profile is; 0 is the narrowest.
    pub(crate) fn width(&self) -> usize {
        PROFILES.iter().position(|p| *p == self.profile).unwrap_or(PROFILES.len())
    }

    /// The specification of a server that is set so.
    pub(crate) fn spec(&self, question: &Question) -> Spec {
        let mut spec = Spec { clients: question.clients.clone(), ..Spec::default() };
        spec.resumption.share = question.resumed_share;
        spec.server = Settings {
            profile: Some(self.profile),
            certificates: self.certificates.clone(),
            groups: (!question.post_quantum).then(|| CLASSIC.to_owned()),
            ..Settings::default()
        };
        spec
    }

    /// What each class of clients negotiates with it, in its stack, which lacks some key exchanges.
    pub(crate) fn outcomes(
        &self,
        question: &Question,
        lacking: &[Exchange],
    ) -> Result<Vec<ClientOutcome>, String> {
        outcomes(&self.spec(question), Picking::of_label(&self.stack), lacking)
    }
}

impl std::fmt::Display for Candidate {
    /// `intermediate, p256 + rsa-2048, openssl@3.0.22`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let certificates: Vec<&str> = self.certificates.iter().map(|c| c.name()).collect();
        write!(f, "{}, {}, {}", self.profile, certificates.join(" + "), self.stack)
    }
}

/// Directives, and what of the profile is not in them.
pub(crate) struct Directives {
    pub directives: Vec<String>,
    pub left_out: Vec<String>,
}

pub(crate) fn directives(
    candidate: &Candidate,
    question: &Question,
    evidence: &Evidence<'_>,
) -> Directives {
    if question.only.as_ref().is_some_and(|only| only != "nginx") {
        return Directives { directives: Vec::new(), left_out: Vec::new() };
    }
    if !can_use("nginx", &candidate.stack) {
        let why = format!("nginx cannot use {}", candidate.stack);
        return Directives { directives: Vec::new(), left_out: vec![why] };
    }
    let profile = candidate.profile.recommended();
    let versions: Vec<String> = profile.versions.iter().map(|v| format!("TLSv{v}")).collect();
    let mut lines = vec![format!("ssl_protocols {};", versions.join(" "))];
    let mut left_out = Vec::new();
    if !profile.ciphers.is_empty() {
        let ciphers = ciphers(profile.ciphers, &candidate.stack, evidence, &mut left_out);
        lines.push(format!("ssl_ciphers {ciphers};"));
    }
    let wanted = if question.post_quantum { profile.groups } else { CLASSIC };
    let groups = groups(wanted, &candidate.stack, evidence, &mut left_out);
    lines.push(format!("ssl_ecdh_curve {groups};"));
    let order = if profile.own_order { "on" } else { "off" };
    lines.push(format!("ssl_prefer_server_ciphers {order};"));
    let certificates = &candidate.certificates;
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate {c}.chain.pem;")));
    lines.extend(certificates.iter().map(|c| format!("ssl_certificate_key {c}.key.pem;")));
    Directives { directives: lines, left_out }
}

/// The groups that the stack has, by colons; which it has not is told, with the reason.
fn groups(
    wanted: &str,
    stack: &str,
    evidence: &Evidence<'_>,
    left_out: &mut Vec<String>,
) -> String {
    let name =
        Exchange::X25519Mlkem768.group().and_then(record::tls::Group::openssl).unwrap_or_default();
    if evidence.has(stack, Exchange::X25519Mlkem768) || !wanted.split(':').any(|g| g == name) {
        return wanted.to_owned();
    }
    let why = match evidence.lacking(stack).contains(&Exchange::X25519Mlkem768) {
        true => format!("{stack} does not have it"),
        false => format!("no handshake with it was measured in {stack}"),
    };
    left_out.push(format!(
        "{name} is left out of ssl_ecdh_curve: {why}, and nginx does not start with a group that its library lacks"
    ));
    wanted.split(':').filter(|g| *g != name).collect::<Vec<_>>().join(":")
}

/// The same of the suites of TLS 1.2; of a list that would be empty nothing is left out.
fn ciphers(
    wanted: &str,
    stack: &str,
    evidence: &Evidence<'_>,
    left_out: &mut Vec<String>,
) -> String {
    let lacking: Vec<&str> = evidence.lacking_suites(stack).into_iter().flat_map(names).collect();
    let (without, kept): (Vec<&str>, Vec<&str>) =
        wanted.split(':').partition(|name| lacking.contains(name));
    if without.is_empty() || kept.is_empty() {
        return wanted.to_owned();
    }
    let suites = without.join(", ");
    left_out.push(format!("left out of ssl_ciphers: {suites}: {stack} does not have them"));
    kept.join(":")
}

/// What OpenSSL calls a suite of TLS 1.2, with each key exchange and certificate.
fn names(suite: Suite) -> Vec<&'static str> {
    let exchanges = [Exchange::X25519, Exchange::Ffdhe2048, Exchange::Rsa];
    let all = exchanges.iter().flat_map(|exchange| {
        [Certificate::P256, Certificate::Rsa2048].map(|certificate| (*exchange, certificate))
    });
    let name = |(exchange, certificate)| suite.code(Version::Tls12, exchange, certificate);
    all.filter_map(name).map(|code| code.openssl).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::tls_server::choice::Evidence;
    use crate::sample::{self, advice_of, evidence, lacking, question};
    use record::tls::Suite;

    fn read(texts: &[&str]) -> Result<Vec<(String, f64)>, String> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let clients = Question::clients(&texts).map_err(|e| e.to_string())?;
        Ok(clients.into_iter().map(|c| (c.class, c.share)).collect())
    }

    #[test]
    fn what_is_left_is_shared_by_those_without_a_share() {
        let found = read(&["browser", "java-8=10%", "firefox-100"]).unwrap();
        let wanted = [("browser", 0.45), ("java-8", 0.1), ("firefox-100", 0.45)];
        assert_eq!(found, wanted.map(|(class, share)| (class.to_owned(), share)));
    }

    #[test]
    fn what_cannot_be_is_named() {
        let why = |texts: &[&str]| read(texts).unwrap_err();
        assert!(
            why(&["netscape"]).starts_with("'netscape' is no class of clients; there are browser")
        );
        assert_eq!(why(&["browser=60%"]), "the shares of the clients come to 60 %");
        assert_eq!(why(&["browser=100%", "java-8"]), "the shares of the clients come to 100 %");
        assert_eq!(why(&["browser=much"]), "'much' is no share: 0% to 100%");
        assert_eq!(why(&["browser", "browser"]), "the class 'browser' is named twice");
    }

    fn printed(clients: &[&str], format: Format) -> String {
        let advice = advice_of(&sample::handshakes(), &question(clients));
        render(&advice, format, Options { width: 120, color: false })
    }

    #[test]
    fn the_choice_stands_first_and_each_rule_with_its_source() {
        let text = printed(&["browser", "firefox-45"], Format::Text);
        assert!(text.starts_with("intermediate, p256, fast@1.0\n"), "{text}");
        assert!(text.contains("80.0 µs ±1.0 %"), "{text}");
        assert!(text.contains("ssl_protocols TLSv1.2 TLSv1.3;"), "{text}");
        assert!(text.contains("Rejected, client-refused:") && text.contains("[RFC 8446 4.1.1"));
        assert!(text.contains("without the clients firefox-45: modern, p256, fast@1.0"), "{text}");
        assert!(text.contains("hot handshakes in memory"), "{text}");
    }

    #[test]
    fn a_directive_of_nginx_is_one_line_however_narrow_the_screen_and_all_else_is_folded() {
        let advice = advice_of(&sample::handshakes(), &question(&["browser", "firefox-45"]));
        let text = render(&advice, Format::Text, Options { width: 60, color: false });
        let directives = &advice.choice.unwrap().nginx;
        assert!(directives.iter().any(|d| d.len() > 100), "{directives:?}");
        for line in directives {
            assert!(text.contains(&format!("\n  {line}\n")), "{line}\n{text}");
        }
        let wide = text.lines().filter(|l| base::text::width(l) > 60 && !l.contains("ssl_"));
        assert_eq!(wide.count(), 0, "{text}");
        assert!(text.contains("\n  browser ("), "what belongs to a line stands below it: {text}");
    }

    #[test]
    fn json_is_the_advice_and_markdown_lists() {
        let json: serde_json::Value =
            serde_json::from_str(&printed(&["browser"], Format::Json)).unwrap();
        assert_eq!(json["kind"], "tls-advice");
        assert_eq!(json["choice"]["candidate"]["profile"], "modern");
        assert!(printed(&["browser"], Format::Markdown).contains("\n- "));
    }

    fn chosen(stack: &str, post_quantum: bool) -> (String, Vec<String>) {
        let mut handshakes = sample::handshakes();
        handshakes.stacks.retain(|s| s.label == stack);
        let asked = Question { post_quantum, ..question(&["browser"]) };
        let choice = advice_of(&handshakes, &asked).choice.unwrap();
        let groups = choice.nginx.iter().find(|l| l.starts_with("ssl_ecdh_curve")).unwrap();
        (groups.clone(), choice.remarks)
    }

    #[test]
    fn a_group_that_the_stack_lacks_is_left_out_and_named() {
        let without = "ssl_ecdh_curve X25519:P-256:P-384;";
        for (stack, post_quantum, expected, is_named) in [
            ("fast@1.0", true, "ssl_ecdh_curve X25519MLKEM768:X25519:P-256:P-384;", false),
            ("slow@1.0", true, without, true),
            ("slow@1.0", false, without, false),
        ] {
            let (groups, remarks) = chosen(stack, post_quantum);
            assert_eq!(groups, expected, "{stack}");
            let named = "X25519MLKEM768 is left out of ssl_ecdh_curve: slow@1.0 does not have it";
            assert_eq!(remarks.iter().any(|r| r.starts_with(named)), is_named, "{remarks:?}");
            assert_eq!(remarks.iter().any(|r| r.contains("left out")), is_named, "{remarks:?}");
        }
    }

    #[test]
    fn suites_that_the_stack_lacks_are_left_out_and_named() {
        let handshakes = sample::handshakes();
        let records = lacking("fast@1.0", Suite::Chacha20Poly1305);
        let evidence = Evidence { records: Some(&records), ..evidence(&handshakes) };
        let question = question(&["browser=90%", "firefox-45=10%"]);
        let choice = super::advise(&question, &evidence).unwrap().choice.unwrap();
        let suites = choice.nginx.iter().find(|l| l.starts_with("ssl_ciphers")).unwrap();
        assert!(suites.contains("AES128-GCM") && !suites.contains("CHACHA20"), "{suites}");
        let named = "left out of ssl_ciphers: ECDHE-ECDSA-CHACHA20-POLY1305, \
            ECDHE-RSA-CHACHA20-POLY1305: fast@1.0 does not have them";
        assert!(choice.remarks.iter().any(|r| r == named), "{:?}", choice.remarks);
    }
}
