//! One part of a validation: its points on the real server, and what they are predicted from, in the same
//! interleaved rounds. The points were fixed before the first was measured; what is calibrated is another
//! thing: our own server with the same handshakes, and the real server without TLS.

use crate::server::cpu::Tally;
use crate::server::rounds::{
    Calibrating, Cell, FIRST, Loopback, RECORD_BYTES, REQUEST_BYTES, SIZES, distinct, document,
    own_code, plain, rounds, secured, usual,
};
use Certificate::{Ed25519, P256, P384, Rsa2048, Rsa4096};
use Exchange::{Ffdhe2048, Ffdhe4096, OwnDh2048, X25519};
use Kind::{ResumedId, ResumedPsk, ResumedTicket};
use Version::{Tls12, Tls13};
use judge::load::{
    Calibration, ClientShare, Http, Inputs, Interval, Judgement, Regime, Response, Resumption,
    Role, Served, Settings, Spec, Traffic, Unit, ValidatedPart, ValidatedRow, judge, load,
    noise_of, of_rounds,
};
use record::State;
use record::tls::{Case, Certificate, Exchange, Group, Kind, Suite, Version};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// Measures one part and holds the model to it.
pub fn validate(
    name: &str,
    points: &[Planned],
    regimes: &[Regime],
    wanted: &Calibrating,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ValidatedPart, String> {
    let (started, timer) = (jiff::Timestamp::now().to_string(), Instant::now());
    let calibrating = cells_for(points, regimes);
    let rows: Vec<(Regime, &Planned)> =
        regimes.iter().flat_map(|regime| points.iter().map(move |p| (*regime, p))).collect();
    let measured = rows.iter().map(|(regime, planned)| cell(*regime, planned));
    let cells: Vec<Cell> = calibrating.iter().cloned().chain(measured).collect();
    let mut loopback = Loopback::start(&cells, &wanted.setting)?;
    let tallies = rounds(&mut loopback, &cells, &wanted.course, stop, progress)?;
    let (of_calibration, of_rows) = tallies.split_at(calibrating.len());
    let mut calibration = document(wanted, &loopback, started, &calibrating, of_calibration)?;
    calibration.seconds = timer.elapsed().as_secs_f64();
    let rows = rows.iter().zip(of_rows);
    let rows = rows.map(|((regime, planned), tally)| row(*regime, planned, tally, &calibration));
    let rows = rows.collect();
    let configuration = loopback.configuration().unwrap_or_default();
    Ok(ValidatedPart {
        name: name.to_owned(),
        rounds: wanted.course.rounds,
        seed: wanted.course.seed,
        configuration_id: host::text_hash(&configuration),
        rows,
        calibration,
    })
}

/// A point, as connections to the real server.
fn cell(regime: Regime, planned: &Planned) -> Cell {
    let first = planned.responses.first().copied().unwrap_or(0);
    let served = Served {
        http: planned.http,
        record_bytes: Some(planned.record_bytes),
        aes_hardware: planned.aes_hardware,
        ..secured(planned.case, first)
    };
    Cell {
        role: Role::RealTls,
        regime,
        unit: Unit::Connection,
        served,
        responses: planned.responses.clone(),
        resumed: planned.resumed,
    }
}

/// What the points of a part are predicted from: nothing of the real server but what it does without TLS, and
/// its connections with TLS that every calibration has: a full one and, where points resume, one that resumes.
fn cells_for(points: &[Planned], regimes: &[Regime]) -> Vec<Cell> {
    let mut wanted: Vec<(Role, Unit, Served)> = vec![
        (Role::MinimalPlain, Unit::Connection, plain(FIRST)),
        (Role::RealPlain, Unit::Connection, plain(FIRST)),
    ];
    let resume = points.iter().any(|planned| planned.case.kind.is_resumed());
    for case in own_code().into_iter().filter(|case| resume || !case.kind.is_resumed()) {
        let connection = |role| (role, Unit::Connection, secured(case, FIRST));
        wanted.extend([Role::RealTls, Role::MinimalTls].map(connection));
    }
    for planned in points {
        let Planned { case, aes_hardware, http, .. } = *planned;
        let of_http = |bytes| Served { http, ..plain(bytes) };
        wanted.push((Role::RealPlain, Unit::Connection, of_http(FIRST)));
        for case in [Case { kind: Kind::Full, ..case }, case] {
            let is_needed = case.kind.is_resumed() || planned.resumed < 1.0;
            let served = Served { aes_hardware, ..secured(case, FIRST) };
            wanted.extend(is_needed.then_some((Role::MinimalTls, Unit::Connection, served)));
        }
        for bytes in sizes(planned) {
            let records = Served {
                aes_hardware,
                record_bytes: Some(planned.record_bytes),
                ..secured(Case { version: case.version, suite: case.suite, ..usual() }, bytes)
            };
            wanted.push((Role::RealPlain, Unit::Request, of_http(bytes)));
            wanted.push((Role::MinimalPlain, Unit::Request, plain(bytes)));
            wanted.push((Role::MinimalTls, Unit::Request, records));
        }
    }
    let cells = regimes.iter().flat_map(|regime| {
        wanted.iter().map(|(role, unit, served)| Cell::of_point(*role, *regime, *unit, *served))
    });
    distinct(cells)
}

/// The sizes that requests are calibrated with: of a connection with one request nothing but that one.
fn sizes(planned: &Planned) -> Vec<u64> {
    let is_first = planned.responses == [FIRST];
    SIZES.iter().copied().filter(|bytes| !is_first || *bytes == FIRST).collect()
}

fn row(
    regime: Regime,
    planned: &Planned,
    tally: &Tally,
    calibration: &Calibration,
) -> ValidatedRow {
    let counted = tally.counted();
    let share = counted.resumed as f64 / counted.connections.max(1) as f64;
    let spec = spec(regime, planned, share);
    let rounds_cpu_us = tally.rounds_cpu_us(Unit::Connection);
    let measured = of_rounds(&rounds_cpu_us).filter(|_| tally.state == State::Measured);
    let (predicted, why) = match predicted(&spec, regime, calibration) {
        Ok(predicted) => (Some(predicted), None),
        Err(why) => (None, Some(why)),
    };
    let error = measured.zip(predicted).map(|(m, p)| (p.value - m.value) / m.value);
    let rounds = rounds_cpu_us.iter().flatten().count();
    let noise = measured.and_then(|measured| noise_of(measured, rounds));
    let predicted_noise = predicted.and_then(|predicted| noise_of(predicted, rounds));
    let verdict = error.map_or(Judgement::None, |error| {
        let largest = planned.responses.iter().copied().max().unwrap_or(0);
        let noise = noise.zip(predicted_noise).map(|(one, other)| one.max(other));
        judge(error, noise, is_calibration(planned), largest)
    });
    let first = |of: fn(&crate::server::Told) -> &Option<record::tls::Negotiated>| {
        tally.visited().find_map(|visit| of(&visit.told).clone())
    };
    let sum = |of: fn(&crate::server::Visit) -> f64| tally.visited().map(of).sum::<f64>();
    let (ns, waited) = (sum(|v| v.usage.ns as f64), sum(|v| v.usage.waited_ns as f64));
    let seconds = sum(|v| v.told.seconds);
    ValidatedRow {
        name: planned.name.clone(),
        regime,
        case: planned.case,
        http: planned.http,
        responses: planned.responses.clone(),
        spec,
        state: tally.state,
        reason: tally.reason.clone().or(why),
        full: first(|told| &told.full),
        by_session: first(|told| &told.by_session),
        rounds_cpu_us,
        measured_cpu_us: measured,
        predicted_cpu_us: predicted,
        error,
        noise,
        predicted_noise,
        counted,
        stalls: tally.visited().map(|v| v.told.stalls).sum(),
        busy_share: (seconds > 0.0).then(|| ns / 1e9 / seconds),
        waited_share: (ns > 0.0).then(|| waited / ns),
        verdict,
    }
}

/// Whether it is one that the real server's own code is calibrated with.
fn is_calibration(planned: &Planned) -> bool {
    let Planned { case, resumed, responses, http, aes_hardware, .. } = planned;
    let all = if case.kind.is_resumed() { 1.0 } else { 0.0 };
    let served = secured(*case, FIRST);
    own_code().contains(case)
        && *resumed == all
        && responses == &[FIRST]
        && *http == served.http
        && *aes_hardware
}

/// µs of CPU for each connection, as the model has it.
fn predicted(spec: &Spec, regime: Regime, calibration: &Calibration) -> Result<Interval, String> {
    let inputs = Inputs { calibration, records: None, parts: None };
    let load = load(spec, &inputs, false).map_err(|e| e.to_string())?;
    let of_regime = load.regimes.iter().find(|r| r.regime == regime);
    let missing = || "the model has no connections in this regime".to_owned();
    of_regime.and_then(|r| r.cpu_us_per_connection).ok_or_else(missing)
}

/// A server and clients that negotiate the point's case and nothing else, one connection a second.
fn spec(regime: Regime, planned: &Planned, resumed: f64) -> Spec {
    let Planned { case, .. } = *planned;
    let name = case.code().map(|code| code.openssl.to_owned());
    let is_13 = case.version == Version::Tls13;
    let versions = Some(vec![case.version]);
    let (ciphersuites, ciphers) = if is_13 { (name, None) } else { (None, name) };
    let groups = Some(group(case.exchange).to_owned());
    // A client that is asked again has guessed another group.
    let guess = (case.kind == Kind::HelloRetry).then(|| group(Exchange::X25519).to_owned());
    let client = ClientShare {
        versions: versions.clone(),
        ciphers: ciphers.clone(),
        ciphersuites: ciphersuites.clone(),
        groups: groups.clone(),
        key_shares: guess,
        ..ClientShare::of("the client of this point", 1.0)
    };
    Spec {
        traffic: Traffic {
            connections_per_s: 1.0,
            requests_per_connection: planned.responses.len() as f64,
            request_bytes: REQUEST_BYTES,
            responses: histogram(&planned.responses),
            http: planned.http,
            ..Traffic::default()
        },
        resumption: Resumption {
            share: resumed,
            tls12: if is_13 || !case.kind.is_resumed() { Kind::ResumedTicket } else { case.kind },
        },
        server: Settings {
            regime: Some(regime),
            versions,
            ciphers,
            ciphersuites,
            groups,
            dh: case.exchange.is_finite_field().then_some(case.exchange),
            certificates: vec![case.certificate],
            record_bytes: planned.record_bytes,
            sendfile: false,
            aes_hardware: planned.aes_hardware,
            ..Settings::default()
        },
        clients: vec![client],
    }
}

fn histogram(responses: &[u64]) -> Vec<Response> {
    let mut sizes = responses.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    let share =
        |bytes| responses.iter().filter(|b| **b == bytes).count() as f64 / responses.len() as f64;
    sizes.into_iter().map(|bytes| Response { bytes, share: share(bytes) }).collect()
}

/// As OpenSSL calls it; of key exchanges without a curve the one that no suite then asks for.
fn group(exchange: Exchange) -> &'static str {
    let curve = exchange.group().filter(|_| !exchange.is_finite_field());
    curve.and_then(Group::openssl).unwrap_or("X25519")
}

// The points that the model is held to, in parts that take a minute or two each.
//
// They were fixed before the first of them was measured. What is calibrated is another thing: a server of our
// own with the same handshakes, and the real server without TLS.

/// A point: what connections to the real server are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    pub name: String,
    /// What is negotiated; where some resume, the kind says how.
    pub case: Case,
    pub resumed: f64,
    pub http: Http,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// Most bytes of data in a record.
    pub record_bytes: u32,
    /// Whether the library sees the CPU's AES instructions.
    pub aes_hardware: bool,
}

/// The parts, in the order in which they are measured.
pub const PARTS: [&str; 8] =
    ["certificates", "exchanges", "resumption", "requests", "mixes", "http2", "no-aes", "mystery"];

/// The points of a part; none where there is no such part.
pub fn part(name: &str) -> Option<Vec<Planned>> {
    Some(match name {
        "certificates" => certificates(),
        "exchanges" => exchanges(),
        "resumption" => resumption(),
        "requests" => requests(),
        "mixes" => mixes(),
        "http2" => http2(),
        "no-aes" => no_aes(),
        "mystery" => mystery(),
        _ => return None,
    })
}

const K: u64 = 1024;

impl Planned {
    /// A full handshake and one request for one KiB.
    fn full(name: &str, version: Version, exchange: Exchange, certificate: Certificate) -> Self {
        Self {
            name: name.to_owned(),
            case: Case { version, exchange, certificate, ..usual() },
            resumed: 0.0,
            http: Http::Http1,
            responses: vec![K],
            record_bytes: RECORD_BYTES,
            aes_hardware: true,
        }
    }

    fn resuming(mut self, kind: Kind, share: f64) -> Self {
        self.case.kind = kind;
        self.resumed = share;
        self
    }

    fn asking(self, requests: usize, bytes: u64) -> Self {
        Self { responses: vec![bytes; requests], ..self }
    }

    fn with(mut self, suite: Suite) -> Self {
        self.case.suite = suite;
        self
    }

    fn over_http2(self) -> Self {
        Self { http: Http::Http2, ..self }
    }

    fn without_aes(self) -> Self {
        Self { aes_hardware: false, ..self }
    }
}

fn certificates() -> Vec<Planned> {
    let kinds = [Rsa2048, Rsa4096, P256, P384, Ed25519];
    let both =
        kinds.into_iter().flat_map(|certificate| [(Tls13, certificate), (Tls12, certificate)]);
    both.map(|(version, certificate)| {
        Planned::full(&format!("{certificate}, {version}"), version, X25519, certificate)
    })
    .collect()
}

fn exchanges() -> Vec<Planned> {
    let of = |version, exchange: Exchange, certificate: Certificate| {
        let name = format!("{exchange} with {certificate}, {version}");
        Planned::full(&name, version, exchange, certificate)
    };
    vec![
        of(Tls12, Exchange::P256, Rsa2048),
        of(Tls12, Exchange::P384, Rsa2048),
        of(Tls13, Exchange::P384, P256),
        of(Tls12, Exchange::Rsa, Rsa2048),
        of(Tls12, Ffdhe2048, Rsa2048),
        of(Tls12, OwnDh2048, Rsa2048),
        of(Tls12, Ffdhe4096, Rsa4096),
        asked_again(),
    ]
}

/// A client whose key share the server does not take.
fn asked_again() -> Planned {
    let name = "p256 with rsa-2048, 1.3, asked again";
    let mut planned = Planned::full(name, Tls13, Exchange::P256, Rsa2048);
    planned.case.kind = Kind::HelloRetry;
    planned
}

fn resumption() -> Vec<Planned> {
    let of =
        |name, version, kind| Planned::full(name, version, X25519, Rsa2048).resuming(kind, 1.0);
    vec![
        of("all by id, 1.2", Tls12, ResumedId),
        of("all by ticket, 1.2", Tls12, ResumedTicket),
        of("all by PSK, 1.3", Tls13, ResumedPsk),
        of("all by ticket, 1.2, 4 x 4 KiB", Tls12, ResumedTicket).asking(4, 4 * K),
        of("all by PSK, 1.3, 4 x 4 KiB", Tls13, ResumedPsk).asking(4, 4 * K),
    ]
}

fn requests() -> Vec<Planned> {
    let of = |name| Planned::full(name, Tls13, X25519, P256);
    let cbc = Planned::full("20 x 16 KiB, CBC with SHA-384", Tls12, X25519, P256);
    let short = of("20 x 16 KiB, records of 4 KiB").asking(20, 16 * K);
    vec![
        of("20 x 1 KiB").asking(20, K),
        of("20 x 16 KiB").asking(20, 16 * K),
        of("20 x 100 KiB").asking(20, 100 * K),
        of("20 x 100 KiB, AES-256").asking(20, 100 * K).with(Suite::Aes256Gcm),
        of("20 x 100 KiB, ChaCha20").asking(20, 100 * K).with(Suite::Chacha20Poly1305),
        cbc.asking(20, 16 * K).with(Suite::Aes256CbcSha384),
        Planned { record_bytes: 4096, ..short },
        of("3 x 1 MiB").asking(3, K * K),
    ]
}

fn mixes() -> Vec<Planned> {
    let rsa = |name| Planned::full(name, Tls13, X25519, Rsa2048);
    let ecdsa = |name| Planned::full(name, Tls13, X25519, P256);
    let old = |name| Planned::full(name, Tls12, Exchange::P384, Rsa2048);
    let page = vec![30 * K, 4 * K, 9 * K, 60 * K, 2 * K, 15 * K];
    vec![
        rsa("half by PSK, 4 x 16 KiB").resuming(ResumedPsk, 0.5).asking(4, 16 * K),
        ecdsa("three quarters by PSK, 8 x 2 KiB").resuming(ResumedPsk, 0.75).asking(8, 2 * K),
        Planned { responses: page.clone(), ..rsa("a page of 6 files, a third by PSK") }
            .resuming(ResumedPsk, 0.33),
        old("P-384, 1.2, a quarter by ticket, 2 x 8 KiB")
            .resuming(ResumedTicket, 0.25)
            .asking(2, 8 * K),
        Planned {
            responses: page,
            ..Planned::full("a page of 6 files, 1.2, 60 % by id", Tls12, X25519, P256)
        }
        .resuming(ResumedId, 0.6),
        Planned::full("RSA-4096, 40 % by PSK, 3 x 50 KiB", Tls13, X25519, Rsa4096)
            .resuming(ResumedPsk, 0.4)
            .asking(3, 50 * K),
    ]
}

fn http2() -> Vec<Planned> {
    let of = |name, certificate| Planned::full(name, Tls13, X25519, certificate).over_http2();
    vec![
        of("HTTP/2, 12 x 16 KiB", P256).asking(12, 16 * K),
        of("HTTP/2, 1 x 1 KiB", P256),
        of("HTTP/2, 70 % by PSK, 8 x 4 KiB", Rsa2048).resuming(ResumedPsk, 0.7).asking(8, 4 * K),
    ]
}

fn no_aes() -> Vec<Planned> {
    let of = |name| Planned::full(name, Tls13, X25519, P256).without_aes();
    let old = Planned::full("no AES hardware, 1.2, 10 x 16 KiB by ticket", Tls12, X25519, Rsa2048);
    vec![
        of("no AES hardware, 1 x 1 KiB"),
        of("no AES hardware, 5 x 100 KiB").asking(5, 100 * K),
        old.without_aes().resuming(ResumedTicket, 1.0).asking(10, 16 * K),
    ]
}

/// A site that was moved to TLS and HTTP/2 in 2016 and then used five times the CPU: what its visitors may have
/// negotiated before and after, a page of 12 files each. What it cost without TLS stands in the part's
/// calibration. `docs/TLS-LOAD.md` says what comes of it.
fn mystery() -> Vec<Planned> {
    let of = |name, exchange, certificate| {
        let page = Planned::full(name, Tls12, exchange, certificate).asking(12, 16 * K);
        page.with(Suite::Aes256Gcm)
    };
    let plain = |name| of(name, Exchange::P256, Rsa2048);
    vec![
        plain("HTTP/1.1, P-256, RSA-2048, AES-256"),
        plain("HTTP/2, P-256, RSA-2048, AES-256").over_http2(),
        plain("HTTP/2, P-256, RSA-2048, AES-128").with(Suite::Aes128Gcm).over_http2(),
        plain("HTTP/2, P-256, RSA-2048, AES-128, 80 % by ticket")
            .with(Suite::Aes128Gcm)
            .over_http2()
            .resuming(ResumedTicket, 0.8),
        of("HTTP/2, P-384, RSA-2048, AES-256", Exchange::P384, Rsa2048).over_http2(),
        of("HTTP/2, P-384, RSA-4096, AES-256", Exchange::P384, Rsa4096).over_http2(),
        of("HTTP/2, own DH 2048, RSA-2048, AES-256", OwnDh2048, Rsa2048).over_http2(),
        of("HTTP/2, DH 4096, RSA-4096, AES-256", Ffdhe4096, Rsa4096).over_http2(),
    ]
}

#[cfg(test)]
mod tests {
    use super::{PARTS, part, *};
    use judge::load::Point;

    fn all() -> Vec<Planned> {
        PARTS.iter().flat_map(|name| part(name).unwrap()).collect()
    }

    fn tally(us: &[f64], connections: u64, resumed: u64) -> Tally {
        let visit = |us: &f64| {
            let told =
                crate::server::Told { connections, resumed, ..crate::server::Told::default() };
            let usage = crate::server::Usage {
                ns: (us * 1e3) as u64 * connections,
                ..crate::server::Usage::default()
            };
            Some(crate::server::Visit { usage, told, ..crate::server::Visit::default() })
        };
        Tally {
            visits: us.iter().map(visit).collect(),
            state: State::Measured,
            reason: None,
            errors: 0,
            refusals: 0,
            level: crate::server::Level::default(),
        }
    }

    /// A calibration that has exactly what a part asks for, of a server whose every connection takes 100 µs, with
    /// 300 more for TLS, and whose requests take 10, with 5 more.
    fn calibration(points: &[Planned]) -> Calibration {
        let mut whole = judge::load::sample::calibration();
        whole.points = cells_for(points, Regime::ALL)
            .into_iter()
            .map(|cell| {
                let us = match (cell.role, cell.unit) {
                    (Role::RealPlain | Role::MinimalPlain, Unit::Connection) => 100.0,
                    (_, Unit::Connection) => 400.0,
                    (Role::MinimalTls | Role::RealTls, Unit::Request) => 15.0,
                    (_, Unit::Request) => 10.0,
                };
                Point {
                    role: cell.role,
                    regime: cell.regime,
                    unit: cell.unit,
                    served: cell.served,
                    state: State::Measured,
                    reason: None,
                    rounds_cpu_us: vec![Some(us); 3],
                    counted: judge::load::Counted::default(),
                }
            })
            .collect();
        whole
    }

    #[test]
    fn every_point_can_be_predicted_from_what_its_part_calibrates() {
        for name in PARTS {
            let points = part(name).unwrap();
            let calibration = calibration(&points);
            for planned in &points {
                for regime in [Regime::Low, Regime::Saturated] {
                    let spec = spec(regime, planned, planned.resumed);
                    let us = predicted(&spec, regime, &calibration);
                    let us = us.unwrap_or_else(|why| panic!("{}: {why}", planned.name)).value;
                    let more = planned.responses.len() as f64 - 1.0;
                    let known = 400.0 + 15.0 * more;
                    assert!((us - known).abs() < 0.01, "{}: {us} and not {known}", planned.name);
                }
            }
        }
    }

    #[test]
    fn nothing_of_the_real_server_with_tls_is_calibrated_but_two_connections() {
        let cells = cells_for(&all(), &[Regime::Low]);
        let real: Vec<&Cell> = cells.iter().filter(|c| c.role == Role::RealTls).collect();
        assert_eq!(real.len(), 2);
        let longer: Vec<Role> =
            cells.iter().filter(|c| c.is_in_every_prediction()).map(|c| c.role).collect();
        assert_eq!(longer, [Role::RealTls, Role::MinimalTls].repeat(2));
        let marked: Vec<String> =
            all().iter().filter(|p| is_calibration(p)).map(|p| p.name.clone()).collect();
        assert_eq!(marked, ["p256, 1.3", "all by ticket, 1.2"]);
        let full = cells_for(&part("certificates").unwrap(), &[Regime::Low]);
        assert_eq!(full.iter().filter(|c| c.role == Role::RealTls).count(), 1);
    }

    #[test]
    fn a_row_is_judged_by_the_counted_share_and_by_its_own_noise() {
        let points = part("resumption").unwrap();
        let calibration = calibration(&points);
        let of = |tally: &Tally| row(Regime::Low, &points[2], tally, &calibration);
        let sound = of(&tally(&[395.0, 400.0, 405.0], 100, 100));
        assert_eq!((sound.verdict, sound.spec.resumption.share), (Judgement::Pass, 1.0));
        assert!(sound.error.unwrap().abs() < 0.01, "{:?}", sound.error);
        let noisy = of(&tally(&[300.0, 400.0, 500.0], 100, 100));
        assert_eq!(noisy.verdict, Judgement::Inconclusive);
        let too_few = of(&tally(&[400.0, 400.0], 100, 100));
        assert_eq!((too_few.verdict, too_few.noise), (Judgement::Inconclusive, None));
        let mut restless = calibration.clone();
        for point in &mut restless.points {
            point.rounds_cpu_us =
                [0.7, 1.0, 1.3].map(|x| point.median_us().map(|us| us * x)).to_vec();
        }
        let unsure = row(Regime::Low, &points[2], &tally(&[400.0; 3], 100, 100), &restless);
        assert_eq!(unsure.verdict, Judgement::Inconclusive, "{:?}", unsure.predicted_noise);
        let dear = of(&tally(&[800.0, 800.0, 800.0], 100, 100));
        assert_eq!(dear.verdict, Judgement::Fail);
        let unmeasured = Tally { state: State::Failed, ..tally(&[], 0, 0) };
        assert_eq!(of(&unmeasured).verdict, Judgement::None);
    }

    #[test]
    fn there_are_enough_points_each_under_a_name_of_its_own_and_all_of_them_exist() {
        let all: Vec<Planned> = PARTS.iter().flat_map(|name| part(name).unwrap()).collect();
        // With those that are calibrated with or stand apart left out: 96 over three regimes, 20 in each.
        assert!(3 * (all.len() - 3) >= 96 && all.len() >= 23, "{}", all.len());
        for (at, point) in all.iter().enumerate() {
            assert!(point.case.exists(), "{}", point.name);
            assert!(all[..at].iter().all(|other| other.name != point.name), "{}", point.name);
            assert_eq!(point.case.kind.is_resumed(), point.resumed > 0.0, "{}", point.name);
        }
        assert!(part("nonsense").is_none());
    }
}
