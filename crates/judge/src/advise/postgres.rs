//! What encryption would cost a PostgreSQL server that runs without it: pages and log from two snapshots of
//! its statistics, prices from a record. Here: the prediction, how it is written, and the work that it is of:
//! a server's statistics at one moment, as one row of JSON that a query makes, and what the server did
//! between two of them. Pure: text and records in, text out.

use crate::advise::cost::{Costs, Price};
use crate::advise::data::{Data, Family, NonceRule, Scheme};
use crate::advise::question::{Evidence, IntegrityLevel, Question, Surroundings};
use crate::advise::render::Format;
use crate::advise::{Advice, Basis, Open, Outcome, sentences};
use base::analysis::Estimate;
use base::text::{Cell, Column, HEADING, Options, PLAIN, Table, clean, wrap};
use jiff::Timestamp;
use record::printable;
use serde::{Deserialize, Serialize};

// What each scheme and library would take of a server's CPU.

/// What tells a prediction from other documents.
pub const KIND: &str = "postgres-prediction";
pub const FORMAT_VERSION: &str = "1.1";

/// Other CPUs, libraries and queries lie within this.
const SPREAD: Estimate = Estimate { median: 1.0, low: 0.5, high: 1.5 };

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    pub kind: String,
    pub format_version: String,
    pub work: Work,
    /// Pages for each transaction; none where none ended.
    pub per_transaction: Option<PerTransaction>,
    /// The record that the prices are from.
    pub basis: Basis,
    /// What `advise` chooses at this rate of writing; none where no scheme fulfils the wishes.
    pub choice: Option<String>,
    /// In which library, or two; since 1.1.
    #[serde(default)]
    pub library: Option<String>,
    /// What could give another choice and is not known, the likeliest first; since 1.1.
    #[serde(default)]
    pub open: Vec<Open>,
    /// Why there is no choice, and what is open, in sentences; since 1.1.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Every scheme in every library, the cheapest first.
    pub rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    pub read: Estimate,
    pub written: Estimate,
    /// Of the log, encrypted and written.
    pub log: Estimate,
}

/// One scheme in one library, or two.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    pub scheme: String,
    /// `openssl@3.0.19`
    pub library: String,
    /// The rules that reject it under the wishes, the decisive one first; none where it fits.
    pub rejected_by: Vec<String>,
    /// Nanoseconds to decrypt a page, from the record.
    pub read_ns: Estimate,
    pub write_ns: Estimate,
    /// Nanoseconds of a page that is read, beside its price.
    pub beside_read_ns: Estimate,
    /// Nanoseconds of a page that is written, beside its price.
    pub beside_write_ns: Estimate,
    /// Nanoseconds of a page of the log, beside its price.
    pub beside_log_ns: Estimate,
    /// CPU seconds a second, which is CPUs kept busy.
    pub cpus: Estimate,
    /// Microseconds of CPU for each transaction; none where none ended.
    pub us_per_transaction: Option<Estimate>,
    pub read_miss_us: Estimate,
    /// Microseconds that a write of the log, and so a commit, takes longer.
    pub commit_us: Option<Estimate>,
}

/// What encryption would take of a server that did this work, by the prices of a record; `advice` is the answer to the same
/// question.
pub fn predict(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
    advice: Advice,
    work: Work,
) -> Prediction {
    let costs = Costs::of(data, question, evidence, &around.judged);
    let mut rows = Vec::new();
    for scheme in &data.schemes {
        let rejected = advice.rejected.iter().find(|r| r.scheme == scheme.id);
        let allowed = |p: &&Price| question.wishes.takes_price(p);
        for price in costs.prices(scheme, question).unwrap_or_default().iter().filter(allowed) {
            let mut row = row(&work, scheme, price, evidence);
            let rules = rejected.iter().flat_map(|r| std::iter::once(&r.rule).chain(&r.also));
            row.rejected_by = rules.cloned().collect();
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| a.cpus.median.total_cmp(&b.cpus.median));
    let per = |count| work.each(count);
    let each = per(work.read).zip(per(work.written)).zip(per(work.log));
    let remarks = sentences::none(&advice).into_iter().chain(sentences::open(&advice)).collect();
    let (choice, library) = match advice.outcome {
        Outcome::Choice(choice) => (Some(choice.scheme), Some(choice.price.label())),
        Outcome::None(_) => (None, None),
    };
    Prediction {
        kind: KIND.to_owned(),
        format_version: FORMAT_VERSION.to_owned(),
        per_transaction: each.map(|((read, written), log)| PerTransaction { read, written, log }),
        basis: advice.basis,
        choice,
        library,
        open: advice.open,
        remarks,
        rows,
        work,
    }
}

/// Nanoseconds beside the prices of pages, for nonce, tag, calls, and caches that the server has emptied of a cipher's code
/// and tables. OpenSSL 3.0.19 on Zen 4 (docs/AT-REST.md).
struct Beside {
    /// The first page after the server has done something else.
    start: f64,
    read: f64,
    /// ... and written: less than the cipher takes, because it leaves the page in the cache that the kernel's copy would have
    /// had to fetch. Pages of the log are written at once: theirs is the start alone.
    write: f64,
}

/// Share of a start that a transaction has which only reads: it is short, and caches keep the rest.
const START_OF_READS: f64 = 0.8;

impl Beside {
    fn of(family: &Family) -> Self {
        let [start, read, write] = match (family.integrity, family.nonce) {
            (IntegrityLevel::Adversary | IntegrityLevel::Rollback, _) => {
                let mac = family.mode.contains('+');
                if mac { [5800.0, 1400.0, 700.0] } else { [3200.0, 1100.0, 1200.0] }
            }
            (_, NonceRule::None | NonceRule::Position) => [1200.0, 400.0, 200.0],
            _ => [3100.0, 1000.0, 1000.0],
        };
        let sum = if family.integrity == IntegrityLevel::Accident { 300.0 } else { 0.0 };
        Self { start, read: read + sum, write: write + sum }
    }

    /// Without the nonce of a page written, where a price has it.
    fn without_nonce(self, drawn_ns: f64) -> Self {
        Self { write: (self.write - drawn_ns).max(0.0), ..self }
    }

    /// Of a page read, a page written and a page of the log, each with its part of the starts: one a transaction for what it
    /// reads, one for what it writes, and one for each write of the log.
    fn each(&self, work: &Work) -> [f64; 3] {
        let starts = |of: f64, pages: Estimate| (of / pages.median.max(1.0)).min(1.0);
        let writing = work.each(work.log_writes).map_or(0.0, |writes| writes.median.min(1.0));
        let of_reads = START_OF_READS + (1.0 - START_OF_READS) * writing;
        [
            self.read + self.start * of_reads * starts(work.transactions, work.read),
            self.write + self.start * starts(work.transactions, work.written),
            self.start * starts(work.log_writes.median, work.log),
        ]
    }
}

/// The same with its interval. A store's own record has nonces and cold pages in its prices; what is left beside them is not
/// known.
fn beside(evidence: Evidence<'_>, family: &Family, drawn_ns: f64, work: &Work) -> [Estimate; 3] {
    Beside::of(family).without_nonce(drawn_ns).each(work).map(|ns| match evidence {
        Evidence::Survey(_) => SPREAD.with(Estimate::exactly(ns), |share, ns| share * ns),
        Evidence::Pages(_) => Estimate { median: 0.3 * ns, low: 0.0, high: ns },
    })
}

fn row(work: &Work, scheme: &Scheme, price: &Price, evidence: Evidence<'_>) -> Row {
    let sum = |a: Estimate, b: Estimate| a.independent(b, |a, b| a + b);
    let times = |count: Estimate, ns: Estimate| count.with(ns, |n, ns| n * ns);
    let drawn_ns = price.drawn.as_ref().map_or(0.0, |drawn| drawn.ns);
    let [beside_read_ns, beside_write_ns, beside_log_ns] =
        beside(evidence, &scheme.family, drawn_ns, work);
    let decrypt = sum(price.read_ns, beside_read_ns);
    let encrypt = sum(price.write_ns, beside_write_ns);
    let log = times(work.log, sum(price.write_ns, beside_log_ns));
    let total = sum(sum(times(work.read, decrypt), times(work.written, encrypt)), log);
    let scaled = |of: Estimate, by: f64| of.with(Estimate::exactly(by), |ns, by| ns * by);
    // A commit waits for one write of the log.
    let of_commit = |writes: f64| scaled(log, 1e-3 / writes);
    Row {
        scheme: scheme.id.clone(),
        library: price.label(),
        rejected_by: Vec::new(),
        read_ns: price.read_ns,
        write_ns: price.write_ns,
        beside_read_ns,
        beside_write_ns,
        beside_log_ns,
        cpus: scaled(work.rate(total), 1e-9),
        us_per_transaction: work.each(scaled(total, 1e-3)),
        read_miss_us: scaled(decrypt, 1e-3),
        commit_us: (work.log_writes.median > 0.0).then(|| of_commit(work.log_writes.median)),
    }
}

// A prediction as text, Markdown or JSON.

/// Most rows of those that fit, and of those that do not.
const ROWS: [usize; 2] = [9, 7];

/// The prediction as text that ends with a line break; `origin` names the record.
pub fn render(prediction: &Prediction, origin: &str, format: Format, options: Options) -> String {
    if format == Format::Json {
        return record::pretty(prediction);
    }
    let is_text = format == Format::Text;
    let mut all = String::new();
    let mut say = |line: &str| match is_text {
        true => all.extend(wrap(line, options.width).iter().map(|l| format!("{l}\n"))),
        false => all.push_str(&format!("{}\n\n", base::text::escape_markdown(line))),
    };
    for line in head(prediction, origin) {
        say(&line);
    }
    let table = table(prediction);
    match is_text {
        true => all.push_str(&table.text(options)),
        false => all.push_str(&table.markdown()),
    }
    all
}

/// `1.9 (1.8 to 2.0)`
fn ranged(of: Estimate) -> String {
    let digits = if of.median.abs() < 10.0 { 2 } else { usize::from(of.median.abs() < 100.0) };
    if of.half() < 0.005 * of.median.abs() || of.half() == 0.0 {
        return format!("{:.digits$}", of.median);
    }
    format!("{:.digits$} ({:.digits$} to {:.digits$})", of.median, of.low, of.high)
}

fn head(prediction: &Prediction, origin: &str) -> Vec<String> {
    let work = &prediction.work;
    let rate = |count| ranged(work.rate(count));
    let (major, minor) = (work.version / 10_000, work.version % 10_000);
    let mut lines = vec![format!(
        "PostgreSQL {major}.{minor} without encryption, {:.0} s: {:.1} transactions a second; pages a second: {} read, {} written, {} of log",
        work.seconds,
        work.transactions / work.seconds,
        rate(work.read),
        rate(work.written),
        rate(work.log),
    )];
    if let Some(each) = &prediction.per_transaction {
        let [read, written, log] = [each.read, each.written, each.log].map(ranged);
        lines.push(format!("pages a transaction: {read} read, {written} written, {log} of log"));
    }
    if work.temporary > 0.0 {
        lines.push(format!(
            "left out: {:.0} pages of temporary files a second",
            work.temporary / work.seconds
        ));
    }
    if let Some((choice, library)) = prediction.choice.as_ref().zip(prediction.library.as_ref()) {
        lines.push(format!(
            "choice at this rate of writing: {choice} in {library} (`ciphermark advise --for postgres` says why)"
        ));
    }
    lines.extend(prediction.remarks.iter().cloned());
    lines.push(format!("prices: {origin} of {}", prediction.basis.cpu));
    lines.extend(prediction.basis.stale.iter().map(|why| format!("STALE: {why}")));
    lines.iter().map(|line| clean(line)).collect()
}

fn table(prediction: &Prediction) -> Table {
    let number = |of: f64, digits: usize| Cell::number(format!("{of:.digits$}"), PLAIN);
    let each = |row: &Row| row.us_per_transaction.map_or_else(|| "-".to_owned(), ranged);
    let rejected = |row: &Row| row.rejected_by.first().cloned().unwrap_or_default();
    Table::of(
        shown(&prediction.rows),
        &[
            (Column::left("scheme"), &|row| Cell::new(row.scheme.clone(), HEADING)),
            (Column::left("library").goes(3), &|row| Cell::plain(clean(&row.library))),
            (Column::left("µs CPU a transaction"), &|row| Cell::plain(each(row))),
            (Column::point("CPUs busy"), &|row| number(row.cpus.median, 4)),
            (Column::point("µs a read miss").goes(1), &|row| number(row.read_miss_us.median, 1)),
            (Column::point("µs a commit").goes(2), &|row| {
                row.commit_us.map_or_else(|| Cell::plain("-"), |us| number(us.median, 1))
            }),
            (Column::left("rejected by").goes(4), &|row| Cell::plain(rejected(row))),
        ],
    )
}

/// Rules whose schemes are left to `--format json`: nobody would want them instead.
const HIDING: [&str; 2] = ["ecb-leaks", "key-too-short"];

/// The cheapest library of each scheme: those that fit first.
fn shown(rows: &[Row]) -> Vec<&Row> {
    let mut seen = std::collections::BTreeSet::new();
    let is_shown = |r: &&Row| !r.rejected_by.iter().any(|rule| HIDING.contains(&rule.as_str()));
    let cheapest: Vec<&Row> =
        rows.iter().filter(is_shown).filter(|r| seen.insert(&r.scheme)).collect();
    let (fit, unfit): (Vec<&Row>, Vec<&Row>) =
        cheapest.into_iter().partition(|r| r.rejected_by.is_empty());
    fit.into_iter().take(ROWS[0]).chain(unfit.into_iter().take(ROWS[1])).collect()
}

/// Shortest time between two snapshots: sessions report their counters once a second at most, so that shorter ones
/// would be off by more than a fifth.
pub const LEAST_SECONDS: f64 = 5.0;

/// Fewest pages between two snapshots that say anything: taking them moves some.
const LEAST_PAGES: f64 = 10.0;

/// Seconds by which the counters of a session may lag behind (`PGSTAT_MIN_INTERVAL`).
const LAG_SECONDS: f64 = 1.0;

/// Pages and transactions between two snapshots. An interval is what the counters leave open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Work {
    /// Version of the server: 150018.
    pub version: u32,
    pub block_size: usize,
    pub seconds: f64,
    pub transactions: f64,
    /// Pages read into shared buffers.
    pub read: Estimate,
    /// Pages written, or added to a file.
    pub written: Estimate,
    pub log_bytes: f64,
    /// Writes to the log: each begins with the page that the last one left half full.
    pub log_writes: Estimate,
    /// Pages of the log written.
    pub log: Estimate,
    /// Pages of temporary files written, which the prediction leaves out.
    pub temporary: f64,
}

impl Work {
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
        let pages = read.high + written.high + log.high;
        if pages < LEAST_PAGES {
            return Err(format!(
                "the server read and wrote {pages:.0} pages in {seconds:.0} s, so encryption would cost nothing to speak \
                 of: watch it under load, or for longer (--interval 10m)"
            ));
        }
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
    pub fn lag(&self) -> f64 {
        LAG_SECONDS / self.seconds
    }

    pub fn encrypted(&self) -> Estimate {
        self.written.independent(self.log, |a, b| a + b)
    }

    pub fn rate(&self, count: Estimate) -> Estimate {
        let lag = Estimate { median: 1.0, low: 1.0 - self.lag(), high: 1.0 + self.lag() };
        count.with(lag, |n, lag| n * lag).with(Estimate::exactly(self.seconds), |n, s| n / s)
    }

    /// A count for each transaction; none where none ended.
    pub fn each(&self, count: Estimate) -> Option<Estimate> {
        (self.transactions > 0.0)
            .then(|| count.with(Estimate::exactly(self.transactions), |n, all| n / all))
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
fn of_io(first: &[Io], last: &[Io], page: f64) -> Result<(Estimate, Estimate), String> {
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
    Ok((Estimate::exactly(grown("reads", read(first), read(last))?), Estimate::exactly(written)))
}

/// Up to version 15 a page added to a file counts as read (`blks_read`) and as written by a backend; how many there were
/// is known from the growth of the databases only.
fn of_buffers(
    first: &Snapshot,
    last: &Snapshot,
    page: f64,
) -> Result<(Estimate, Estimate), String> {
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
            Estimate { median: misses - added, low: misses - most.min(2.0 * added), high: misses }
        }
        None => Estimate { median: misses - most / 2.0, low: misses - most, high: misses },
    };
    Ok((read, Estimate::exactly(written)))
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
) -> Result<(Estimate, Estimate), String> {
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
        return Ok((Estimate::exactly(writes), Estimate::exactly(pages)));
    }
    let writes = |s: &Snapshot| s.wal.as_ref().and_then(|w| w.wal_write);
    let Some((first, last)) = writes(first).zip(writes(last)) else {
        return Err(
            "the snapshots count no writes of the log: with PostgreSQL 18 they need pg_stat_io"
                .to_owned(),
        );
    };
    let writes = grown("wal_write", first, last)?;
    let pages = Estimate { median: new + writes, low: new.max(writes), high: new + writes };
    Ok((Estimate::exactly(writes), pages))
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
    pub fn parse(text: &str, origin: &str) -> Result<Self, String> {
        let wrong = |why: String| {
            format!(
                "'{origin}' is no snapshot of PostgreSQL's statistics: {}; docs/AT-REST.md has the query that takes one",
                printable(&why)
            )
        };
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
    use crate::advise::OpenWhy;
    use crate::advise::data::Data;
    use crate::advise::question::{Evidence, Question};
    use crate::sample::{later, record_for_server, snapshot, work, work_of};
    use jiff::civil::date;
    use record::LeakVerdict;
    use serde_json::{Value, json};

    fn predicted_of(record: &record::Record, work: Work) -> Prediction {
        let data = Data::built_in();
        let today = date(2026, 11, 24);
        let question = Question::of(data.find_use("postgres").unwrap(), today);
        let (evidence, around) = (Evidence::Survey(record), Surroundings::on(today));
        let advice = crate::advise::advise(&data, &question, evidence, &around);
        predict(&data, &question, evidence, &around, advice, work)
    }

    fn predicted(work: Work) -> Prediction {
        predicted_of(&record_for_server(), work)
    }

    #[test]
    fn a_price_times_the_pages_is_what_encryption_takes() {
        let prediction = predicted(work());
        let [row] = &prediction.rows[..] else { panic!("{:?}", prediction.rows) };
        assert_eq!((row.scheme.as_str(), row.read_ns.median), ("aes-256-gcm", 1000.0));
        // 1900 pages decrypted, 750 encrypted and 2000 of the log in 1000 transactions and 10 s.
        let [read, write, log] =
            [row.beside_read_ns, row.beside_write_ns, row.beside_log_ns].map(|ns| ns.median / 1e3);
        let us = 1.9 * (1.0 + read) + 0.75 * (2.0 + write) + 2.0 * (2.0 + log);
        let each = row.us_per_transaction.unwrap();
        assert!((each.median - us).abs() < 1e-9, "{each:?}");
        assert!(each.low < us && each.high > us, "{each:?}");
        assert!((row.cpus.median - us * 1e-4).abs() < 1e-12, "{:?}", row.cpus);
        // Two pages in each write of the log.
        let commit = 2.0 * (2.0 + log);
        assert!((row.commit_us.unwrap().median - commit).abs() < 1e-9);
        assert_eq!(prediction.choice.as_deref(), Some("aes-256-gcm"));
    }

    #[test]
    fn what_depends_on_the_secret_has_no_row_and_what_is_open_is_told() {
        let mut record = record_for_server();
        let mut leaky = record.measurements.clone();
        leaky.iter_mut().for_each(|m| m.library.name = "leaky".to_owned());
        leaky.iter_mut().for_each(|m| m.ns_per_op = m.ns_per_op.map(|ns| ns.map(|ns| ns / 2.0)));
        let leaks =
            crate::sample::leaks(leaky[0].library.clone(), "aes-256-gcm", LeakVerdict::Depends);
        record.leaks.push(leaks);
        record.measurements.append(&mut leaky);
        let prediction = predicted_of(&record, work());
        let libraries: Vec<&str> = prediction.rows.iter().map(|row| &*row.library).collect();
        assert_eq!(libraries, ["openssl@3.0.22"]);
        assert_eq!(prediction.library.as_deref(), Some("openssl@3.0.22"));
        // AEGIS and others would do and were not asked for.
        assert!(prediction.open.iter().any(|open| open.kind == OpenWhy::Missing));
        assert!(prediction.remarks.iter().any(|says| says.contains("could cost less")));
        record.measurements.clear();
        let head = head(&predicted_of(&record, work()), "record r.json").join("\n");
        assert!(!head.contains("choice") && head.contains("not enough measured"), "{head}");
    }

    #[test]
    fn a_nonce_that_is_in_the_price_is_not_beside_it_too() {
        let data = Data::built_in();
        let gcm = data.schemes.iter().find(|scheme| scheme.id == "aes-256-gcm").unwrap();
        let record = record_for_server();
        let of = |drawn| beside(Evidence::Survey(&record), &gcm.family, drawn, &work());
        let ([read, write, log], [drawn_read, drawn_write, drawn_log]) = (of(0.0), of(300.0));
        assert_eq!((read, log), (drawn_read, drawn_log));
        assert!((write.median - drawn_write.median - 300.0).abs() < 1e-9);
        assert!(of(1e6)[1].median >= 0.0);
    }

    #[test]
    fn the_more_pages_follow_each_other_the_less_lies_beside_the_price_of_each() {
        let (data, record) = (Data::built_in(), record_for_server());
        let of = |id: &str, pages: f64, log_writes: f64| {
            let scheme = data.schemes.iter().find(|scheme| scheme.id == id).unwrap();
            let [read, written, log] = [pages; 3].map(|n| Estimate::exactly(1000.0 * n));
            let log_writes = Estimate::exactly(1000.0 * log_writes);
            let work = Work { transactions: 1000.0, read, written, log, log_writes, ..work() };
            beside(Evidence::Survey(&record), &scheme.family, 0.0, &work)
                .map(|ns| ns.median.round())
        };
        let all = ["aes-256-xts", "aes-256-ctr+xxh3-64", "aes-256-gcm", "aes-256-cbc+hmac-sha256"];
        let one = [1200.0, 3100.0, 3200.0, 5800.0];
        for (scheme, start) in all.into_iter().zip(one) {
            let [read, write, log] = of(scheme, 1e9, 0.0);
            assert_eq!(log, 0.0, "{scheme}");
            assert_eq!(of(scheme, 1.0, 1.0), [read + start, write + start, start], "{scheme}");
            assert_eq!(of(scheme, 10.0, 1.0)[2], start / 10.0, "{scheme}");
            assert_eq!(of(scheme, 1.0, 0.0)[0], read + 0.8 * start, "{scheme}");
        }
        assert_eq!(of("aes-256-gcm", 1e9, 0.0), [1100.0, 1200.0, 0.0]);
    }

    #[test]
    fn an_idle_server_takes_nothing_and_has_no_transaction() {
        let nothing = Estimate::exactly(0.0);
        let idle = Work {
            transactions: 0.0,
            read: nothing,
            written: nothing,
            log: nothing,
            log_writes: nothing,
            ..work()
        };
        let prediction = predicted(idle);
        let row = &prediction.rows[0];
        assert_eq!((row.cpus.median, row.us_per_transaction, row.commit_us), (0.0, None, None));
        assert!(prediction.per_transaction.is_none());
    }

    fn written(format: Format) -> String {
        let mut record = record_for_server();
        record.measurements.iter_mut().for_each(|m| m.library.version = "1\u{1b}[31m".to_owned());
        let prediction = predicted_of(&record, work());
        render(&prediction, "record r.json", format, Options { width: 100, color: false })
    }

    #[test]
    fn the_text_has_rates_choice_and_a_row_for_each_scheme_on_a_screen() {
        let text = written(Format::Text);
        for said in [
            "PostgreSQL 15.18 without encryption, 10 s: 100.0 transactions a second",
            "190 (162 to 220) read",
            "pages a transaction: 1.90 (1.80 to 2.00) read, 0.75 written, 2.00 (1.00 to 2.00) of log",
            "choice at this rate of writing: aes-256-gcm",
        ] {
            let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(joined.contains(said), "{said}: {text}");
        }
        assert!(
            text.lines().count() <= 30 && text.lines().all(|l| base::text::width(l) <= 100),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn json_is_the_prediction_and_reads_back() {
        let json = written(Format::Json);
        let read: Prediction = serde_json::from_str(&json).unwrap();
        assert_eq!((read.kind.as_str(), read.rows.len()), ("postgres-prediction", 1));
        assert!(written(Format::Markdown).contains("| aes-256-gcm |"));
    }

    fn with(mut value: Value, place: &str, other: Value) -> Value {
        *value.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = other;
        value
    }

    #[test]
    fn version_15_gives_pages_from_buffers_growth_and_the_logs_position() {
        let work = work();
        assert_eq!((work.seconds, work.transactions), (10.0, 1000.0));
        // 2000 misses, of which the databases' growth says that 100 were new pages.
        assert_eq!(work.read, Estimate { median: 1900.0, low: 1800.0, high: 2000.0 });
        // 300 of the checkpoint, 50 of the background writer, 400 of backends.
        assert_eq!(work.written, Estimate::exactly(750.0));
        // 1000 pages of log in 1000 writes.
        assert_eq!(work.log, Estimate { median: 2000.0, low: 1000.0, high: 2000.0 });
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
        assert_eq!((work.log, work.log_writes.median), (Estimate::exactly(60.0), 20.0));
    }

    #[test]
    fn snapshots_that_do_not_belong_together_are_refused() {
        for (place, last, said) in [
            ("/at", json!("2026-11-24T10:00:02Z"), "2.0 s between"),
            ("/at", json!("2026-11-24T09:00:00Z"), "3600 s older"),
            ("/started", json!("later"), "restarted"),
            ("/pg_stat_wal/stats_reset", json!("now"), "reset"),
            ("/pg_stat_database/0/stats_reset", json!("now"), "reset"),
            ("/pg_stat_database/1/blks_read", json!(1), "blks_read fell"),
            ("/lsn", json!("0/100"), "the log's position fell"),
            ("/version", json!(160_000), "two servers"),
            ("/pg_stat_wal/wal_write", Value::Null, "need pg_stat_io"),
        ] {
            let why = work_of(&snapshot(), &with(later(), place, last)).unwrap_err();
            assert!(why.contains(said), "{place}: {why}");
        }
    }

    #[test]
    fn a_standby_has_no_position_and_counts_bytes_of_its_log() {
        let (mut first, mut last) = (snapshot(), later());
        (first["lsn"], last["lsn"]) = (Value::Null, Value::Null);
        assert_eq!(work_of(&first, &last).unwrap().log_bytes, 8_000_000.0);
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
        for (place, value, words) in [
            ("/track_counts", json!("off"), "track_counts is off"),
            ("/block_size", json!(3), "block size of 3"),
            ("/pg_stat_wal", Value::Null, "from version 14 on"),
            ("/pg_stat_bgwriter", Value::Null, "neither pg_stat_io"),
            ("/lsn", json!("x"), "no position in a log"),
            ("/pg_stat_database", Value::Null, "invalid type"),
        ] {
            let why = said(&with(snapshot(), place, value).to_string());
            assert!(why.contains(words), "{place}: {why}");
        }
    }
}
