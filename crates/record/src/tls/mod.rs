//! TLS in words, plans and figures: which handshakes and records there are to measure, what the bytes on the
//! wire say was negotiated, and what the samples come to. Pure: no I/O, no clock, no unsafe code. Here are the
//! cases, and a visit of a worker that holds a TLS stack: what the scheduler asks it, what it answers, and its
//! samples into figures.

mod conversion;
mod document;
#[doc(hidden)]
pub mod fixtures;
mod negotiation;
mod tables;
mod words;

use crate::{Disturbances, Samples, State};
use base::analysis::{Counted, Estimator, Summary, median};
use base::model::{OtherEnd, QuietRates, RawSample};
pub(crate) use conversion::of_older;
pub use conversion::{from_record, into_record};
pub use document::{
    Bare, BareCost, Bytes, Cost, First, FittedLine, Memory, Plan, RecordLines, Row, Run, RunKind,
    Stack, beside,
};
pub use negotiation::{
    EndSays, Mismatch, Negotiated, Seen, Unreadable, Unset, data_records, last_data_record,
    negotiated, read_wire,
};
use serde::{Deserialize, Serialize};
pub use tables::{Format, markdown, own_signatures, table};
use words::SuiteCode;
pub use words::{
    Certificate, Exchange, Group, Kind, Operation, Primitive, Scheme, Signature, Suite,
    Temperature, Version,
};

// One case: what is to be negotiated.

/// One case: what is to be negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct Case {
    /// Version of the protocol.
    pub version: Version,
    /// How the ends agree on a secret.
    pub exchange: Exchange,
    /// What the server proves itself with.
    pub certificate: Certificate,
    /// How the connection begins.
    pub kind: Kind,
    /// Whether the client proves itself too, with a certificate of the same kind.
    pub client_auth: bool,
    /// What protects the records.
    pub suite: Suite,
}

impl Case {
    /// The suite on the wire; none where the protocol has no such combination.
    pub fn code(&self) -> Option<SuiteCode> {
        self.suite.code(self.version, self.exchange, self.certificate)
    }

    /// Whether the protocol has it at all, whatever a stack offers.
    pub fn exists(&self) -> bool {
        self.exchange.exists_in(self.version)
            && self.kind.exists_in(self.version)
            && self.code().is_some()
            // The group that is asked for must be another than the first guess.
            && !(self.kind == Kind::HelloRetry && self.exchange == Exchange::X25519)
    }
}

impl std::fmt::Display for Case {
    /// `1.3 x25519 rsa-2048 full`, with what is not usual behind it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { version, exchange, certificate, kind, client_auth, suite } = self;
        write!(f, "{version} {exchange} {certificate} {kind}")?;
        if *client_auth {
            write!(f, " client-auth")?;
        }
        if *suite != Suite::Aes128Gcm {
            write!(f, " {suite}")?;
        }
        Ok(())
    }
}

// What a visit is about.

/// What is sampled, at both ends apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    Handshake(Case),
    /// Records of application data over one open connection: the server sends, the client receives.
    Records {
        protection: Protection,
        /// Bytes of data in each.
        size: u32,
    },
    /// One of the operations under a handshake: whole in the server's place, the library's call alone in
    /// the client's.
    Primitive(Primitive),
}

impl Subject {
    /// What runs are of that sample it.
    pub fn kind(self) -> RunKind {
        match self {
            Self::Handshake(_) => RunKind::Handshakes,
            Self::Records { .. } => RunKind::Records,
            Self::Primitive(_) => RunKind::Primitives,
        }
    }
}

/// What protects records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct Protection {
    /// Version of the protocol.
    pub version: Version,
    /// The suite.
    pub suite: Suite,
}

/// Most bytes of data in a record (RFC 8446 5.1).
pub const LARGEST_RECORD: usize = 1 << 14;

impl Protection {
    /// Everything that exists, of some versions and suites; all of them where none is named.
    pub fn all(versions: &[Version], suites: &[Suite]) -> Vec<Self> {
        let of = |version: &Version| {
            let version = *version;
            Suite::ALL.iter().map(move |suite| Self { version, suite: *suite })
        };
        let kept = |p: &Self| {
            (versions.is_empty() || versions.contains(&p.version))
                && (suites.is_empty() || suites.contains(&p.suite))
                && p.case().exists()
        };
        Version::ALL.iter().rev().flat_map(of).filter(kept).collect()
    }

    /// The connection that the records go over: how it began makes no difference to them.
    pub fn case(self) -> Case {
        Case {
            version: self.version,
            exchange: Exchange::X25519,
            certificate: Certificate::P256,
            kind: Kind::Full,
            client_auth: false,
            suite: self.suite,
        }
    }
}

impl Suite {
    /// The name of the suite's cipher among ciphermark's algorithms; of suites with CBC it is the cipher
    /// without the HMAC.
    pub fn cipher(self) -> &'static str {
        let name = self.name();
        name.split_once('+').map_or(name, |(cipher, _)| cipher)
    }

    /// Whether the cipher authenticates as well.
    pub fn is_aead(self) -> bool {
        !self.name().contains('+')
    }
}

impl std::fmt::Display for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TLS {} {}", self.version, self.suite)
    }
}

// Which handshakes there are to measure.

/// What is asked for; what is left empty is left to the matrix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub versions: Vec<Version>,
    pub exchanges: Vec<Exchange>,
    pub certificates: Vec<Certificate>,
    pub kinds: Vec<Kind>,
    /// With a client that proves itself, without, or both.
    pub client_auth: Option<bool>,
    /// Suites; AES-128-GCM, which every stack has, where none is asked for.
    pub suites: Vec<Suite>,
}

/// A name that is none of the possible ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is no {what}{}; there are {all}",
    nearest.as_ref().map(|n| format!(", did you mean '{n}'?")).unwrap_or_default())]
pub struct UnknownName {
    what: &'static str,
    text: String,
    nearest: Option<String>,
    all: String,
}

/// Reads a name of one of the words' lists.
macro_rules! read {
    ($($function:ident, $type:ident, $what:literal, $doc:literal;)*) => {$(
        #[doc = $doc]
        pub fn $function(text: &str) -> Result<$type, UnknownName> {
            let named = |name: &str| $type::ALL.iter().copied().find(|v| v.name() == name);
            named(text.trim()).ok_or_else(|| unknown($what, text, $type::ALL.iter().map(|v| v.name())))
        }
    )*};
}

impl Filter {
    read! {
        version, Version, "version of TLS", "Reads a version.";
        exchange, Exchange, "key exchange", "Reads a key exchange.";
        certificate, Certificate, "certificate", "Reads a kind of certificate.";
        kind, Kind, "kind of handshake", "Reads a kind of handshake.";
        suite, Suite, "suite", "Reads a suite.";
        scheme, Scheme, "primitive", "Reads what a primitive is done with.";
        operation, Operation, "operation", "Reads what is done.";
    }

    fn keeps(&self, case: &Case) -> bool {
        fn is_in<T: PartialEq>(asked: &[T], value: &T) -> bool {
            asked.is_empty() || asked.contains(value)
        }
        is_in(&self.versions, &case.version)
            && is_in(&self.exchanges, &case.exchange)
            && is_in(&self.certificates, &case.certificate)
            && is_in(&self.kinds, &case.kind)
            && self.client_auth.is_none_or(|asked| asked == case.client_auth)
    }

    /// Whether something was named that the matrix leaves out, so that all that exists is meant.
    fn is_particular(&self) -> bool {
        !self.exchanges.is_empty() && (!self.certificates.is_empty() || !self.kinds.is_empty())
    }
}

fn unknown<'a>(
    what: &'static str,
    text: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> UnknownName {
    UnknownName {
        what,
        text: text.to_owned(),
        nearest: base::model::nearest(text, names.clone()),
        all: names.collect::<Vec<_>>().join(", "),
    }
}

impl Case {
    /// With AES-128-GCM, which every stack has, and a client that does not prove itself.
    pub fn usual(
        version: Version,
        exchange: Exchange,
        certificate: Certificate,
        kind: Kind,
    ) -> Self {
        let suite = Suite::Aes128Gcm;
        Self { version, exchange, certificate, kind, client_auth: false, suite }
    }
}

/// The cases that a filter keeps.
///
/// Without one, the matrix: every key exchange with every certificate in full handshakes, and what
/// hangs on neither, or on one of them only, once or twice: resumption (where the certificate plays no
/// part), a second hello, a client that proves itself. A key exchange that is named together with
/// certificates or kinds is not thinned out like that.
pub fn matrix(filter: &Filter) -> Vec<Case> {
    let suites: &[Suite] =
        if filter.suites.is_empty() { &[Suite::Aes128Gcm] } else { &filter.suites };
    let mut cases = Vec::new();
    for suite in suites {
        for case in all_of(*suite) {
            if filter.keeps(&case) && (filter.is_particular() || is_in_matrix(&case)) {
                cases.push(case);
            }
        }
    }
    cases
}

/// Everything that exists with a suite, in the order of tables.
fn all_of(suite: Suite) -> impl Iterator<Item = Case> {
    let kinds = Kind::ALL.iter().flat_map(|kind| [(*kind, false), (*kind, true)]);
    let shapes = Version::ALL.iter().rev().flat_map(move |version| {
        kinds.clone().map(move |(kind, client_auth)| (*version, kind, client_auth))
    });
    let keys = Exchange::ALL
        .iter()
        .rev()
        .flat_map(|exchange| Certificate::ALL.iter().map(move |c| (*exchange, *c)));
    shapes
        .flat_map(move |(version, kind, client_auth)| {
            keys.clone().map(move |(exchange, certificate)| Case {
                version,
                exchange,
                certificate,
                kind,
                client_auth,
                suite,
            })
        })
        .filter(Case::exists)
}

/// What is measured of each case: at the temperatures that were asked for, or, where none was, hot, and cold as
/// well where servers meet it daily.
pub fn rows(cases: &[Case], asked: &[Temperature]) -> Vec<(Case, Temperature)> {
    let of_all = |temperature: &Temperature| {
        let temperature = *temperature;
        cases.iter().map(move |case| (*case, temperature))
    };
    if !asked.is_empty() {
        return asked.iter().flat_map(of_all).collect();
    }
    let cold = of_all(&Temperature::Cold).filter(|(case, _)| is_usual(case));
    of_all(&Temperature::Hot).chain(cold).collect()
}

/// The groups and certificates that most connections have. What cold adds depends little on them, and nothing
/// takes as long to measure.
fn is_usual(case: &Case) -> bool {
    let Case { exchange, certificate, client_auth, .. } = *case;
    let group = matches!(exchange, Exchange::X25519 | Exchange::P256 | Exchange::X25519Mlkem768);
    group && !client_auth && matches!(certificate, Certificate::Rsa2048 | Certificate::P256)
}

fn is_in_matrix(case: &Case) -> bool {
    let Case { version, exchange, certificate, kind, client_auth, .. } = *case;
    let usual = matches!(certificate, Certificate::Rsa2048 | Certificate::P256);
    match (kind, client_auth) {
        // Every stack with ML-DSA has ML-KEM: other groups would say nothing new.
        (Kind::Full, false) if certificate.is_post_quantum() => {
            exchange == Exchange::X25519Mlkem768
        }
        // Finite fields are negotiated in TLS 1.3 by hardly anybody, and their cost is that of 1.2.
        (Kind::Full, false) => version == Version::Tls12 || !exchange.is_finite_field(),
        (Kind::Full, true) => exchange == Exchange::X25519 && usual,
        (Kind::HelloRetry, false) => exchange == Exchange::P256 && usual,
        (Kind::ResumedPsk, false) => {
            certificate == Certificate::P256
                && matches!(exchange, Exchange::X25519 | Exchange::P256 | Exchange::X25519Mlkem768)
        }
        (Kind::ResumedId | Kind::ResumedTicket, false) => {
            exchange == Exchange::X25519 && certificate == Certificate::P256
        }
        _ => false,
    }
}

/// Take samples of one case, or of records of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    pub subject: Subject,
    /// What lies between two steps of a handshake; records are always hot.
    pub temperature: Temperature,
    pub samples: u32,
    /// Handshakes in a sample; null lets the worker find how many fill one, as it does with records.
    pub ops: Option<u32>,
    /// Microseconds for which the subject runs untimed before the first sample, at least.
    #[serde(default, skip_serializing_if = "base::model::is_default")]
    pub settle_us: u32,
}

/// What a process found before its first sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    Handshake(Facts),
    Records(RecordFacts),
    Primitive(PrimitiveFacts),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveFacts {
    pub checks: Vec<String>,
}

/// What a process found of records of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordFacts {
    pub negotiated: Negotiated,
    /// Bytes of a record on the wire beside its data.
    pub overhead_bytes: u32,
}

/// What a process found of a case before its first sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub negotiated: Negotiated,
    /// What the server picks by itself; null where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset: Option<Unset>,
    /// The server's first handshake of the case in this process, in ticks.
    pub first_server_ticks: u64,
    pub first_client_ticks: u64,
    /// Whether it was the first handshake of the process altogether.
    pub first_of_process: bool,
    /// Bytes that the client sends.
    pub client_bytes: u64,
    /// Bytes that the server sends, its tickets with them.
    pub server_bytes: u64,
    /// Bytes of heap that the server holds for an open connection; null where the C library does not say.
    pub server_memory: Option<i64>,
    /// Bytes that the client holds.
    pub client_memory: Option<i64>,
}

// One sample of handshakes, records or operations, with two ends.

/// Some handshakes, or some records, in a row. What the probes and the kernel said holds for both ends, which take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HandshakeSample {
    #[serde(flatten)]
    pub server: RawSample,
    /// The client's.
    pub other: OtherEnd,
}

/// Core cycles of both ends from which on a sample is a long one: half a millisecond or so.
const LONG_CYCLES: f64 = 1e6;

/// How far the core's clock may move within a long sample. Neighbours in a hypervisor move it by 5 % at a
/// time, and some milliseconds hardly pass without (docs/TLS.md): the tight bound of short samples would leave
/// nothing. Cycles by the mean of both readings are then off by half of that at the most, to either
/// side, which the interval over processes has in it.
const LONG_MOVED: f64 = 0.10;

impl HandshakeSample {
    /// The server's part, as a sample to be judged and summed up.
    pub fn server_sample(&self) -> RawSample {
        self.part(self.server.ticks)
    }

    pub fn client_sample(&self) -> RawSample {
        self.part(self.other.ticks)
    }

    fn part(&self, ticks: u64) -> RawSample {
        let whole = self.server;
        let clock = whole.clock();
        let is_long = (whole.ticks + self.other.ticks) as f64 * clock > LONG_CYCLES;
        let moved = (whole.clock_after / whole.clock_before - 1.0).abs();
        if is_long && moved <= LONG_MOVED {
            RawSample { ticks, clock_before: clock, clock_after: clock, ..whole }
        } else {
            RawSample { ticks, ..whole }
        }
    }
}

/// The row with what samples of both ends come to. What disturbs one end's part disturbs the other's, so that the same
/// ones count.
pub fn measured(
    row: Row,
    samples: &[HandshakeSample],
    quiet: &QuietRates,
    ticks_per_ns: f64,
) -> Option<Row> {
    let servers: Vec<RawSample> = samples.iter().map(HandshakeSample::server_sample).collect();
    let clients: Vec<RawSample> = samples.iter().map(HandshakeSample::client_sample).collect();
    let (of_server, counted) = Estimator::TrimmedMean.best(&servers, quiet)?;
    let (of_client, _) = Estimator::TrimmedMean.best(&clients, quiet)?;
    let contended = counted == Counted::Contended;
    let none = QuietRates::default();
    let quiet = if contended { &none } else { quiet };
    let is_clean =
        |s: &&HandshakeSample| s.server_sample().disturbance(quiet.of(s.server.cpu)).is_none();
    let clean: Vec<&HandshakeSample> = samples.iter().filter(is_clean).collect();
    let operations: u64 = clean.iter().map(|s| u64::from(s.server.ops)).sum();
    let cost = |summary: &Summary, ticks: &dyn Fn(&HandshakeSample) -> (u64, u64)| {
        let ns = |ticks: f64| ticks / ticks_per_ns;
        let sum = |part: &dyn Fn(&HandshakeSample) -> u64| {
            clean.iter().map(|s| part(s)).sum::<u64>() as f64 / operations as f64
        };
        let each = |s: &&HandshakeSample| ticks(s).0 as f64 / f64::from(s.server.ops.max(1));
        Cost {
            median_ns: ns(summary.ticks_per_op.median),
            low_ns: ns(summary.ticks_per_op.low),
            high_ns: ns(summary.ticks_per_op.high),
            mean_ns: ns(sum(&|s| ticks(s).0)),
            max_ns: ns(clean.iter().map(each).fold(0.0, f64::max)),
            setup_ns: ns(sum(&|s| ticks(s).1)),
            cycles: summary.cycles_per_op,
        }
    };
    let mut disturbed = Disturbances::default();
    of_server.disturbed.iter().for_each(|(why, n)| disturbed.add(*why, *n as u64));
    let server = cost(&of_server, &|s| (s.server.ticks, s.other.own_setup_ticks));
    let client = cost(&of_client, &|s| (s.other.ticks, s.other.setup_ticks));
    Some(Row {
        state: State::Measured,
        costs: Some([server, client]),
        samples: clean.len() as u64,
        operations,
        processes: of_server.processes as u64,
        disturbed,
        contended,
        ..row
    })
}

/// Every sample of both ends, with whether it counts, the contended ones too or not.
pub fn both_ends(samples: &[HandshakeSample], quiet: &QuietRates, contended: bool) -> [Samples; 2] {
    let none = QuietRates::default();
    let quiet = if contended { &none } else { quiet };
    let mut both = [Samples::default(), Samples::default()];
    for sample in samples {
        let ends = [sample.server_sample(), sample.client_sample()];
        let counts = ends[0].disturbance(quiet.of(ends[0].cpu)).is_none();
        both.iter_mut().zip(ends).for_each(|(end, sample)| end.push(&sample, counts));
    }
    both
}

impl First {
    /// The median over processes; `None` of none.
    pub fn of(facts: &[Facts], ticks_per_ns: f64) -> Option<Self> {
        let middle = |ticks: &dyn Fn(&Facts) -> u64| {
            let mut all: Vec<f64> = facts.iter().map(|f| ticks(f) as f64 / ticks_per_ns).collect();
            median(&mut all)
        };
        Some(Self {
            server_ns: middle(&|f| f.first_server_ticks)?,
            client_ns: middle(&|f| f.first_client_ticks)?,
        })
    }
}

impl Bytes {
    /// The most that a process saw: an ECDSA signature is a byte or two shorter now and then.
    pub fn of(facts: &[Facts]) -> Option<Self> {
        let client = facts.iter().map(|f| f.client_bytes).max()?;
        let server = facts.iter().map(|f| f.server_bytes).max()?;
        Some(Self { client, server })
    }
}

impl Memory {
    /// The median over processes.
    pub fn of(facts: &[Facts]) -> Option<Self> {
        let middle = |bytes: &dyn Fn(&Facts) -> Option<i64>| {
            let mut all: Vec<f64> = facts.iter().filter_map(bytes).map(|b| b as f64).collect();
            median(&mut all).map(|b| b.round() as i64)
        };
        let memory =
            Self { server: middle(&|f| f.server_memory), client: middle(&|f| f.client_memory) };
        (memory.server.is_some() || memory.client.is_some()).then_some(memory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::Disturbance;
    use base::text::fixtures::says;
    use std::collections::BTreeSet;

    #[test]
    fn both_versions_have_their_suites_and_all_ciphers_have_a_name() {
        let all = Protection::all(&[], &[]);
        let of = |version| all.iter().filter(|p| p.version == version).count();
        assert_eq!((of(Version::Tls13), of(Version::Tls12)), (4, Suite::ALL.len()));
        for suite in Suite::ALL {
            assert!(base::model::Algorithm::find(suite.cipher()).is_ok(), "{suite}");
        }
        assert_eq!(Suite::Aes256CbcSha384.cipher(), "aes-256-cbc");
        assert!(Suite::Aes128Ccm.is_aead() && !Suite::Aes128CbcSha1.is_aead());
    }

    #[test]
    fn what_is_named_is_kept_as_far_as_it_exists() {
        let kept = Protection::all(&[Version::Tls13], &[Suite::Aes128CbcSha1, Suite::Aes256Gcm]);
        assert_eq!(
            kept.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["TLS 1.3 aes-256-gcm"]
        );
    }

    #[test]
    fn the_matrix_has_each_part_and_nothing_twice() {
        let cases = matrix(&Filter::default());
        let once: BTreeSet<&Case> = cases.iter().collect();
        assert_eq!(once.len(), cases.len());
        for exchange in Exchange::ALL {
            assert!(cases.iter().any(|c| c.exchange == *exchange), "{exchange}");
        }
        for certificate in Certificate::ALL {
            assert!(cases.iter().any(|c| c.certificate == *certificate), "{certificate}");
        }
        for kind in Kind::ALL {
            assert!(cases.iter().any(|c| c.kind == *kind), "{kind}");
        }
        assert!(cases.iter().any(|c| c.client_auth));
        assert!(cases.iter().all(Case::exists));
        assert!((60..80).contains(&cases.len()), "{}", cases.len());
    }

    #[test]
    fn cold_stands_beside_what_servers_meet_daily_unless_temperatures_are_named() {
        let cases = matrix(&Filter::default());
        let of = |rows: &[(Case, Temperature)], wanted| {
            rows.iter().filter(|(_, t)| *t == wanted).map(|(case, _)| *case).collect::<Vec<_>>()
        };
        let all = rows(&cases, &[]);
        assert_eq!(of(&all, Temperature::Hot), cases);
        let cold = of(&all, Temperature::Cold);
        assert!((10..25).contains(&cold.len()), "{}", cold.len());
        for kind in Kind::ALL {
            assert!(cold.iter().any(|case| case.kind == *kind), "{kind}");
        }
        let named = rows(&cases, &[Temperature::Idle, Temperature::Cold]);
        assert_eq!(
            (of(&named, Temperature::Idle), of(&named, Temperature::Cold)),
            (cases.clone(), cases)
        );
    }

    #[test]
    fn what_is_named_in_full_is_had_though_the_matrix_leaves_it_out() {
        let filter = Filter {
            versions: vec![Version::Tls13],
            exchanges: vec![Exchange::Ffdhe2048],
            certificates: vec![Certificate::Rsa2048],
            kinds: vec![Kind::Full],
            client_auth: Some(false),
            ..Filter::default()
        };
        let cases = matrix(&filter);
        assert_eq!(cases.len(), 1, "{cases:?}");
        assert_eq!(cases[0].to_string(), "1.3 ffdhe2048 rsa-2048 full");
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_right_one() {
        let error = Filter::exchange("x25591").unwrap_err().to_string();
        says(&error, ["did you mean 'x25519'?", "own-dh-2048"]);
        assert_eq!(Filter::suite("aes-256-gcm"), Ok(Suite::Aes256Gcm));
    }

    fn moved(server: u64, client: u64, by: f64) -> HandshakeSample {
        let server = RawSample {
            ops: 1,
            ticks: server,
            clock_before: 1.0,
            clock_after: 1.0 + by,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        HandshakeSample { server, other: OtherEnd { ticks: client, ..OtherEnd::default() } }
    }

    #[test]
    fn a_clock_that_moves_a_little_disturbs_short_samples_and_not_long_ones() {
        let judged = |s: HandshakeSample| {
            [s.server_sample().disturbance(5.0), s.client_sample().disturbance(5.0)]
        };
        assert_eq!(judged(moved(90_000, 90_000, 0.05)), [Some(Disturbance::ClockMoved); 2]);
        assert_eq!(judged(moved(90_000, 990_000, 0.05)), [None; 2]);
        assert_eq!(judged(moved(90_000, 990_000, 0.15)), [Some(Disturbance::ClockMoved); 2]);
    }

    #[test]
    fn the_parts_share_all_but_the_ticks() {
        let sample = moved(10, 7, 0.01);
        assert_eq!(sample.server_sample(), sample.server);
        assert_eq!(sample.client_sample(), RawSample { ticks: 7, ..sample.server });
    }

    #[test]
    fn a_long_sample_has_the_cycles_that_the_mean_of_both_readings_gives() {
        let sample = moved(1_000_000, 2_000_000, 0.08);
        assert!((sample.server_sample().cycles_per_op() - 1_040_000.0).abs() < 1e-3);
        assert!((sample.client_sample().cycles_per_op() - 2_080_000.0).abs() < 1e-3);
    }

    fn sample(process: u32, server: u64, client: u64) -> HandshakeSample {
        let raw = RawSample {
            process,
            ops: 2,
            ticks: server,
            clock_before: 1.0,
            clock_after: 1.0,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        let other = OtherEnd { ticks: client, setup_ticks: 10, own_setup_ticks: 20 };
        HandshakeSample { server: raw, other }
    }

    fn measured(samples: &[HandshakeSample]) -> Row {
        let case = Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full);
        let row = fixtures::handshake("some@1.0", case, None);
        super::measured(row, samples, &QuietRates::of_one(0, 5.0), 2.0).unwrap()
    }

    #[test]
    fn ends_are_told_apart_and_the_mean_is_over_all_handshakes() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        samples.push(sample(0, 8000, 1000));
        let found = measured(&samples);
        let [server, client] = found.costs.unwrap();
        assert!((server.median_ns - 500.0).abs() < 1e-9);
        assert!((client.median_ns - 250.0).abs() < 1e-9);
        // 30 samples of 500 ns and one of 2000.
        assert!((server.mean_ns - (30.0 * 500.0 + 2000.0) / 31.0).abs() < 1e-9);
        assert!((server.max_ns - 2000.0).abs() < 1e-9);
        assert!((server.setup_ns - 5.0).abs() < 1e-9);
        assert_eq!((found.samples, found.operations, found.processes), (31, 62, 6));
    }

    #[test]
    fn where_quiet_samples_are_too_few_the_contended_ones_count_and_it_is_said() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        samples.iter_mut().for_each(|s| s.server.probe_after = 1.0);
        let found = measured(&samples);
        assert!(found.contended && found.samples == 30, "{found:?}");
        samples.iter_mut().for_each(|s| s.server.probe_after = 5.0);
        assert!(!measured(&samples).contended);
    }

    #[test]
    fn disturbed_samples_count_for_neither_end() {
        let mut samples: Vec<_> = (0..6).flat_map(|p| vec![sample(p, 2000, 1000); 5]).collect();
        let mut busy = sample(0, 90_000, 90_000);
        busy.server.probe_after = 1.0;
        samples.push(busy);
        let found = measured(&samples);
        assert!((found.cost().unwrap().mean_ns - 500.0).abs() < 1e-9);
        assert_eq!((found.samples, found.disturbed.contended), (30, 1));
    }
}
