//! Answers over an archive: its records, the best of each machine, comparisons of machines, histories.

use crate::comparison::{ComparisonFormat, comparison, words};
use crate::labels::{size, supported, versioned};
use crate::ranking::place;
use base::analysis::{Ratio, Verdict};
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, clean,
};
use judge::compare::{Case, Comparison, Found, Ranked, Ranking};
use record::Estimate;
use serde::Serialize;
use std::path::Path;

#[derive(Clone, Debug)]
pub struct Archived {
    /// SHA-256 of its text.
    pub sha256: String,
    pub machine: String,
    /// Where it is rented.
    pub region: String,
    pub day: String,
    pub kind: String,
    pub cases: i64,
    /// Whether its figures are believed.
    pub trust: &'static str,
    pub doubts: Vec<String>,
}

/// The trust of records that checks find fault with.
const DOUBTFUL: &str = "doubtful";

/// Hexadecimal digits of a digest that are shown.
const DIGITS: usize = 12;

/// The records, and how many are not shown because nobody vouches for them. Where doubts are not told, `--why` does.
pub fn archived(records: &[Archived], left_out: usize, options: Options) -> String {
    let row = |r: &Archived| {
        let style = if r.trust == DOUBTFUL { CAUTION } else { PLAIN };
        vec![
            Cell::plain(r.sha256.chars().take(DIGITS).collect::<String>()),
            Cell::plain(clean(&r.machine)),
            Cell::plain(clean(&r.region)),
            Cell::plain(clean(&r.day)),
            Cell::plain(clean(&r.kind)),
            Cell::number(r.cases.to_string(), PLAIN),
            Cell::new(r.trust, style),
        ]
    };
    let columns = vec![
        Column::new("record", Align::Left),
        Column::new("machine", Align::Left),
        Column::new("region", Align::Left),
        Column::new("day", Align::Left),
        Column::new("kind", Align::Left).goes(1),
        Column::new("cases", Align::Right),
        Column::new("trust", Align::Left),
    ];
    let mut out = Table::new(columns, records.iter().map(row).collect()).text(options);
    for r in records {
        for doubt in &r.doubts {
            let short: String = r.sha256.chars().take(DIGITS).collect();
            out += &options.hang(&format!("{short}: {}", clean(doubt)), 2, ALARM);
        }
    }
    let doubtful = records.iter().filter(|r| r.trust == DOUBTFUL && r.doubts.is_empty()).count();
    if doubtful > 0 {
        let note = format!("{doubtful} doubtful; --why says what checks found");
        out += &options.hang(&note, 2, ASIDE);
    }
    if left_out > 0 {
        let note = format!("{left_out} doubtful or unsigned left out; --doubtful shows them");
        out += &options.hang(&note, 2, ASIDE);
    }
    out
}

// The best of each machine.

/// An amount of money with its interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Money {
    /// For a petabyte of plaintext (10^15 bytes), or a million operations that have none.
    pub amount: Estimate,
    /// `USD`, `EUR`, …
    pub currency: String,
    pub per_hour: f64,
    pub of_day: String,
}

/// A machine's answer to a question.
#[derive(Clone, Debug, Serialize)]
pub struct BestOfMachine {
    pub machine: String,
    /// Where it is rented.
    pub region: Option<String>,
    pub cpu: String,
    pub day: String,
    /// SHA-256 of the record.
    pub record: String,
    pub cost: Option<Money>,
    pub ranking: Ranking,
}

impl BestOfMachine {
    fn rows(&self) -> impl Iterator<Item = &Ranked> {
        self.ranking.standings.iter().flat_map(|s| &s.rows)
    }
}

fn first(answers: &[BestOfMachine]) -> Option<&Ranked> {
    answers.first()?.rows().next()
}

fn money_heading(answers: &[BestOfMachine]) -> String {
    let currency = answers.iter().find_map(|a| a.cost.as_ref()).map_or("", |c| &c.currency);
    let what = if has_bytes(answers) { "PB" } else { "million" };
    format!("{}/{what}", clean(currency))
}

fn has_bytes(answers: &[BestOfMachine]) -> bool {
    first(answers).is_none_or(|r| r.case.model.has_bytes())
}

fn interval(amount: &Estimate) -> String {
    let digits = |value| supported(value, Some(amount));
    format!("{} to {}", digits(amount.low), digits(amount.high))
}

/// A row for each machine's best, and for what ties with it.
pub fn best_of_machines_table(answers: &[BestOfMachine]) -> Table {
    let speed = if has_bytes(answers) { "MB/s" } else { "µs/op" };
    let columns = vec![
        Column::new("machine", Align::Left),
        Column::new("region", Align::Left),
        Column::new("day", Align::Left).goes(2),
        Column::new("#", Align::Left),
        Column::new("algorithm", Align::Left),
        Column::new("library", Align::Left),
        Column::new(speed, Align::Point),
        Column::named(money_heading(answers), Align::Point),
        Column::new("95 % interval", Align::Right).goes(1),
    ];
    let rows =
        answers.iter().flat_map(|a| a.rows().enumerate().map(move |(i, r)| row(a, r, i == 0)));
    Table::new(columns, rows.collect())
}

fn row(a: &BestOfMachine, r: &Ranked, is_first: bool) -> Vec<Cell> {
    let once = |text: &str| Cell::plain(if is_first { clean(text) } else { String::new() });
    let style = if r.place == 1 { BEST } else { PLAIN };
    let cost = a.cost.as_ref().filter(|_| is_first);
    let speed = match (r.case.model.has_bytes(), r.ns_per_op) {
        (true, ns) => r.mb_per_s.map(|v| supported(v, ns.as_ref())),
        (false, ns) => ns.map(|ns| supported(ns.median / 1000.0, Some(&ns))),
    };
    vec![
        once(&a.machine),
        once(a.region.as_deref().unwrap_or_default()),
        once(&a.day),
        Cell::new(place(r), style),
        Cell::new(clean(&r.case.algorithm), style),
        Cell::new(versioned(&r.library.name, &r.library.version), style),
        Cell::number(format!("{}{}", dagger(a), speed.unwrap_or_default()), style),
        Cell::number(
            cost.map(|c| supported(c.amount.median, Some(&c.amount))).unwrap_or_default(),
            PLAIN,
        ),
        Cell::new(cost.map(|c| interval(&c.amount)).unwrap_or_default(), ASIDE),
    ]
}

/// The sign of figures that were not measured here.
fn dagger(a: &BestOfMachine) -> &'static str {
    if a.ranking.imported { "†" } else { "" }
}

/// The answers for a terminal: the cheapest machine first, or the fastest without prices.
pub fn best_of_machines(answers: &[BestOfMachine], options: Options) -> String {
    let sentence = answers.first().map_or("", |a| &a.ranking.terms.sentence);
    let mut out = options.hang(&clean(sentence), 2, HEADING);
    out += &best_of_machines_table(answers).text(options);
    if answers.iter().any(|a| a.ranking.imported) {
        out += &options.hang(crate::ranking::IMPORTED, 2, ASIDE);
    }
    if answers.iter().any(|a| a.cost.is_some()) {
        let note = "cost: the machine's price by the hour, shared out evenly over all its CPUs, as if all did the same at \
                    this speed; the interval is that of the time";
        out += &options.hang(note, 2, ASIDE);
    }
    out
}

pub fn best_of_machines_json(answers: &[BestOfMachine]) -> String {
    serde_json::to_string_pretty(answers).expect("plain data always serialises") + "\n"
}

/// One row a machine and ranked case.
pub fn best_of_machines_csv(answers: &[BestOfMachine]) -> String {
    const HEADING: [&str; 15] = [
        "machine",
        "region",
        "cpu",
        "day",
        "record",
        "place",
        "last_place",
        "algorithm",
        "library_name",
        "library_version",
        "size_bytes",
        "ns_per_op",
        "mb_per_s",
        "cost",
        "currency",
    ];
    let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    let rows = answers.iter().flat_map(|a| {
        a.rows().enumerate().map(move |(i, r)| {
            let cost = a.cost.as_ref().filter(|_| i == 0);
            [
                a.machine.clone(),
                a.region.clone().unwrap_or_default(),
                a.cpu.clone(),
                a.day.clone(),
                a.record.clone(),
                r.place.to_string(),
                r.last_place.to_string(),
                r.case.algorithm.clone(),
                r.library.name.clone(),
                r.library.version.clone(),
                r.case.size.to_string(),
                number(r.ns_per_op.map(|e| e.median)),
                number(r.mb_per_s),
                number(cost.map(|c| c.amount.median)),
                cost.map(|c| c.currency.clone()).unwrap_or_default(),
            ]
        })
    });
    base::text::csv(&HEADING, rows)
}

// Comparisons of two runs on each of several machines.

#[derive(Clone, Debug, Serialize)]
pub struct ComparedMachine {
    pub machine: String,
    /// Day and SHA-256 of the base.
    pub base: (String, String),
    /// Day and SHA-256 of what is judged.
    pub new: (String, String),
    pub comparison: Comparison,
    pub found: Vec<Found>,
}

/// One line a machine, then the comparisons in which a condition holds; JSON has all. `without` are machines that lack
/// two such runs.
pub fn machines(
    all: &[ComparedMachine],
    without: &[String],
    format: ComparisonFormat,
    rows: usize,
    options: Options,
) -> String {
    let failing = || all.iter().filter(|m| !m.found.is_empty());
    match format {
        ComparisonFormat::Json => {
            serde_json::to_string_pretty(all).expect("plain data always serialises") + "\n"
        }
        ComparisonFormat::Markdown => {
            let mut out = machines_table(all).markdown();
            for m in failing() {
                out += &format!("\n### {}\n\n", base::text::escape_markdown(&clean(&m.machine)));
                out += &comparison(&m.comparison, &m.found, format, rows, options);
            }
            out
        }
        ComparisonFormat::Text | ComparisonFormat::Csv => {
            let mut out = machines_table(all).text(options);
            if !without.is_empty() {
                let names: Vec<String> = without.iter().map(|name| clean(name)).collect();
                let note = format!("without two such runs: {}", names.join(", "));
                out += &options.hang(&note, 2, ASIDE);
            }
            out += &options.hang(&errs(all.len()), 2, ASIDE);
            for m in failing() {
                out.push('\n');
                out += &options.hang(&clean(&m.machine), 2, HEADING);
                out += &comparison(&m.comparison, &m.found, ComparisonFormat::Text, rows, options);
            }
            out
        }
    }
}

/// Each comparison keeps its own promise; together they err more often.
fn errs(machines: usize) -> String {
    match machines {
        1 => "in 99 of 100 such comparisons not one 'faster' or 'slower' is wrong".to_owned(),
        n => format!(
            "each machine's comparison has a false 'faster' or 'slower' once in 100 times, so {n} machines have one in \
             {:.0} % of such tables at most",
            (1.0 - 0.99f64.powi(n as i32)) * 100.0
        ),
    }
}

fn machines_table(all: &[ComparedMachine]) -> Table {
    let columns = vec![
        Column::new("machine", Align::Left),
        Column::new("base", Align::Left).goes(2),
        Column::new("new", Align::Left).goes(1),
        Column::new("slower", Align::Right),
        Column::new("faster", Align::Right),
        Column::new("undecided", Align::Right),
        Column::new("same", Align::Right),
        Column::new("mean %", Align::Point),
        Column::new("found", Align::Left),
    ];
    let row = |m: &ComparedMachine| {
        let c = &m.comparison;
        let mean = c.overall.first().and_then(|s| s.ratio);
        let mean = mean.map(|r| words::change(r.estimate, (r.high - r.low) / 2.0));
        let found: Vec<&str> = m.found.iter().map(|f| f.what.as_str()).collect();
        let style = if found.is_empty() { PLAIN } else { ALARM };
        vec![
            Cell::new(clean(&m.machine), style),
            Cell::plain(m.base.0.clone()),
            Cell::plain(m.new.0.clone()),
            Cell::number(c.tally.slower.to_string(), style),
            Cell::number(c.tally.faster.to_string(), PLAIN),
            Cell::number(c.tally.undecided.to_string(), PLAIN),
            Cell::number(c.tally.same.to_string(), PLAIN),
            Cell::number(mean.unwrap_or_default(), PLAIN),
            Cell::new(found.join("; "), style),
        ]
    };
    Table::new(columns, all.iter().map(row).collect())
}

// What a case cost from run to run.

/// One case of one library on one machine.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    pub machine: String,
    /// The library's name, with its version if a run has several.
    pub library: String,
    #[serde(flatten)]
    pub case: Case,
    /// Its runs, the oldest first.
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// When it began, seconds since 1970.
    pub started: i64,
    pub day: String,
    /// SHA-256 of the record.
    pub record: String,
    pub version: String,
    /// Whether the figure is from elsewhere, without an interval.
    pub imported: bool,
    /// Nanoseconds of an operation.
    pub ns_per_op: Estimate,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// The verdict against the run before.
    pub verdict: Option<Verdict>,
    /// The cost over that of the run before.
    pub ratio: Option<Ratio>,
}

impl Line {
    /// `aes-256-gcm, encrypt, 16K, native`
    fn title(&self) -> String {
        let c = &self.case;
        let mut words = vec![c.algorithm.clone(), c.direction.to_string()];
        words.extend((c.size > 0).then(|| size(c.size)));
        words.extend([c.model.to_string(), c.tier.to_string()]);
        words.extend((c.threads > 1).then(|| format!("{} threads", c.threads)));
        words.extend((!c.footprint.is_hot()).then(|| c.footprint.to_string()));
        words.extend(c.in_place.then(|| "in place".to_owned()));
        words.extend((!c.setting.is_empty()).then(|| c.setting.clone()));
        clean(&words.join(", "))
    }

    /// A name that is a file's and a test's.
    fn slug(&self) -> String {
        let c = &self.case;
        let of = [
            &*self.machine,
            &self.library,
            &c.algorithm,
            c.direction.name(),
            &c.size.to_string(),
            c.model.name(),
            c.tier.name(),
            &c.threads.to_string(),
            c.footprint.name(),
            if c.in_place { "in-place" } else { "apart" },
            &c.setting,
        ]
        .join(".");
        let plain = |c: char| if c.is_ascii_alphanumeric() || ".-_".contains(c) { c } else { '-' };
        of.trim_end_matches('.').chars().map(plain).collect()
    }
}

/// Tables for people, one a machine, library and case.
pub fn trend(lines: &[Line], options: Options) -> String {
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let title =
            format!("{}: {} of {}", clean(&line.machine), line.title(), clean(&line.library));
        out += &options.hang(&title, 2, HEADING);
        out += &history_table(line).text(options);
    }
    out.push('\n');
    if lines.iter().flat_map(|line| &line.points).any(|p| p.imported) {
        out += &options.hang(crate::ranking::IMPORTED, 2, ASIDE);
    }
    let note = "a change is what `ciphermark compare`, with the same filters, says of a run and the one before it";
    out + &options.hang(note, 2, ASIDE)
}

fn history_table(line: &Line) -> Table {
    let has_bytes = line.case.model.has_bytes();
    let columns = vec![
        Column::new("day", Align::Left),
        Column::new("version", Align::Left),
        Column::new(if has_bytes { "MB/s" } else { "" }, Align::Point),
        Column::new("ns/op", Align::Point),
        Column::new("95 % interval", Align::Right).goes(1),
        Column::new("change", Align::Left),
        Column::new("record", Align::Left).goes(2),
    ];
    let row = |p: &Point| {
        let e = &p.ns_per_op;
        let (change, style) = change(p);
        let mark = if p.imported { "†" } else { "" };
        let interval = match p.imported {
            true => "no interval".to_owned(),
            false => format!("{} to {}", supported(e.low, Some(e)), supported(e.high, Some(e))),
        };
        let speed = p.mb_per_s.map(|v| format!("{mark}{}", supported(v, Some(e))));
        vec![
            Cell::plain(p.day.clone()),
            Cell::plain(clean(&p.version)),
            Cell::number(speed.unwrap_or_default(), PLAIN),
            Cell::number(format!("{mark}{}", supported(e.median, Some(e))), PLAIN),
            Cell::new(interval, ASIDE),
            Cell::new(change, style),
            Cell::new(p.record.chars().take(DIGITS).collect::<String>(), ASIDE),
        ]
    };
    Table::new(columns, line.points.iter().map(row).collect())
}

fn change(p: &Point) -> (String, anstyle::Style) {
    let percent = p.ratio.map_or(0.0, |r| (r.estimate - 1.0) * 100.0);
    match p.verdict {
        Some(Verdict::Slower) => (format!("slower by {percent:.1} %"), ALARM),
        Some(Verdict::Faster) => (format!("faster by {:.1} %", -percent), GOOD),
        _ => (String::new(), PLAIN),
    }
}

pub fn trend_csv(lines: &[Line]) -> String {
    const HEADING: [&str; 14] = [
        "machine",
        "library",
        "algorithm",
        "direction",
        "size_bytes",
        "tier",
        "time",
        "record",
        "version",
        "ns_per_op_median",
        "ns_per_op_low",
        "ns_per_op_high",
        "verdict",
        "ratio",
    ];
    let rows = lines.iter().flat_map(|line| {
        line.points.iter().map(move |p| {
            let (c, e) = (&line.case, &p.ns_per_op);
            let verdict = p.verdict.map(|v| serde_json::to_string(&v).unwrap_or_default());
            [
                line.machine.clone(),
                line.library.clone(),
                c.algorithm.clone(),
                c.direction.to_string(),
                c.size.to_string(),
                c.tier.to_string(),
                p.started.to_string(),
                p.record.clone(),
                p.version.clone(),
                e.median.to_string(),
                if p.imported { String::new() } else { e.low.to_string() },
                if p.imported { String::new() } else { e.high.to_string() },
                verdict.unwrap_or_default().trim_matches('"').to_owned(),
                p.ratio.map(|r| r.estimate.to_string()).unwrap_or_default(),
            ]
        })
    });
    base::text::csv(&HEADING, rows)
}

/// Files for Apache Otava: a CSV of each history, and `otava.yaml`, which names them as tests.
pub fn otava(lines: &[Line], directory: &Path) -> Vec<(String, String)> {
    let mut yaml = "tests:\n".to_owned();
    let mut files = Vec::new();
    for line in lines {
        let name = line.slug();
        let file = format!("{name}.csv");
        let rows = line.points.iter().map(|p| {
            [
                p.started.to_string(),
                p.version.clone(),
                p.record.clone(),
                p.ns_per_op.median.to_string(),
            ]
        });
        files.push((
            file.clone(),
            base::text::csv_as_is(&["time", "version", "record", "ns"], rows),
        ));
        // JSON text is YAML text.
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        yaml += &format!(
            "  {}:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [version, record]\n    metrics:\n      \
             ns: {{column: ns, direction: -1}}\n    csv_options: {{delimiter: ','}}\n",
            quoted(&name),
            quoted(&directory.join(&file).display().to_string()),
        );
    }
    files.push(("otava.yaml".to_owned(), yaml));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::{Direction, Footprint, Model, Tier};

    fn line(machine: &str) -> Line {
        let point = |day: i64, ns: f64, verdict| Point {
            imported: false,
            started: 1_793_491_200 + day * 86_400,
            day: format!("2026-11-0{}", day + 1),
            record: "ab".repeat(32),
            version: format!("3.{day}"),
            ns_per_op: Estimate { median: ns, low: ns * 0.99, high: ns * 1.01 },
            mb_per_s: Some(8192e3 / ns),
            verdict,
            ratio: Some(Ratio { estimate: 1.1, low: 1.09, high: 1.11, level: 0.95 }),
        };
        Line {
            machine: machine.to_owned(),
            library: "openssl".to_owned(),
            case: Case {
                algorithm: "aes-256-gcm".to_owned(),
                direction: Direction::Encrypt,
                model: Model::Message,
                size: 8192,
                tier: Tier::Native,
                threads: 1,
                footprint: Footprint::Hot,
                in_place: false,
                setting: String::new(),
            },
            points: vec![
                point(0, 600.0, None),
                point(1, 660.0, Some(Verdict::Slower)),
                point(2, 661.0, Some(Verdict::Undecided)),
            ],
        }
    }

    #[test]
    fn only_verdicts_of_a_change_are_marked() {
        let text = trend(&[line("c7i")], Options { width: 120, color: false });
        assert!(
            text.starts_with("c7i: aes-256-gcm, encrypt, 8K, message, native of openssl\n"),
            "{text}"
        );
        assert_eq!(text.matches("slower by 10.0 %").count(), 1, "{text}");
        assert!(!text.contains("undecided"), "{text}");
    }

    #[test]
    fn files_for_otava_have_a_row_a_run_and_names_that_are_files() {
        let files = otava(&[line("../c7i $(x)\n")], Path::new("history"));
        let (name, csv) = &files[0];
        assert_eq!(
            name,
            "..-c7i---x--.openssl.aes-256-gcm.encrypt.8192.message.native.1.hot.apart.csv"
        );
        assert_eq!(csv.lines().next(), Some("time,version,record,ns"));
        assert_eq!(csv.lines().count(), 4);
        let (name, yaml) = &files[1];
        assert_eq!(name, "otava.yaml");
        assert!(yaml.contains("metrics:\n      ns: {column: ns, direction: -1}"), "{yaml}");
    }

    #[test]
    fn a_row_of_csv_has_the_verdict_in_a_word() {
        let csv = trend_csv(&[line("c7i")]);
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.lines().nth(2).unwrap().contains(",slower,1.1"), "{csv}");
    }
}
