//! Snapshots and a record for tests.

use super::{Snapshot, Work};
use base::model::Direction;
use record::{Estimate, Measurement, Record};
use serde_json::{Value, json};

/// Of version 15.
pub(super) fn snapshot() -> Value {
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
pub(super) fn later() -> Value {
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

pub(super) fn work_of(first: &Value, last: &Value) -> Result<Work, String> {
    let read = |v: &Value| Snapshot::parse(&v.to_string(), "sample").unwrap();
    Work::between(&read(first), &read(last))
}

pub(super) fn work() -> Work {
    work_of(&snapshot(), &later()).unwrap()
}

/// A survey in which AES-256-GCM encrypts a page in 2 µs and decrypts it in 1 µs.
pub(super) fn record() -> Record {
    let text = include_str!("../../../../record/tests/sample.json");
    let mut record = record::from_json(text, "sample").unwrap();
    let mut row = record.measurements.swap_remove(0);
    (row.algorithm, row.size) = ("aes-256-gcm".to_owned(), 8192);
    let of = |median: f64| Some(Estimate { median, low: 0.99 * median, high: 1.01 * median });
    row.ns_per_op = of(2000.0);
    let read = Measurement { direction: Direction::Decrypt, ns_per_op: of(1000.0), ..row.clone() };
    record.measurements = vec![row, read];
    record
}
