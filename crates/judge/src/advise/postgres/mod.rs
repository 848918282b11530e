//! What encryption would cost a PostgreSQL server that runs without it: pages and log from two snapshots of
//! its statistics, prices from a record. Here: the prediction and how it is written. Pure: text and records
//! in, text out.

mod work;

use crate::advise::cost::{Costs, Price};
use crate::advise::data::{Data, Family, NonceRule, Scheme};
use crate::advise::question::{Evidence, IntegrityLevel, Question, Surroundings};
use crate::advise::render::Format;
use crate::advise::{Basis, Outcome, advise};
use crate::claims::expression::Interval;
use base::text::{Align, Cell, Column, HEADING, Options, PLAIN, Table, clean, wrap};
use serde::{Deserialize, Serialize};
pub use work::{BadSnapshot, LEAST_SECONDS, QUERY, QUERY_IO, Snapshot, Work};

// What each scheme and library would take of a server's CPU.

/// What tells a prediction from other documents.
pub const KIND: &str = "postgres-prediction";
/// Version of the format.
pub const FORMAT_VERSION: &str = "1.0";

/// Other CPUs, libraries and queries lie within this.
const SPREAD: Interval = Interval { median: 1.0, low: 0.5, high: 1.5 };

/// A prediction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Prediction {
    /// [`KIND`]
    pub kind: String,
    /// [`FORMAT_VERSION`]
    pub format_version: String,
    /// What the server did.
    pub work: Work,
    /// Pages for each transaction; none where none ended.
    pub per_transaction: Option<PerTransaction>,
    /// The record that the prices are from.
    pub basis: Basis,
    /// What `advise` chooses at this rate of writing; none where no scheme fulfils the wishes.
    pub choice: Option<String>,
    /// Every scheme in every library, the cheapest first.
    pub rows: Vec<Row>,
}

/// Pages for each transaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerTransaction {
    /// Read and decrypted.
    pub read: Interval,
    /// Encrypted and written.
    pub written: Interval,
    /// Of the log, encrypted and written.
    pub log: Interval,
}

/// One scheme in one library, or two.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The scheme.
    pub scheme: String,
    /// `openssl@3.0.19`
    pub library: String,
    /// The rules that reject it under the wishes, the decisive one first; none where it fits.
    pub rejected_by: Vec<String>,
    /// Nanoseconds to decrypt a page, from the record.
    pub read_ns: Interval,
    /// Nanoseconds to encrypt one.
    pub write_ns: Interval,
    /// Nanoseconds of a page that is read, beside its price.
    pub beside_read_ns: Interval,
    /// Nanoseconds of a page that is written, beside its price.
    pub beside_write_ns: Interval,
    /// Nanoseconds of a page of the log, beside its price.
    pub beside_log_ns: Interval,
    /// CPU seconds a second, which is CPUs kept busy.
    pub cpus: Interval,
    /// Microseconds of CPU for each transaction; none where none ended.
    pub us_per_transaction: Option<Interval>,
    /// Microseconds that a read miss takes longer.
    pub read_miss_us: Interval,
    /// Microseconds that a write of the log, and so a commit, takes longer.
    pub commit_us: Option<Interval>,
}

/// What encryption would take of a server that did this work, by the prices of a record.
#[must_use]
pub fn predict(
    data: &Data,
    question: &Question<'_>,
    evidence: Evidence<'_>,
    around: &Surroundings,
    work: Work,
) -> Prediction {
    let advice = advise(data, question, evidence, around);
    let costs = Costs::of(data, question, evidence, &around.judged);
    let mut rows = Vec::new();
    for scheme in &data.schemes {
        let rejected = advice.rejected.iter().find(|r| r.scheme == scheme.id);
        let allowed = |p: &&Price| p.libraries.iter().all(|l| question.wishes.takes(l));
        for price in costs.prices(scheme).unwrap_or_default().iter().filter(allowed) {
            let mut row = row(&work, scheme, price, evidence);
            let rules = rejected.iter().flat_map(|r| std::iter::once(&r.rule).chain(&r.also));
            row.rejected_by = rules.cloned().collect();
            rows.push(row);
        }
    }
    rows.sort_by(|a, b| a.cpus.median.total_cmp(&b.cpus.median));
    let per = |count| work.each(count);
    let each = per(work.read).zip(per(work.written)).zip(per(work.log));
    Prediction {
        kind: KIND.to_owned(),
        format_version: FORMAT_VERSION.to_owned(),
        per_transaction: each.map(|((read, written), log)| PerTransaction { read, written, log }),
        basis: advice.basis,
        choice: match advice.outcome {
            Outcome::Choice(choice) => Some(choice.scheme),
            Outcome::None(_) => None,
        },
        rows,
        work,
    }
}

/// Nanoseconds beside the prices of pages, for nonce, tag, calls, and caches that the server has emptied of a cipher's code
/// and tables. OpenSSL 3.0.19 on Zen 4 (docs/AT-REST.md).
struct Beside {
    /// The first page after the server has done something else.
    start: f64,
    /// Each page read, ...
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

    /// Of a page read, a page written and a page of the log, each with its part of the starts: one a transaction for what it
    /// reads, one for what it writes, and one for each write of the log.
    fn each(&self, work: &Work) -> [f64; 3] {
        let starts = |of: f64, pages: Interval| (of / pages.median.max(1.0)).min(1.0);
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
fn beside(evidence: Evidence<'_>, family: &Family, work: &Work) -> [Interval; 3] {
    Beside::of(family).each(work).map(|ns| match evidence {
        Evidence::Survey(_) => SPREAD.with(Interval::exact(ns), |share, ns| share * ns),
        Evidence::Pages(_) => Interval { median: 0.3 * ns, low: 0.0, high: ns },
    })
}

fn row(work: &Work, scheme: &Scheme, price: &Price, evidence: Evidence<'_>) -> Row {
    let sum = |a: Interval, b: Interval| a.independent(b, |a, b| a + b);
    let times = |count: Interval, ns: Interval| count.with(ns, |n, ns| n * ns);
    let [beside_read_ns, beside_write_ns, beside_log_ns] = beside(evidence, &scheme.family, work);
    let decrypt = sum(price.read_ns, beside_read_ns);
    let encrypt = sum(price.write_ns, beside_write_ns);
    let log = times(work.log, sum(price.write_ns, beside_log_ns));
    let total = sum(sum(times(work.read, decrypt), times(work.written, encrypt)), log);
    let scaled = |of: Interval, by: f64| of.with(Interval::exact(by), |ns, by| ns * by);
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
#[must_use]
pub fn render(prediction: &Prediction, origin: &str, format: Format, options: Options) -> String {
    if format == Format::Json {
        return serde_json::to_string_pretty(prediction).expect("it is plain data") + "\n";
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
fn ranged(of: Interval) -> String {
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
    let choice = prediction.choice.as_deref().unwrap_or("none: the wishes exclude each other");
    lines.push(format!(
        "choice at this rate of writing: {choice} (`ciphermark advise --for postgres` says why)"
    ));
    lines.push(format!("prices: {origin} of {}", prediction.basis.cpu));
    lines.extend(prediction.basis.stale.iter().map(|why| format!("STALE: {why}")));
    lines.iter().map(|line| clean(line)).collect()
}

fn table(prediction: &Prediction) -> Table {
    let columns = [
        Column::new("scheme", Align::Left),
        Column::new("library", Align::Left).goes(3),
        Column::new("µs CPU a transaction", Align::Left),
        Column::new("CPUs busy", Align::Point),
        Column::new("µs a read miss", Align::Point).goes(1),
        Column::new("µs a commit", Align::Point).goes(2),
        Column::new("rejected by", Align::Left).goes(4),
    ];
    Table::new(columns, shown(&prediction.rows).into_iter().map(cells).collect())
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

fn cells(row: &Row) -> Vec<Cell> {
    let number = |of: f64, digits: usize| Cell::number(format!("{of:.digits$}"), PLAIN);
    vec![
        Cell::new(row.scheme.clone(), HEADING),
        Cell::plain(clean(&row.library)),
        Cell::plain(row.us_per_transaction.map_or_else(|| "-".to_owned(), ranged)),
        number(row.cpus.median, 4),
        number(row.read_miss_us.median, 1),
        row.commit_us.map_or_else(|| Cell::plain("-"), |us| number(us.median, 1)),
        Cell::plain(row.rejected_by.first().cloned().unwrap_or_default()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::data::Data;
    use crate::advise::question::{Evidence, Question, Surroundings};
    use crate::advise::sample::{record, work};
    use jiff::civil::date;

    fn predicted(work: Work) -> Prediction {
        let data = Data::built_in();
        let question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 24));
        let around = Surroundings {
            today: date(2026, 11, 24),
            cpu: None,
            libraries: Vec::new(),
            judged: Vec::new(),
        };
        predict(&data, &question, Evidence::Survey(&record()), &around, work)
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
    fn the_more_pages_follow_each_other_the_less_lies_beside_the_price_of_each() {
        let (data, record) = (Data::built_in(), record());
        let of = |id: &str, pages: f64, log_writes: f64| {
            let scheme = data.schemes.iter().find(|scheme| scheme.id == id).unwrap();
            let [read, written, log] = [pages; 3].map(|n| Interval::exact(1000.0 * n));
            let log_writes = Interval::exact(1000.0 * log_writes);
            let work = Work { transactions: 1000.0, read, written, log, log_writes, ..work() };
            beside(Evidence::Survey(&record), &scheme.family, &work).map(|ns| ns.median.round())
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
        let nothing = Interval::exact(0.0);
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
        let data = Data::built_in();
        let question = Question::of(data.find_use("postgres").unwrap(), date(2026, 11, 24));
        let around = Surroundings {
            today: date(2026, 11, 24),
            cpu: None,
            libraries: Vec::new(),
            judged: Vec::new(),
        };
        let mut record = record();
        record.measurements.iter_mut().for_each(|m| m.library.version = "1\u{1b}[31m".to_owned());
        let evidence = Evidence::Survey(&record);
        let prediction = super::predict(&data, &question, evidence, &around, work());
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
}
