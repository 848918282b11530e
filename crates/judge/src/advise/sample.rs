//! For tests: snapshots and a record for a PostgreSQL server; a made-up run of handshakes of two stacks for a
//! TLS server.

use crate::advise::postgres::{Snapshot, Work};
use crate::advise::tls_server::Question;
use base::model::Direction;
use record::tls::{
    Bare, Case, Certificate, Document, Exchange, Kind, Protection, RecordRow, RecordsDocument,
    Suite, Temperature, Version, fixtures,
};
use record::{Disturbances, Estimate, Measurement, Record, State};
use serde_json::{Value, json};

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
pub(crate) fn record() -> Record {
    let text = include_str!("../../../record/tests/sample.json");
    let mut record = record::from_json(text, "sample").unwrap();
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
    }
}

/// The fast stack: ECDSA 80 µs with ML-KEM, 70 without, 90 in TLS 1.2; RSA ten times that; resumed 50.
pub(crate) fn document() -> Document {
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
    fixtures::document(&["fast@1.0", "slow@1.0"], handshakes)
}

/// A run of records in which a stack does not have a suite of TLS 1.2.
pub(crate) fn lacking(stack: &str, suite: Suite) -> RecordsDocument {
    let row = RecordRow {
        stack: stack.to_owned(),
        protection: Protection { version: Version::Tls12, suite },
        size: 1400,
        state: State::Unsupported,
        reason: Some("no cipher match".to_owned()),
        negotiated: None,
        overhead_bytes: None,
        send: None,
        receive: None,
        bare: Bare::default(),
        samples: 0,
        records: 0,
        processes: 0,
        disturbed: Disturbances::default(),
        contended: false,
        stopped: None,
    };
    fixtures::run(&[stack], "made up", vec![row])
}
