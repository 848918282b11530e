//! Answers to questions: the best, with the places that each may have. And the end of a run on one screen:
//! what is best here, where the system's own library stands, what not to use, how far to believe it, and what
//! to ask next.

use crate::comparison::words::{interval_heading, with_level};
use crate::labels::{
    Libraries, percent, short_id, size, size_with_unit, speed, supported, versioned,
};
use crate::leaks::mark as mark_of;
use crate::screen::{LINES, Screen, WARNINGS, headline};
use crate::summary::without_aes;
use crate::survey::{Survey, is_bad, mark, shout};
use crate::{ComparisonFormat, leaks, notes, summary};
use base::model::Direction;
use base::text::{
    ALARM, ASIDE, Align, BEST, CAUTION, Cell, Column, GOOD, HEADING, Held, Options, PLAIN, Table,
    clean, clip, csv_of, escape_markdown as escape,
};
use judge::compare::{
    Absent, Answer, Asked, By, Family, Per, REFERENCE_SIZE, Ranked, Ranking, Row, Standing,
    SystemStanding, Tally, Unit,
};
use record::{Measurement, Record, State};
use std::collections::BTreeMap;

/// Answers as text that ends with a line break; `options` matter for text only.
pub fn rankings(answers: &[Ranking], format: ComparisonFormat, options: Options) -> String {
    match format {
        ComparisonFormat::Text => text(answers, options),
        ComparisonFormat::Markdown => markdown(answers),
        ComparisonFormat::Json => record::pretty(&answers),
        ComparisonFormat::Csv => csv(answers),
    }
}

// Answers for a terminal and in Markdown.

fn text(answers: &[Ranking], options: Options) -> String {
    let mut out = String::new();
    for (i, answer) in answers.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        out += &one(answer, options);
    }
    out.push('\n');
    for line in legend(answers) {
        out += &options.hang(&line, 2, PLAIN);
    }
    out
}

fn one(answer: &Ranking, options: Options) -> String {
    let mut out = options.hang(&clean(&answer.terms.sentence), 2, HEADING);
    out += &table(answer).text(options);
    for note in notes(answer) {
        out += &options.hang(&note, 2, PLAIN);
    }
    for line in absences(answer) {
        out += &options.hang(&line, 2, ALARM);
    }
    out
}

fn table(answer: &Ranking) -> Table {
    /// A ranked case behind its group's name.
    type Row<'a> = (String, &'a Ranked);
    let by = answer.terms.by;
    let shown = || answer.standings.iter().flat_map(|s| &s.rows);
    // A handshake has no bytes, and what a derivation is to cost is no number of them.
    let in_bytes = |r: &Ranked| r.case.model.has_bytes() && r.mb_per_s.is_some();
    let has_bytes = shown().any(in_bytes);
    let heading = interval_heading(shown().filter_map(|r| r.behind.as_ref()));
    let unit = match by {
        By::Time if has_bytes => "MB/s",
        By::Time => "µs/op",
        By::Instructions => "instructions",
    };
    let cycles = if has_bytes { "c/B" } else { "cycles/op" };
    let style = |r: &Ranked| match (r.place, r.last_place) {
        (1, 1) => BEST,
        (1, _) if !answer.imported => GOOD,
        _ => PLAIN,
    };
    let main = |r: &Ranked| match by {
        By::Time if has_bytes => r.mb_per_s.map(|v| supported(v, r.ns_per_op.as_ref())),
        By::Time => r.ns_per_op.map(|ns| supported(ns.median / 1000.0, Some(&ns))),
        By::Instructions => r.instructions_per_op.map(|i| format!("{i:.0}")),
    };
    // What is at least so fast takes at most so long. Instructions are counted, and no bound.
    let main_sign = |r: &Ranked| match by {
        By::Time if r.contended && !has_bytes => "<",
        By::Time => sign(answer, r),
        By::Instructions => "",
    };
    let cost = |r: &Ranked, text: String| format!("{}{text}", if r.contended { "<" } else { "" });
    let of_bytes = |r: &Ranked| {
        if has_bytes && !in_bytes(r) {
            return String::new();
        }
        let bytes = if has_bytes { r.case.size.max(1) as f64 } else { 1.0 };
        let cycles = r.cycles_per_op.map(|e| supported(e.median / bytes, Some(&e)));
        cycles.map(|text| cost(r, text)).unwrap_or_default()
    };
    let ns = |r: &Ranked| {
        r.ns_per_op.map(|e| cost(r, supported(e.median, Some(&e)))).unwrap_or_default()
    };
    let behind = |r: &Ranked| r.behind.map(|b| with_level(b, None, heading)).unwrap_or_default();
    let interval = |r: &Ranked| match answer.imported {
        true => "no interval".to_owned(),
        false => behind(r)[1].clone(),
    };
    let limit = |r: &Ranked| {
        let sign = if r.contended { ">" } else { "" };
        r.limit_fraction.map(|f| format!("{sign}{:.0}", f * 100.0)).unwrap_or_default()
    };
    let columns: [(Column, Held<'_, Row<'_>, Cell>); 11] = [
        (Column::left("best of"), &|(group, _)| Cell::plain(group)),
        (Column::left("#"), &|(_, r)| Cell::new(place(r), style(r))),
        (Column::left("algorithm"), &|(_, r)| Cell::new(clean(&r.case.algorithm), style(r))),
        (Column::left("library"), &|(_, r)| Cell::new(library(r) + mark_of(r.leaks), style(r))),
        (Column::point(unit), &|(_, r)| {
            Cell::number(format!("{}{}", main_sign(r), main(r).unwrap_or_default()), style(r))
        }),
        (Column::point(cycles).goes(4), &|(_, r)| Cell::number(of_bytes(r), PLAIN)),
        (Column::point("ns").goes(2), &|(_, r)| Cell::number(ns(r), PLAIN)),
        (Column::point(behind_heading(answer)).goes(6), &|(_, r)| {
            Cell::number(behind(r)[0].clone(), PLAIN)
        }),
        (Column::right(heading).goes(1), &|(_, r)| Cell::new(interval(r), ASIDE)),
        (Column::right("limit %").goes(3), &|(_, r)| Cell::plain(limit(r))),
        (Column::left("").goes(5), &|(_, r)| {
            Cell::new(r.label.as_deref().map(clean).unwrap_or_default(), CAUTION)
        }),
    ];
    // Where groups have no column of their own, the first one goes.
    let from = usize::from(!is_grouped(answer));
    let rows = answer
        .standings
        .iter()
        .flat_map(|s| s.rows.iter().enumerate().map(move |(i, r)| (group(answer, s, i), r)));
    Table::of(rows, &columns[from..])
}

/// What costs are compared in, as the heading of how much more than the first one takes.
fn behind_heading(answer: &Ranking) -> &'static str {
    match answer.terms.unit {
        Some(Unit::Cycles) => "cycles %",
        Some(Unit::Nanoseconds) => "time %",
        None => "instructions %",
    }
}

/// Whether rows need their group's name: library and algorithm stand in columns of their own.
fn is_grouped(answer: &Ranking) -> bool {
    matches!(answer.terms.per, Some(Per::Family | Per::Size | Per::Tier))
}

/// The group's name, beside its first row.
fn group(answer: &Ranking, standing: &Standing, row: usize) -> String {
    let named = standing.group.as_deref().filter(|_| row == 0 && is_grouped(answer));
    named.map(clean).unwrap_or_default()
}

/// The library; with the beginning of its build's id where another build of the version takes part.
pub(crate) fn library(r: &Ranked) -> String {
    let id = if r.has_twin { short_id(&r.library.id) } else { String::new() };
    let name = versioned(&r.library.name, &r.library.version);
    if id.is_empty() { name } else { format!("{name}#{id}") }
}

/// `2–5`: the places that it may have.
pub(crate) fn place(r: &Ranked) -> String {
    if r.place == r.last_place {
        r.place.to_string()
    } else {
        format!("{}–{}", r.place, r.last_place)
    }
}

/// What stands before a figure that was not measured here, or is a bound.
pub(crate) fn sign(answer: &Ranking, r: &Ranked) -> &'static str {
    match (answer.imported, r.contended) {
        (true, _) => "†",
        (_, true) => ">",
        _ => "",
    }
}

/// What is said below bounds.
pub(crate) const BOUND: &str =
    ">: only a busy core was seen, so it is at least so fast, and nothing is surely faster";
/// What is said below figures from elsewhere.
pub(crate) const IMPORTED: &str =
    "†: imported, neither measured nor checked here: no interval, so that no difference is sure";

fn notes(answer: &Ranking) -> Vec<String> {
    let mut notes = Vec::new();
    if let [only] = &answer.standings[..] {
        let rest = only.contenders - only.rows.len();
        let more = if rest > 0 { format!("; {rest} more (--rows all)") } else { String::new() };
        let first = match only.may_be_first {
            _ if answer.imported => "in the order of the figures".to_owned(),
            1 => "one is surely the first".to_owned(),
            n => format!("{n} may be the first"),
        };
        notes.push(format!("{} cases: {first}{more}", only.contenders));
    }
    let shown = answer.standings.iter().flat_map(|s| &s.rows).map(|r| &r.library);
    notes.extend(crate::notes::note_of_age(shown.map(|l| (&*l.name, &*l.version))));
    notes.extend(hang_on_clock(answer));
    if answer.unranked > 0 {
        let what = match answer.terms.by {
            By::Time if answer.imported => "figures that are doubted",
            By::Time => "cases without raw samples of two processes",
            By::Instructions => "cases without counted instructions",
        };
        notes.push(format!("{} {what} are not ranked", answer.unranked));
    }
    notes.extend(answer.imported.then(|| IMPORTED.to_owned()));
    if !answer.machines.is_empty() {
        let names: Vec<String> = answer.machines.iter().map(|name| clean(name)).collect();
        notes.push(format!("figures of several machines: {}", names.join("; ")));
    }
    notes.extend(answer.secret.map(|left_out| left_out.to_string()));
    notes.extend(not_measured(answer).map(|note| {
        format!("{note}, and so does the same with --complete, where the record was taken")
    }));
    notes
}

/// Rows of which one takes fewer cycles and another less time.
fn hang_on_clock(answer: &Ranking) -> Option<String> {
    let rows = answer.standings.iter().flat_map(|s| &s.rows).filter(|r| r.clock_decides);
    let name = |r: &Ranked| format!("{} in {}", clean(&r.case.algorithm), library(r));
    let names: Vec<String> = rows.map(name).collect();
    (!names.is_empty()).then(|| {
        format!(
            "fewer cycles than another at a lower clock, and more time, or the other way round, so which is \
             faster depends on the core's clock: {}",
            names.join(", ")
        )
    })
}

/// Algorithms of which not all that could take part was measured, and what measures it.
pub(crate) fn not_measured(answer: &Ranking) -> Option<String> {
    const FEW: usize = 4;
    let mut of: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for missing in &answer.missing {
        *of.entry(&missing.algorithm).or_default() += 1;
    }
    let names: Vec<&str> = of.keys().copied().collect();
    let all: Vec<String> = of
        .iter()
        .take(FEW)
        .map(|(algorithm, n)| match n {
            1 => format!("{} in a library", clean(algorithm)),
            n => format!("{} in {n} libraries", clean(algorithm)),
        })
        .collect();
    let more = names.len().saturating_sub(FEW);
    let more = if more > 0 { format!(" and {more} algorithms more") } else { String::new() };
    let terms = &answer.terms;
    let mut flags = format!("-m {}", terms.model);
    flags += &terms.size.map(|size| format!(" -s {size}")).unwrap_or_default();
    flags += &terms.tier.map(|tier| format!(" -t {tier}")).unwrap_or_default();
    (!all.is_empty()).then(|| {
        format!(
            "NOT MEASURED, and any of it may be the first: {}{more}; `ciphermark run -a '{}' {flags}` measures it",
            all.join(", "),
            clean(&names.join(","))
        )
    })
}

/// Cases without a number: each that was refused or failed, and of those that there was no time for one line a reason.
pub(crate) fn absences(answer: &Ranking) -> Vec<String> {
    let (left_out, bad): (Vec<&Absent>, Vec<&Absent>) =
        answer.absent.iter().partition(|absent| absent.left_out);
    let mut lines: Vec<String> = bad
        .into_iter()
        .map(|a| format!("{}: {}: {}", shout(a.state), case_of(a), why(a)))
        .collect();
    let reasons: std::collections::BTreeSet<String> = left_out.iter().map(|a| why(a)).collect();
    for reason in reasons {
        let of: Vec<&&Absent> = left_out.iter().filter(|absent| why(absent) == reason).collect();
        let cases = of.chunk_by(|a, b| a.library == b.library).map(|cases| match cases {
            [one] => case_of(one),
            [first, ..] => {
                let library = versioned(&first.library.name, &first.library.version);
                format!("{library} ({} cases)", cases.len())
            }
            [] => String::new(),
        });
        let cases: Vec<String> = cases.collect();
        lines.push(format!("NOT MEASURED: {}: {reason}", cases.join(", ")));
    }
    lines
}

fn case_of(absent: &Absent) -> String {
    format!(
        "{} {} at {}",
        versioned(&absent.library.name, &absent.library.version),
        clean(&absent.case.algorithm),
        size(absent.case.size)
    )
}

fn why(absent: &Absent) -> String {
    clean(absent.reason.as_deref().unwrap_or("no reason given"))
}

fn legend(answers: &[Ranking]) -> Vec<String> {
    let mut lines = Vec::new();
    if answers.iter().any(|a| !a.imported) {
        lines.push(
            "#: one more than the cases that are surely faster (95 % for all of a row's comparisons together, \
             C. E. Bonferroni), to the last place that it may have. The truly fastest is among those in place 1"
                .to_owned(),
        );
    }
    // Where only the best of each group stands, there is no such column.
    let has_later =
        |a: &&Ranking| a.standings.iter().flat_map(|s| &s.rows).any(|row| row.behind.is_some());
    let headings: std::collections::BTreeSet<&str> =
        answers.iter().filter(has_later).map(behind_heading).collect();
    let interval = if lines.is_empty() { "" } else { ", with its own interval" };
    lines.extend((!headings.is_empty()).then(|| {
        format!(
            "{}: how much more it takes than the first one{interval}",
            Vec::from_iter(headings).join(", ")
        )
    }));
    let ranked = || answers.iter().flat_map(|a| &a.standings).flat_map(|s| &s.rows);
    if ranked().any(|r| r.contended) {
        lines.push(BOUND.to_owned());
    }
    let signs: std::collections::BTreeSet<_> = ranked().filter_map(|r| r.leaks).collect();
    lines.extend(signs.into_iter().rev().filter_map(crate::leaks::meaning));
    let labels: std::collections::BTreeSet<&str> =
        ranked().filter_map(|r| r.label.as_deref()).flat_map(|l| l.split(", ")).collect();
    let meaning = |label: &str| match label {
        "no-integrity" => Some("tampering is not noticed"),
        "accident-only" => Some("finds accidental damage only: tampering is not noticed"),
        "for-keys" => Some("made for keys: equal keys give equal output"),
        "ecb-leaks-patterns" => Some("equal blocks stay equal; no integrity"),
        "composite" => {
            Some("a cipher and a checksum or MAC, joined by ciphermark or by the library")
        }
        "no-encryption" => Some("encrypts nothing"),
        "own-vectors-only" => {
            Some("brought by an adapter, and checked against its own vectors only")
        }
        _ => None,
    };
    lines.extend(labels.into_iter().filter_map(|l| Some(format!("{l}: {}", meaning(l)?))));
    lines
}

fn markdown(answers: &[Ranking]) -> String {
    let mut out = String::new();
    for answer in answers {
        out += &format!("### {}\n\n", escape(&clean(&answer.terms.sentence)));
        out += &table(answer).markdown();
        let notes = notes(answer).into_iter().chain(absences(answer));
        let notes: String = notes.map(|n| format!("- {}\n", escape(&n))).collect();
        out += &format!("\n{notes}\n");
    }
    legend(answers).iter().for_each(|l| out += &format!("- {}\n", escape(l)));
    out
}

// Answers for programs.

/// A ranked case with the answer and the group that it is ranked in.
struct CsvRow<'a> {
    answer: &'a Ranking,
    group: &'a str,
    is_first: bool,
    r: &'a Ranked,
}

impl CsvRow<'_> {
    /// What could take part and has no number, once an answer.
    fn absent(&self) -> String {
        let lines = absences(self.answer).into_iter().chain(not_measured(self.answer));
        let lines = lines.filter(|_| self.is_first);
        lines.collect::<Vec<_>>().join("; ")
    }

    /// An interval's end: figures from elsewhere have none, and a bound has one only.
    fn end(&self, value: Option<f64>) -> String {
        number(value.filter(|v| v.is_finite() && !self.answer.imported))
    }
}

fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

fn csv(answers: &[Ranking]) -> String {
    let rows = answers.iter().flat_map(|answer| {
        let all = answer.standings.iter().flat_map(|s| s.rows.iter().map(move |r| (s, r)));
        all.enumerate().map(move |(at, (s, r))| {
            let group = s.group.as_deref().unwrap_or_default();
            CsvRow { answer, group, is_first: at == 0, r }
        })
    });
    csv_of(
        rows,
        &[
            ("question", &|row| row.answer.terms.sentence.clone()),
            ("group", &|row| row.group.to_owned()),
            ("place", &|row| row.r.place.to_string()),
            ("last_place", &|row| row.r.last_place.to_string()),
            ("library_name", &|row| row.r.library.name.clone()),
            ("library_version", &|row| row.r.library.version.clone()),
            ("library_id", &|row| row.r.library.id.clone()),
            ("algorithm", &|row| row.r.case.algorithm.clone()),
            ("direction", &|row| row.r.case.direction.to_string()),
            ("model", &|row| row.r.case.model.to_string()),
            ("size_bytes", &|row| row.r.case.size.to_string()),
            ("tier", &|row| row.r.case.tier.to_string()),
            ("threads", &|row| row.r.case.threads.to_string()),
            ("footprint", &|row| row.r.case.footprint.to_string()),
            ("in_place", &|row| row.r.case.in_place.to_string()),
            ("label", &|row| row.r.label.clone().unwrap_or_default()),
            ("mb_per_s", &|row| number(row.r.mb_per_s)),
            ("ns_per_op", &|row| number(row.r.ns_per_op.map(|e| e.median))),
            ("cycles_per_op", &|row| number(row.r.cycles_per_op.map(|e| e.median))),
            ("instructions_per_op", &|row| number(row.r.instructions_per_op)),
            ("limit_fraction", &|row| number(row.r.limit_fraction)),
            ("cost_over_first", &|row| number(row.r.behind.map(|b| b.estimate))),
            ("setting", &|row| row.r.case.setting.clone()),
            ("contended", &|row| row.r.contended.to_string()),
            ("clock_decides", &|row| row.r.clock_decides.to_string()),
            ("leaks", &|row| row.r.leaks.map(|v| v.name().to_owned()).unwrap_or_default()),
            ("imported", &|row| row.answer.imported.to_string()),
            ("absent", &CsvRow::absent),
            ("ns_per_op_low", &|row| {
                row.end(row.r.ns_per_op.filter(|_| !row.r.contended).map(|e| e.low))
            }),
            ("ns_per_op_high", &|row| row.end(row.r.ns_per_op.map(|e| e.high))),
            ("cost_over_first_low", &|row| row.end(row.r.behind.map(|b| b.low))),
            ("cost_over_first_high", &|row| row.end(row.r.behind.map(|b| b.high))),
        ],
    )
}

/// Most families of algorithms that answer one question.
const FAMILIES: usize = 5;
/// Most libraries of a family.
const BEST_OF: usize = 3;
/// Most columns of a library's name.
const LIBRARY: usize = 26;
/// What a survey comes to, in words: the first screen of a terminal and the head of the page.
#[derive(Clone, Debug)]
pub struct Summary {
    pub machine: String,
    /// How many numbers are short of the asked precision, why, and what would help.
    pub precision: Option<String>,
    /// Headings of the table: its subject, the library, one a size, the limit, the system's library.
    pub columns: Vec<String>,
    /// Each question with its lines, the fastest first.
    pub questions: Vec<(&'static str, Vec<Line>)>,
    /// What a newer OpenSSL would change.
    pub newer: Option<String>,
    pub avoid: Vec<String>,
}

/// One library's speed in the table of a [`Summary`].
#[derive(Clone, Debug)]
pub struct Line {
    /// The algorithm; empty where it is that of the line above.
    pub algorithm: String,
    pub library: String,
    /// MB/s, one a size, with its mark; a dash where there is no number.
    pub speeds: Vec<String>,
    /// Share of what the CPU could do at the last size.
    pub limit: String,
    /// How the measured system's library does; in an algorithm's first line only.
    pub system: SystemStanding,
}

impl Line {
    /// How the system's library does, in a few words.
    pub fn standing(&self) -> String {
        match self.system {
            SystemStanding::Unknown => String::new(),
            SystemStanding::NotOffered => "not offered".to_owned(),
            SystemStanding::Refused => "REFUSED".to_owned(),
            SystemStanding::Best => "as fast".to_owned(),
            SystemStanding::Undecided => "undecided".to_owned(),
            SystemStanding::Slower(factor, mb_per_s) => {
                // A factor of time beside a speed is read as one of speed.
                format!("{mb_per_s:.0}, {:.0} % of best", (100.0 / factor).min(99.0))
            }
        }
    }
}

impl Summary {
    /// None where the record answers no question. The table has at most `lines` lines with its headings.
    pub fn of(record: &Record, lines: usize) -> Option<Self> {
        Found::of(record).map(|found| found.summary(lines))
    }
}

/// The screen, at most 40 lines of 100 columns; none where the record answers no question. `path` is the record's
/// file, where it has one.
pub fn first_screen(record: &Record, path: Option<&str>, options: Options) -> Option<String> {
    let screen = Screen::of(options);
    let found = Found::of(record)?;
    let mut whole = found.summary(LINES);
    let selection: Vec<&Measurement> = record.measurements.iter().collect();
    let survey = Survey::of(record, &selection);
    let notes = summary::foot(record, &selection, &survey).len();
    let precision = whole.precision.as_deref().map(|line| screen.options.hang(line, 0, PLAIN));
    let circumstances = summary::circumstances(record);
    let circumstances = circumstances.iter().take(WARNINGS).map(|line| screen.line(line, CAUTION));
    let above = screen.line(&whole.machine, PLAIN)
        + &precision.unwrap_or_default()
        + &circumstances.collect::<String>()
        + "\n";
    let newer = whole.newer.as_ref().map(|text| format!("\n{}", screen.sentence(text)));
    let below = newer.unwrap_or_default()
        + &screen.avoid(&whole.avoid)
        + &next(&screen, path, notes, &found.answer);
    let taken = above.lines().count() + below.lines().count();
    whole.questions = found.questions(LINES.saturating_sub(taken));
    Some(above + &table_of(&screen, &whole) + &below)
}

struct Found<'a> {
    record: &'a Record,
    answer: Answer<'a>,
    libraries: Libraries<'a>,
}

impl<'a> Found<'a> {
    fn of(record: &'a Record) -> Option<Self> {
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let libraries = Libraries::of(&selection);
        Some(Self { record, answer: Answer::of(record)?, libraries })
    }

    fn summary(&self, lines: usize) -> Summary {
        Summary {
            machine: self.machine(),
            precision: self.precision(),
            columns: self.columns(),
            questions: self.questions(lines),
            newer: self.newer(),
            avoid: self.avoid(),
        }
    }

    fn machine(&self) -> String {
        let record = self.record;
        let measured = record.measurements.iter().filter(|m| m.state == State::Measured).count();
        let loaded = record.libraries.iter().filter(|l| l.error.is_none()).count();
        let seconds = record.measuring_seconds;
        let measured = format!("{loaded} libraries, {measured} cases in {seconds:.0} s");
        headline(&record.host, vec![measured])
    }

    fn precision(&self) -> Option<String> {
        let selection: Vec<&Measurement> = self.record.measurements.iter().collect();
        let sign = if selection.iter().any(|m| mark(m) == "~") { "~: " } else { "" };
        notes::precision_line(self.record, &selection).map(|line| format!("{sign}{line}"))
    }

    /// The ranked answers, in as many lines as there are. Each family has its fastest library; more where there is
    /// room.
    fn questions(&self, room: usize) -> Vec<(&'static str, Vec<Line>)> {
        let questions = &self.answer.questions;
        let headings = 1 + questions.len();
        let mut families: Vec<usize> =
            questions.iter().map(|(_, f)| f.len().min(FAMILIES)).collect();
        while families.iter().sum::<usize>() + headings > room && families.iter().any(|n| *n > 1) {
            let most = families.iter_mut().max();
            most.into_iter().for_each(|n| *n -= 1);
        }
        let mut spare = room.saturating_sub(headings + families.iter().sum::<usize>());
        let mut found = Vec::new();
        for ((asked, of), shown) in questions.iter().zip(families) {
            let mut lines = Vec::new();
            for family in &of[..shown] {
                let more = (family.libraries.len().min(BEST_OF) - 1).min(spare);
                spare -= more;
                let own = family.libraries[..=more].iter().enumerate();
                lines.extend(own.map(|(place, row)| self.line(family, row, place == 0)));
            }
            found.push((title(*asked), lines));
        }
        found
    }

    fn columns(&self) -> Vec<String> {
        let mut columns = vec![format!("MB/s, {}", self.answer.direction), "library".to_owned()];
        columns.extend(self.answer.sizes.iter().map(|size| size_with_unit(*size)));
        columns.push("limit".to_owned());
        let system = self.answer.system.map(|id| clip(self.libraries.label(id), 24));
        columns.push(system.map(|system| format!("system's {system}")).unwrap_or_default());
        columns
    }

    fn line(&self, family: &Family<'_>, row: &Row<'_>, is_first: bool) -> Line {
        let marked = |m: &Measurement| speed(m).map(|speed| format!("{}{speed}", mark(m)));
        let number =
            |m: &Option<&Measurement>| m.and_then(marked).unwrap_or_else(|| "–".to_owned());
        let limit = row.cells.last().copied().flatten().and_then(|m| {
            let sign = if m.contended { ">" } else { "" };
            Some(format!("{sign}{} %", percent(m.limit_fraction?)))
        });
        let label = self.libraries.label(row.library);
        let library = match family.ties {
            1.. if is_first => {
                let others = if family.ties == 1 { "other" } else { "others" };
                let others = format!(" or {} {others}", family.ties);
                clip(label, LIBRARY.saturating_sub(others.len())) + &others
            }
            _ => label.to_owned(),
        };
        Line {
            algorithm: if is_first { clean(family.algorithm) } else { String::new() },
            library,
            speeds: row.cells.iter().map(number).collect(),
            limit: limit.unwrap_or_default(),
            system: if is_first { family.system } else { SystemStanding::Unknown },
        }
    }

    fn newer(&self) -> Option<String> {
        let (newer, system) = self.answer.newer.as_ref().zip(self.answer.system)?;
        let (new, own) = (self.libraries.label(newer.library), self.libraries.label(system));
        let (ratio, tally) = (newer.ratio, newer.tally);
        Some(format!(
            "Your {own}: {new} takes {:.2} of its time ({:.2} to {:.2}), the mean of {} cases; {}.",
            ratio.estimate,
            ratio.low,
            ratio.high,
            newer.ratios,
            alone(tally)
        ))
    }

    /// What was refused, what failed, what depends on secrets, and what does without the CPU's AES instructions.
    fn avoid(&self) -> Vec<String> {
        let selection: Vec<&Measurement> = self.record.measurements.iter().collect();
        let mut found: BTreeMap<(State, &str), (usize, &Measurement)> = BTreeMap::new();
        for m in selection.iter().copied().filter(|m| is_bad(m)) {
            found.entry((m.state, self.libraries.label(&m.library))).or_insert((0, m)).0 += 1;
        }
        let mut lines: Vec<String> = found
            .into_iter()
            .map(|((state, library), (cases, m))| {
                let reason = clean(m.reason.as_deref().unwrap_or_default());
                let of = if cases == 1 { clean(&m.algorithm) } else { format!("{cases} cases") };
                format!("{library}   {of} {}: {reason}", shout(state))
            })
            .collect();
        let names: Vec<String> = without_aes(self.record, &selection).into_iter().collect();
        let room = WARNINGS.saturating_sub(lines.len() + usize::from(!names.is_empty()));
        lines.extend(leaks::avoid(self.record, &self.libraries, room));
        if !names.is_empty() {
            lines.push(format!("{}   AES without this CPU's AES instructions", names.join(", ")));
        }
        lines
    }
}

/// What is known of cases beside their mean. Beside a mean far from 1 "0 faster" would be read as a contradiction.
fn alone(of: Tally) -> String {
    match of {
        Tally { same: 0, faster: 0, slower: 0, .. } => {
            "a longer run decides on each by itself".to_owned()
        }
        Tally { faster, slower, undecided, .. } => {
            format!("{faster} faster, {slower} slower, {undecided} undecided")
        }
    }
}

/// What to type next, of what the record can answer.
fn next(screen: &Screen, path: Option<&str>, notes: usize, answer: &Answer<'_>) -> String {
    let Some(path) = path.map(clean) else {
        let all = "The whole table: run with --all. To keep every sample: -o FILE.";
        return format!("\n{}", screen.line(all, PLAIN));
    };
    let mut commands = vec![
        (format!("Whole table, {notes} notes"), format!("ciphermark show {path}")),
        ("Page".to_owned(), format!("ciphermark report {path} -o page.html")),
    ];
    let has = |of: &[Asked], size: usize| {
        let place = answer.sizes.iter().position(|s| *s == size);
        let families = answer.questions.iter().filter(|(asked, _)| of.contains(asked));
        let mut rows = families.flat_map(|(_, families)| families).flat_map(|f| &f.libraries);
        answer.direction == Direction::Encrypt
            && place.is_some_and(|at| rows.any(|row| row.cells[at].is_some()))
    };
    let least = answer.sizes[0];
    if least < REFERENCE_SIZE && has(&[Asked::Authenticated], least) {
        let command = format!("ciphermark rank {path} --authenticated --size {least}");
        commands.push(("Small messages".to_owned(), command));
    }
    if has(&[Asked::Authenticated, Asked::KeepsLength], REFERENCE_SIZE) {
        let command = format!("ciphermark advise {path} --for postgres");
        commands.push(("Database pages".to_owned(), command));
    }
    screen.next(&commands)
}

fn table_of(screen: &Screen, summary: &Summary) -> String {
    let last = summary.columns.len() - 1;
    let column = |(place, name): (usize, &String)| {
        let is_text = place < 2 || place == last;
        Column::named(name.clone(), if is_text { Align::Left } else { Align::Right })
    };
    let group = |(title, lines): &(&'static str, Vec<Line>)| {
        ((*title).to_owned(), lines.iter().map(row).collect())
    };
    screen.table(
        summary.columns.iter().enumerate().map(column).collect(),
        summary.questions.iter().map(group).collect(),
    )
}

fn title(asked: Asked) -> &'static str {
    match asked {
        Asked::Authenticated => "Authenticated",
        Asked::KeepsLength => "Keeps the length, notices no tampering",
        Asked::Digest => "Digests and message authentication codes",
        Asked::Weak => "Weak: only to read or leave what is there",
    }
}

fn row(line: &Line) -> Vec<Cell> {
    let is_first = !line.algorithm.is_empty();
    let style = if is_first { BEST } else { PLAIN };
    let mut cells = vec![
        Cell::plain(format!("  {}", line.algorithm)),
        Cell::plain(clip(&line.library, LIBRARY)),
    ];
    cells.extend(line.speeds.iter().map(|speed| Cell::number(speed.clone(), style)));
    cells.push(Cell::new(line.limit.clone(), ASIDE));
    let style = match line.system {
        SystemStanding::NotOffered => ASIDE,
        SystemStanding::Refused => ALARM,
        SystemStanding::Best => BEST,
        SystemStanding::Unknown | SystemStanding::Undecided | SystemStanding::Slower(..) => PLAIN,
    };
    cells.push(Cell::new(line.standing(), style));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::screen::WIDTH;
    use base::model::{Direction, NameGlob};
    use base::text::fixtures::says;
    use base::text::width;
    use judge::compare::{Class, Per, Question};
    use record::Record;

    /// Two libraries of the same speed in one algorithm.
    fn record() -> Record {
        sample::with_samples(|m, ns| if m.algorithm == "aes-128-ctr" { 1000.0 } else { ns })
    }

    fn asked(record: &Record, questions: &[Question]) -> Vec<Ranking> {
        questions.iter().map(|q| judge::compare::rank(record, q, 10).unwrap()).collect()
    }

    fn questions() -> [Question; 3] {
        let authenticated = Question { class: Some(Class::Authenticated), ..Question::default() };
        [
            Question { size: Some(8192), ..Question::default() },
            Question { per: Some(Per::Library), ..authenticated.clone() },
            Question { per: Some(Per::Size), ..authenticated },
        ]
    }

    #[test]
    fn answers_with_ties_labels_and_refused_cases() {
        let answers = asked(&record(), &questions());
        let options = Options { width: 110, color: false };
        insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Text, options));
    }

    #[test]
    fn answers_as_markdown() {
        let answers = asked(&record(), &questions());
        insta::assert_snapshot!(rankings(&answers, ComparisonFormat::Markdown, Options::default()));
    }

    #[test]
    fn an_answer_with_old_and_new_releases_says_so() {
        let mut record = record();
        for m in record.measurements.iter_mut().filter(|m| m.library.name == "libgcrypt") {
            m.library.name = "wolfssl".to_owned();
            m.library.version = "5.9.4".to_owned();
        }
        let said = |record: &Record, format| {
            rankings(
                &asked(record, &questions()[..1]),
                format,
                Options { width: 300, color: false },
            )
        };
        for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
            assert!(
                said(&record, format).contains("openssl@3.0.22 2021-09"),
                "{}",
                said(&record, format)
            );
            assert!(!said(&self::record(), format).contains("releases of different years"));
        }
    }

    #[test]
    fn two_builds_of_one_version_are_told_apart() {
        let mut record = record();
        let mut twins = record.measurements.clone();
        twins.retain(|m| m.library.name == "openssl");
        twins.iter_mut().for_each(|m| m.library.id = "build-id:99887766".to_owned());
        record.measurements.extend(twins);
        let answers = asked(&record, &questions()[..1]);
        let text = rankings(&answers, ComparisonFormat::Text, PLAIN_100);
        says(&text, ["openssl@3.0.22#998877"]);
        let markdown = rankings(&answers, ComparisonFormat::Markdown, PLAIN_100);
        says(&markdown, ["openssl@3.0.22\\#998877"]);
    }

    #[test]
    fn csv_says_which_figures_are_imported_and_once_what_has_no_number() {
        let rows = |record: &Record, question: &Question| {
            let csv = rankings(
                &asked(record, std::slice::from_ref(question)),
                ComparisonFormat::Csv,
                PLAIN_100,
            );
            csv.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        let class = Some(Class::Authenticated);
        let question = Question { class, size: Some(65_536), ..Question::default() };
        let measured = rows(&record(), &question);
        assert!(measured[0].contains(",imported,absent,ns_per_op_low,"), "{}", measured[0]);
        let second = measured[2].split(',').rev().take(2).collect::<Vec<_>>();
        assert!(second.iter().all(|end| end.parse::<f64>().is_ok()), "{}", measured[2]);
        let named = measured.iter().filter(|row| row.contains("SIGSEGV")).count();
        assert!(named == 1 && measured[1].contains(",false,"), "{measured:?}");
        let mut elsewhere = record();
        elsewhere.measurements.retain(|m| m.state == State::Measured);
        for m in &mut elsewhere.measurements {
            (m.state, m.reason) = (State::Imported, None);
        }
        let imported = rows(&elsewhere, &questions()[0]);
        assert!(imported[1..].iter().all(|row| row.contains(",true,")), "{imported:?}");
    }

    #[test]
    fn what_a_busy_core_showed_takes_at_most_so_long() {
        let mut record = record();
        for m in record.measurements.iter_mut().filter(|m| m.state == State::Measured) {
            (m.contended, m.limit_fraction) = (true, Some(0.5));
        }
        let answers = asked(&record, &questions()[..1]);
        let text = rankings(&answers, ComparisonFormat::Text, Options { width: 200, color: false });
        let row = text.lines().find(|line| line.contains("openssl@")).unwrap();
        let signs: Vec<&str> =
            row.split_whitespace().filter(|w| w.starts_with(['<', '>'])).collect();
        let [speed, cycles, ns, limit] = signs[..] else { panic!("{text}") };
        assert!(speed.starts_with('>') && limit == ">50", "{row}");
        assert!(cycles.starts_with('<') && ns.starts_with('<'), "{row}");
    }

    #[test]
    fn a_derivation_is_ranked_by_time_and_not_by_bytes() {
        let mut record = record();
        record.measurements.retain(|m| m.algorithm == "aes-128-ctr" && m.size == 8192);
        for m in &mut record.measurements {
            (m.algorithm, m.direction) = ("pbkdf2-sha256".to_owned(), Direction::Digest);
            (m.mb_per_s, m.cycles_per_byte, m.contended) = (None, None, true);
        }
        let algorithms = vec![NameGlob::parse("pbkdf2-sha256").unwrap()];
        let answers = asked(&record, &[Question { algorithms, ..Question::default() }]);
        let text = rankings(&answers, ComparisonFormat::Text, Options { width: 200, color: false });
        says(&text, ["at 8192 iterations", "µs/op", "cycles/op", " <"]);
        assert!(!text.contains("MB/s") && !text.contains("c/B"), "{text}");
    }

    #[test]
    fn what_there_was_no_time_for_takes_one_line_a_reason() {
        let mut record = record();
        for m in record.measurements.iter_mut().filter(|m| m.library.name == "libgcrypt") {
            (m.state, m.stopped) = (record::State::Failed, Some(record::Stopped::Budget));
            m.reason = Some("the budget was over".to_owned());
        }
        let answers = asked(&record, &questions()[..1]);
        let cases = answers[0].absent.iter().filter(|a| a.left_out).count();
        assert!(cases > 1, "{answers:?}");
        let text = rankings(&answers, ComparisonFormat::Text, Options { width: 300, color: false });
        let lines: Vec<&str> = text.lines().filter(|l| l.starts_with("NOT MEASURED: ")).collect();
        let [line] = lines[..] else { panic!("{text}") };
        says(line, [&*format!("({cases} cases): the budget was over")]);
    }

    #[test]
    fn the_best_and_its_ties_are_told_without_colours() {
        let algorithms = vec![NameGlob::parse("aes-128-ctr").unwrap()];
        let answers = asked(&record(), &[Question { algorithms, ..Question::default() }]);
        let text = rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: false });
        assert_eq!(text.lines().filter(|l| l.starts_with("1–2")).count(), 2, "{text}");
        let painted =
            rankings(&answers, ComparisonFormat::Text, Options { width: 100, color: true });
        says(&painted, ["\u{1b}[32m1–2\u{1b}[0m"]);
    }

    const PLAIN_100: Options = Options { width: 100, color: false };

    fn published() -> Record {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/published-2026-11-23-gnr.json.gz");
        record::load(std::path::Path::new(path)).unwrap()
    }

    #[test]
    fn a_survey_of_many_libraries_fits_a_screen_of_40_lines_of_100_columns() {
        let screen = first_screen(&published(), Some("run.json"), PLAIN_100).unwrap();
        assert!(screen.lines().count() <= LINES, "{screen}");
        assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
        says(
            &screen,
            ["Authenticated", "Do not use", "system's openssl@", "ciphermark show run.json"],
        );
        assert!(!screen.contains("ecb"), "{screen}");
    }

    #[test]
    fn what_to_type_next_asks_for_a_size_and_a_use_that_the_record_has() {
        let screen = |record: &Record| first_screen(record, Some("run.json"), PLAIN_100).unwrap();
        let mut record = published();
        let small = "ciphermark rank run.json --authenticated --size";
        let pages = "ciphermark advise run.json --for postgres";
        says(screen(&record), [&*format!("{small} 16\n"), pages]);
        record.measurements.retain(|m| m.size < REFERENCE_SIZE);
        let without_pages = screen(&record);
        says(&without_pages, [&*format!("{small} 16\n")]);
        assert!(!without_pages.contains(pages), "{without_pages}");
        record.measurements.retain(|m| m.algorithm.ends_with("-ctr"));
        assert!(!screen(&record).contains(small), "{}", screen(&record));
    }

    #[test]
    fn where_no_case_is_decided_alone_the_mean_is_not_contradicted() {
        let tally = Tally { undecided: 64, ..Tally::default() };
        assert_eq!(alone(tally), "a longer run decides on each by itself");
        let one = Tally { faster: 1, ..tally };
        assert_eq!(alone(one), "1 faster, 0 slower, 64 undecided");
    }

    #[test]
    fn what_a_column_means_is_said_only_where_it_stands() {
        let means = "cycles %: how much more it takes";
        let question = Question { per: Some(Per::Library), ..Question::default() };
        let text = |question| {
            let best = judge::compare::rank(&record(), &question, 1).unwrap();
            rankings(&[best], ComparisonFormat::Text, PLAIN_100)
        };
        assert!(!text(question.clone()).contains(means), "{}", text(question));
        let all = rankings(&asked(&record(), &questions()), ComparisonFormat::Text, PLAIN_100);
        says(&all, [means]);
    }

    /// The published survey with the verdict that AES-256-GCM depends on the secret in so many libraries.
    fn leaking(libraries: usize) -> Record {
        let mut record = published();
        let ids = record.libraries.iter().map(record::Library::identity).take(libraries);
        let gcm = |library| record::Leaks {
            library,
            algorithm: "aes-256-gcm".to_owned(),
            tier: base::model::Tier::Native,
            ..sample::leaks().remove(4)
        };
        record.leaks = ids.map(gcm).collect();
        record
    }

    #[test]
    #[ignore = "long: seconds"]
    fn what_depends_on_secrets_is_not_to_be_used_and_the_screen_still_fits() {
        for libraries in [1, 3, 40] {
            let screen = first_screen(&leaking(libraries), Some("run.json"), PLAIN_100).unwrap();
            assert!(screen.lines().count() <= LINES, "{screen}");
            assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
            let (_, avoid) = screen.split_once("Do not use").unwrap();
            assert!(avoid.contains("secret-dependent"), "{screen}");
        }
        let all = Summary::of(&leaking(40), LINES).unwrap().avoid;
        assert_eq!(all.iter().filter(|l| l.contains("secret-dependent")).count(), 1, "{all:?}");
    }

    #[test]
    fn a_small_record_fills_no_screen_and_one_without_an_answer_has_none() {
        let screen = first_screen(&sample::record(), None, PLAIN_100).unwrap();
        assert!(screen.lines().count() < LINES / 2, "{screen}");
        says(&screen, ["run with --all", "numbers did not reach ±1 %: half of them are known to"]);
        assert!(
            screen.lines().any(|line| line.starts_with("~: ")) && screen.contains(" ~"),
            "{screen}"
        );
        let nothing = Record { measurements: Vec::new(), ..sample::record() };
        assert_eq!(first_screen(&nothing, None, PLAIN_100), None);
    }

    #[test]
    fn what_a_library_says_cannot_steer_the_terminal_or_widen_the_screen() {
        let mut record = sample::record();
        for m in &mut record.measurements {
            m.library.version = format!("1\u{1b}[31m{}", "x".repeat(500));
            m.reason = m.reason.as_ref().map(|_| "\u{1b}[2J".repeat(300));
        }
        let screen = first_screen(&record, Some("\u{1b}[2J"), PLAIN_100).unwrap_or_default();
        assert!(!screen.contains('\u{1b}'), "{screen}");
        assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
    }
}
