//! A calibration that nobody measured, of a server whose costs are known: for tests, here and of programs.

use crate::load::calibration::{
    CALIBRATION_VERSION, Calibration, ChainBytes, Counted, MemoryPoint, Point, RealServer, Served,
};
use crate::load::spec::{Http, Regime, Role, Unit, Work};
use record::tls::{Case, Certificate, Exchange, Kind, Stack, Suite, Version};
use record::{Host, State};

/// Whether a type's schema is the one in the documentation; written anew with `UPDATE_SCHEMA=1 cargo test schema`.
pub fn is_documented<T: schemars::JsonSchema>(name: &str) {
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(T));
    let schema = schema.expect("schemas are plain data") + "\n";
    let path = format!("{}/../../docs/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &schema).expect("documents can be written");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == schema, "docs/{name}.schema.json is not that of the types");
}

/// µs that a handshake takes on this server beside what a plain connection takes.
pub fn handshake_us(regime: Regime, case: Case) -> f64 {
    let regime = match regime {
        Regime::Low => 130.0,
        Regime::Steady => 60.0,
        Regime::Saturated => 20.0,
    };
    let exchange = match case.exchange {
        Exchange::Rsa => 0.0,
        Exchange::X25519 => 60.0,
        Exchange::P256 => 75.0,
        Exchange::P384 => 1600.0,
        Exchange::X25519Mlkem768 => 110.0,
        Exchange::Ffdhe2048 => 2100.0,
        Exchange::OwnDh2048 => 3500.0,
        Exchange::Ffdhe4096 => 15_700.0,
    };
    let certificate = match case.certificate {
        Certificate::Rsa2048 => 270.0,
        Certificate::Rsa3072 => 1600.0,
        Certificate::Rsa4096 => 3700.0,
        Certificate::P256 => 25.0,
        Certificate::P384 => 600.0,
        Certificate::Ed25519 => 27.0,
        Certificate::Mldsa44 | Certificate::Mldsa65 | Certificate::Mldsa87 => 150.0,
    };
    let version = if case.version == Version::Tls13 { 90.0 } else { 60.0 };
    let client = if case.client_auth { 150.0 } else { 0.0 };
    let retry = if case.kind == Kind::HelloRetry { 65.0 } else { 0.0 };
    regime
        + match case.kind {
            Kind::ResumedId => 25.0,
            Kind::ResumedTicket => 30.0,
            Kind::ResumedPsk => version + exchange,
            Kind::Full | Kind::HelloRetry => version + exchange + certificate + client + retry,
        }
}

/// µs that TLS adds to a request.
pub fn records_us(suite: Suite, record_bytes: u32, aes_hardware: bool, bytes: u64) -> f64 {
    let per_byte = match (suite, aes_hardware) {
        (Suite::Aes128Gcm, true) => 0.0002,
        (Suite::Aes256Gcm, true) => 0.00022,
        (Suite::Aes128Gcm | Suite::Aes256Gcm, false) => 0.002,
        (Suite::Chacha20Poly1305, _) => 0.0004,
        _ => 0.002,
    };
    let per_record = 3.0 / f64::from(record_bytes);
    1.0 + bytes as f64 * (per_byte + per_record)
}

/// µs of a plain request.
pub fn request_us(role: Role, http: Http, sendfile: bool, bytes: u64) -> f64 {
    let per_byte = if sendfile { 0.0001 } else { 0.0004 };
    let base = match (role, http) {
        (Role::RealPlain, Http::Http1) => 28.0,
        (Role::RealPlain, Http::Http2) => 24.0,
        _ => 12.0,
    };
    base + bytes as f64 * per_byte
}

/// µs of a plain connection with one request of 1,024 bytes.
pub fn connection_us(role: Role, regime: Regime) -> f64 {
    let regime = match regime {
        Regime::Low => 20.0,
        Regime::Steady => 5.0,
        Regime::Saturated => 0.0,
    };
    regime + if role == Role::RealPlain { 34.0 } else { 20.0 }
}

/// The server's own code, per connection that does not resume.
pub const OWN_CODE_US: f64 = 15.0;
/// The same of one that does.
pub const OWN_CODE_RESUMED_US: f64 = 6.0;

/// The whole calibration; each point has three rounds of the same drift.
pub fn calibration() -> Calibration {
    let mut points = Vec::new();
    for regime in Regime::ALL {
        plain(*regime, &mut points);
        with_tls(*regime, &mut points);
    }
    let text = str::to_owned;
    Calibration {
        format_version: text(CALIBRATION_VERSION),
        kind: text("tls-calibration"),
        started: text("2026-11-21T12:00:00Z"),
        seconds: 60.0,
        command: Vec::new(),
        host: Host {
            cpu: record::Cpu { name: text("Sample CPU"), ..Default::default() },
            ..Default::default()
        },
        core_ghz: Some(2.5),
        core_share: Some(0.9),
        server: Some(RealServer {
            name: text("nginx"),
            version: text("1.22.1"),
            path: text("/usr/sbin/nginx"),
            tls_library: None,
            configuration: String::new(),
        }),
        stack: Stack { id: text("sha256:00"), ..record::tls::fixtures::stack("openssl@3.0.22") },
        server_cpu: 0,
        client_cpu: 1,
        span: text("made up"),
        points,
        memory: memory(),
        picked: Vec::new(),
        chains: vec![ChainBytes { certificate: Certificate::Rsa2048, bytes: 1800 }],
    }
}

fn memory() -> Vec<MemoryPoint> {
    let tls = Work::Handshake { case: base(), tickets: None };
    [
        (Role::RealPlain, Work::Plain, 2000.0),
        (Role::MinimalPlain, Work::Plain, 200.0),
        (Role::MinimalTls, tls, 40_200.0),
    ]
    .into_iter()
    .map(|(role, work, bytes_per_connection)| MemoryPoint {
        role,
        work,
        bytes_per_connection,
        connections: 100,
    })
    .collect()
}

pub(crate) fn base() -> Case {
    Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full)
}

fn by_ticket() -> Case {
    Case::usual(Version::Tls12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedTicket)
}

fn point(role: Role, regime: Regime, unit: Unit, served: Served, us: f64) -> Point {
    let state = if us > 0.0 { State::Measured } else { State::Unsupported };
    let drift = [0.98, 1.0, 1.04];
    Point {
        role,
        regime,
        unit,
        served,
        state,
        reason: (us <= 0.0).then(|| "not offered".to_owned()),
        rounds_cpu_us: if us > 0.0 { drift.map(|d| Some(us * d)).to_vec() } else { Vec::new() },
        counted: Counted::default(),
    }
}

fn served(work: Work, http: Http, sendfile: bool, response_bytes: u64) -> Served {
    let record_bytes = work.case().map(|_| 16_384);
    Served {
        work,
        http,
        request_bytes: 100,
        response_bytes,
        sendfile,
        record_bytes,
        aes_hardware: true,
    }
}

const SIZES: [u64; 3] = [1024, 16_384, 102_400];

fn plain(regime: Regime, points: &mut Vec<Point>) {
    for role in [Role::RealPlain, Role::MinimalPlain] {
        let of = |http, sendfile, bytes| served(Work::Plain, http, sendfile, bytes);
        let connection = of(Http::Http1, false, 1024);
        points.push(point(role, regime, Unit::Connection, connection, connection_us(role, regime)));
        for (http, sendfile) in [(Http::Http1, false), (Http::Http1, true), (Http::Http2, false)] {
            let exists = role == Role::RealPlain || (http, sendfile) == (Http::Http1, false);
            for bytes in SIZES.into_iter().filter(|_| exists) {
                let us = request_us(role, http, sendfile, bytes);
                points.push(point(role, regime, Unit::Request, of(http, sendfile, bytes), us));
            }
        }
    }
}

/// Not each case: only those that the others follow from.
fn with_tls(regime: Regime, points: &mut Vec<Point>) {
    let role = Role::MinimalTls;
    let mut connection = |work: Work, us: f64| {
        let us = us + connection_us(role, regime);
        let served = served(work, Http::Http1, false, 1024);
        points.push(point(role, regime, Unit::Connection, served, us));
    };
    // The calibrated connection has one request.
    let whole =
        |case: Case| handshake_us(regime, case) + records_us(case.suite, 16_384, true, 1024);
    for case in cases(regime) {
        connection(Work::Handshake { case, tickets: None }, whole(case));
    }
    connection(Work::Handshake { case: base(), tickets: Some(0) }, whole(base()) - 20.0);
    connection(Work::RefusedHello, 30.0);
    requests(regime, points);
    for (case, own) in [(base(), OWN_CODE_US), (by_ticket(), OWN_CODE_RESUMED_US)] {
        let us = whole(case) + connection_us(Role::RealPlain, regime) + own;
        let work = Work::Handshake { case, tickets: None };
        let served = served(work, Http::Http1, false, 1024);
        points.push(point(Role::RealTls, regime, Unit::Connection, served, us));
    }
}

fn requests(regime: Regime, points: &mut Vec<Point>) {
    let suites = [
        (Suite::Aes128Gcm, 16_384, true),
        (Suite::Aes256Gcm, 16_384, true),
        (Suite::Chacha20Poly1305, 16_384, true),
        (Suite::Aes128Gcm, 4096, true),
        (Suite::Aes128Gcm, 16_384, false),
    ];
    for (suite, record_bytes, aes_hardware) in suites {
        for bytes in SIZES {
            let work = Work::Handshake { case: Case { suite, ..base() }, tickets: None };
            let served = Served {
                record_bytes: Some(record_bytes),
                aes_hardware,
                ..served(work, Http::Http1, false, bytes)
            };
            let us = request_us(Role::MinimalPlain, Http::Http1, false, bytes)
                + records_us(suite, record_bytes, aes_hardware, bytes);
            points.push(point(Role::MinimalTls, regime, Unit::Request, served, us));
        }
    }
}

fn cases(regime: Regime) -> Vec<Case> {
    let mut cases = vec![base()];
    if regime != Regime::Steady {
        return cases;
    }
    let (v12, v13, full) = (Version::Tls12, Version::Tls13, Kind::Full);
    for certificate in Certificate::classic().filter(|c| *c != Certificate::P256) {
        cases.push(Case::usual(v13, Exchange::X25519, certificate, full));
    }
    for exchange in Exchange::ALL.iter().filter(|x| x.exists_in(v12)) {
        cases.push(Case::usual(v12, *exchange, Certificate::Rsa2048, full));
    }
    cases.push(Case::usual(v13, Exchange::P256, Certificate::P256, Kind::HelloRetry));
    cases.push(Case::usual(v13, Exchange::P256, Certificate::P256, full));
    cases.push(Case::usual(v13, Exchange::X25519Mlkem768, Certificate::P256, full));
    cases.push(Case::usual(v12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedId));
    cases.push(by_ticket());
    cases.push(Case::usual(v13, Exchange::X25519, Certificate::P256, Kind::ResumedPsk));
    cases.push(Case { client_auth: true, ..base() });
    cases
}
