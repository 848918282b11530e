//! The question turned round: CPU use has risen; which rates and parameters explain it, and which cannot? And
//! changes of configuration, for the better and for the worse: which saves most, and what each leaves in
//! nginx's log.

use crate::load::calibration::{Form, Interval};
use crate::load::formula::{Alternative, Calibrated, Sum, sum};
use crate::load::inputs::{Inputs, Key, OwnCode, Prices, RecordKey, RequestKey};
use crate::load::negotiate::usual_clients;
use crate::load::spec::{Http, Profile, Regime, Role, Spec};
use crate::load::{calibrated, regime_of, whole};
use record::named;
use record::tls::{Case, Certificate, Exchange, Kind, Suite, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const WHY_VERSION: &str = "1.1";

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// CPU use before, in percent of one core, lowest and highest.
    pub from_percent: (f64, f64),
    /// CPU use after.
    pub to_percent: (f64, f64),
    /// How many times slower the observed server's core is than the calibrated one, lowest and highest.
    pub slower: (f64, f64),
    pub spec: Option<Spec>,
    /// Whether the specification is that of the server before the rise; else it is that after it.
    pub spec_is_before: bool,
    /// Most that its clients receive, in Mbit per second, where it is known.
    pub most_mbit_per_s: Option<f64>,
}

/// The answer. Units are in the names; `docs/tls-why.schema.json` is its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// [`WHY_VERSION`].
    pub format_version: String,
    /// `tls-why`.
    pub kind: String,
    /// The rise, in percent of one core.
    pub rise_percent: Interval,
    /// The same in µs of CPU per second, of the observed core.
    pub rise_cpu_us_per_s: Interval,
    /// How many times slower the observed core is taken to be.
    pub slower: Interval,
    /// What the costs come from.
    pub calibrated: Calibrated,
    /// The regime of the costs.
    pub regime: Regime,
    /// What of each kind, alone, would make the rise.
    pub rates: Vec<Rate>,
    /// What each change of the given configuration makes of it; empty without a specification.
    pub changes: Vec<Explained>,
    /// What decides between the explanations that are left.
    pub evidence: Vec<Evidence>,
    /// What can be said and what cannot.
    pub verdict: String,
    /// What must be known to read these figures.
    pub remarks: Vec<String>,
}

named! {
    /// What a candidate makes of the rise.
    Verdict {
        /// It makes the rise, within the intervals.
        Fits = "fits",
        /// It would make more: it explains the rise where it concerns a part of the connections only.
        More = "more than enough",
        /// At this rate it does, and nothing that is known speaks against the rate.
        Possible = "possible",
        /// It may make the rise or nothing: the interval holds both, or other requests stand in for those that it
        /// changes.
        Undecided = "undecided",
        /// It has no price: what it changes is not calibrated.
        Uncalibrated = "not calibrated",
        /// It makes a part of it.
        Part = "a part",
        /// It makes less than a fiftieth of it, or needs more than there is.
        Cannot = "cannot",
    }
}

named! {
    /// What is counted.
    Amount {
        /// Handshakes.
        Handshakes = "handshakes",
        /// Connections.
        Connections = "connections",
        /// Requests.
        Requests = "requests",
        /// Bytes of responses.
        Bytes = "bytes",
    }
}

/// How much of something alone would make the rise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Of what.
    pub what: String,
    /// What is counted.
    pub counted: Amount,
    /// What each costs the observed core, in µs.
    pub each_cpu_us: Interval,
    /// As many a second make the rise; null where each costs nothing that could be told from nothing.
    pub needed_per_s: Option<Interval>,
    /// What that means.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Log variables and looks that decide.
    pub decided_by: Vec<String>,
}

/// What a change of configuration makes of the rise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The change.
    pub change: String,
    /// What it makes, in µs per second of the observed core; null where it has no price.
    pub rise_cpu_us_per_s: Option<Interval>,
    /// Its share of the observed rise.
    pub share: Option<f64>,
    /// What that means.
    pub verdict: Verdict,
    /// What to know of it, or why it has no price.
    pub note: Option<String>,
    /// Log variables and looks that decide.
    pub decided_by: Vec<String>,
}

pub(crate) struct Asked<'a> {
    pub(crate) rise: Interval,
    pub(crate) slower: Interval,
    pub(crate) prices: &'a Prices,
    pub(crate) regime: Regime,
    pub(crate) spec: Option<&'a Spec>,
    pub(crate) most_bytes_per_s: Option<f64>,
}

pub fn why(question: &Question, inputs: &Inputs<'_>) -> Result<Why, String> {
    let rise_percent = rise(question)?;
    let prices = Prices::of(inputs);
    let usual = Spec::default();
    let spec = question.spec.as_ref();
    if let Some(spec) = spec {
        spec.check()?;
    }
    let asked = Asked {
        rise: rise_percent.times(1e4),
        slower: around(question.slower),
        prices: &prices,
        regime: regime_of(spec.unwrap_or(&usual), &prices)?,
        spec,
        most_bytes_per_s: most_bytes(question),
    };
    let mut rates = handshakes(&asked);
    rates.extend(bytes_and_requests(&asked));
    rates.sort_by_key(|r| r.verdict);
    let base = spec.map(|spec| sum(spec, &prices, asked.regime)).transpose()?;
    let changes = match (spec, &base) {
        (Some(spec), Some(base)) => explained(spec, question.spec_is_before, &asked, base),
        _ => Vec::new(),
    };
    let verdict = verdict(&rates, &changes, spec.is_some());
    let mut remarks = remarks(question, &asked);
    for remark in base.into_iter().flat_map(|base| base.remarks).chain(whole(inputs)) {
        if !remarks.contains(&remark) {
            remarks.push(remark);
        }
    }
    Ok(Why {
        format_version: WHY_VERSION.to_owned(),
        kind: "tls-why".to_owned(),
        rise_percent,
        rise_cpu_us_per_s: asked.rise,
        slower: asked.slower,
        calibrated: calibrated(inputs),
        regime: asked.regime,
        rates,
        changes,
        evidence: all_evidence(),
        verdict,
        remarks,
    })
}

fn around((low, high): (f64, f64)) -> Interval {
    Interval { value: f64::midpoint(low, high), low, high }
}

fn rise(question: &Question) -> Result<Interval, String> {
    let (from, to) = (around(question.from_percent), around(question.to_percent));
    let rise = Interval {
        value: to.value - from.value,
        low: to.low - from.high,
        high: to.high - from.low,
    };
    if rise.low > 0.0 {
        return Ok(rise);
    }
    let (from, to) = (from.value, to.value);
    Err(format!("from {from} % to {to} % of a core is no rise that is certain"))
}

/// What is known of the bytes: the specification's own, or what was said.
fn most_bytes(question: &Question) -> Option<f64> {
    let said = question.most_mbit_per_s.map(|mbit| mbit * 1e6 / 8.0);
    let of_spec = question.spec.as_ref().map(|s| {
        let mean: f64 = s.traffic.responses.iter().map(|r| r.bytes as f64 * r.share).sum();
        s.traffic.connections_per_s * s.traffic.requests_per_connection * mean
    });
    said.or(of_spec)
}

impl Asked<'_> {
    pub(crate) fn cost(&self, form: &Form) -> Interval {
        let here = self.prices.figures.eval(form);
        let ends = [
            here.low * self.slower.low,
            here.low * self.slower.high,
            here.high * self.slower.low,
            here.high * self.slower.high,
        ];
        Interval {
            value: here.value * self.slower.value,
            low: ends.iter().copied().fold(f64::INFINITY, f64::min),
            high: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// How many make the rise; none where the price cannot be told from nothing.
    pub(crate) fn needed(&self, each: Interval) -> Option<Interval> {
        (each.low > 0.0).then(|| Interval {
            value: self.rise.value / each.value,
            low: self.rise.low / each.high,
            high: self.rise.high / each.low,
        })
    }
}

/// The sum after a change; an error where it cannot be compared with the sum before.
fn after(change: &Change, prices: &Prices, regime: Regime, base: &Sum) -> Result<Sum, String> {
    let then = sum(&change.spec, prices, regime)?;
    match base.lacks_beside(&then) {
        Some(why) => Err(why),
        None => Ok(then),
    }
}

/// What to know of a change, in a line: what is said of it, and what the sum with it says that the sum without does not.
fn note(said: Option<&str>, base: &Sum, then: &Sum) -> Option<String> {
    let new = then.remarks.iter().filter(|r| !base.remarks.contains(r)).map(String::as_str);
    let all: Vec<&str> = said.into_iter().chain(new).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

fn explained(spec: &Spec, is_before: bool, asked: &Asked<'_>, base: &Sum) -> Vec<Explained> {
    let changes = if is_before { worsenings(spec) } else { improvements(spec) };
    let one = |change: Change| {
        let other = after(&change, asked.prices, asked.regime, base);
        let rise = other.as_ref().ok().map(|other| {
            let more = other.total().plus(&base.total(), -1.0);
            asked.cost(&if is_before { more } else { more.times(-1.0) })
        });
        let verdict = match (&other, rise.map(|rise| of_rise(rise, asked.rise))) {
            (Ok(other), Some(Verdict::Cannot)) if base.stands_in_beside(other) => {
                Verdict::Undecided
            }
            (_, Some(verdict)) => verdict,
            (_, None) => Verdict::Uncalibrated,
        };
        let text = if is_before { change.text } else { format!("before: {}", change.text) };
        Explained {
            change: text,
            rise_cpu_us_per_s: rise,
            share: rise.map(|rise| rise.value / asked.rise.value),
            verdict,
            note: match &other {
                Ok(other) => note(None, base, other),
                Err(why) => Some(why.clone()),
            },
            decided_by: change.evidence.iter().map(|e| (*e).to_owned()).collect(),
        }
    };
    let mut all: Vec<_> = changes.into_iter().map(one).collect();
    all.sort_by(|a, b| {
        let off = |e: &Explained| (e.share.unwrap_or_default().max(1e-9).ln()).abs();
        a.verdict.cmp(&b.verdict).then(off(a).total_cmp(&off(b)))
    });
    all
}

fn of_rise(predicted: Interval, observed: Interval) -> Verdict {
    if predicted.high < observed.high * 0.02 {
        Verdict::Cannot
    } else if predicted.high < observed.low {
        Verdict::Part
    } else if predicted.low <= 0.0 {
        Verdict::Undecided
    } else if predicted.low <= observed.high {
        Verdict::Fits
    } else {
        Verdict::More
    }
}

fn verdict(rates: &[Rate], changes: &[Explained], has_spec: bool) -> String {
    let is_left = |v: Verdict| !matches!(v, Verdict::Part | Verdict::Cannot);
    let by_rates = rates.iter().filter(|r| is_left(r.verdict)).count();
    let by_changes = changes.iter().filter(|c| is_left(c.verdict)).count();
    let left = if has_spec { by_changes } else { by_rates };
    match left {
        0 => "nothing that is priced here explains it alone: look for work that is not TLS"
            .to_owned(),
        1 => "one explanation is left; the log decides whether it is that".to_owned(),
        n => format!(
            "cannot decide from CPU % alone: {n} explanations are left, and the log variables tell them apart"
        ),
    }
}

fn remarks(question: &Question, asked: &Asked<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if question.slower == (1.0, 1.0) {
        remarks.push(
            "the observed core is taken to be as fast as the calibrated one; --slower says how much slower it is".to_owned(),
        );
    }
    if asked.spec.is_none() {
        remarks.push(
            "rates of the server are not known: --spec with them excludes what needs more than there is".to_owned(),
        );
    }
    if asked.prices.own_code(asked.regime, true).is_some_and(|own| own.stands_in) {
        remarks.push(OwnCode::LACKS_RESUMED.to_owned());
    }
    remarks
}

// How much of one thing alone makes a rise: handshakes of each kind, bytes of each suite, requests.

const V12: Version = Version::Tls12;
const V13: Version = Version::Tls13;

/// The handshakes that servers are configured for, well or badly, and what tells each in the log.
#[rustfmt::skip]
const HANDSHAKES: &[(Version, Exchange, Certificate, Kind, &[&str])] = &[
    (V13, Exchange::X25519, Certificate::P256, Kind::Full, &[REUSED, CURVE, KEY]),
    (V13, Exchange::X25519, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE, KEY]),
    (V13, Exchange::X25519, Certificate::Rsa4096, Kind::Full, &[REUSED, KEY]),
    (V12, Exchange::P256, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE, KEY]),
    (V12, Exchange::P384, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE]),
    (V12, Exchange::P256, Certificate::Rsa4096, Kind::Full, &[REUSED, KEY]),
    (V12, Exchange::P384, Certificate::Rsa4096, Kind::Full, &[REUSED, CURVE, KEY]),
    (V12, Exchange::Rsa, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, KEY]),
    (V12, Exchange::Ffdhe2048, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::OwnDh2048, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::Ffdhe4096, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::Ffdhe4096, Certificate::Rsa4096, Kind::Full, &[REUSED, CIPHER, DH, KEY]),
    (V12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedTicket, &[REUSED, PROTOCOL]),
    (V13, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedPsk, &[REUSED, PROTOCOL]),
];

/// What handshakes add to connections that were there before, and connections that were not.
pub(crate) fn handshakes(asked: &Asked<'_>) -> Vec<Rate> {
    let mut rates: Vec<Rate> = HANDSHAKES
        .iter()
        .filter_map(|(version, exchange, certificate, kind, decided_by)| {
            let case = Case::usual(*version, *exchange, *certificate, *kind);
            let key = Key { regime: asked.regime, case, tickets: None, aes_hardware: true };
            let mut form = asked.prices.handshakes.price(key)?.form;
            if let Some(own) = asked.prices.own_code(asked.regime, kind.is_resumed()) {
                form = form.plus(&own.form, 1.0);
            }
            let what = match kind {
                Kind::Full => format!("full handshakes, TLS {version} {exchange} {certificate}"),
                kind => format!("handshakes, TLS {version} {kind}"),
            };
            Some(of_connections(asked, what, Amount::Handshakes, &form, decided_by))
        })
        .collect();
    let plain = asked.prices.requests.connection(asked.prices.server, asked.regime, Http::Http1);
    if let Some((_, form)) = plain {
        let what = "more connections without TLS, one request each".to_owned();
        rates.push(of_connections(asked, what, Amount::Connections, &form, &[REQUESTS]));
    }
    if let Some(form) = asked.prices.refused(asked.regime) {
        let what = "connections refused at the first message".to_owned();
        rates.push(of_connections(asked, what, Amount::Connections, &form, &[ERRORS]));
    }
    let each = |r: &Rate| r.each_cpu_us.value;
    rates.sort_by(|a, b| each(b).total_cmp(&each(a)));
    rates
}

fn of_connections(
    asked: &Asked<'_>,
    what: String,
    counted: Amount,
    form: &Form,
    decided_by: &[&str],
) -> Rate {
    let each = asked.cost(form);
    let known = asked
        .spec
        .map(|s| s.traffic.connections_per_s + s.traffic.abandoned_per_s + s.traffic.refused_per_s);
    rate(asked, what, counted, each, known, decided_by)
}

/// Sizes that requests are looked at.
const SIZES: [u64; 3] = [1024, 16_384, 102_400];

/// Everything that grows with bytes or requests.
pub(crate) fn bytes_and_requests(asked: &Asked<'_>) -> Vec<Rate> {
    let base = RecordKey {
        version: V13,
        suite: Suite::Aes128Gcm,
        record_bytes: 16_384,
        aes_hardware: true,
    };
    let mut rates = Vec::new();
    for suite in Suite::ALL {
        let version = if suite.is_aead() { V13 } else { V12 };
        if let Some(form) = per_byte(asked, RecordKey { suite: *suite, version, ..base }) {
            let what = format!("{suite}: encrypting and sending");
            rates.push(of_bytes(asked, what, &form, &[BYTES, CIPHER]));
        }
    }
    let differences = [
        ("AES-256 instead of AES-128", RecordKey { suite: Suite::Aes256Gcm, ..base }),
        ("no AES instructions", RecordKey { aes_hardware: false, ..base }),
        ("records of 4 KiB instead of 16", RecordKey { record_bytes: 4096, ..base }),
    ];
    let usual = per_byte(asked, base);
    for (what, key) in differences {
        if let Some((other, usual)) = per_byte(asked, key).zip(usual.as_ref()) {
            rates.push(of_bytes(
                asked,
                what.to_owned(),
                &other.plus(usual, -1.0),
                &[BYTES, CIPHER],
            ));
        }
    }
    rates.extend(SIZES.iter().filter_map(|bytes| sendfile(asked, *bytes)));
    rates.extend(SIZES.iter().filter_map(|bytes| http2(asked, *bytes)));
    rates
}

/// What a byte of a long response costs; none where the suite is not calibrated.
fn per_byte(asked: &Asked<'_>, key: RecordKey) -> Option<Form> {
    let at = |bytes| {
        let price = asked.prices.requests.tls(asked.regime, key, bytes)?;
        // Another regime's costs will do here, another suite's will not.
        let stands_in = price.remarks.iter().any(|r| !r.contains(" load "));
        (!stands_in).then_some(price.form)
    };
    let (near, far) = (at(16_384)?, at(102_400)?);
    Some(far.plus(&near, -1.0).times(1.0 / (102_400.0 - 16_384.0)))
}

fn of_bytes(asked: &Asked<'_>, what: String, form: &Form, decided_by: &[&str]) -> Rate {
    let each = asked.cost(form);
    rate(asked, what, Amount::Bytes, each, asked.most_bytes_per_s, decided_by)
}

fn plain(asked: &Asked<'_>, http: Http, sendfile: bool, bytes: u64) -> Option<Form> {
    let key =
        RequestKey { role: asked.prices.server, regime: asked.regime, http, sendfile, tls: None };
    let price = asked.prices.requests.price(key, bytes)?;
    let stands_in = price.remarks.iter().any(|r| r.contains("sendfile") || r.contains("HTTP/"));
    (!stands_in).then_some(price.form)
}

fn requests_known(asked: &Asked<'_>) -> Option<f64> {
    asked.spec.map(|s| s.traffic.connections_per_s * s.traffic.requests_per_connection)
}

fn sendfile(asked: &Asked<'_>, bytes: u64) -> Option<Rate> {
    if asked.prices.server != Role::RealPlain {
        return None;
    }
    let lost = plain(asked, Http::Http1, false, bytes)?
        .plus(&plain(asked, Http::Http1, true, bytes)?, -1.0);
    let what = format!("sendfile lost, responses of {} KiB", bytes / 1024);
    Some(rate(
        asked,
        what,
        Amount::Requests,
        asked.cost(&lost),
        requests_known(asked),
        &[BYTES, HTTP],
    ))
}

fn http2(asked: &Asked<'_>, bytes: u64) -> Option<Rate> {
    let added = plain(asked, Http::Http2, false, bytes)?
        .plus(&plain(asked, Http::Http1, false, bytes)?, -1.0);
    let what = format!("HTTP/2 instead of HTTP/1.1, responses of {} KiB", bytes / 1024);
    Some(rate(asked, what, Amount::Requests, asked.cost(&added), requests_known(asked), &[HTTP]))
}

fn rate(
    asked: &Asked<'_>,
    what: String,
    counted: Amount,
    each: Interval,
    known: Option<f64>,
    decided_by: &[&str],
) -> Rate {
    let needed = asked.needed(each);
    let (verdict, reason) = match (needed, known) {
        (None, _) if each.high <= 0.0 => (Verdict::Cannot, "costs nothing, or less".to_owned()),
        (None, Some(known)) if asked.rise.low / each.high > known => {
            let times = asked.rise.low / each.high / known.max(1e-9);
            (Verdict::Cannot, format!("needs at least {times:.1} times what there is"))
        }
        (None, _) => {
            (Verdict::Undecided, "costs nothing that could be told from nothing".to_owned())
        }
        (Some(needed), Some(known)) if needed.low > known => (
            Verdict::Cannot,
            format!("needs at least {:.1} times what there is", needed.low / known.max(1e-9)),
        ),
        (Some(needed), Some(known)) if needed.high >= known => {
            (Verdict::Fits, "about as many as there are".to_owned())
        }
        (Some(needed), Some(known)) => {
            let share = needed.value / known * 100.0;
            (Verdict::More, format!("{share:.1} % of what there is would do"))
        }
        (Some(_), None) => (Verdict::Possible, "at this rate".to_owned()),
    };
    Rate {
        what,
        counted,
        each_cpu_us: each,
        needed_per_s: needed,
        verdict,
        reason,
        decided_by: decided_by.iter().map(|e| (*e).to_owned()).collect(),
    }
}

/// A change that could be made, or could have been.
pub(crate) struct Change {
    pub(crate) text: String,
    pub(crate) note: Option<&'static str>,
    pub(crate) spec: Spec,
    pub(crate) evidence: &'static [&'static str],
}

struct Changes<'a> {
    spec: &'a Spec,
    all: Vec<Change>,
}

impl Changes<'_> {
    fn add(
        &mut self,
        text: impl Into<String>,
        evidence: &'static [&'static str],
        edit: impl FnOnce(&mut Spec),
    ) {
        self.noted(text, None, evidence, edit);
    }

    fn noted(
        &mut self,
        text: impl Into<String>,
        note: Option<&'static str>,
        evidence: &'static [&'static str],
        edit: impl FnOnce(&mut Spec),
    ) {
        let mut spec = self.spec.clone();
        edit(&mut spec);
        if spec != *self.spec {
            self.all.push(Change { text: text.into(), note, spec, evidence });
        }
    }
}

pub(crate) fn improvements(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: Vec::new() };
    if spec.server.tls {
        smaller_certificates(&mut changes);
        more_resumption(&mut changes);
        cheaper_exchange(&mut changes);
        cheaper_records(&mut changes);
        fewer_connections(&mut changes);
        changes.add("no TLS at all", &[PROTOCOL], |s| s.server.tls = false);
    }
    changes.all
}

/// What the present settings save already: what losing each of them would cost.
pub(crate) fn losses(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: Vec::new() };
    if !spec.server.tls {
        return changes.all;
    }
    if spec.resumption.share > 0.0 || spec.clients.iter().any(|c| c.resumed_share > Some(0.0)) {
        changes.add("resumption lost", &[REUSED], |s| resume(s, 0.0));
    }
    changes.add("no AES instructions", &[CIPHER, BYTES], |s| s.server.aes_hardware = false);
    if spec.server.record_bytes > 4096 {
        changes.add("records of 4 KiB", &[BYTES], |s| s.server.record_bytes = 4096);
    }
    changes.all
}

pub(crate) fn worsenings(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: losses(spec) };
    if !spec.server.tls {
        changes.add("TLS", &[PROTOCOL], |s| s.server.tls = true);
        return changes.all;
    }
    changes
        .add("P-384 as the only group", &[CURVE], |s| s.server.groups = Some("P-384".to_owned()));
    for large in [Certificate::Rsa3072, Certificate::Rsa4096] {
        changes.add(format!("a certificate of {large}"), &[KEY], |s| {
            s.server.certificates = vec![large]
        });
    }
    for field in [Exchange::Ffdhe2048, Exchange::OwnDh2048, Exchange::Ffdhe4096] {
        changes
            .add(format!("DHE offered with {field}"), &[CIPHER, DH], |s| s.server.dh = Some(field));
    }
    changes.add("AES-256-GCM before everything else", &[CIPHER], |s| prefer(s, "AES256"));
    changes.add("client certificates from everyone", &[PROTOCOL], |s| {
        s.server.client_auth_share = 1.0
    });
    let rate = spec.traffic.connections_per_s;
    changes.add("as many connections again that the client abandons", &[ERRORS], |s| {
        s.traffic.abandoned_per_s += rate
    });
    changes.add("as many connections again that are refused", &[ERRORS], |s| {
        s.traffic.refused_per_s += rate
    });
    changes.add("no keep-alive: a connection for each request", &[REQUESTS], |s| {
        s.traffic.connections_per_s *= s.traffic.requests_per_connection;
        s.traffic.requests_per_connection = 1.0;
    });
    http(&mut changes);
    changes.all
}

fn smaller_certificates(changes: &mut Changes<'_>) {
    let has = changes.spec.server.certificates.clone();
    if let Some(rsa) =
        has.iter().copied().find(|c| c.is_rsa()).filter(|_| !has.contains(&Certificate::P256))
    {
        changes.add("an ECDSA certificate (P-256) beside that of RSA", &[KEY, CIPHER], |s| {
            s.server.certificates = vec![Certificate::P256, rsa];
        });
    }
    let smaller = [
        (Certificate::Rsa3072, Certificate::Rsa2048),
        (Certificate::Rsa4096, Certificate::Rsa2048),
        (Certificate::P384, Certificate::P256),
    ];
    for (large, small) in smaller {
        changes.add(format!("a certificate of {small} instead of {large}"), &[KEY], |s| {
            for certificate in s.server.certificates.iter_mut().filter(|c| **c == large) {
                *certificate = small;
            }
        });
    }
    changes.add("no client certificates", &[PROTOCOL], |s| s.server.client_auth_share = 0.0);
}

fn resume(spec: &mut Spec, share: f64) {
    spec.resumption.share = share;
    spec.clients.iter_mut().for_each(|c| c.resumed_share = None);
}

fn more_resumption(changes: &mut Changes<'_>) {
    const GOOD: f64 = 0.7;
    if changes.spec.resumption.share < GOOD {
        let note = "a share that returning visitors reach; tickets or a shared cache, and keys that outlive reloads";
        changes.noted("resumption working, 70 % of connections", Some(note), &[REUSED], |s| {
            resume(s, GOOD)
        });
    }
    changes.add("one ticket instead of two (TLS 1.3)", &[PROTOCOL], |s| s.server.tickets = Some(1));
}

fn cheaper_exchange(changes: &mut Changes<'_>) {
    changes.add("groups X25519 and P-256 only", &[CURVE], |s| {
        s.server.groups = Some("X25519:P-256".to_owned());
    });
    if changes.spec.server.dh.is_some() {
        changes.add("no DHE suites", &[CIPHER], |s| s.server.dh = None);
        changes.add("the named group ffdhe2048 for DHE", &[CIPHER, DH], |s| {
            s.server.dh = Some(Exchange::Ffdhe2048);
        });
    }
    changes.add("TLS 1.2 only", &[PROTOCOL], |s| s.server.versions = Some(vec![Version::Tls12]));
    let is_old = changes.spec.server.profile == Some(Profile::Intermediate2016);
    let has_13 = match &changes.spec.server.versions {
        Some(versions) => versions.contains(&Version::Tls13),
        None => !is_old,
    };
    if !has_13 {
        changes.add("TLS 1.3 too", &[PROTOCOL], |s| {
            s.server.versions = Some(vec![Version::Tls12, Version::Tls13]);
            if is_old {
                s.server.ciphersuites =
                    Some("TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384".to_owned());
            }
        });
    }
}

/// Puts AES-GCM of some key length first.
fn prefer(spec: &mut Spec, bits: &str) {
    let own = spec.server.ciphers.clone().unwrap_or_else(|| "DEFAULT".to_owned());
    let (first, second) = match bits {
        "AES128" => ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"),
        _ => ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"),
    };
    spec.server.ciphers = Some(format!("ECDHE+AESGCM+{bits}:{own}"));
    spec.server.ciphersuites = Some(format!("{first}:{second}:TLS_CHACHA20_POLY1305_SHA256"));
    spec.server.prefer_server_ciphers = Some(true);
}

fn cheaper_records(changes: &mut Changes<'_>) {
    changes.add("AES-128-GCM before everything else", &[CIPHER], |s| prefer(s, "AES128"));
    changes.add("AES instructions in use", &[CIPHER, BYTES], |s| s.server.aes_hardware = true);
    changes.add("records of 16 KiB", &[BYTES], |s| s.server.record_bytes = 16_384);
}

fn fewer_connections(changes: &mut Changes<'_>) {
    http(changes);
    let note = "the same requests over half the connections";
    changes.noted("keep-alive twice as long", Some(note), &[REQUESTS], |s| {
        s.traffic.connections_per_s /= 2.0;
        s.traffic.requests_per_connection *= 2.0;
    });
    changes.add("no connections that fail", &[ERRORS], |s| {
        (s.traffic.refused_per_s, s.traffic.abandoned_per_s) = (0.0, 0.0);
    });
    if changes.spec.clients.len() > 1 {
        changes.add("only today's browsers as clients", &[PROTOCOL, CIPHER], |s| {
            s.clients = usual_clients()
        });
    }
}

fn http(changes: &mut Changes<'_>) {
    if changes.spec.traffic.http == Http::Http1 {
        let note = "a visitor's connections become one, with all its requests";
        changes.noted("HTTP/2", Some(note), &[HTTP], |s| {
            let t = &mut s.traffic;
            t.http = Http::Http2;
            t.connections_per_s /= t.connections_per_visit;
            t.requests_per_connection *= t.connections_per_visit;
            t.connections_per_visit = 1.0;
        });
    } else {
        let note = "six connections for each visitor, as browsers make them";
        changes.noted("HTTP/1.1", Some(note), &[HTTP], |s| {
            let t = &mut s.traffic;
            t.http = Http::Http1;
            let connections = t.requests_per_connection.min(6.0);
            t.connections_per_s *= connections;
            t.requests_per_connection /= connections;
            t.connections_per_visit = connections;
        });
    }
}

// Which change of configuration saves most: the same sum for each, and the difference with its own interval.

/// Prices all changes that make sense for a specification, the most saving first; those without a price last.
pub(crate) fn alternatives(
    spec: &Spec,
    prices: &Prices,
    regime: Regime,
    base: &Sum,
) -> Vec<Alternative> {
    let now = base.total();
    let total = prices.figures.eval(&now).value;
    let one = |change: Change| {
        let then = after(&change, prices, regime, base);
        let cost = then.as_ref().map(Sum::total).ok();
        let saved = cost.as_ref().map(|cost| prices.figures.eval(&now.plus(cost, -1.0)));
        Alternative {
            cpu_us_per_s: cost.map(|cost| prices.figures.eval(&cost)),
            saves_us_per_s: saved,
            saves_share: saved.filter(|_| total != 0.0).map(|saved| saved.value / total),
            note: match &then {
                Ok(then) if then.traffic.refused > base.traffic.refused => {
                    note(Some("some clients can no longer connect"), base, then)
                }
                Ok(then) => note(change.note, base, then),
                Err(why) => Some(why.clone()),
            },
            change: change.text,
        }
    };
    let changes = improvements(spec).into_iter().chain(losses(spec));
    let mut all: Vec<_> = changes.map(one).collect();
    let saving = |a: &Alternative| a.saves_us_per_s.map_or(f64::NEG_INFINITY, |s| s.value);
    all.sort_by(|a, b| saving(b).total_cmp(&saving(a)));
    all
}

// What tells explanations apart: nginx's log variables and other looks (nginx.org: ngx_http_ssl_module,
// ngx_http_core_module, ngx_http_v2_module).

/// A log variable, or another look, and what it decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What to log or to look at.
    pub look_at: String,
    /// What it tells.
    pub tells: String,
}

pub(crate) const REUSED: &str = "$ssl_session_reused";
pub(crate) const CIPHER: &str = "$ssl_cipher";
pub(crate) const CURVE: &str = "$ssl_curve";
pub(crate) const PROTOCOL: &str = "$ssl_protocol";
pub(crate) const BYTES: &str = "$bytes_sent";
pub(crate) const RECEIVED: &str = "$request_length";
pub(crate) const REQUESTS: &str = "$connection_requests";
pub(crate) const HTTP: &str = "$server_protocol";
pub(crate) const ERRORS: &str = "error_log at level info";
pub(crate) const KEY: &str = "the certificate's key";
pub(crate) const DH: &str = "the file of ssl_dhparam";

const ALL: [(&str, &str); 11] = [
    (
        REUSED,
        "`r` of a resumed connection, `.` of a full handshake: the number of full handshakes is the load",
    ),
    (CIPHER, "DHE or ECDHE, static RSA, ECDSA or RSA (TLS 1.2), CBC or AEAD"),
    (
        CURVE,
        "the group of the key exchange (nginx 1.21.5 and later): P-384 where P-256 or X25519 was meant",
    ),
    (PROTOCOL, "1.2 or 1.3: the kind of resumption, and who is still old"),
    (REQUESTS, "1 in most lines: a handshake for each request, keep-alive does not work"),
    (BYTES, "bytes in all: bulk encryption is this times a fraction of a nanosecond"),
    (RECEIVED, "bytes received: uploads are decrypted as well"),
    (HTTP, "HTTP/2.0 or HTTP/1.1"),
    (
        ERRORS,
        "handshakes that failed: scanners pay a handshake and leave no line in the access log",
    ),
    (
        KEY,
        "`openssl x509 -noout -text`: RSA of 2048, 3072 or 4096 bits, or ECDSA; no log variable has it",
    ),
    (DH, "`openssl dhparam -noout -text`: bits, and whether it is a named group"),
];

pub(crate) fn all_evidence() -> Vec<Evidence> {
    let one = |(look_at, tells): &(&str, &str)| Evidence {
        look_at: (*look_at).to_owned(),
        tells: (*tells).to_owned(),
    };
    ALL.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::calibration::Point;
    use crate::load::sample::calibration;
    use crate::load::spec::{ClientShare, Response, Work};
    use record::tls::{Certificate, Exchange, Version};

    fn question() -> Question {
        Question {
            from_percent: (0.5, 0.5),
            to_percent: (2.0, 3.0),
            slower: (1.0, 1.0),
            spec: None,
            spec_is_before: false,
            most_mbit_per_s: None,
        }
    }

    fn answer(question: &Question) -> Why {
        let calibration = calibration();
        why(question, &Inputs { calibration: &calibration, records: None, parts: None }).unwrap()
    }

    /// A small site with large keys, seen after the rise.
    fn site() -> Spec {
        let mut spec = Spec::default();
        spec.traffic.connections_per_s = 4.4;
        spec.traffic.requests_per_connection = 5.0;
        spec.traffic.responses = vec![Response { bytes: 20_000, share: 1.0 }];
        spec.server.versions = Some(vec![Version::Tls12]);
        spec.server.certificates = vec![Certificate::Rsa4096];
        spec.server.groups = Some("P-384".to_owned());
        spec.clients = vec![ClientShare::of("chrome-49", 1.0)];
        spec
    }

    #[test]
    fn the_rate_that_is_needed_times_its_price_is_the_rise() {
        let found = answer(&question());
        assert_eq!(found.rise_percent, Interval { value: 2.0, low: 1.5, high: 2.5 });
        for rate in &found.rates {
            let Some(needed) = rate.needed_per_s else { continue };
            let product = needed.value * rate.each_cpu_us.value;
            assert!((product - 20_000.0).abs() < 1e-6, "{}", rate.what);
            assert!(needed.low <= needed.value && needed.value <= needed.high);
        }
    }

    #[test]
    fn without_rates_nothing_is_excluded_and_cpu_alone_decides_nothing() {
        let found = answer(&question());
        assert!(found.verdict.starts_with("cannot decide from CPU % alone"), "{}", found.verdict);
        assert!(found.rates.iter().filter(|r| r.verdict == Verdict::Possible).count() > 10);
        assert!(found.evidence.iter().any(|e| e.look_at == "$ssl_session_reused"));
    }

    #[test]
    fn bulk_is_excluded_by_the_bytes_that_there_are() {
        let found = answer(&Question { most_mbit_per_s: Some(10.0), ..question() });
        let bulk = found.rates.iter().find(|r| r.what.starts_with("aes-256-gcm:")).unwrap();
        assert_eq!((bulk.verdict, bulk.counted), (Verdict::Cannot, Amount::Bytes));
        assert!(bulk.reason.contains("times what there is"), "{}", bulk.reason);
    }

    #[test]
    fn a_site_s_own_rates_exclude_what_is_too_cheap_and_keep_what_is_dear_enough() {
        let found = answer(&Question { spec: Some(site()), ..question() });
        let rate = |text: &str| found.rates.iter().find(|r| r.what.contains(text)).unwrap();
        assert_eq!(rate("p384 rsa-4096").verdict, Verdict::Fits);
        assert_eq!(rate("1.3 x25519 p256").verdict, Verdict::Cannot);
        assert_eq!(rate("ffdhe4096 rsa-4096").verdict, Verdict::More);
        let change = |text: &str| found.changes.iter().find(|c| c.change.contains(text)).unwrap();
        assert_eq!(change("no TLS at all").verdict, Verdict::Fits);
        assert_eq!(change("rsa-2048 instead of rsa-4096").verdict, Verdict::Fits);
        assert_eq!(change("X25519 and P-256").verdict, Verdict::Part);
        assert_eq!(change("AES-128-GCM before").verdict, Verdict::Cannot);
        assert!(found.verdict.starts_with("cannot decide"), "{}", found.verdict);
        assert!(change("X25519 and P-256").decided_by.contains(&"$ssl_curve".to_owned()));
    }

    #[test]
    fn seen_from_before_what_made_it_dearer_is_ranked() {
        let mut spec = site();
        spec.server.certificates = vec![Certificate::Rsa2048];
        spec.server.groups = Some("P-256".to_owned());
        spec.resumption.share = 0.6;
        let found = answer(&Question { spec: Some(spec), spec_is_before: true, ..question() });
        let change = |text: &str| found.changes.iter().find(|c| c.change.contains(text)).unwrap();
        // Its price stands in for one that was not calibrated.
        let suite = change("AES-256-GCM before");
        assert_eq!(suite.verdict, Verdict::Undecided, "{suite:?}");
        assert!(change("no AES instructions").share > change("AES-256-GCM before").share);
        assert!(change("rsa-4096").share > Some(0.2));
        let order: Vec<Verdict> = found.changes.iter().map(|c| c.verdict).collect();
        assert!(order.is_sorted());
    }

    #[test]
    fn dhe_explains_nothing_where_no_client_negotiates_it() {
        let mut spec = site();
        spec.server.dh = Some(Exchange::Ffdhe4096);
        let share = |class: &str| {
            let spec = Spec { clients: vec![ClientShare::of(class, 1.0)], ..spec.clone() };
            let mut spec = spec;
            spec.server.ciphers = Some("EECDH+AESGCM:EDH+AESGCM:AES256+EECDH".to_owned());
            spec.server.prefer_server_ciphers = Some(true);
            let found = answer(&Question { spec: Some(spec), ..question() });
            found.changes.iter().find(|c| c.change.contains("no DHE")).unwrap().share.unwrap()
        };
        assert!(share("chrome-49").abs() < 1e-9);
        assert!(share("ie-11-win7") > 1.0);
    }

    #[test]
    fn what_is_not_calibrated_has_no_price_and_is_not_excluded() {
        let mut calibration = calibration();
        let is_apart = |p: &Point| match p.served.work {
            Work::Handshake { case, tickets } => case.client_auth || tickets.is_some(),
            _ => false,
        };
        calibration.points.retain(|p| !is_apart(p));
        let inputs = Inputs { calibration: &calibration, records: None, parts: None };
        let certificates = "client certificates from everyone";
        let question = Question { spec: Some(site()), spec_is_before: true, ..question() };
        let found = why(&question, &inputs).unwrap();
        let change = found.changes.iter().find(|c| c.change == certificates).unwrap();
        assert_eq!((change.verdict, change.share), (Verdict::Uncalibrated, None));
        assert!(change.note.as_ref().unwrap().contains("not calibrated"), "{change:?}");
        assert!(!verdict(&[], std::slice::from_ref(change), true).contains("not TLS"));
        let mut spec = Spec::default();
        spec.traffic.connections_per_s = 50.0;
        let load = crate::load::load(&spec, &inputs, true).unwrap();
        let ticket = load.alternatives.iter().find(|a| a.change.contains("one ticket")).unwrap();
        assert_eq!((ticket.cpu_us_per_s, ticket.saves_us_per_s), (None, None));
        assert!(ticket.note.as_ref().unwrap().contains("not calibrated"), "{ticket:?}");
        // Where both have it the difference is known.
        spec.server.client_auth_share = 1.0;
        let load = crate::load::load(&spec, &inputs, true).unwrap();
        let named =
            |text: &str| load.alternatives.iter().find(|a| a.change.contains(text)).unwrap();
        assert!(named("records of 4 KiB").saves_us_per_s.is_some());
        assert_eq!(named("no client certificates").saves_us_per_s, None);
    }

    #[test]
    fn an_interval_that_holds_the_rise_and_nothing_is_undecided() {
        let observed = Interval { value: 1500.0, low: 1400.0, high: 1600.0 };
        let of = |value, low, high| of_rise(Interval { value, low, high }, observed);
        assert_eq!(of(-1739.0, -5368.0, 1723.0), Verdict::Undecided);
        assert_eq!(of(900.0, 100.0, 1723.0), Verdict::Fits);
        assert_eq!(of(-10.0, -20.0, 1.0), Verdict::Cannot);
        let calibration = calibration();
        let prices = Prices::of(&Inputs { calibration: &calibration, records: None, parts: None });
        let asked = Asked {
            rise: observed,
            slower: around((1.0, 1.0)),
            prices: &prices,
            regime: Regime::Steady,
            spec: None,
            most_bytes_per_s: None,
        };
        let each = Interval { value: 1.0, low: -1.0, high: 7.0 };
        let of = |each, known| rate(&asked, String::new(), Amount::Requests, each, known, &[]);
        assert_eq!(of(each, None).verdict, Verdict::Undecided);
        assert_eq!(of(each, Some(1000.0)).verdict, Verdict::Undecided);
        assert_eq!(of(each, Some(100.0)).verdict, Verdict::Cannot);
        let less = Interval { value: -1.0, low: -2.0, high: -0.5 };
        assert_eq!(of(less, None).verdict, Verdict::Cannot);
        let left = verdict(&[of(each, None)], &[], false);
        assert!(!left.contains("look for work that is not TLS"), "{left}");
    }

    #[test]
    fn a_slower_core_needs_fewer() {
        let here = answer(&question());
        let there = answer(&Question { slower: (1.5, 2.5), ..question() });
        for (a, b) in here
            .rates
            .iter()
            .filter(|r| r.needed_per_s.is_some())
            .map(|a| (a, there.rates.iter().find(|b| b.what == a.what).unwrap()))
        {
            assert!(b.needed_per_s.unwrap().value < a.needed_per_s.unwrap().value, "{}", a.what);
        }
    }

    #[test]
    fn what_is_no_rise_is_refused() {
        let calibration = calibration();
        let inputs = Inputs { calibration: &calibration, records: None, parts: None };
        let question = Question { from_percent: (2.0, 2.5), to_percent: (2.4, 3.0), ..question() };
        assert!(why(&question, &inputs).unwrap_err().to_string().contains("no rise"));
    }
}
