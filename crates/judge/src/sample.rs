//! Made-up records for tests: a PostgreSQL server's snapshots and a record with prices for it; a run of
//! handshakes of two stacks for a TLS server; a record and a claim (two versions of OpenSSL, and what makes
//! each verdict); cases with raw samples, one cost a process. The rest is of the committed sample of the
//! format.

use crate::advise::postgres::{Snapshot, Work};
use crate::advise::tls_server::{Advice, Evidence, Question, advise};
use crate::claims::{Source, parse_source};
use base::model::{Direction, Model, RawSample, Tier};
use record::tls::{
    Case, Certificate, Exchange, Kind, Protection, Run, RunKind, Subject, Suite, Temperature,
    Version, fixtures,
};
use record::{
    Call, Estimate, Executed, LeakVerdict, Leaks, LibraryId, Measurement, Record, Samples, State,
};
use serde_json::{Value, json};

const PER_PROCESS: usize = 5;

pub(crate) fn committed() -> Record {
    let text = include_str!("../../record/tests/sample.json");
    record::from_json(text, "sample.json").unwrap()
}

pub(crate) fn library(name: &str, version: &str, id: &str) -> LibraryId {
    let [name, version, id] = [name, version, id].map(str::to_owned);
    LibraryId { path: format!("/lib/{name}-{version}-{id}.so"), name, version, id }
}

/// A measured case of the library `mine@1`; one process for each cost, in cycles an operation.
pub(crate) fn case(algorithm: &str, size: usize, costs: &[f64]) -> Measurement {
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let estimate = |cost: f64| Estimate { median: cost, low: cost * 0.99, high: cost * 1.01 };
    Measurement {
        library: library("mine", "1", "build-id:00"),
        algorithm: algorithm.to_owned(),
        size,
        ns_per_op: Some(estimate(mean / 2.0)),
        cycles_per_op: Some(estimate(mean)),
        ns_per_byte: Some(mean / 2.0 / size as f64),
        mb_per_s: Some(size as f64 / mean * 2e3),
        cycles_per_byte: Some(mean / size as f64),
        instructions_per_byte: None,
        instructions_per_message: None,
        raw: raw(costs),
        ..committed().measurements.remove(0)
    }
}

fn raw(costs: &[f64]) -> Samples {
    let mut samples = Samples::default();
    for (process, cost) in costs.iter().enumerate() {
        // A thousand operations, and two cycles a tick.
        let ticks = (cost * 500.0).round() as u64;
        let sample =
            RawSample { ops: 1000, ..base::model::fixtures::sample(process as u32, ticks, 2.0) };
        (0..PER_PROCESS).for_each(|_| samples.push(&sample, true));
    }
    samples
}

pub(crate) fn without_number(mut m: Measurement, state: State, reason: &str) -> Measurement {
    m.state = state;
    m.reason = Some(reason.to_owned());
    (m.ns_per_op, m.cycles_per_op, m.mb_per_s) = (None, None, None);
    (m.ns_per_byte, m.cycles_per_byte, m.precision) = (None, None, None);
    m.raw = Samples::default();
    m
}

pub(crate) fn executed(m: &Measurement, per_byte: f64, per_message: f64) -> Executed {
    Executed {
        library: m.library.clone(),
        algorithm: m.algorithm.clone(),
        per_byte: Some(per_byte),
        per_message: Some(per_message),
        sizes: Vec::new(),
        uncounted: Vec::new(),
        ..committed().executed.remove(0)
    }
}

pub(crate) fn record(started: &str, measurements: Vec<Measurement>) -> Record {
    let mut record = committed();
    record.host.clock.ticks_per_second = 1e9;
    record.noise = None;
    record.executed.clear();
    record.leaks.clear();
    Record { started: started.to_owned(), measurements, ..record }
}

/// A verdict without places.
pub(crate) fn leaks(library: LibraryId, algorithm: &str, verdict: LeakVerdict) -> Leaks {
    Leaks { library, algorithm: algorithm.to_owned(), verdict, secrets: 16, ..Leaks::default() }
}

/// Speeds in MB/s, each known to 1 %.
pub(crate) fn record_for_claims() -> Record {
    let mut record = committed();
    let gcm = record.measurements.iter().find(|m| m.state == State::Measured).unwrap().clone();
    let gcm = Measurement { limit_fraction: Some(0.5), ..gcm };
    let case = |version: &str, algorithm: &str, mb_per_s: f64| {
        let mut m = gcm.clone();
        if version != m.library.version {
            m.library.version = version.to_owned();
            m.library.path = format!("/opt/{version}/libcrypto.so");
        }
        m.algorithm = algorithm.to_owned();
        let ns = m.size as f64 / mb_per_s * 1e3;
        m.ns_per_op = Some(Estimate { median: ns, low: ns * 0.99, high: ns * 1.01 });
        m.mb_per_s = Some(mb_per_s);
        m.instructions_per_byte = None;
        m
    };
    let mut refused = case("3.0.22", "aes-128-ocb", 1.0);
    refused.state = State::Refused;
    refused.reason = Some("round trip: byte 3 differs".to_owned());
    (refused.ns_per_op, refused.mb_per_s) = (None, None);
    let ctr = || case("3.0.22", "aes-128-ctr", 9000.0);
    record.measurements = vec![
        gcm.clone(),
        ctr(),
        Measurement { tier: Tier::Noaes, ..case("3.0.22", "aes-128-ctr", 600.0) },
        Measurement { direction: Direction::Decrypt, ..case("3.0.22", "aes-128-ctr", 8900.0) },
        Measurement { model: Model::Stream, ..case("3.0.22", "aes-128-ctr", 9500.0) },
        Measurement { threads: 2, ..case("3.0.22", "aes-128-ctr", 17_000.0) },
        Measurement { in_place: true, ..case("3.0.22", "aes-128-ctr", 99_000.0) },
        case("3.0.22", "aes-128-ecb", 9010.0),
        refused,
        case("4.0.1", "aes-128-gcm", 12_000.0),
        case("4.0.1", "aes-128-ctr", 9000.0),
    ];
    record.libraries[0].calls = vec![Call {
        algorithm: "aes-128-gcm".to_owned(),
        direction: Direction::Encrypt,
        functions: None,
        copies: true,
        allocates: false,
        rekeying: None,
        rekey_functions: None,
        in_flight: None,
    }];
    record
}

/// A source of this model with one claim: these lines of TOML.
pub(crate) fn source_of_claim(model: Model, claim: &str) -> Result<Source, String> {
    parse_source(&format!(
        "[source]\nid = 'a'\nauthor = 'b|b'\ntitle = 'c'\nurl = 'https://d'\nmachine = 'e'\n\
         model = '{model}'\n[[claim]]\nid = 'a-x'\nsays = '=y'\n{claim}"
    ))
}

/// Of version 15.
pub(crate) fn snapshot() -> Value {
    json!({
        "at": "2026-11-24T10:00:00+00:00", "version": 150_018, "started": "2026-11-24T09:00:00+00:00",
        "block_size": 8192, "track_counts": "on", "lsn": "1/100", "bytes": 81_920_000,
        "pg_stat_database": [
            {"datid": 0, "xact_commit": 0, "xact_rollback": 0, "blks_read": 100, "temp_bytes": 0, "stats_reset": null},
            {"datid": 5, "xact_commit": 500, "xact_rollback": 10, "blks_read": 4000, "temp_bytes": 0, "stats_reset": null},
        ],
        "pg_stat_wal": {"wal_bytes": 1000, "wal_write": 10, "stats_reset": "2026-11-24T08:00:00+00:00"},
        "pg_stat_bgwriter": {"buffers_checkpoint": 100, "buffers_clean": 10, "buffers_backend": 1000,
            "stats_reset": "2026-11-24T08:00:00+00:00"},
    })
}

/// Ten seconds later.
pub(crate) fn later() -> Value {
    let mut last = snapshot();
    last["at"] = "2026-11-24T10:00:10+00:00".into();
    last["lsn"] = "1/7D0100".into(); // 8,192,000 bytes on
    last["bytes"] = (81_920_000 + 819_200).into();
    last["pg_stat_database"][1]["xact_commit"] = 1490.into();
    last["pg_stat_database"][1]["xact_rollback"] = 20.into();
    last["pg_stat_database"][1]["blks_read"] = 6000.into();
    last["pg_stat_wal"]["wal_bytes"] = 8_001_000.into();
    last["pg_stat_wal"]["wal_write"] = 1010.into();
    last["pg_stat_bgwriter"]["buffers_checkpoint"] = 400.into();
    last["pg_stat_bgwriter"]["buffers_clean"] = 60.into();
    last["pg_stat_bgwriter"]["buffers_backend"] = 1400.into();
    last
}

pub(crate) fn work_of(first: &Value, last: &Value) -> Result<Work, String> {
    let read = |v: &Value| Snapshot::parse(&v.to_string(), "sample").unwrap();
    Work::between(&read(first), &read(last))
}

pub(crate) fn work() -> Work {
    work_of(&snapshot(), &later()).unwrap()
}

/// A survey in which AES-256-GCM encrypts a page in 2 µs and decrypts it in 1 µs.
pub(crate) fn record_for_server() -> Record {
    let mut record = committed();
    let mut row = record.measurements.swap_remove(0);
    (row.algorithm, row.size) = ("aes-256-gcm".to_owned(), 8192);
    let of = |median: f64| Some(Estimate { median, low: 0.99 * median, high: 1.01 * median });
    row.ns_per_op = of(2000.0);
    let read = Measurement { direction: Direction::Decrypt, ns_per_op: of(1000.0), ..row.clone() };
    record.measurements = vec![row, read];
    record
}

// A made-up run of handshakes for tests: a fast stack with ML-KEM and a slow one without.

pub(crate) fn question(clients: &[&str]) -> Question {
    let texts: Vec<String> = clients.iter().map(|c| (*c).to_owned()).collect();
    Question {
        clients: Question::clients(&texts).unwrap(),
        certificates: vec![Certificate::Rsa2048, Certificate::P256],
        resumed_share: 0.0,
        post_quantum: true,
        bytes_per_connection: 0,
        temperature: Temperature::Hot,
        only: None,
    }
}

/// The fast stack: ECDSA 80 µs with ML-KEM, 70 without, 90 in TLS 1.2; RSA ten times that; resumed 50.
pub(crate) fn handshakes() -> Run {
    let mut handshakes = Vec::new();
    for (label, factor) in [("fast@1.0", 1.0), ("slow@1.0", 2.0)] {
        for (certificate, times) in [(Certificate::P256, 1.0), (Certificate::Rsa2048, 10.0)] {
            for (version, exchange, us) in [
                (Version::Tls13, Exchange::X25519Mlkem768, 80.0),
                (Version::Tls13, Exchange::X25519, 70.0),
                (Version::Tls12, Exchange::P256, 90.0),
            ] {
                let case = Case::usual(version, exchange, certificate, Kind::Full);
                let has_none = factor > 1.0 && exchange == Exchange::X25519Mlkem768;
                handshakes.push(fixtures::handshake(
                    label,
                    case,
                    (!has_none).then_some(us * factor * times),
                ));
                if version == Version::Tls13 {
                    let again = Case { kind: Kind::ResumedPsk, ..case };
                    handshakes.push(fixtures::handshake(
                        label,
                        again,
                        (!has_none).then_some(50.0 * factor),
                    ));
                }
            }
        }
    }
    fixtures::run(RunKind::Handshakes, &["fast@1.0", "slow@1.0"], handshakes)
}

/// What handshakes alone say to a question.
pub(crate) fn advice_of(handshakes: &Run, question: &Question) -> Advice {
    let evidence = Evidence { handshakes, records: None, calibration: None, secrets: &[] };
    advise(question, &evidence).unwrap()
}

/// A run of records in which a stack does not have a suite of TLS 1.2.
pub(crate) fn lacking(stack: &str, suite: Suite) -> Run {
    let protection = Protection { version: Version::Tls12, suite };
    let row = fixtures::row(stack, Subject::Records { protection, size: 1400 }, None);
    fixtures::run(RunKind::Records, &[stack], vec![row])
}
