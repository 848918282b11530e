//! Answers over an archive: its records, the best of each machine, comparisons of machines, histories.

use crate::comparison::{ComparisonFormat, comparison, words};
use crate::labels::{size, supported};
use crate::ranking::{absences, not_measured, place, sign};
use crate::screen::LINES;
use base::analysis::{Ratio, Verdict};
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, clean,
    csv_of,
};
use judge::compare::{Case, Comparison, Found, Ranked, Ranking};
use record::Estimate;
use record::archive::{Listed, Trust};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Hexadecimal digits of a digest that are shown.
const DIGITS: usize = 12;

/// The records, and how many are not shown because nobody vouches for them. Where doubts are not told, `--why` does.
pub fn archived(records: &[Listed], left_out: usize, options: Options) -> String {
    let short = |r: &Listed| r.sha256.chars().take(DIGITS).collect::<String>();
    let style = |trust: Trust| if trust == Trust::Doubtful { CAUTION } else { PLAIN };
    let table = Table::of(
        records,
        &[
            (Column::left("record"), &|r| Cell::plain(short(r))),
            (Column::left("machine"), &|r| Cell::plain(clean(&r.machine))),
            (Column::left("region"), &|r| {
                Cell::plain(clean(r.region.as_deref().unwrap_or_default()))
            }),
            (Column::left("day"), &|r| Cell::plain(r.day())),
            (Column::left("kind").goes(1), &|r| {
                Cell::plain(clean(r.kind.as_deref().unwrap_or("survey")))
            }),
            (Column::right("cases"), &|r| Cell::number(r.cases.to_string(), PLAIN)),
            (Column::left("trust"), &|r| Cell::new(r.trust.name(), style(r.trust))),
        ],
    );
    let mut out = table.text(options);
    for r in records {
        for doubt in &r.doubts {
            out += &options.hang(&format!("{}: {}", short(r), clean(doubt)), 2, ALARM);
        }
    }
    let doubtful =
        records.iter().filter(|r| r.trust == Trust::Doubtful && r.doubts.is_empty()).count();
    if doubtful > 0 {
        let note = format!("{doubtful} doubtful; --why says what checks found");
        out += &options.hang(&note, 2, ASIDE);
    }
    if left_out > 0 {
        let note = format!(
            "{left_out} doubtful or unsigned left out; --doubtful --why shows them and what checks found"
        );
        out += &options.hang(&note, 2, ASIDE);
    }
    out
}

/// A machine without an answer, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Without {
    pub machine: String,
    pub why: String,
}

/// A line for each reason, behind what these machines are.
fn without_lines(what: &str, without: &[Without]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for Without { machine, why } in without {
        reasons.entry(why).or_default().push(clean(machine));
    }
    let line =
        |(why, names): (&str, Vec<String>)| format!("{what}: {}: {}", names.join(", "), clean(why));
    reasons.into_iter().map(line).collect()
}

/// Lines below a table in Markdown.
fn bullets(lines: &[String]) -> String {
    let all = lines.iter().map(|l| format!("- {}\n", base::text::escape_markdown(l)));
    if lines.is_empty() { String::new() } else { format!("\n{}", all.collect::<String>()) }
}

/// Answers of machines as JSON has them.
#[derive(Serialize)]
struct Document<'a, T> {
    machines: &'a [T],
    without: &'a [Without],
}

// The best of each machine.

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Money {
    /// For a petabyte of plaintext (10^15 bytes), or a million operations that have none.
    pub amount: Estimate,
    /// `USD`, `EUR`, …
    pub currency: String,
    pub per_hour: f64,
    pub of_day: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct BestOfMachine {
    pub machine: String,
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

    /// What could take part and has no number, in one line.
    fn lacks(&self) -> String {
        let lines = absences(&self.ranking).into_iter().chain(not_measured(&self.ranking));
        lines.collect::<Vec<_>>().join("; ")
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
fn best_of_machines_table(answers: &[BestOfMachine]) -> Table {
    /// A machine's answer, one of its rows, and whether it is the first of them.
    type Row<'a> = (&'a BestOfMachine, &'a Ranked, bool);
    let heading = if has_bytes(answers) { "MB/s" } else { "µs/op" };
    let style = |r: &Ranked| if r.place == 1 { BEST } else { PLAIN };
    let once =
        |text: &str, is_first| Cell::plain(if is_first { clean(text) } else { String::new() });
    let cost = |(a, _, is_first): &Row<'_>| a.cost.as_ref().filter(|_| *is_first).map(|c| c.amount);
    let speed = |r: &Ranked| match (r.case.model.has_bytes(), r.ns_per_op) {
        (true, ns) => r.mb_per_s.map(|v| supported(v, ns.as_ref())),
        (false, ns) => ns.map(|ns| supported(ns.median / 1000.0, Some(&ns))),
    };
    // Who is at least so fast costs at most so much.
    let amount = |r: &Ranked, c: Estimate| {
        let most = if r.contended { "<" } else { "" };
        format!("{most}{}", supported(c.median, Some(&c)))
    };
    let rows = answers.iter().flat_map(|a| a.rows().enumerate().map(move |(i, r)| (a, r, i == 0)));
    Table::of::<Row<'_>>(
        rows,
        &[
            (Column::left("machine"), &|(a, _, first)| once(&a.machine, *first)),
            (Column::left("region"), &|(a, _, first)| {
                once(a.region.as_deref().unwrap_or_default(), *first)
            }),
            (Column::left("day").goes(2), &|(a, _, first)| once(&a.day, *first)),
            (Column::left("#"), &|(_, r, _)| Cell::new(place(r), style(r))),
            (Column::left("algorithm"), &|(_, r, _)| Cell::new(clean(&r.case.algorithm), style(r))),
            (Column::left("library"), &|(_, r, _)| Cell::new(crate::ranking::library(r), style(r))),
            (Column::point(heading), &|(a, r, _)| {
                let speed = speed(r).unwrap_or_default();
                Cell::number(format!("{}{speed}", sign(&a.ranking, r)), style(r))
            }),
            (Column::named(money_heading(answers), Align::Point), &|row| {
                Cell::number(cost(row).map(|c| amount(row.1, c)).unwrap_or_default(), PLAIN)
            }),
            (Column::right("95 % interval").goes(1), &|row| {
                let cost = cost(row).filter(|_| !row.1.contended);
                Cell::new(cost.map(|c| interval(&c)).unwrap_or_default(), ASIDE)
            }),
        ],
    )
}

/// The answers, the cheapest machine first, or the fastest without prices, and the machines without one; `options`
/// matter for text only.
pub fn best_of_machines(
    answers: &[BestOfMachine],
    without: &[Without],
    format: ComparisonFormat,
    options: Options,
) -> String {
    let lacks = answers.iter().map(|a| (clean(&a.machine), a.lacks()));
    let lacks = lacks.filter(|(_, lacks)| !lacks.is_empty());
    let lacks: Vec<String> = lacks.map(|(machine, lacks)| format!("{machine}: {lacks}")).collect();
    let notes = notes(answers, without);
    match format {
        ComparisonFormat::Json => record::pretty(&Document { machines: answers, without }),
        ComparisonFormat::Csv => best_of_machines_csv(answers, without),
        ComparisonFormat::Markdown => {
            best_of_machines_table(answers).markdown() + &bullets(&[lacks, notes].concat())
        }
        ComparisonFormat::Text => {
            let sentence = answers.first().map_or("", |a| &a.ranking.terms.sentence);
            let mut out = options.hang(&clean(sentence), 2, HEADING);
            out += &best_of_machines_table(answers).text(options);
            lacks.iter().for_each(|line| out += &options.hang(line, 2, ALARM));
            notes.iter().for_each(|line| out += &options.hang(line, 2, ASIDE));
            out
        }
    }
}

fn notes(answers: &[BestOfMachine], without: &[Without]) -> Vec<String> {
    let mut notes = without_lines("no answer", without);
    if answers.iter().any(|a| a.ranking.imported) {
        notes.push(crate::ranking::IMPORTED.to_owned());
    }
    let has_cost = answers.iter().any(|a| a.cost.is_some());
    if answers.iter().flat_map(BestOfMachine::rows).any(|r| r.contended) {
        let of_cost = if has_cost { "; <: so it costs at most so much" } else { "" };
        notes.push(format!("{}{of_cost}", crate::ranking::BOUND));
    }
    if has_cost {
        let note = "cost: the machine's price by the hour, shared out evenly over all its CPUs, as if all did the same at \
                    this speed; the interval is that of the time";
        notes.push(note.to_owned());
    }
    notes
}

/// A ranked case of a machine and its number there, or a machine without an answer.
type CsvRow<'a> = Result<(&'a BestOfMachine, usize, &'a Ranked), &'a Without>;

fn field(row: &CsvRow<'_>, of: fn(&BestOfMachine, &Ranked) -> String) -> String {
    row.map(|(a, _, r)| of(a, r)).unwrap_or_default()
}

/// What a machine has once is in its first row.
fn once<'a>(row: &CsvRow<'a>) -> Option<&'a BestOfMachine> {
    row.ok().filter(|(_, i, _)| *i == 0).map(|(a, _, _)| a)
}

fn cost<'a>(row: &CsvRow<'a>) -> Option<&'a Money> {
    once(row)?.cost.as_ref()
}

fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// One row a machine and ranked case, then one for each machine without an answer.
fn best_of_machines_csv(answers: &[BestOfMachine], without: &[Without]) -> String {
    let ranked = answers.iter().flat_map(|a| a.rows().enumerate().map(move |(i, r)| Ok((a, i, r))));
    let rows: Vec<CsvRow<'_>> = ranked.chain(without.iter().map(Err)).collect();
    csv_of(
        rows,
        &[
            ("machine", &|row| row.map_or_else(|w| &w.machine, |(a, _, _)| &a.machine).clone()),
            ("region", &|row| field(row, |a, _| a.region.clone().unwrap_or_default())),
            ("cpu", &|row| field(row, |a, _| a.cpu.clone())),
            ("day", &|row| field(row, |a, _| a.day.clone())),
            ("record", &|row| field(row, |a, _| a.record.clone())),
            ("place", &|row| field(row, |_, r| r.place.to_string())),
            ("last_place", &|row| field(row, |_, r| r.last_place.to_string())),
            ("algorithm", &|row| field(row, |_, r| r.case.algorithm.clone())),
            ("library_name", &|row| field(row, |_, r| r.library.name.clone())),
            ("library_version", &|row| field(row, |_, r| r.library.version.clone())),
            ("size_bytes", &|row| field(row, |_, r| r.case.size.to_string())),
            ("ns_per_op", &|row| field(row, |_, r| number(r.ns_per_op.map(|e| e.median)))),
            ("mb_per_s", &|row| field(row, |_, r| number(r.mb_per_s))),
            ("cost", &|row| number(cost(row).map(|c| c.amount.median))),
            ("currency", &|row| cost(row).map(|c| c.currency.clone()).unwrap_or_default()),
            ("contended", &|row| field(row, |_, r| r.contended.to_string())),
            ("absent", &|row| once(row).map(BestOfMachine::lacks).unwrap_or_default()),
            ("why", &|row| row.err().map(|w| w.why.clone()).unwrap_or_default()),
            ("imported", &|row| field(row, |a, _| a.ranking.imported.to_string())),
        ],
    )
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

/// One line a machine, then the comparisons in which a condition holds; JSON has all. `without` are machines that were
/// not compared.
pub fn machines(
    all: &[ComparedMachine],
    without: &[Without],
    format: ComparisonFormat,
    rows: usize,
    options: Options,
) -> String {
    let failing = || all.iter().filter(|m| !m.found.is_empty());
    let mut lines = without_lines("not compared", without);
    // Of the others their own comparison below the table says it.
    lines.extend(all.iter().filter(|m| m.found.is_empty()).filter_map(beside_the_libraries));
    match format {
        ComparisonFormat::Json => record::pretty(&Document { machines: all, without }),
        ComparisonFormat::Markdown => {
            let mut out = machines_table(all).markdown() + &bullets(&lines);
            for m in failing() {
                out += &format!("\n### {}\n\n", base::text::escape_markdown(&clean(&m.machine)));
                out += &comparison(&m.comparison, &m.found, format, rows, options);
            }
            out
        }
        ComparisonFormat::Text | ComparisonFormat::Csv => {
            let mut out = machines_table(all).text(options);
            lines.iter().for_each(|line| out += &options.hang(line, 2, ASIDE));
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

/// What changed on a machine beside the libraries, and which changes are no library's.
fn beside_the_libraries(m: &ComparedMachine) -> Option<String> {
    let c = &m.comparison;
    let beside = c.beside_the_libraries().join(", ");
    let between = (!beside.is_empty()).then(|| format!("not the same in both runs: {beside}"));
    let said: Vec<String> = between.into_iter().chain(words::own(c)).collect();
    (!said.is_empty()).then(|| clean(&format!("{}: {}", m.machine, said.join("; "))))
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
    let style = |m: &ComparedMachine| if m.found.is_empty() { PLAIN } else { ALARM };
    let count = |n: usize| Cell::number(n.to_string(), PLAIN);
    let mean = |m: &ComparedMachine| {
        // The mean of one pair of libraries is not that of all.
        let all = m.comparison.overall.first().filter(|s| s.libraries.is_none());
        let ratio = all.and_then(|s| s.ratio);
        ratio.map(|r| words::change(r.estimate, (r.high - r.low) / 2.0)).unwrap_or_default()
    };
    let found =
        |m: &ComparedMachine| m.found.iter().map(|f| &*f.what).collect::<Vec<_>>().join("; ");
    Table::of(
        all,
        &[
            (Column::left("machine"), &|m| Cell::new(clean(&m.machine), style(m))),
            (Column::left("base").goes(2), &|m| Cell::plain(m.base.0.clone())),
            (Column::left("new").goes(1), &|m| Cell::plain(m.new.0.clone())),
            (Column::right("slower"), &|m| {
                Cell::number(m.comparison.tally.slower.to_string(), style(m))
            }),
            (Column::right("faster"), &|m| count(m.comparison.tally.faster)),
            (Column::right("undecided"), &|m| count(m.comparison.tally.undecided)),
            (Column::right("same"), &|m| count(m.comparison.tally.same)),
            (Column::point("mean %"), &|m| Cell::number(mean(m), PLAIN)),
            (Column::left("found"), &|m| Cell::new(found(m), style(m))),
        ],
    )
}

// What a case cost from run to run.

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
    /// Whether only a busy core was seen: it takes at most so long.
    pub contended: bool,
    pub ns_per_op: Estimate,
    /// Megabytes (10^6 bytes) a second.
    pub mb_per_s: Option<f64>,
    /// The verdict against the run before.
    pub verdict: Option<Verdict>,
    /// The cost over that of the run before.
    pub ratio: Option<Ratio>,
    /// What else is not as it was in the run before: the processor, the kernel, ciphermark, what decides which code runs.
    pub differing: Vec<String>,
    /// What the verdict, or that there is none, does not say by itself.
    pub remark: Option<String>,
}

impl Line {
    /// `aes-256-gcm, encrypt, 16K, native`
    fn title(&self) -> String {
        let c = &self.case;
        let mut words = vec![c.algorithm.clone(), c.direction.to_string()];
        words.extend((c.size > 0).then(|| size(c.size)));
        words.extend(c.circumstances());
        clean(&words.join(", "))
    }

    /// Whether a run became slower, or else faster.
    fn change(&self) -> Option<Verdict> {
        [Verdict::Slower, Verdict::Faster]
            .into_iter()
            .find(|change| self.points.iter().any(|p| p.verdict == Some(*change)))
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

/// Tables for people, one a machine, library and case: all, or where those of several are longer than a screen, how many
/// changed, and a screen of them, slower ones first.
pub fn trend(lines: &[Line], all: bool, options: Options) -> String {
    let table = |line: &Line| {
        let title =
            format!("{}: {} of {}", clean(&line.machine), line.title(), clean(&line.library));
        options.hang(&title, 2, HEADING) + &history_table(line).text(options) + "\n"
    };
    let mut tables: Vec<(Option<Verdict>, String)> =
        lines.iter().map(|line| (line.change(), table(line))).collect();
    let height = |tables: &[(_, String)]| -> usize {
        tables.iter().map(|(_, table)| table.lines().count()).sum()
    };
    let mut out = String::new();
    if !all && tables.len() > 1 && height(&tables) + FOOT > LINES {
        let of = |change| tables.iter().filter(|(c, _)| *c == change).count();
        let (slower, faster) = (of(Some(Verdict::Slower)), of(Some(Verdict::Faster)));
        let histories = format!(
            "{} histories: {slower} became slower, {faster} only faster, {} neither",
            tables.len(),
            tables.len() - slower - faster
        );
        out += &options.hang(&histories, 2, HEADING);
        tables.sort_by_key(|(change, _)| match change {
            Some(Verdict::Slower) => 0,
            Some(_) => 1,
            None => 2,
        });
        let fits = |n: &usize| height(&tables[..*n]) + FOOT + 4 <= LINES;
        let shown = (1..tables.len()).take_while(fits).last().unwrap_or(1);
        let left = tables.len() - shown;
        tables.truncate(shown);
        out.push('\n');
        out.extend(tables.into_iter().map(|(_, table)| table));
        let more = format!("… and {left} more histories (--all; -a, -s, -l and -t take fewer)");
        out += &options.hang(&more, 2, ASIDE);
    } else {
        out.extend(tables.into_iter().map(|(_, table)| table));
    }
    let points = || lines.iter().flat_map(|line| &line.points);
    if points().any(|p| p.imported) {
        out += &options.hang(crate::ranking::IMPORTED, 2, ASIDE);
    }
    if points().any(|p| p.contended) {
        let speed =
            if points().any(|p| p.mb_per_s.is_some()) { "is at least so fast and " } else { "" };
        let note =
            format!("> and <: only a busy core was seen, so it {speed}takes at most so long");
        out += &options.hang(&note, 2, ASIDE);
    }
    let note = "a change is what `ciphermark compare`, with the same filters, says of a run and the one before it";
    out + &options.hang(note, 2, ASIDE)
}

/// Most lines below the tables of histories.
const FOOT: usize = 5;

fn history_table(line: &Line) -> Table {
    let speed = if line.case.model.has_bytes() { "MB/s" } else { "" };
    let mark = |p: &Point, bound: &'static str| match (p.imported, p.contended) {
        (true, _) => "†",
        (_, true) => bound,
        _ => "",
    };
    let digits = |p: &Point, value| supported(value, Some(&p.ns_per_op));
    let interval = |p: &Point| match (p.imported, p.contended) {
        (true, _) => "no interval".to_owned(),
        (_, true) => format!("at most {}", digits(p, p.ns_per_op.high)),
        _ => interval(&p.ns_per_op),
    };
    Table::of(
        &line.points,
        &[
            (Column::left("day"), &|p| Cell::plain(p.day.clone())),
            (Column::left("version"), &|p| Cell::plain(clean(&p.version))),
            (Column::point(speed), &|p| {
                let speed = p.mb_per_s.map(|v| format!("{}{}", mark(p, ">"), digits(p, v)));
                Cell::number(speed.unwrap_or_default(), PLAIN)
            }),
            (Column::point("ns/op"), &|p| {
                let ns = digits(p, p.ns_per_op.median);
                Cell::number(format!("{}{ns}", mark(p, "<")), PLAIN)
            }),
            (Column::right("95 % interval").goes(1), &|p| Cell::new(interval(p), ASIDE)),
            (Column::left("change"), &|p| change(p)),
            (Column::left("record").goes(2), &|p| {
                Cell::new(p.record.chars().take(DIGITS).collect::<String>(), ASIDE)
            }),
        ],
    )
}

fn change(p: &Point) -> Cell {
    let percent = p.ratio.map_or(0.0, |r| (r.estimate - 1.0) * 100.0);
    let mut more = match &p.differing[..] {
        [] => String::new(),
        all => clean(&format!("; {} differs, too", all.join(", "))),
    };
    let remark = p.remark.as_deref().map(clean);
    let behind = remark.as_ref().map(|remark| format!("; {remark}")).unwrap_or_default();
    more += &behind;
    match p.verdict {
        Some(Verdict::Slower) => Cell::new(format!("slower by {percent:.1} %{more}"), ALARM),
        Some(Verdict::Faster) => Cell::new(format!("faster by {:.1} %{more}", -percent), GOOD),
        Some(verdict) => Cell::new(verdict.name().to_owned() + &behind, ASIDE),
        None => Cell::new(remark.unwrap_or_default(), ASIDE),
    }
}

pub fn trend_csv(lines: &[Line]) -> String {
    let low = |p: &Point| (!p.imported && !p.contended).then_some(p.ns_per_op.low);
    let high = |p: &Point| (!p.imported).then_some(p.ns_per_op.high);
    let rows = lines.iter().flat_map(|line| line.points.iter().map(move |p| (line, p)));
    csv_of(
        rows,
        &[
            ("machine", &|(line, _)| line.machine.clone()),
            ("library", &|(line, _)| line.library.clone()),
            ("algorithm", &|(line, _)| line.case.algorithm.clone()),
            ("direction", &|(line, _)| line.case.direction.to_string()),
            ("size_bytes", &|(line, _)| line.case.size.to_string()),
            ("tier", &|(line, _)| line.case.tier.to_string()),
            ("model", &|(line, _)| line.case.model.to_string()),
            ("threads", &|(line, _)| line.case.threads.to_string()),
            ("footprint", &|(line, _)| line.case.footprint.to_string()),
            ("in_place", &|(line, _)| line.case.in_place.to_string()),
            ("setting", &|(line, _)| line.case.setting.clone()),
            ("time", &|(_, p)| p.started.to_string()),
            ("record", &|(_, p)| p.record.clone()),
            ("version", &|(_, p)| p.version.clone()),
            ("ns_per_op_median", &|(_, p)| p.ns_per_op.median.to_string()),
            ("ns_per_op_low", &|(_, p)| number(low(p))),
            ("ns_per_op_high", &|(_, p)| number(high(p))),
            ("verdict", &|(_, p)| p.verdict.map(|v| v.name().to_owned()).unwrap_or_default()),
            ("ratio", &|(_, p)| p.ratio.map(|r| r.estimate.to_string()).unwrap_or_default()),
            ("differing", &|(_, p)| p.differing.join("; ")),
            ("remark", &|(_, p)| p.remark.clone().unwrap_or_default()),
            ("imported", &|(_, p)| p.imported.to_string()),
            ("contended", &|(_, p)| p.contended.to_string()),
        ],
    )
}

/// Files for Apache Otava: a CSV of each history, and `otava.yaml`, which names them as tests. Otava knows neither bounds
/// nor figures from elsewhere: among measured ones each would be a change.
pub fn otava(lines: &[Line], directory: &Path) -> Vec<(String, String)> {
    let mut yaml = "tests:\n".to_owned();
    let mut files = Vec::new();
    for line in lines {
        let name = line.slug();
        let file = format!("{name}.csv");
        let is_measured = line.points.iter().any(|p| !p.imported);
        let counts = |p: &&Point| !(p.contended || p.imported && is_measured);
        let mut rows = line.points.iter().filter(counts).map(|p| {
            [
                p.started.to_string(),
                p.version.clone(),
                p.record.clone(),
                p.differing.join("; "),
                p.ns_per_op.median.to_string(),
            ]
        });
        let Some(first) = rows.next() else { continue };
        let rows = std::iter::once(first).chain(rows);
        let heading = ["time", "version", "record", "differing", "ns"];
        files.push((file.clone(), base::text::csv_as_is(&heading, rows)));
        // JSON text is YAML text.
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        yaml += &format!(
            "  {}:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [version, record, differing]\n    metrics:\n      \
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
    use crate::sample;
    use base::text::fixtures::says;
    use judge::compare::{Class, Matching, Question, Settings, Side};

    const WIDE: Options = Options { width: 300, color: false };

    fn without(why: &str) -> [Without; 1] {
        [Without { machine: "c7g".to_owned(), why: why.to_owned() }]
    }

    /// At a size at which a case failed; of one library only a busy core was seen.
    fn best() -> BestOfMachine {
        let mut record = sample::with_samples(|_, ns| ns);
        let own = record.measurements.iter_mut().filter(|m| m.library.name == "openssl");
        own.filter(|m| m.ns_per_op.is_some()).for_each(|m| m.contended = true);
        let class = Some(Class::Authenticated);
        let question = Question { class, size: Some(65_536), ..Question::default() };
        BestOfMachine {
            machine: "c7i".to_owned(),
            region: None,
            cpu: "a CPU".to_owned(),
            day: "2026-11-25".to_owned(),
            record: "ab".repeat(32),
            cost: None,
            ranking: judge::compare::rank(&record, &question, 10).unwrap(),
        }
    }

    #[test]
    fn each_format_says_bounds_and_what_has_no_number_and_which_machines_have_no_answer() {
        let (answers, without) = ([best()], without("the record has no such size"));
        let said = |format| best_of_machines(&answers, &without, format, WIDE);
        let text = said(ComparisonFormat::Text);
        let is_bound = |line: &str| line.contains("openssl@") && line.contains(" >");
        assert!(text.lines().any(is_bound) && text.contains("only a busy core"), "{text}");
        let line = "c7i: FAILED: openssl@3.0.22";
        assert!(text.lines().any(|l| l.starts_with(line) && l.contains("SIGSEGV")), "{text}");
        says(&text, ["no answer: c7g: the record has no such size\n"]);
        for format in [ComparisonFormat::Markdown, ComparisonFormat::Csv, ComparisonFormat::Json] {
            says(said(format), ["SIGSEGV", "c7g", "the record has no such size"]);
        }
        let json: serde_json::Value = serde_json::from_str(&said(ComparisonFormat::Json)).unwrap();
        assert_eq!(json["without"][0]["machine"], "c7g");
        assert_eq!(json["machines"][0]["machine"], "c7i");
    }

    #[test]
    fn a_bound_costs_at_most_so_much() {
        let mut answer = best();
        // The first is a bound.
        answer.ranking.standings[0].rows.retain(|r| r.contended);
        let amount = Estimate { median: 7.5, low: 7.4, high: 7.6 };
        let (currency, of_day) = ("USD".to_owned(), "2026-11-01".to_owned());
        answer.cost = Some(Money { amount, currency, per_hour: 0.1, of_day });
        let text = best_of_machines(&[answer], &[], ComparisonFormat::Text, WIDE);
        assert!(text.contains("<7.5") && !text.contains("to 7.6"), "{text}");
    }

    fn compared(matching: Matching) -> ComparedMachine {
        fn side(record: &record::Record) -> Side<'_> {
            Side { record, name: String::new(), rows: record.measurements.iter().collect() }
        }
        let [base, new] = [1.0, 1.1].map(|factor| sample::with_samples(|_, ns| ns * factor));
        let settings = Settings::of(matching);
        let day = || ("2026-11-25".to_owned(), "ab".repeat(32));
        ComparedMachine {
            machine: "c7i".to_owned(),
            base: day(),
            new: day(),
            comparison: judge::compare::compare(&side(&base), &side(&new), &settings),
            found: Vec::new(),
        }
    }

    #[test]
    fn a_machine_with_several_pairs_of_libraries_has_no_mean_of_the_first_one() {
        let said =
            |matching| machines(&[compared(matching)], &[], ComparisonFormat::Text, 10, WIDE);
        let text = said(Matching::Every);
        assert!(!text.contains("mean %"), "{text}");
        let text = said(Matching::ByName);
        assert!(text.contains("mean %"), "the libraries are those of the base: {text}");
    }

    #[test]
    fn machines_that_were_not_compared_are_named_in_each_format_with_the_reason() {
        let (all, without) = ([compared(Matching::ByName)], without("no two such runs"));
        for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
            let said = machines(&all, &without, format, 10, WIDE);
            says(&said, ["not compared: c7g: no two such runs\n"]);
        }
        let json = machines(&all, &without, ComparisonFormat::Json, 10, WIDE);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["without"][0]["why"], "no two such runs");
        assert_eq!(json["machines"][0]["machine"], "c7i");
    }

    #[test]
    fn a_machine_says_what_was_changed_beside_its_libraries_though_no_condition_holds() {
        let mut moved = compared(Matching::ByName);
        moved.comparison.differing.push("the processor".to_owned());
        let unmoved = ComparedMachine { machine: "m8g".to_owned(), ..compared(Matching::ByName) };
        for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
            let said = machines(&[moved.clone(), unmoved.clone()], &[], format, 10, WIDE);
            says(&said, ["c7i: not the same in both runs: the processor"]);
            assert!(!said.contains("m8g: not the same"), "{said}");
        }
    }

    fn line(machine: &str) -> Line {
        let point = |day: i64, ns: f64, verdict| Point {
            imported: false,
            contended: false,
            started: 1_793_491_200 + day * 86_400,
            day: format!("2026-11-0{}", day + 1),
            record: "ab".repeat(32),
            version: format!("3.{day}"),
            ns_per_op: Estimate { median: ns, low: ns * 0.99, high: ns * 1.01 },
            mb_per_s: Some(8192e3 / ns),
            verdict,
            ratio: Some(Ratio { estimate: 1.1, low: 1.09, high: 1.11, level: 0.95 }),
            differing: vec!["the processor".to_owned()],
            remark: Some("the run's own".to_owned()),
        };
        Line {
            machine: machine.to_owned(),
            library: "openssl".to_owned(),
            case: Case {
                algorithm: "aes-256-gcm".to_owned(),
                size: 8192,
                threads: 1,
                ..Case::default()
            },
            points: vec![
                point(0, 600.0, None),
                point(1, 660.0, Some(Verdict::Slower)),
                point(2, 661.0, Some(Verdict::Undecided)),
            ],
        }
    }

    #[test]
    fn every_verdict_is_said_and_what_else_was_changed() {
        let text = trend(&[line("c7i")], false, Options { width: 120, color: false });
        assert!(
            text.starts_with("c7i: aes-256-gcm, encrypt, 8K, message, native of openssl\n"),
            "{text}"
        );
        says(&text, ["slower by 10.0 %; the processor differs, too; the run's own"]);
        assert_eq!(text.matches("undecided").count(), 1, "{text}");
    }

    #[test]
    fn many_histories_are_a_screen_that_begins_with_what_became_slower() {
        let mut lines: Vec<Line> = (0..30).map(|n| line(&format!("m{n}"))).collect();
        for one in &mut lines[..29] {
            one.points[1].verdict = Some(Verdict::Same);
        }
        lines[7].points[1].verdict = Some(Verdict::Faster);
        let text = trend(&lines, false, WIDE);
        let first = "30 histories: 1 became slower, 1 only faster, 28 neither\n\nm29: ";
        assert!(text.starts_with(first), "{text}");
        assert!(text.find("\nm7: ").unwrap() < text.find("\nm0: ").unwrap(), "{text}");
        assert!(text.lines().count() <= LINES, "{text}");
        says(&text, ["… and 25 more histories (--all; "]);
        let whole = trend(&lines, true, WIDE);
        assert!(whole.starts_with("m0: ") && whole.contains("\nm29: "), "{whole}");
    }

    #[test]
    fn files_for_otava_have_a_row_a_run_and_names_that_are_files() {
        let files = otava(&[line("../c7i $(x)\n")], Path::new("history"));
        let (name, csv) = &files[0];
        assert_eq!(
            name,
            "..-c7i---x--.openssl.aes-256-gcm.encrypt.8192.message.native.1.hot.apart.csv"
        );
        assert_eq!(csv.lines().next(), Some("time,version,record,differing,ns"));
        assert_eq!(csv.lines().count(), 4);
        let (name, yaml) = &files[1];
        assert_eq!(name, "otava.yaml");
        says(yaml, ["metrics:\n      ns: {column: ns, direction: -1}"]);
    }

    #[test]
    fn a_bound_of_a_busy_core_is_one_in_a_history_and_no_change_for_otava() {
        let mut bound = line("c7i");
        bound.points[1].contended = true;
        (bound.points[1].verdict, bound.points[1].ratio) = (Some(Verdict::Undecided), None);
        bound.points[1].remark = Some("one side saw only a busy core".to_owned());
        let text = trend(std::slice::from_ref(&bound), false, WIDE);
        let row = text.lines().find(|line| line.contains("2026-11-02")).unwrap();
        says(row, [">", "<660", "at most ", "undecided; one side saw only a busy core"]);
        says(&text, ["only a busy core was seen"]);
        let csv = trend_csv(std::slice::from_ref(&bound));
        assert!(csv.lines().nth(2).unwrap().ends_with(",false,true"), "{csv}");
        let [(_, csv), _] = &otava(std::slice::from_ref(&bound), Path::new("h"))[..] else {
            panic!("a history and the names")
        };
        assert_eq!(csv.lines().count(), 3, "{csv}");
        bound.points.iter_mut().for_each(|p| p.contended = true);
        assert_eq!(otava(&[bound], Path::new("h")).len(), 1, "no history of bounds alone");
    }

    #[test]
    fn a_figure_from_elsewhere_among_measured_ones_is_no_change_for_otava() {
        let mut mixed = line("c7i");
        mixed.points[2].imported = true;
        let rows =
            |line: &Line| otava(std::slice::from_ref(line), Path::new("h"))[0].1.lines().count();
        assert_eq!(rows(&mixed), 3);
        let csv = trend_csv(std::slice::from_ref(&mixed));
        assert!(csv.lines().nth(3).unwrap().ends_with(",true,false"), "{csv}");
        mixed.points.iter_mut().for_each(|p| p.imported = true);
        assert_eq!(rows(&mixed), 4, "a history of imports alone is one");
    }

    #[test]
    fn a_row_of_csv_has_the_verdict_in_a_word() {
        let csv = trend_csv(&[line("c7i")]);
        assert_eq!(csv.lines().count(), 4);
        assert!(csv.lines().nth(2).unwrap().contains(",slower,1.1"), "{csv}");
    }
}
