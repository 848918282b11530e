//! TLS in words, plans and figures: which handshakes and records there are to measure, what the bytes
//! on the wire say was negotiated, and what the samples come to. Pure: no I/O, no clock, no unsafe code.

mod conversion;
mod document;
#[doc(hidden)]
pub mod fixtures;
mod negotiation;
mod tables;
mod visit;
mod words;

pub use conversion::{TlsFile, from_json, from_record, into_record, read};
pub use document::{
    Bare, BareCost, Bytes, Cost, Document, First, FittedLine, Handshake, Memory, Named,
    PRIMITIVES_SPAN, Plan, PrimitiveRow, PrimitivesDocument, RECORDS_SPAN, RecordLines, RecordRow,
    RecordsDocument, Row, Run, SPAN, Stack, beside, record_lines,
};
pub use negotiation::{
    EndSays, Mismatch, Negotiated, Seen, Unreadable, Unset, data_records, last_data_record,
    negotiated, read_wire,
};
use serde::{Deserialize, Serialize};
pub use tables::{Format, Rendered, markdown, table};
pub use visit::{
    Facts, Found, HandshakeSample, Measured, PrimitiveFacts, RecordFacts, StackHello, Visit,
    both_ends, measured,
};
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
    #[must_use]
    pub fn code(&self) -> Option<SuiteCode> {
        self.suite.code(self.version, self.exchange, self.certificate)
    }

    /// Whether the protocol has it at all, whatever a stack offers.
    #[must_use]
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
    /// Handshakes.
    Handshake(Case),
    /// Records of application data over one open connection: the server sends, the client receives.
    Records {
        /// What protects them.
        protection: Protection,
        /// Bytes of data in each.
        size: u32,
    },
    /// One of the operations under a handshake: whole in the server's place, the library's call alone in
    /// the client's.
    Primitive(Primitive),
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
    #[must_use]
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
    #[must_use]
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
    #[must_use]
    pub fn cipher(self) -> &'static str {
        let name = self.name();
        name.split_once('+').map_or(name, |(cipher, _)| cipher)
    }

    /// Whether the cipher authenticates as well.
    #[must_use]
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
    /// Versions.
    pub versions: Vec<Version>,
    /// Key exchanges.
    pub exchanges: Vec<Exchange>,
    /// Certificates.
    pub certificates: Vec<Certificate>,
    /// Kinds.
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
        ///
        /// # Errors
        /// [`UnknownName`] says which there are.
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
    #[must_use]
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
#[must_use]
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
#[must_use]
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

#[cfg(test)]
mod tests {
    use super::*;
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
        assert!(
            error.contains("did you mean 'x25519'?") && error.contains("own-dh-2048"),
            "{error}"
        );
        assert_eq!(Filter::suite("aes-256-gcm"), Ok(Suite::Aes256Gcm));
    }
}
