//! A server's statistics at one moment, as one row of JSON that a query makes.

use jiff::Timestamp;
use record::printable;
use serde::Deserialize;

/// The query that takes a snapshot of `PostgreSQL` 14 and 15, but for its end.
pub const QUERY: &str = "SELECT json_build_object('at', clock_timestamp(), \
    'version', current_setting('server_version_num')::int, 'started', pg_postmaster_start_time(), \
    'block_size', current_setting('block_size')::int, 'track_counts', current_setting('track_counts'), \
    'lsn', CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn() END, \
    'bytes', (SELECT sum(pg_database_size(oid)) FROM pg_database WHERE datallowconn), \
    'pg_stat_database', (SELECT json_agg(d) FROM pg_stat_database d), \
    'pg_stat_wal', (SELECT to_json(w) FROM pg_stat_wal w), \
    'pg_stat_bgwriter', (SELECT to_json(b) FROM pg_stat_bgwriter b))";

/// The same with what `PostgreSQL` 16 and newer have.
pub const QUERY_IO: &str = "SELECT json_build_object('at', clock_timestamp(), \
    'version', current_setting('server_version_num')::int, 'started', pg_postmaster_start_time(), \
    'block_size', current_setting('block_size')::int, 'track_counts', current_setting('track_counts'), \
    'lsn', CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn() END, \
    'pg_stat_database', (SELECT json_agg(d) FROM pg_stat_database d), \
    'pg_stat_wal', (SELECT to_json(w) FROM pg_stat_wal w), \
    'pg_stat_io', (SELECT json_agg(i) FROM pg_stat_io i))";

/// Why a text is no snapshot: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{origin}' is no snapshot of PostgreSQL's statistics: {why}; docs/AT-REST.md has the query that takes one"
)]
pub struct BadSnapshot {
    origin: String,
    why: String,
}

/// A server's statistics at one moment. Counters are as the server has them: since they were last reset.
#[derive(Clone, Debug, Deserialize)]
pub struct Snapshot {
    pub(super) at: Timestamp,
    pub(super) version: u32,
    pub(super) started: String,
    pub(super) block_size: usize,
    pub(super) track_counts: String,
    /// Position in the log; none on a standby.
    pub(super) lsn: Option<String>,
    /// Bytes of all databases; not asked for where the server counts extensions.
    pub(super) bytes: Option<f64>,
    #[serde(rename = "pg_stat_database")]
    pub(super) databases: Vec<Database>,
    #[serde(rename = "pg_stat_wal")]
    pub(super) wal: Option<Wal>,
    #[serde(rename = "pg_stat_bgwriter")]
    pub(super) writer: Option<Writer>,
    #[serde(rename = "pg_stat_io")]
    pub(super) io: Option<Vec<Io>>,
}

/// A row of `pg_stat_database`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Database {
    pub xact_commit: f64,
    pub xact_rollback: f64,
    pub blks_read: f64,
    #[serde(default)]
    pub temp_bytes: f64,
    pub stats_reset: Option<String>,
}

/// `pg_stat_wal`; version 18 has no `wal_write`.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Wal {
    pub wal_bytes: f64,
    pub wal_write: Option<f64>,
    pub stats_reset: Option<String>,
}

/// `pg_stat_bgwriter` up to version 16.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Writer {
    pub buffers_checkpoint: Option<f64>,
    pub buffers_clean: f64,
    pub buffers_backend: Option<f64>,
    pub stats_reset: Option<String>,
}

/// A row of `pg_stat_io`. Up to version 17 each operation is of `op_bytes`, later bytes are counted.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Io {
    pub object: String,
    pub context: String,
    pub reads: Option<f64>,
    pub writes: Option<f64>,
    pub extends: Option<f64>,
    pub op_bytes: Option<f64>,
    pub read_bytes: Option<f64>,
    pub write_bytes: Option<f64>,
    pub extend_bytes: Option<f64>,
    pub stats_reset: Option<String>,
}

impl Snapshot {
    /// Reads what the query printed: JSON, or CSV (`psql --csv`) with that JSON in its one field. `origin` names it in
    /// errors.
    ///
    /// # Errors
    /// [`BadSnapshot`], one line.
    pub fn parse(text: &str, origin: &str) -> Result<Self, BadSnapshot> {
        let wrong = |why: String| BadSnapshot { origin: origin.to_owned(), why: printable(&why) };
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() {
            return Err(wrong("it is empty".to_owned()));
        }
        let json = if text.starts_with('{') { text.to_owned() } else { field(text) };
        let snapshot: Self = serde_json::from_str(&json).map_err(|e| wrong(e.to_string()))?;
        snapshot.check().map_err(wrong)?;
        Ok(snapshot)
    }

    fn check(&self) -> Result<(), String> {
        if self.track_counts != "on" {
            return Err("track_counts is off: the server counts nothing".to_owned());
        }
        if !self.block_size.is_power_of_two() || !(512..=65_536).contains(&self.block_size) {
            return Err(format!("a block size of {} bytes", self.block_size));
        }
        if self.wal.is_none() {
            return Err("it has no pg_stat_wal, which PostgreSQL has from version 14 on".to_owned());
        }
        if self.io.is_none() && self.writer.as_ref().is_none_or(|w| w.buffers_backend.is_none()) {
            return Err(
                "it has neither pg_stat_io nor pg_stat_bgwriter's buffers_backend".to_owned()
            );
        }
        if self.lsn.is_some() && self.lsn().is_none() {
            return Err("`lsn` is no position in a log".to_owned());
        }
        Ok(())
    }

    /// Position in the log in bytes.
    pub(super) fn lsn(&self) -> Option<f64> {
        let (high, low) = self.lsn.as_ref()?.split_once('/')?;
        let part = |text| u32::from_str_radix(text, 16).ok();
        Some(f64::from(part(high)?) * 4_294_967_296.0 + f64::from(part(low)?))
    }
}

/// The field of a CSV with one row and one column.
fn field(text: &str) -> String {
    let row = text.split_once('\n').map_or(text, |(_, row)| row).trim();
    let inner = row.strip_prefix('"').and_then(|row| row.strip_suffix('"'));
    inner.map_or_else(|| row.to_owned(), |inner| inner.replace("\"\"", "\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::postgres::sample::snapshot;

    fn refused(change: impl Fn(&mut serde_json::Value)) -> String {
        let mut value = snapshot();
        change(&mut value);
        Snapshot::parse(&value.to_string(), "s.json").unwrap_err().to_string()
    }

    #[test]
    fn json_and_csv_of_the_query_are_the_same_snapshot() {
        let json = snapshot().to_string();
        let csv = format!("json_build_object\n\"{}\"\n", json.replace('"', "\"\""));
        let both = [&json, &csv].map(|text| Snapshot::parse(text, "s").unwrap());
        assert_eq!(both[0].lsn(), Some(4_294_967_296.0 + 256.0));
        assert_eq!(format!("{:?}", both[0]), format!("{:?}", both[1]));
    }

    #[test]
    fn what_is_no_snapshot_is_refused_with_its_reason() {
        let said = |text: &str| Snapshot::parse(text, "s.json").unwrap_err().to_string();
        assert!(
            said("").contains("'s.json' is no snapshot of PostgreSQL's statistics: it is empty")
        );
        assert!(said("psql: error").contains("docs/AT-REST.md has the query"));
        assert!(refused(|v| v["track_counts"] = "off".into()).contains("track_counts is off"));
        assert!(refused(|v| v["block_size"] = 3.into()).contains("block size of 3"));
        assert!(refused(|v| v["pg_stat_wal"] = ().into()).contains("from version 14 on"));
        assert!(refused(|v| v["pg_stat_bgwriter"] = ().into()).contains("neither pg_stat_io"));
        assert!(refused(|v| v["lsn"] = "x".into()).contains("no position in a log"));
        assert!(refused(|v| v["pg_stat_database"] = ().into()).contains("invalid type"));
    }
}
