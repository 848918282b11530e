//! A PostgreSQL server's statistics at one moment, as one row of JSON that a query makes, and what the server
//! did between two of them.

use crate::claims::expression::Interval;
use jiff::Timestamp;
use record::printable;
use serde::{Deserialize, Serialize};

/// Shortest time between two snapshots: sessions report their counters once a second at most, so that shorter ones
/// would be off by more than a fifth.
pub const LEAST_SECONDS: f64 = 5.0;

/// Seconds by which the counters of a session may lag behind (`PGSTAT_MIN_INTERVAL`).
const LAG_SECONDS: f64 = 1.0;

/// Pages and transactions between two snapshots. An interval is what the counters leave open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Version of the server: 150018.
    pub version: u32,
    /// Bytes of a page.
    pub block_size: usize,
    /// Seconds between the snapshots.
    pub seconds: f64,
    /// Transactions that ended.
    pub transactions: f64,
    /// Pages read into shared buffers.
    pub read: Interval,
    /// Pages written, or added to a file.
    pub written: Interval,
    /// Bytes of log.
    pub log_bytes: f64,
    /// Writes to the log: each begins with the page that the last one left half full.
    pub log_writes: Interval,
    /// Pages of the log written.
    pub log: Interval,
    /// Pages of temporary files written, which the prediction leaves out.
    pub temporary: f64,
}

impl Work {
    /// The difference between two snapshots of one server.
    ///
    /// # Errors
    /// One line: the snapshots are not in order, too near to each other, or counters were reset in between.
    pub fn between(first: &Snapshot, last: &Snapshot) -> Result<Self, String> {
        let seconds = last.at.duration_since(first.at).as_secs_f64();
        if seconds < 0.0 {
            return Err(format!("the second snapshot is {:.0} s older than the first", -seconds));
        }
        if seconds < LEAST_SECONDS {
            return Err(format!(
                "{seconds:.1} s between the snapshots: sessions report once a second, so take them {LEAST_SECONDS:.0} s apart or more"
            ));
        }
        if (first.version, first.block_size) != (last.version, last.block_size) {
            return Err("the snapshots are of two servers".to_owned());
        }
        same_counters(first, last)?;
        let page = first.block_size as f64;
        let (read, written) = match (&first.io, &last.io) {
            (Some(first), Some(last)) => of_io(first, last, page)?,
            _ => of_buffers(first, last, page)?,
        };
        let log_bytes = log_bytes(first, last)?;
        let (log_writes, log) = log(first, last, log_bytes / page, page)?;
        let total = |s: &Snapshot| s.databases.iter().map(|d| d.temp_bytes).sum::<f64>();
        Ok(Self {
            version: last.version,
            block_size: first.block_size,
            seconds,
            transactions: grown("transactions", transactions(first), transactions(last))?,
            read,
            written,
            log_bytes,
            log_writes,
            log,
            temporary: grown("temp_bytes", total(first), total(last))? / page,
        })
    }

    /// Share by which rates may be off because sessions report late.
    #[must_use]
    pub fn lag(&self) -> f64 {
        LAG_SECONDS / self.seconds
    }

    /// Pages encrypted.
    #[must_use]
    pub fn encrypted(&self) -> Interval {
        self.written.independent(self.log, |a, b| a + b)
    }

    /// A count as a rate a second.
    #[must_use]
    pub fn rate(&self, count: Interval) -> Interval {
        let lag = Interval { median: 1.0, low: 1.0 - self.lag(), high: 1.0 + self.lag() };
        count.with(lag, |n, lag| n * lag).with(Interval::exact(self.seconds), |n, s| n / s)
    }

    /// A count for each transaction; none where none ended.
    #[must_use]
    pub fn each(&self, count: Interval) -> Option<Interval> {
        (self.transactions > 0.0)
            .then(|| count.with(Interval::exact(self.transactions), |n, all| n / all))
    }
}

fn transactions(s: &Snapshot) -> f64 {
    s.databases.iter().map(|d| d.xact_commit + d.xact_rollback).sum()
}

/// No restart and no reset lies between the snapshots.
fn same_counters(first: &Snapshot, last: &Snapshot) -> Result<(), String> {
    if first.started != last.started {
        return Err(
            "the server was restarted between the snapshots: take both while it runs".to_owned()
        );
    }
    let reset = |s: &Snapshot| {
        let mut all: Vec<Option<String>> = Vec::new();
        all.extend(s.wal.iter().map(|w| w.stats_reset.clone()));
        all.extend(s.writer.iter().map(|w| w.stats_reset.clone()));
        all.extend(s.io.iter().flatten().take(1).map(|i| i.stats_reset.clone()));
        all
    };
    let databases = |s: &Snapshot| s.databases.iter().filter_map(|d| d.stats_reset.clone()).max();
    if reset(first) != reset(last) || databases(first) != databases(last) {
        return Err(
            "counters were reset between the snapshots (stats_reset differs): take them anew"
                .to_owned(),
        );
    }
    Ok(())
}

fn grown(what: &str, first: f64, last: f64) -> Result<f64, String> {
    if last >= first {
        return Ok(last - first);
    }
    Err(format!(
        "{what} fell from {first} to {last}: counters were reset between the snapshots, or these are of two servers"
    ))
}

/// From version 16 on reads, writes and extensions are counted apart.
fn of_io(first: &[Io], last: &[Io], page: f64) -> Result<(Interval, Interval), String> {
    let pages = |io: &[Io], bytes: fn(&Io) -> Option<f64>, operations: fn(&Io) -> Option<f64>| {
        let of_tables = io.iter().filter(|i| i.object.ends_with("relation"));
        let one = |i: &Io| {
            bytes(i).unwrap_or_else(|| operations(i).unwrap_or(0.0) * i.op_bytes.unwrap_or(page))
        };
        of_tables.map(one).sum::<f64>() / page
    };
    let read = |io| pages(io, |i| i.read_bytes, |i| i.reads);
    let written = |io| pages(io, |i| i.write_bytes, |i| i.writes);
    let added = |io| pages(io, |i| i.extend_bytes, |i| i.extends);
    let written = grown("writes", written(first), written(last))?
        + grown("extends", added(first), added(last))?;
    Ok((Interval::exact(grown("reads", read(first), read(last))?), Interval::exact(written)))
}

/// Up to version 15 a page added to a file counts as read (`blks_read`) and as written by a backend; how many there were
/// is known from the growth of the databases only.
fn of_buffers(
    first: &Snapshot,
    last: &Snapshot,
    page: f64,
) -> Result<(Interval, Interval), String> {
    let all = |s: &Snapshot| s.databases.iter().map(|d| d.blks_read).sum::<f64>();
    let backend = |s: &Snapshot| s.writer.as_ref().and_then(|w| w.buffers_backend).unwrap_or(0.0);
    let others = |s: &Snapshot| {
        s.writer.as_ref().map_or(0.0, |w| w.buffers_clean + w.buffers_checkpoint.unwrap_or(0.0))
    };
    let misses = grown("blks_read", all(first), all(last))?;
    let by_backends = grown("buffers_backend", backend(first), backend(last))?;
    let written = by_backends + grown("buffers_checkpoint", others(first), others(last))?;
    let most = misses.min(by_backends);
    let growth = first.bytes.zip(last.bytes).map(|(a, b)| ((b - a) / page).clamp(0.0, most));
    let read = match growth {
        Some(added) => {
            Interval { median: misses - added, low: misses - most.min(2.0 * added), high: misses }
        }
        None => Interval { median: misses - most / 2.0, low: misses - most, high: misses },
    };
    Ok((read, Interval::exact(written)))
}

fn log_bytes(first: &Snapshot, last: &Snapshot) -> Result<f64, String> {
    if let Some((first, last)) = first.lsn().zip(last.lsn()) {
        return grown("the log's position", first, last);
    }
    let bytes = |s: &Snapshot| s.wal.as_ref().map_or(0.0, |w| w.wal_bytes);
    grown("wal_bytes", bytes(first), bytes(last))
}

/// Writes to the log and pages in them. Version 18 counts the pages; before, each write has the pages that are new in it,
/// and nearly each begins with one that the last left half full.
fn log(
    first: &Snapshot,
    last: &Snapshot,
    new: f64,
    page: f64,
) -> Result<(Interval, Interval), String> {
    let of_log = |s: &Snapshot| {
        let rows = s.io.iter().flatten().filter(|i| i.object == "wal" && i.context == "normal");
        rows.fold(None, |sum: Option<(f64, f64)>, i| {
            let (bytes, writes) = sum.unwrap_or_default();
            Some((bytes + i.write_bytes.unwrap_or(0.0), writes + i.writes.unwrap_or(0.0)))
        })
    };
    if let Some((first, last)) = of_log(first).zip(of_log(last)) {
        let pages = grown("the log's write_bytes", first.0, last.0)? / page;
        let writes = grown("the log's writes", first.1, last.1)?;
        return Ok((Interval::exact(writes), Interval::exact(pages)));
    }
    let writes = |s: &Snapshot| s.wal.as_ref().and_then(|w| w.wal_write);
    let Some((first, last)) = writes(first).zip(writes(last)) else {
        return Err(
            "the snapshots count no writes of the log: with PostgreSQL 18 they need pg_stat_io"
                .to_owned(),
        );
    };
    let writes = grown("wal_write", first, last)?;
    let pages = Interval { median: new + writes, low: new.max(writes), high: new + writes };
    Ok((Interval::exact(writes), pages))
}

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
    pub(crate) at: Timestamp,
    pub(crate) version: u32,
    pub(crate) started: String,
    pub(crate) block_size: usize,
    pub(crate) track_counts: String,
    /// Position in the log; none on a standby.
    pub(crate) lsn: Option<String>,
    /// Bytes of all databases; not asked for where the server counts extensions.
    pub(crate) bytes: Option<f64>,
    #[serde(rename = "pg_stat_database")]
    pub(crate) databases: Vec<Database>,
    #[serde(rename = "pg_stat_wal")]
    pub(crate) wal: Option<Wal>,
    #[serde(rename = "pg_stat_bgwriter")]
    pub(crate) writer: Option<Writer>,
    #[serde(rename = "pg_stat_io")]
    pub(crate) io: Option<Vec<Io>>,
}

/// A row of `pg_stat_database`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Database {
    pub xact_commit: f64,
    pub xact_rollback: f64,
    pub blks_read: f64,
    #[serde(default)]
    pub temp_bytes: f64,
    pub stats_reset: Option<String>,
}

/// `pg_stat_wal`; version 18 has no `wal_write`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Wal {
    pub wal_bytes: f64,
    pub wal_write: Option<f64>,
    pub stats_reset: Option<String>,
}

/// `pg_stat_bgwriter` up to version 16.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Writer {
    pub buffers_checkpoint: Option<f64>,
    pub buffers_clean: f64,
    pub buffers_backend: Option<f64>,
    pub stats_reset: Option<String>,
}

/// A row of `pg_stat_io`. Up to version 17 each operation is of `op_bytes`, later bytes are counted.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Io {
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
    pub(crate) fn lsn(&self) -> Option<f64> {
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
    use crate::advise::sample::{later, snapshot, work, work_of};
    use serde_json::{Value, json};

    fn refused_between(change: impl Fn(&mut Value)) -> String {
        let mut last = later();
        change(&mut last);
        work_of(&snapshot(), &last).unwrap_err()
    }

    #[test]
    fn version_15_gives_pages_from_buffers_growth_and_the_logs_position() {
        let work = work();
        assert_eq!((work.seconds, work.transactions), (10.0, 1000.0));
        // 2000 misses, of which the databases' growth says that 100 were new pages.
        assert_eq!(work.read, Interval { median: 1900.0, low: 1800.0, high: 2000.0 });
        // 300 of the checkpoint, 50 of the background writer, 400 of backends.
        assert_eq!(work.written, Interval::exact(750.0));
        // 1000 pages of log in 1000 writes.
        assert_eq!(work.log, Interval { median: 2000.0, low: 1000.0, high: 2000.0 });
        assert_eq!(work.each(work.read).unwrap().median, 1.9);
        let rate = work.rate(work.written);
        assert_eq!((rate.median, rate.low, rate.high.round()), (75.0, 67.5, 83.0));
    }

    #[test]
    fn version_16_counts_operations_and_version_18_bytes() {
        let row = |reads: u64, bytes: Value| {
            let mut row = json!({"object": "relation", "context": "normal", "reads": reads, "writes": 2 * reads,
                "extends": reads, "op_bytes": 8192});
            row.as_object_mut().unwrap().extend(bytes.as_object().unwrap().clone());
            row
        };
        let with = |rows: &[Value], mut snapshot: Value| {
            snapshot["pg_stat_io"] = Value::from(rows.to_vec());
            snapshot["pg_stat_bgwriter"] = Value::Null;
            snapshot
        };
        let none = json!({});
        let [first, last] = [row(10, none.clone()), row(110, none)];
        let work = work_of(&with(&[first], snapshot()), &with(&[last], later())).unwrap();
        assert_eq!((work.read.median, work.written.median), (100.0, 300.0));
        // 40 reads of 16 pages each; the log's own row.
        let bytes =
            |n: u64| json!({"read_bytes": n * 131_072, "write_bytes": n * 8192, "extend_bytes": 0});
        let log = |n: u64| json!({"object": "wal", "context": "normal", "writes": n, "write_bytes": n * 3 * 8192});
        let [first, last] = [[row(0, bytes(0)), log(5)], [row(40, bytes(40)), log(25)]];
        let work = work_of(&with(&first, snapshot()), &with(&last, later())).unwrap();
        assert_eq!((work.read.median, work.written.median), (640.0, 40.0));
        assert_eq!((work.log, work.log_writes.median), (Interval::exact(60.0), 20.0));
    }

    #[test]
    fn snapshots_that_do_not_belong_together_are_refused() {
        assert!(
            refused_between(|v| v["at"] = "2026-11-24T10:00:02Z".into()).contains("2.0 s between")
        );
        assert!(
            refused_between(|v| v["at"] = "2026-11-24T09:00:00Z".into()).contains("3600 s older")
        );
        assert!(refused_between(|v| v["started"] = "later".into()).contains("restarted"));
        assert!(
            refused_between(|v| v["pg_stat_wal"]["stats_reset"] = "now".into()).contains("reset")
        );
        assert!(
            refused_between(|v| v["pg_stat_database"][0]["stats_reset"] = "now".into())
                .contains("reset")
        );
        let fell = refused_between(|v| v["pg_stat_database"][1]["blks_read"] = 1.into());
        assert!(fell.contains("blks_read fell"), "{fell}");
        assert!(refused_between(|v| v["lsn"] = "0/100".into()).contains("the log's position fell"));
        assert!(refused_between(|v| v["version"] = 160_000.into()).contains("two servers"));
        let none = refused_between(|v| v["pg_stat_wal"]["wal_write"] = Value::Null);
        assert!(none.contains("need pg_stat_io"), "{none}");
    }

    #[test]
    fn a_standby_has_no_position_and_counts_bytes_of_its_log() {
        let (mut first, mut last) = (snapshot(), later());
        (first["lsn"], last["lsn"]) = (Value::Null, Value::Null);
        assert_eq!(work_of(&first, &last).unwrap().log_bytes, 8_000_000.0);
    }

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
