//! The run of a calibration: which points, and the document that they go into.

use crate::server::Trouble;
use crate::server::cpu::Tally;
use crate::server::nginx::NginxFacts;
use crate::server::rounds::{Cell, Course, Loopback, Setting, plain, rounds, secured};
use judge::load::{
    CALIBRATION_VERSION, Calibration, ChainBytes, Http, MemoryPoint, Picked, Point, RealServer,
    Regime, Role, Served, Unit, Work,
};
use record::tls::{Case, Certificate, Exchange, Kind, Stack, Suite, Version};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What is counted, in words.
const SPAN: &str = "CPU time of the server's process (nginx: its one worker), user and system, by the scheduler's \
    counter (/proc/PID/schedstat), from rest to rest in slices of milliseconds, at one core clock and one share of the core, \
    divided by what the client counted; over loopback, where a part of the server's TCP work is charged to the client and \
    the reverse";

/// Sizes of responses that requests are calibrated with, in bytes.
pub(crate) const SIZES: [u64; 3] = [1024, 16_384, 102_400];
/// The response of a calibrated connection's one request.
pub(crate) const FIRST: u64 = 1024;

/// A calibration that is to be made.
#[derive(Clone, Debug)]
pub struct Calibrating {
    /// Where.
    pub setting: Setting,
    /// How.
    pub course: Course,
    /// What was typed.
    pub command: Vec<String>,
}

/// The case that most clients of today negotiate, and that the real server's own code is calibrated with.
pub(crate) fn usual() -> Case {
    Case::usual(Version::Tls13, Exchange::X25519, Certificate::P256, Kind::Full)
}

/// What its own code is calibrated with where connections resume: the cheapest of those, so that what is left for
/// its own code is least in the noise of the rest.
pub(crate) fn by_ticket() -> Case {
    Case::usual(Version::Tls12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedTicket)
}

/// All that it is calibrated with.
pub(crate) fn own_code() -> [Case; 2] {
    [usual(), by_ticket()]
}

/// What is offered to the real server, to see which group it picks: a key share of each, with and without others
/// that it may like better.
const OFFERS: [&str; 5] = [
    "X25519MLKEM768:X25519:P-256",
    "X25519:X25519MLKEM768:P-256",
    "X25519:P-256:P-384",
    "P-256:X25519:P-384",
    "P-384:P-256:X25519",
];

/// The points of a whole calibration, without those of a real server where there is none.
#[must_use]
pub fn calibration_cells(regimes: &[Regime], has_nginx: bool) -> Vec<Cell> {
    let mut cells = Vec::new();
    for regime in regimes {
        let mut add = |role, unit, served| cells.push(Cell::of_point(role, *regime, unit, served));
        for (role, unit, served) in of_plain() {
            add(role, unit, served);
        }
        for work in works() {
            add(Role::MinimalTls, Unit::Connection, Served { work, ..secured(usual(), FIRST) });
        }
        let no_aes = Served { aes_hardware: false, ..secured(usual(), FIRST) };
        add(Role::MinimalTls, Unit::Connection, no_aes);
        for served in of_records() {
            add(Role::MinimalTls, Unit::Request, served);
        }
        for case in own_code() {
            add(Role::RealTls, Unit::Connection, secured(case, FIRST));
        }
    }
    cells.retain(|cell| has_nginx || !cell.is_real());
    cells
}

fn of_plain() -> Vec<(Role, Unit, Served)> {
    let mut all = Vec::new();
    for (role, http, sendfile) in [
        (Role::RealPlain, Http::Http1, false),
        (Role::RealPlain, Http::Http1, true),
        (Role::RealPlain, Http::Http2, false),
        (Role::MinimalPlain, Http::Http1, false),
    ] {
        let of = |bytes| Served { http, sendfile, ..plain(bytes) };
        all.push((role, Unit::Connection, of(FIRST)));
        all.extend(SIZES.map(|bytes| (role, Unit::Request, of(bytes))));
    }
    all
}

/// Handshakes: each certificate with one key exchange, each key exchange with one certificate, each kind.
fn works() -> Vec<Work> {
    let mut cases = Vec::new();
    for version in [Version::Tls13, Version::Tls12] {
        let of = |exchange, certificate| Case { version, exchange, certificate, ..usual() };
        cases.extend(Certificate::ALL.iter().map(|certificate| of(Exchange::X25519, *certificate)));
        // The slowest field only where servers have it from a file.
        let wanted = |e: &Exchange| {
            *e != Exchange::X25519 && (version == Version::Tls12 || !e.is_finite_field())
        };
        cases.extend(
            Exchange::ALL.iter().copied().filter(wanted).map(|e| of(e, Certificate::Rsa2048)),
        );
        for kind in [Kind::ResumedPsk, Kind::ResumedTicket, Kind::ResumedId] {
            cases.push(Case { kind, ..of(Exchange::X25519, Certificate::Rsa2048) });
        }
    }
    let rsa = Case { certificate: Certificate::Rsa2048, ..usual() };
    cases.push(Case { exchange: Exchange::P256, kind: Kind::HelloRetry, ..rsa });
    cases.push(Case { client_auth: true, ..usual() });
    cases.retain(Case::exists);
    let done = cases.into_iter().map(|case| Work::Handshake { case, tickets: None });
    let rest = [
        Work::Handshake { case: usual(), tickets: Some(0) },
        Work::RefusedHello,
        Work::Abandoned { case: rsa },
    ];
    done.chain(rest).collect()
}

fn of_records() -> Vec<Served> {
    let of_12 = Case { version: Version::Tls12, ..usual() };
    let whole = |suite| secured(Case { suite, ..usual() }, FIRST);
    let short = Served { record_bytes: Some(4096), ..whole(Suite::Aes128Gcm) };
    let software = |suite| Served { aes_hardware: false, ..whole(suite) };
    let kinds = [
        whole(Suite::Aes128Gcm),
        whole(Suite::Aes256Gcm),
        whole(Suite::Chacha20Poly1305),
        short,
        software(Suite::Aes128Gcm),
        secured(of_12, FIRST),
        secured(Case { suite: Suite::Aes128CbcSha1, ..of_12 }, FIRST),
        secured(Case { suite: Suite::Aes256CbcSha384, ..of_12 }, FIRST),
    ];
    let of_sizes = |served: Served| SIZES.map(|response_bytes| Served { response_bytes, ..served });
    kinds.into_iter().flat_map(of_sizes).collect()
}

/// Measures a calibration. The minimal server's library is nginx's own, or the one that is named.
///
/// # Errors
/// In one line, what does not run here.
pub fn calibrate(
    cells: &[Cell],
    wanted: &Calibrating,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Calibration, Trouble> {
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let mut loopback = Loopback::start(cells, &wanted.setting)?;
    // First, while the servers' memory has no holes that new connections fill.
    let memory = memory(&mut loopback, cells)?;
    let tallies = rounds(&mut loopback, cells, &wanted.course, stop, progress)?;
    let mut document = document(wanted, &loopback, started, cells, &tallies)?;
    document.memory = memory;
    document.picked = picked(&mut loopback, cells)?;
    document.seconds = timer.elapsed().as_secs_f64();
    Ok(document)
}

/// The document of cells that are points of a calibration.
pub(crate) fn document(
    wanted: &Calibrating,
    loopback: &Loopback,
    started: String,
    cells: &[Cell],
    tallies: &[Tally],
) -> Result<Calibration, Trouble> {
    let Setting { nginx, server_cpu, client_cpu, .. } = &wanted.setting;
    let server = nginx.as_ref().zip(loopback.configuration());
    let level = tallies.first().map(|tally| tally.level).unwrap_or_default();
    Ok(record::shared(Calibration {
        format_version: CALIBRATION_VERSION.to_owned(),
        kind: "tls-calibration".to_owned(),
        started,
        seconds: 0.0,
        command: wanted.command.clone(),
        host: host::facts(*server_cpu),
        server: server.map(|(facts, configuration)| real_server(facts, configuration)),
        stack: stack(loopback, nginx.as_ref())?,
        server_cpu: *server_cpu,
        client_cpu: *client_cpu,
        span: SPAN.to_owned(),
        core_ghz: level.core_ghz,
        core_share: level.core_share,
        points: cells.iter().zip(tallies).map(|(cell, tally)| point(cell, tally)).collect(),
        memory: Vec::new(),
        picked: Vec::new(),
        chains: Certificate::ALL.iter().map(|certificate| chain(*certificate)).collect(),
    }))
}

/// What open connections hold, of each server with and without TLS.
fn memory(loopback: &mut Loopback, cells: &[Cell]) -> Result<Vec<MemoryPoint>, Trouble> {
    /// So many that single pages do not count.
    const CONNECTIONS: u32 = 100;
    let mut points = Vec::new();
    for (role, served) in [
        (Role::RealPlain, plain(FIRST)),
        (Role::RealTls, secured(usual(), FIRST)),
        (Role::MinimalPlain, plain(FIRST)),
        (Role::MinimalTls, secured(usual(), FIRST)),
    ] {
        let is_it = |c: &Cell| c.role == role && c.unit == Unit::Connection && c.served == served;
        let Some(at) = cells.iter().position(is_it) else { continue };
        let bytes_per_connection = loopback.memory(&cells[at], at, CONNECTIONS)?;
        let connections = u64::from(CONNECTIONS);
        points.push(MemoryPoint { role, work: served.work, bytes_per_connection, connections });
    }
    Ok(points)
}

/// Which groups the real server picks, whose configuration names none.
fn picked(loopback: &mut Loopback, cells: &[Cell]) -> Result<Vec<Picked>, Trouble> {
    let asked = secured(usual(), FIRST);
    let is_it = |c: &Cell| c.role == Role::RealTls && c.served == asked;
    let Some(at) = cells.iter().position(is_it) else { return Ok(Vec::new()) };
    loopback.picked(&cells[at], at, &OFFERS)
}

fn point(cell: &Cell, tally: &Tally) -> Point {
    Point {
        role: cell.role,
        regime: cell.regime,
        unit: cell.unit,
        served: cell.served,
        state: tally.state,
        reason: tally.reason.clone(),
        rounds_cpu_us: tally.rounds_cpu_us(cell.unit),
        counted: tally.counted(),
    }
}

fn real_server(facts: &NginxFacts, configuration: String) -> RealServer {
    RealServer {
        name: "nginx".to_owned(),
        version: facts.version.clone(),
        path: facts.path.display().to_string(),
        tls_library: facts.tls_library.clone(),
        configuration,
    }
}

/// The stack, by its files. Its version is nginx's word where nginx has loaded it.
fn stack(loopback: &Loopback, nginx: Option<&NginxFacts>) -> Result<Stack, Trouble> {
    let (ssl, crypto) = (&loopback.libraries.ssl, &loopback.libraries.crypto);
    let id =
        |path: &Path| host::file_id(path).map_err(|e| Trouble::of(&path.display().to_string(), e));
    let (name, version) = nginx
        .and_then(|facts| facts.tls_library.as_deref())
        .and_then(|said| said.split_once(' '))
        .map_or(("libssl".to_owned(), String::new()), |(name, rest)| {
            let version = rest.split(' ').next().unwrap_or_default();
            (name.to_lowercase(), version.to_owned())
        });
    Ok(Stack {
        label: format!("{name}@{version}"),
        name,
        version,
        path: ssl.display().to_string(),
        id: id(ssl)?,
        crypto_path: crypto.display().to_string(),
        bare_path: crypto.display().to_string(),
        crypto_id: id(crypto)?,
        build: Vec::new(),
    })
}

/// The Certificate message of TLS 1.2 (RFC 5246 7.4.2): its header, the list's length, and each certificate
/// with its own.
fn chain(certificate: Certificate) -> ChainBytes {
    let pem = adapters::stacks::keys(certificate).chain;
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    let der = blocks.map(|block| {
        let text = block.split("-----END").next().unwrap_or_default();
        let digits = text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'=').count();
        // Base64: four characters hold three bytes (RFC 4648 4).
        3 + digits as u32 * 3 / 4
    });
    ChainBytes { certificate, bytes: 4 + 3 + der.sum::<u32>() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_calibration_has_what_every_price_needs_in_each_regime() {
        let cells = calibration_cells(Regime::ALL, true);
        for regime in Regime::ALL {
            let has = |role, unit| {
                cells.iter().any(|c| c.regime == *regime && c.role == role && c.unit == unit)
            };
            assert!(has(Role::RealPlain, Unit::Connection) && has(Role::RealPlain, Unit::Request));
            assert!(
                has(Role::MinimalPlain, Unit::Connection) && has(Role::MinimalPlain, Unit::Request)
            );
            assert!(
                has(Role::MinimalTls, Unit::Connection) && has(Role::MinimalTls, Unit::Request)
            );
            let own_code = |c: &&Cell| c.regime == *regime && c.role == Role::RealTls;
            let kinds = cells.iter().filter(own_code).filter_map(|c| c.served.work.case());
            let kinds: Vec<Kind> = kinds.map(|case| case.kind).collect();
            assert_eq!(kinds, [Kind::Full, Kind::ResumedTicket]);
        }
        let distinct = |at: usize| cells[..at].iter().all(|c| *c != cells[at]);
        assert!((0..cells.len()).all(distinct));
        assert!(calibration_cells(&[Regime::Low], false).iter().all(|c| !c.is_real()));
    }

    #[test]
    fn a_chain_is_as_long_as_its_certificates_say_of_themselves() {
        for certificate in Certificate::ALL {
            let bytes = chain(*certificate).bytes;
            assert!((500..4000).contains(&bytes), "{certificate}: {bytes}");
        }
        assert!(chain(Certificate::Rsa4096).bytes > chain(Certificate::Rsa2048).bytes + 700);
    }
}
