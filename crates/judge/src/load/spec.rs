//! What a server is asked to do: traffic, resumption, its own settings, its clients, in a small TOML file;
//! and the words of load: regimes, servers, units, each with its name. The cipher suites that such settings
//! name: those that a server with a certificate of RSA or ECDSA can negotiate in TLS 1.2, in OpenSSL's
//! order, and cipher strings over them as OpenSSL reads them (its manual page ciphers(1)).

use record::named;
use record::tls::{Case, Certificate, Exchange, Kind, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A whole specification.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Rates and sizes.
    pub traffic: Traffic,
    /// Sessions that are used again.
    pub resumption: Resumption,
    /// The server's own settings.
    pub server: Settings,
    /// Who connects. Where none is named: `browser`, all of them.
    pub clients: Vec<ClientShare>,
}

/// Rates and sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Traffic {
    /// New connections per second that succeed, 1 where nothing is said.
    pub connections_per_s: f64,
    /// Requests over each of them, the first one counted; 1 where nothing is said.
    pub requests_per_connection: f64,
    /// Bytes of a request with its headers, 500 where nothing is said.
    pub request_bytes: u32,
    /// Bodies of responses: sizes and their shares. One of 1,024 bytes where nothing is said.
    pub responses: Vec<Response>,
    /// Version of HTTP, 1.1 where nothing is said.
    pub http: Http,
    /// Connections that a visitor's browser opens side by side; 1 where nothing is said. With HTTP/1.1 it
    /// may be six, with HTTP/2 it is one: `--explain` needs it to tell what HTTP/2 saves.
    pub connections_per_visit: f64,
    /// How long a connection stays open, in seconds; 5 where nothing is said. It costs memory, not CPU.
    pub connection_seconds: f64,
    /// Connections per second that the server refuses at the first message (scanners, clients without a
    /// common version or suite); they come on top of `connections_per_s`.
    pub refused_per_s: f64,
    /// Connections per second that the client ends after the server's flight (it does not trust the chain):
    /// they pay a full handshake and bring no request.
    pub abandoned_per_s: f64,
}

/// Responses of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// Bytes of the body.
    pub bytes: u64,
    /// Share among all responses, 0 to 1.
    pub share: f64,
}

/// Sessions that are used again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Resumption {
    /// Share of connections that resume, 0 to 1; 0 where nothing is said.
    pub share: f64,
    /// How those of TLS 1.2 do: `resumed-ticket` (where nothing is said) or `resumed-id`. Those of TLS 1.3 are
    /// always `resumed-psk`.
    pub tls12: Kind,
}

/// The server's own settings. What is given here goes before the profile's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether it speaks TLS at all; it does where nothing is said.
    pub tls: bool,
    /// How close connections follow one another; where nothing is said, what the load itself amounts to.
    pub regime: Option<Regime>,
    /// Mozilla's configuration to begin with.
    pub profile: Option<Profile>,
    /// Versions; 1.2 and 1.3 where nothing is said.
    pub versions: Option<Vec<Version>>,
    /// Cipher string of TLS 1.2, as OpenSSL's ciphers(1) has it; `DEFAULT` where nothing is said.
    pub ciphers: Option<String>,
    /// Suites of TLS 1.3, by colons; OpenSSL's own where nothing is said.
    pub ciphersuites: Option<String>,
    /// Groups by colons, as OpenSSL calls them, with `/` between its tuples. Where nothing is said, what the calibrated
    /// stack has unset: `X25519:P-256:P-384`, from OpenSSL 3.5 on `X25519MLKEM768/X25519:P-256/P-384`.
    pub groups: Option<String>,
    /// Whether the server's order of suites counts; the client's does where nothing is said.
    pub prefer_server_ciphers: Option<bool>,
    /// The finite field of DHE in TLS 1.2: `ffdhe2048`, `ffdhe4096`, `own-dh-2048`. Where there is none, no
    /// suite with DHE is negotiated, as with nginx without `ssl_dhparam`.
    pub dh: Option<Exchange>,
    /// Certificates, one or two (ECDSA beside RSA); `rsa-2048` where none is named.
    pub certificates: Vec<Certificate>,
    /// Bytes of the chain on the wire; where nothing is said, that of the calibration: a leaf and an
    /// intermediate.
    pub chain_bytes: Option<u32>,
    /// Tickets after a full handshake of TLS 1.3; where nothing is said, as the stack does it.
    pub tickets: Option<u8>,
    /// Most bytes of data in a record (nginx: `ssl_buffer_size`), 16,384 where nothing is said.
    pub record_bytes: u32,
    /// Whether the server uses `sendfile` where it can, which is without TLS; it does where nothing is said.
    pub sendfile: bool,
    /// Whether the CPU has AES instructions and the library uses them; yes where nothing is said.
    pub aes_hardware: bool,
    /// Share of full handshakes in which the client proves itself too, 0 to 1.
    pub client_auth_share: f64,
    /// Memory for connections in MiB, which bounds how many can be open.
    pub memory_mib: Option<f64>,
}

/// Clients of a class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientShare {
    /// Name of a known class, or of one's own, which then has all of the fields below.
    pub class: String,
    /// Share among all connections, 0 to 1.
    pub share: f64,
    /// Share of its connections that resume, where it differs from the rest.
    #[serde(default)]
    pub resumed_share: Option<f64>,
    /// Versions that it offers.
    #[serde(default)]
    pub versions: Option<Vec<Version>>,
    /// Suites of TLS 1.2 that it offers, a cipher string.
    #[serde(default)]
    pub ciphers: Option<String>,
    /// Suites of TLS 1.3 that it offers, by colons.
    #[serde(default)]
    pub ciphersuites: Option<String>,
    /// Groups that it offers, by colons.
    #[serde(default)]
    pub groups: Option<String>,
    /// Those that its first message has key shares of (TLS 1.3), by colons; the first of its groups where
    /// nothing is said.
    #[serde(default)]
    pub key_shares: Option<String>,
}

impl Default for Traffic {
    fn default() -> Self {
        Self {
            connections_per_s: 1.0,
            requests_per_connection: 1.0,
            request_bytes: 500,
            responses: vec![Response { bytes: 1024, share: 1.0 }],
            http: Http::Http1,
            connections_per_visit: 1.0,
            connection_seconds: 5.0,
            refused_per_s: 0.0,
            abandoned_per_s: 0.0,
        }
    }
}

impl Default for Resumption {
    fn default() -> Self {
        Self { share: 0.0, tls12: Kind::ResumedTicket }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            tls: true,
            regime: None,
            profile: None,
            versions: None,
            ciphers: None,
            ciphersuites: None,
            groups: None,
            prefer_server_ciphers: None,
            dh: None,
            certificates: vec![Certificate::Rsa2048],
            chain_bytes: None,
            tickets: None,
            record_bytes: 16_384,
            sendfile: true,
            aes_hardware: true,
            client_auth_share: 0.0,
            memory_mib: None,
        }
    }
}

impl ClientShare {
    pub fn of(class: &str, share: f64) -> Self {
        Self { class: class.to_owned(), share, ..Self::default() }
    }
}

/// More a second than any server has: a slip of the pen.
const MOST: f64 = 1e9;

impl Spec {
    pub fn parse(text: &str) -> Result<Self, String> {
        let spec: Self = base::text::from_toml(text).map_err(|e| e.to_string())?;
        spec.check()?;
        Ok(spec)
    }

    /// Checks what types cannot say.
    pub fn check(&self) -> Result<(), String> {
        let Self { traffic, resumption, server, clients } = self;
        let wrong = |what: String| Err(what);
        let rate = |name, value| (name, value, 0.0..=MOST, "0 and 1e9");
        let count = |name, value| (name, value, 1.0..=MOST, "1 and 1e9");
        let share = |name, value| (name, value, 0.0..=1.0, "0 and 1");
        let resumed = clients.iter().filter_map(|c| c.resumed_share);
        let fields = [
            rate("traffic.connections_per_s", traffic.connections_per_s),
            rate("traffic.refused_per_s", traffic.refused_per_s),
            rate("traffic.abandoned_per_s", traffic.abandoned_per_s),
            rate("traffic.connection_seconds", traffic.connection_seconds),
            rate("server.memory_mib", server.memory_mib.unwrap_or(0.0)),
            count("traffic.requests_per_connection", traffic.requests_per_connection),
            count("traffic.connections_per_visit", traffic.connections_per_visit),
            share("resumption.share", resumption.share),
            share("server.client_auth_share", server.client_auth_share),
        ]
        .into_iter()
        .chain(resumed.map(|value| share("clients.resumed_share", value)))
        .chain(traffic.responses.iter().map(|r| share("traffic.responses.share", r.share)))
        .chain(clients.iter().map(|c| share("clients.share", c.share)));
        for (name, value, range, words) in fields {
            if !range.contains(&value) {
                return wrong(format!("{name} is {value}, and must lie between {words}"));
            }
        }
        all_of_them("traffic.responses", traffic.responses.iter().map(|r| r.share))?;
        if !clients.is_empty() {
            all_of_them("clients", clients.iter().map(|c| c.share))?;
        }
        if !matches!(resumption.tls12, Kind::ResumedTicket | Kind::ResumedId) {
            let kind = resumption.tls12;
            return wrong(format!(
                "resumption.tls12 is '{kind}', and must be 'resumed-ticket' or 'resumed-id'"
            ));
        }
        if let Some(dh) = server.dh.filter(|dh| !dh.is_finite_field()) {
            return wrong(format!("server.dh is '{dh}', which is no finite field"));
        }
        if server.certificates.is_empty() {
            return wrong("server.certificates names none".to_owned());
        }
        let record = server.record_bytes;
        if !(512..=16_384).contains(&record) {
            return wrong(format!(
                "server.record_bytes is {record}, and must lie between 512 and 16384"
            ));
        }
        Ok(())
    }
}

fn all_of_them(name: &str, shares: impl Iterator<Item = f64>) -> Result<(), String> {
    let sum: f64 = shares.sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(format!("the shares of {name} come to {sum}, and must come to 1"));
    }
    Ok(())
}

named! {
    /// How close connections follow one another. It changes what each costs: a core that has slept, and
    /// caches that hold other data, make everything dearer; system calls that serve several connections
    /// at once make it cheaper.
    Regime {
        /// One connection every 5 ms, the server asleep in between.
        Low = "low",
        /// One connection at a time, back to back.
        Steady = "steady",
        /// Twenty connections at a time: the server never sleeps.
        Saturated = "saturated",
    }
}

named! {
    /// The server that a point was measured on.
    Role {
        /// The real one (nginx) without TLS.
        RealPlain = "real-plain",
        /// A minimal one of our own without TLS.
        MinimalPlain = "minimal-plain",
        /// The same with TLS.
        MinimalTls = "minimal-tls",
        /// The real one with TLS: the two configurations that its own code for TLS is calibrated with, a full
        /// handshake and a resumption. Points that the model is judged by are never of a calibration.
        RealTls = "real-tls",
    }
}

named! {
    /// What a point's CPU time is divided by.
    Unit {
        /// A connection with exactly one request: from before it is made until after it is closed.
        Connection = "connection",
        /// One more request over a connection that is open; making and closing lie outside.
        Request = "request",
    }
}

named! {
    /// Version of HTTP.
    Http {
        /// RFC 9112.
        Http1 = "1.1",
        /// RFC 9113.
        Http2 = "2",
    }
}

named! {
    /// Mozilla's recommended configurations (Server Side TLS).
    Profile {
        /// TLS 1.3 only.
        Modern = "modern",
        /// TLS 1.2 and 1.3.
        Intermediate = "intermediate",
        /// For very old clients.
        Old = "old",
        /// What `intermediate` was in 2016.
        Intermediate2016 = "intermediate-2016",
    }
}

/// What a connection does besides moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// No TLS.
    Plain,
    /// A handshake that succeeds; of requests: what was negotiated before them.
    Handshake {
        /// What was negotiated.
        case: Case,
        /// Tickets that the server gives after a full handshake of TLS 1.3; null as the stack does it.
        tickets: Option<u8>,
    },
    /// The server refuses the client's first message (no common version or suite), no request follows.
    RefusedHello,
    /// The client ends it after the server's flight (a chain that it does not trust), no request follows.
    Abandoned {
        /// What would have been negotiated.
        case: Case,
    },
}

impl Work {
    pub fn case(&self) -> Option<Case> {
        match self {
            Self::Handshake { case, .. } | Self::Abandoned { case } => Some(*case),
            Self::Plain | Self::RefusedHello => None,
        }
    }
}

/// A suite of TLS 1.2 by OpenSSL's name, which says all else of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Suite12(pub(crate) &'static str);

impl Suite12 {
    fn all() -> impl Iterator<Item = Self> {
        SUITES_12.iter().copied().map(Self)
    }

    pub(crate) fn has(self, part: &str) -> bool {
        self.0.contains(part)
    }

    pub(crate) fn is_ecdhe(self) -> bool {
        self.0.starts_with("ECDHE-")
    }

    pub(crate) fn is_dhe(self) -> bool {
        self.0.starts_with("DHE-")
    }

    fn is_default(self) -> bool {
        self.has("CHACHA20") || self.has("AES") && !self.has("CCM")
    }

    fn is_aead(self) -> bool {
        ["GCM", "CCM", "CHACHA20"].into_iter().any(|mode| self.has(mode))
    }

    /// Whether its records carry an HMAC with this hash.
    pub(crate) fn has_mac(self, hash: &str) -> bool {
        !self.is_aead() && self.0.rsplit('-').next() == Some(hash)
    }
}

#[rustfmt::skip]
const SUITES_12: &[&str] = &[
    "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "DHE-RSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305", "DHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES256-CCM8", "ECDHE-ECDSA-AES256-CCM", "DHE-RSA-AES256-CCM8", "DHE-RSA-AES256-CCM",
    "ECDHE-ECDSA-ARIA256-GCM-SHA384", "ECDHE-ARIA256-GCM-SHA384", "DHE-RSA-ARIA256-GCM-SHA384",
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "DHE-RSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES128-CCM8", "ECDHE-ECDSA-AES128-CCM", "DHE-RSA-AES128-CCM8", "DHE-RSA-AES128-CCM",
    "ECDHE-ECDSA-ARIA128-GCM-SHA256", "ECDHE-ARIA128-GCM-SHA256", "DHE-RSA-ARIA128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES256-SHA384", "DHE-RSA-AES256-SHA256",
    "ECDHE-ECDSA-CAMELLIA256-SHA384", "ECDHE-RSA-CAMELLIA256-SHA384", "DHE-RSA-CAMELLIA256-SHA256",
    "ECDHE-ECDSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA256", "DHE-RSA-AES128-SHA256",
    "ECDHE-ECDSA-CAMELLIA128-SHA256", "ECDHE-RSA-CAMELLIA128-SHA256", "DHE-RSA-CAMELLIA128-SHA256",
    "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA", "DHE-RSA-AES256-SHA", "DHE-RSA-CAMELLIA256-SHA",
    "ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "DHE-RSA-AES128-SHA", "DHE-RSA-CAMELLIA128-SHA",
    "AES256-GCM-SHA384", "AES256-CCM8", "AES256-CCM", "ARIA256-GCM-SHA384", "AES128-GCM-SHA256", "AES128-CCM8",
    "AES128-CCM", "ARIA128-GCM-SHA256", "AES256-SHA256", "CAMELLIA256-SHA256", "AES128-SHA256",
    "CAMELLIA128-SHA256", "AES256-SHA", "CAMELLIA256-SHA", "AES128-SHA", "CAMELLIA128-SHA",
];

/// What a cipher string comes to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Expanded {
    pub(crate) suites: Vec<Suite12>,
    /// Words that name nothing that could be negotiated: suites that today's stacks no longer have (3DES, RC4),
    /// those without a certificate, and misspelt ones. OpenSSL passes over them as well.
    pub(crate) passed_over: Vec<String>,
}

pub(crate) fn expand(text: &str) -> Expanded {
    let mut list = List::new();
    let mut passed_over = Vec::new();
    let elements = text.split([':', ' ', ',', ';']).map(str::trim).filter(|e| !e.is_empty());
    for (at, element) in elements.enumerate() {
        if element == "DEFAULT" && at == 0 {
            list.apply(Operation::Add, &Suite12::is_default);
            continue;
        }
        let (element, level) = element.split_once('@').unwrap_or((element, ""));
        if !element.is_empty() && !one(&mut list, element) {
            passed_over.push(element.to_owned());
        }
        match level {
            "STRENGTH" => list.by_strength(),
            // The keys of the calibration are strong enough for each level that is in use.
            level if level.is_empty() || level.starts_with("SECLEVEL=") => {}
            other => passed_over.push(format!("@{other}")),
        }
    }
    Expanded { suites: list.active(), passed_over }
}

/// One element; whether it means anything.
fn one(list: &mut List, element: &str) -> bool {
    let (operation, rest) = match element.as_bytes()[0] {
        b'!' => (Operation::Kill, &element[1..]),
        b'-' => (Operation::Delete, &element[1..]),
        b'+' => (Operation::Last, &element[1..]),
        _ => (Operation::Add, element),
    };
    if let Some(suite) = Suite12::all().find(|s| s.0 == rest) {
        list.apply(operation, &|s| s == suite);
        return true;
    }
    let mut words = Vec::new();
    for word in rest.split('+') {
        let Some(means) = meaning(word) else { return is_absent(word) };
        words.push(means);
    }
    list.apply(operation, &|s| words.iter().all(|means| means(s)));
    true
}

/// Words for what is not in the table: nothing is left to add or to take away.
fn is_absent(word: &str) -> bool {
    const ABSENT: &str = "aNULL eNULL NULL ADH AECDH LOW MEDIUM EXPORT EXP DES 3DES RC4 RC2 IDEA SEED MD5 \
        PSK kPSK aPSK SRP kSRP aSRP DSS aDSS KRB5 GOST kGOST aGOST kRSAPSK kDHEPSK \
        kECDHEPSK COMPLEMENTOFALL aDH aECDH";
    ABSENT.split(' ').any(|absent| absent == word)
}

type Means = fn(Suite12) -> bool;

fn meaning(word: &str) -> Option<Means> {
    Some(match word {
        "ALL" | "HIGH" => |_| true,
        "COMPLEMENTOFDEFAULT" => |s| !s.is_default(),
        "kRSA" | "RSA" => |s| !s.has("DHE"),
        "kDHE" | "kEDH" | "DH" | "DHE" | "EDH" => Suite12::is_dhe,
        "kECDHE" | "kEECDH" | "ECDH" | "ECDHE" | "EECDH" => Suite12::is_ecdhe,
        "aRSA" => |s| !s.has("ECDSA"),
        "aECDSA" | "ECDSA" => |s| s.has("ECDSA"),
        "AES" => |s| s.has("AES"),
        "AES128" => |s| s.has("AES128"),
        "AES256" => |s| s.has("AES256"),
        "AESGCM" => |s| s.has("AES") && s.has("GCM"),
        "AESCCM" => |s| s.has("CCM"),
        "AESCCM8" => |s| s.has("CCM8"),
        "CHACHA20" => |s| s.has("CHACHA20"),
        "ARIA" | "ARIAGCM" => |s| s.has("ARIA"),
        "ARIA128" => |s| s.has("ARIA128"),
        "ARIA256" => |s| s.has("ARIA256"),
        "CAMELLIA" => |s| s.has("CAMELLIA"),
        "CAMELLIA128" => |s| s.has("CAMELLIA128"),
        "CAMELLIA256" => |s| s.has("CAMELLIA256"),
        "CBC" => |s| !s.is_aead(),
        "SHA1" | "SHA" => |s| s.has_mac("SHA"),
        "SHA256" => |s| s.has_mac("SHA256"),
        "SHA384" => |s| s.has_mac("SHA384"),
        // The version that a suite came with.
        "TLSv1.2" => |s| !s.has_mac("SHA"),
        "TLSv1" | "TLSv1.0" => |s| s.has_mac("SHA") && s.is_ecdhe(),
        "SSLv3" => |s| s.has_mac("SHA") && !s.is_ecdhe(),
        _ => return None,
    })
}

#[derive(Clone, Copy)]
enum Operation {
    Add,
    /// `+`: what is there already moves to the end.
    Last,
    /// `-`: it may come back, and then among the first.
    Delete,
    /// `!`: it never comes back.
    Kill,
}

/// All suites in the order that strings work on, with those that were added.
struct List(Vec<(Suite12, bool)>);

impl List {
    fn new() -> Self {
        Self(Suite12::all().map(|s| (s, false)).collect())
    }

    fn apply(&mut self, operation: Operation, matches: &dyn Fn(Suite12) -> bool) {
        let (touched, rest): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|(suite, is_active)| {
            let applies = match operation {
                Operation::Add => !is_active,
                Operation::Last | Operation::Delete => *is_active,
                Operation::Kill => true,
            };
            applies && matches(*suite)
        });
        let marked = |active| touched.iter().map(move |(suite, _)| (*suite, active));
        self.0 = match operation {
            Operation::Add | Operation::Last => rest.into_iter().chain(marked(true)).collect(),
            Operation::Delete => marked(false).chain(rest).collect(),
            Operation::Kill => rest,
        };
    }

    fn by_strength(&mut self) {
        for is_short in [false, true] {
            self.apply(Operation::Last, &|s| s.has("128") == is_short);
        }
    }

    fn active(self) -> Vec<Suite12> {
        self.0.into_iter().filter(|(_, is_active)| *is_active).map(|(suite, _)| suite).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_one_connection_a_second_over_everything_that_is_usual() {
        let spec = Spec::parse("").unwrap();
        assert_eq!(spec, Spec::default());
        assert_eq!(spec.server.certificates, [Certificate::Rsa2048]);
    }

    #[test]
    fn a_misspelt_field_is_named_with_its_line() {
        let error = Spec::parse("[traffic]\nconections_per_s = 3\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("conections_per_s"), "{error}");
    }

    #[test]
    fn what_is_out_of_range_is_quoted() {
        let wrong = [
            ("[traffic]\nconnections_per_s = -1.0", "-1"),
            ("[traffic]\nrequests_per_connection = 0.5", "0.5"),
            ("[resumption]\nshare = 60.0", "60"),
            ("[resumption]\ntls12 = 'resumed-psk'", "resumed-psk"),
            ("[server]\ndh = 'p256'", "p256"),
            ("[server]\nrecord_bytes = 17000", "17000"),
            ("[server]\ncertificates = []", "certificates"),
            ("[[clients]]\nclass = 'browser'\nshare = 0.5", "0.5"),
            ("[traffic]\nresponses = [{ bytes = 1, share = 0.9 }]", "0.9"),
            ("[traffic]\nconnections_per_s = nan", "NaN"),
            ("[traffic]\nconnections_per_s = 1e12", "1e9"),
        ];
        for (text, quoted) in wrong {
            let error = Spec::parse(text).unwrap_err().to_string();
            assert!(error.contains(quoted) && !error.contains('\n'), "{text}: {error}");
        }
    }

    #[test]
    fn a_specification_survives_being_written() {
        let mut spec = Spec::default();
        spec.server.profile = Some(Profile::Intermediate);
        spec.server.dh = Some(Exchange::OwnDh2048);
        spec.server.regime = Some(Regime::Low);
        let text = toml::to_string(&spec).unwrap();
        assert_eq!(Spec::parse(&text).unwrap(), spec);
    }

    fn names(text: &str) -> String {
        let names: Vec<_> = expand(text).suites.iter().map(|s| s.0).collect();
        names.join(":")
    }

    /// What `openssl ciphers -tls1_2 STRING:@SECLEVEL=0` of OpenSSL 3.0.22 says, without the suites that need a
    /// shared key, SRP, a DSA certificate or none.
    #[rustfmt::skip]
    const SAID: &[(&str, &str)] = &[
        ("EECDH+AESGCM:EDH+AESGCM:AES256+EECDH:AES256+EDH", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:DHE-RSA-AES256-SHA256:DHE-RSA-AES256-SHA"),
        ("HIGH:!aNULL:!MD5", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-ECDSA-ARIA256-GCM-SHA384:ECDHE-ARIA256-GCM-SHA384:DHE-RSA-ARIA256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-CCM:DHE-RSA-AES128-CCM8:DHE-RSA-AES128-CCM:ECDHE-ECDSA-ARIA128-GCM-SHA256:ECDHE-ARIA128-GCM-SHA256:DHE-RSA-ARIA128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-CAMELLIA256-SHA384:ECDHE-RSA-CAMELLIA256-SHA384:DHE-RSA-CAMELLIA256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-CAMELLIA128-SHA256:ECDHE-RSA-CAMELLIA128-SHA256:DHE-RSA-CAMELLIA128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:DHE-RSA-CAMELLIA256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:DHE-RSA-CAMELLIA128-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:ARIA256-GCM-SHA384:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:ARIA128-GCM-SHA256:AES256-SHA256:CAMELLIA256-SHA256:AES128-SHA256:CAMELLIA128-SHA256:AES256-SHA:CAMELLIA256-SHA:AES128-SHA:CAMELLIA128-SHA"),
        ("ECDHE+AESGCM:-AES256:AES256:+ECDSA:@STRENGTH", "ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:AES256-SHA256:AES256-SHA:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-GCM-SHA256"),
        ("DEFAULT:!kRSA:+SHA1", "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA"),
        ("kEDH+AESGCM:HIGH:-SHA384:!CAMELLIA:!ARIA:!AESCCM:!PSK:!SRP:!DSS:!aNULL", "DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:AES256-GCM-SHA384:AES128-GCM-SHA256:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA"),
        ("ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:AES:DES-CBC3-SHA:!DSS", "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES256-CCM8:ECDHE-ECDSA-AES256-CCM:DHE-RSA-AES256-CCM8:DHE-RSA-AES256-CCM:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES128-CCM8:ECDHE-ECDSA-AES128-CCM:DHE-RSA-AES128-CCM8:DHE-RSA-AES128-CCM:ECDHE-ECDSA-AES256-SHA384:ECDHE-RSA-AES256-SHA384:DHE-RSA-AES256-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:DHE-RSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:DHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES128-SHA:AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:AES256-SHA256:AES128-SHA256:AES256-SHA:AES128-SHA"),
        ("ALL:!TLSv1.2:+SSLv3", "ECDHE-ECDSA-AES256-SHA:ECDHE-RSA-AES256-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-RSA-AES128-SHA:DHE-RSA-AES256-SHA:DHE-RSA-CAMELLIA256-SHA:DHE-RSA-AES128-SHA:DHE-RSA-CAMELLIA128-SHA:AES256-SHA:CAMELLIA256-SHA:AES128-SHA:CAMELLIA128-SHA"),
        ("TLSv1.2+kRSA:SHA256+ECDHE", "AES256-GCM-SHA384:AES256-CCM8:AES256-CCM:ARIA256-GCM-SHA384:AES128-GCM-SHA256:AES128-CCM8:AES128-CCM:ARIA128-GCM-SHA256:AES256-SHA256:CAMELLIA256-SHA256:AES128-SHA256:CAMELLIA128-SHA256:ECDHE-ECDSA-AES128-SHA256:ECDHE-RSA-AES128-SHA256:ECDHE-ECDSA-CAMELLIA128-SHA256:ECDHE-RSA-CAMELLIA128-SHA256"),
    ];

    #[test]
    fn strings_come_to_what_openssl_says() {
        for (text, said) in SAID {
            assert_eq!(names(text), *said, "{text}");
        }
    }

    #[test]
    fn what_is_killed_never_comes_back_and_what_is_deleted_may() {
        assert_eq!(names("!AES128-SHA:AES128-SHA"), "");
        assert_eq!(names("AES128-SHA:-AES128-SHA:AES128-SHA"), "AES128-SHA");
    }

    #[test]
    fn words_that_name_nothing_are_passed_over_and_told() {
        let found = expand("AES128-SHA:DES-CBC3-SHA:AES128-SHAA:!aNULL");
        assert_eq!(found.suites.len(), 1);
        assert_eq!(found.passed_over, ["DES-CBC3-SHA", "AES128-SHAA"]);
    }
}
