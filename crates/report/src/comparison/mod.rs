//! A comparison of two runs: for a terminal; for a pull request, what matters in the first lines and the rest
//! folded; and, as JSON and CSV, for programs.

pub(crate) mod words;

use crate::labels::{size, size_with_unit};
use crate::screen::{LINES, Screen, cut};
use anstyle::Style;
use base::analysis::Verdict;
use base::model::Direction;
use base::text::{
    ALARM, ASIDE, Align, CAUTION, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, capital,
    clean, csv_of, escape_markdown as escape, paint,
};
use judge::compare::{
    ByPairs, Case, Compared, Comparison, Counts, Found, InstructionRow, Only, SizeCounts, StateRow,
    Summary, Which,
};
use record::LibraryId;
use serde::Serialize;
use serde_json::Value;
use words::ORDER;
pub use words::change_of_pairs;

/// How a comparison is written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum ComparisonFormat {
    /// Tables for people.
    #[default]
    Text,
    /// Markdown for a pull request.
    Markdown,
    /// Everything as one JSON object.
    Json,
    /// One row a case.
    Csv,
}

/// The comparison as text that ends with a line break. `found` is what makes it fail; `rows` is how
/// many cases of each verdict text and Markdown list; `options` matter for text only.
pub fn comparison(
    comparison: &Comparison,
    found: &[Found],
    format: ComparisonFormat,
    rows: usize,
    options: Options,
) -> String {
    match format {
        ComparisonFormat::Text => table(comparison, found, rows, options),
        ComparisonFormat::Markdown => markdown(comparison, found, rows),
        ComparisonFormat::Json => json(comparison, found),
        ComparisonFormat::Csv => csv(comparison),
    }
}

fn table(c: &Comparison, found: &[Found], rows: usize, options: Options) -> String {
    let mut out = head(c, usize::MAX, options);
    out += &summaries(c, MOST_FAMILIES, options);
    for verdict in ORDER {
        out += &cases(c, verdict, rows, options);
    }
    out += &instructions(c, rows, rows, options);
    out += &leaks(c, rows, options);
    out += &states(c, usize::MAX, options);
    for line in words::only(c) {
        out += &options.hang(&line, 2, PLAIN);
    }
    out.push('\n');
    let notes = if c.cases.is_empty() { Vec::new() } else { words::legend(c) };
    for line in notes {
        out += &options.hang(&line, 2, PLAIN);
    }
    for f in found {
        let text = format!("--fail-if {}: {}", f.condition, f.what);
        out += &options.hang(&text, 2, ALARM);
    }
    out
}

/// Cases of a verdict, and remarks on the runs, that a screen lists at most.
const LISTED: usize = 8;
const REMARKS: usize = 3;

/// What changed, on one screen: the largest changes first, what makes it fail, what to type next.
pub fn comparison_screen(c: &Comparison, found: &[Found], options: Options) -> String {
    let screen = Screen::of(options);
    let whole = table(c, found, usize::MAX, screen.options);
    if whole.lines().count() <= LINES {
        return whole;
    }
    let mut foot = String::new();
    for f in found.iter().take(REMARKS) {
        foot += &screen.line(&clean(&format!("--fail-if {}: {}", f.condition, f.what)), ALARM);
    }
    if found.len() > REMARKS {
        foot += &screen.line(&format!("… and {} more make it fail", found.len() - REMARKS), ALARM);
    }
    let next = [
        ("all cases and what the columns mean", "the same with --rows all"),
        ("for programs", "--format json, or csv"),
    ];
    let next = next.map(|(what, command)| (what.to_owned(), command.to_owned()));
    let foot = foot + &screen.next(&next);
    let room = LINES.saturating_sub(foot.lines().count());
    let fitting = (1..=LISTED).rev().map(|rows| on_screen(c, rows, screen.options));
    let mut smallest = String::new();
    for text in fitting {
        smallest = text;
        if smallest.lines().count() <= room {
            break;
        }
    }
    cut(&smallest, room, screen.options) + &foot
}

/// The parts of which a reader asks first, with so many rows each.
fn on_screen(c: &Comparison, rows: usize, options: Options) -> String {
    let mut out = head(c, REMARKS, options);
    out += &summaries(c, rows, options);
    let changed: String =
        [Verdict::Slower, Verdict::Faster].map(|verdict| cases(c, verdict, rows, options)).concat();
    out += &if changed.is_empty() { cases(c, Verdict::Undecided, rows, options) } else { changed };
    out += &instructions(c, rows, 0, options);
    out += &leaks(c, rows, options);
    out + &states(c, rows, options)
}

fn head(c: &Comparison, most: usize, options: Options) -> String {
    let mut out = options.hang(&format!("base {}", words::side(&c.base)), 5, PLAIN);
    out += &options.hang(&format!("new  {}", words::side(&c.new)), 5, PLAIN);
    for warning in c.warnings.iter().take(most) {
        out += &options.hang(&format!("note: {}", clean(warning)), 2, CAUTION);
    }
    if c.warnings.len() > most {
        let more = c.warnings.len() - most;
        out += &options.hang(&format!("… and {more} more notes"), 2, CAUTION);
    }
    let unit = c.unit.short();
    let text = format!("{} cases in {unit}: {}", c.tally.cases(), words::tally(c));
    out += &options.hang(&text, 2, HEADING);
    if let Some(line) = words::without_interval(c) {
        out += &options.hang(&line, 2, CAUTION);
    }
    if let Some(line) = words::answer(c) {
        out += &options.hang(&line, 2, HEADING);
    }
    for line in c.confirmation.iter().flat_map(words::confirmation) {
        out += &options.hang(&line, 2, PLAIN);
    }
    out
}

/// More rows than this are no summary.
const MOST_FAMILIES: usize = 60;

fn summaries(c: &Comparison, most: usize, options: Options) -> String {
    // Of one library against many others there are hundreds of families.
    let families = if c.families.len() <= most { &c.families[..] } else { &[] };
    let shown: Vec<&Summary> = c.overall.iter().take(most).chain(families).collect();
    if shown.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", means(c, &shown, false).text(options));
    if families.len() < c.families.len() {
        out += &format!("{} families of algorithms: --format json\n", c.families.len());
    }
    out
}

fn means(c: &Comparison, shown: &[&Summary], is_markdown: bool) -> Table {
    let heading = words::interval_heading(shown.iter().filter_map(|s| s.ratio.as_ref()));
    let style = |s: &Summary| match s.ratio {
        Some(r) if r.low > 1.0 => ALARM,
        Some(r) if r.high < 1.0 => GOOD,
        _ => PLAIN,
    };
    let change =
        |s: &Summary| s.ratio.map(|r| words::with_level(r, None, heading)).unwrap_or_default();
    let count = |n: usize| {
        Cell::plain(if n == 0 && !is_markdown { "–".to_owned() } else { n.to_string() })
    };
    Table::of(
        shown.iter().copied(),
        &[
            (Column::left("geometric mean of"), &|s| Cell::plain(words::of_what(s))),
            (Column::left("libraries").only_if(c.several || !is_markdown), &|s| {
                Cell::plain(words::of_which(s))
            }),
            (Column::point(words::change_heading(c.unit)), &|s| {
                Cell::number(change(s)[0].clone(), style(s))
            }),
            (Column::right(heading).goes(5), &|s| Cell::new(change(s)[1].clone(), ASIDE)),
            (Column::right("×").goes(6), &|s| Cell::plain(change(s)[2].clone())),
            (Column::right("slower").goes(4), &|s| count(s.tally.slower)),
            (Column::right("faster").goes(3), &|s| count(s.tally.faster)),
            (Column::right("undecided").goes(2), &|s| count(s.tally.undecided)),
            (Column::right("same").goes(1), &|s| count(s.tally.same)),
        ],
    )
}

fn cases(c: &Comparison, verdict: Verdict, rows: usize, options: Options) -> String {
    let (all, shown) = words::listed(c, verdict, rows);
    if shown.is_empty() {
        return String::new();
    }
    let title = paint(&words::title(c, verdict, verdict.name()), HEADING, options.color);
    let mut out = format!("\n{title}\n{}", case_table(c, verdict, &shown, false).text(options));
    if all > shown.len() {
        out += &format!("… and {} more (--rows all)\n", all - shown.len());
    }
    out
}

/// In Markdown the name of an algorithm has all that a terminal has in columns of their own.
fn case_table(c: &Comparison, verdict: Verdict, shown: &[&Compared], is_markdown: bool) -> Table {
    let style = style(verdict);
    let heading = words::interval_heading(shown.iter().filter_map(|case| case.ratio.as_ref()));
    let [base, new] = words::per_byte_heading(c);
    let setting = |case: &Compared| words::setting(&case.case, case.base.tier);
    let name = |case: &Compared| {
        let mut name = words::algorithm(case);
        let parts = [words::directions(case), setting(case)];
        for part in parts.iter().filter(|part| is_markdown && !part.is_empty()) {
            name += &format!(" {part}");
        }
        if is_markdown && case.by_pairs.is_some() {
            name += &format!(" ({})", words::remark(case));
        }
        name
    };
    let libraries =
        |case: &Compared| Cell::plain(words::pair(&case.base_library, &case.new_library));
    let change = |case: &Compared| words::of_case(case, c.tolerance, heading);
    let interval = |case: &Compared| match change(case) {
        [change, ..] if is_markdown && change.is_empty() => {
            clean(case.reason.as_deref().unwrap_or_default())
        }
        _ if !is_markdown && case.identical => "same samples".to_owned(),
        [_, interval, _] => interval,
    };
    let of_base = |case: &Compared| words::per_byte(case.base_cost, &case.case, case.base.size);
    let of_new = |case: &Compared| words::per_byte(case.new_cost, &case.case, None);
    Table::of(
        shown.iter().copied(),
        &[
            (Column::left("algorithm"), &|case| Cell::plain(name(case))),
            (Column::left("libraries").only_if(c.several && is_markdown), &|case| libraries(case)),
            (Column::right("bytes"), &|case| Cell::plain(words::bytes(case))),
            (Column::left("direction").goes(7).only_if(!is_markdown), &|case| {
                Cell::plain(named(words::directions(case), case.case.direction))
            }),
            (Column::left("").goes(6).only_if(!is_markdown), &|case| Cell::plain(setting(case))),
            (Column::left("libraries").goes(8).only_if(c.several && !is_markdown), &|case| {
                libraries(case)
            }),
            (Column::point(words::change_heading(c.unit)), &|case| {
                Cell::number(change(case)[0].clone(), style)
            }),
            (Column::right(heading).goes(5), &|case| Cell::new(interval(case), ASIDE)),
            (Column::right("×").goes(3), &|case| Cell::plain(change(case)[2].clone())),
            (Column::point(base).goes(1), &|case| Cell::number(of_base(case), PLAIN)),
            (Column::point(new).goes(2), &|case| Cell::number(of_new(case), PLAIN)),
            (Column::left("why").goes(4).only_if(!is_markdown), &|case| {
                Cell::new(words::remark(case), CAUTION)
            }),
        ],
    )
}

/// A direction in a column of its own, where nothing would be an empty cell.
fn named(words: String, direction: Direction) -> String {
    if words.is_empty() { direction.to_string() } else { words }
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Slower => ALARM,
        Verdict::Faster => GOOD,
        Verdict::Undecided => CAUTION,
        Verdict::Same => PLAIN,
    }
}

/// Changed counts, and so many of the sizes that were not counted.
fn instructions(c: &Comparison, rows: usize, not_counted: usize, options: Options) -> String {
    if c.instructions.is_empty() {
        return String::new();
    }
    let (changed, equal) = words::changed(c);
    let title = match c.instructions.iter().any(InstructionRow::is_counted) {
        true => format!("instructions, counted exactly: {} changed, {equal} equal", changed.len()),
        false => "instructions: counted on one side only".to_owned(),
    };
    let mut out = format!("\n{}\n", paint(&title, HEADING, options.color));
    if changed.is_empty() {
        return out + &uncounted(c, not_counted, options);
    }
    out += &instruction_table(changed.iter().take(rows).copied(), c.several, false).text(options);
    if changed.len() > rows {
        out += &format!("… and {} more (--rows all)\n", changed.len() - rows);
    }
    out + &uncounted(c, not_counted, options)
}

/// Measured sizes that no count speaks for.
fn uncounted(c: &Comparison, rows: usize, options: Options) -> String {
    let lines = words::uncounted(c);
    let mut out = String::new();
    for line in lines.iter().take(rows) {
        out += &options.hang(&format!("not counted: {line}"), 2, CAUTION);
    }
    if lines.len() > rows {
        let more = lines.len() - rows;
        out += &format!("… and {more} more sizes that were not counted (--rows all)\n");
    }
    out
}

fn instruction_table<'a>(
    rows: impl Iterator<Item = &'a InstructionRow>,
    several: bool,
    is_markdown: bool,
) -> Table {
    let pair = |row: &InstructionRow| match several {
        true => words::pair(&row.base_library, &row.new_library),
        false => String::new(),
    };
    let name = |row: &InstructionRow| match (clean(&row.algorithm), pair(row)) {
        (name, _) if !is_markdown => name,
        (name, pair) if pair.is_empty() => format!("{name} {}", words::direction(row.direction)),
        (name, pair) => format!("{name} {}, {pair}", words::direction(row.direction)),
    };
    let in_bytes = if is_markdown { size } else { size_with_unit };
    let growth = |g: Option<f64>| {
        let style = match g {
            Some(g) if g > 0.0 => ALARM,
            Some(g) if g < 0.0 => GOOD,
            _ => ASIDE,
        };
        g.map_or_else(|| Cell::plain(""), |g| Cell::number(words::change(1.0 + g, 0.0), style))
    };
    let setting = |row: &InstructionRow| {
        let case = Case {
            algorithm: row.algorithm.clone(),
            direction: row.direction,
            model: row.model,
            tier: row.tier,
            threads: 1,
            ..Case::default()
        };
        words::setting(&case, None)
    };
    let worst = |row: &InstructionRow, text: &dyn Fn(&SizeCounts) -> String| {
        row.worst_size().map(text).unwrap_or_default()
    };
    let per_byte = |of: Option<Counts>| {
        Cell::number(of.map(|c| format!("{:.4}", c.per_byte)).unwrap_or_default(), PLAIN)
    };
    let per_message = |of: Option<Counts>| {
        Cell::number(of.map(|c| format!("{:.0}", c.per_message)).unwrap_or_default(), PLAIN)
    };
    Table::of(
        rows,
        &[
            (Column::left(if is_markdown { "algorithm" } else { "instructions of" }), &|row| {
                Cell::plain(name(row))
            }),
            (Column::left("direction").goes(5).only_if(!is_markdown), &|row| {
                Cell::plain(named(words::direction(row.direction), row.direction))
            }),
            (Column::left("").goes(4).only_if(!is_markdown), &|row| Cell::plain(setting(row))),
            (Column::left("libraries").goes(6).only_if(!is_markdown), &|row| {
                Cell::plain(pair(row))
            }),
            (
                Column::new("most at", if is_markdown { Align::Right } else { Align::Left }),
                &|row| Cell::plain(worst(row, &|s| in_bytes(s.size))),
            ),
            (Column::point("base").goes(7), &|row| {
                Cell::number(worst(row, &|s| s.base.to_string()), PLAIN)
            }),
            (Column::point("new").goes(7), &|row| {
                Cell::number(worst(row, &|s| s.new.to_string()), PLAIN)
            }),
            (Column::point("%"), &|row| growth(row.per_operation_growth())),
            (Column::point("base /B").goes(2), &|row| per_byte(row.base)),
            (Column::point("new /B").goes(3), &|row| per_byte(row.new)),
            (Column::point("/B %"), &|row| growth(row.per_byte_growth)),
            (Column::point("base /message").goes(1), &|row| per_message(row.base)),
            (Column::point("new /message").only_if(is_markdown), &|row| per_message(row.new)),
            (Column::point("/message %"), &|row| growth(row.per_message_growth)),
        ],
    )
}

/// Nothing where the base judged nothing.
fn leaks(c: &Comparison, rows: usize, options: Options) -> String {
    if c.leaks.is_empty() {
        return String::new();
    }
    let (counts, changed) = words::leaks(c);
    let title = format!("depends on secrets: {counts}");
    let mut out = format!("\n{}\n", paint(&title, HEADING, options.color));
    for (worse, line) in changed.iter().take(rows) {
        out += &options.hang(line, 2, if *worse { ALARM } else { PLAIN });
    }
    if changed.len() > rows {
        out += &format!("… and {} more (--rows all)\n", changed.len() - rows);
    }
    out
}

fn states(c: &Comparison, rows: usize, options: Options) -> String {
    let mut out = String::new();
    for group in c.states.chunk_by(|a, b| a.change == b.change) {
        let title = format!("{}: {}", group[0].change.words(), group.len());
        out += &format!("\n{}\n", paint(&title, HEADING, options.color));
        for s in group.iter().take(rows) {
            let library = words::pair(&s.base_library, &s.new_library);
            let reason = clean(s.reason.as_deref().unwrap_or("no reason given"));
            let text = format!("{}, {library}: {reason}", words::case(&s.case));
            let style = if s.change == judge::compare::Change::Broken { ALARM } else { CAUTION };
            out += &options.hang(&text, 2, style);
        }
        if group.len() > rows {
            out += &format!("… and {} more (--rows all)\n", group.len() - rows);
        }
    }
    out
}

fn json(comparison: &Comparison, found: &[Found]) -> String {
    #[derive(Serialize)]
    struct Whole<'a> {
        #[serde(flatten)]
        comparison: &'a Comparison,
        failed: &'a [Found],
    }
    let whole = Whole { comparison, failed: found };
    record::pretty(&whole)
}

/// A case that was compared, that was refused or failed on one side, or that is on one side only.
struct CsvRow<'a> {
    base: Option<&'a LibraryId>,
    new: Option<&'a LibraryId>,
    case: &'a Case,
    verdict: String,
    reason: &'a str,
    /// What there is to say of a case that was compared.
    c: Option<&'a Compared>,
}

fn of<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map(text).unwrap_or_default()
}

fn of_base<T: ToString>(base: &Option<T>, new: &T) -> String {
    base.as_ref().unwrap_or(new).to_string()
}

fn by_pairs<'a>(row: &CsvRow<'a>) -> Option<&'a ByPairs> {
    row.c.and_then(|c| c.by_pairs.as_ref())
}

/// One row a case. The unit of costs is in their columns' names.
fn csv(comparison: &Comparison) -> String {
    let unit = comparison.unit.short();
    let names = ["cost_ratio", "cost_ratio_low", "cost_ratio_high", "cost_ratio_level"];
    let [ratio, ratio_low, ratio_high, ratio_level] = names.map(|name| name.replace("cost", unit));
    let [base_cost, new_cost] = ["base", "new"].map(|side| format!("{side}_{unit}_per_op"));
    let rows = comparison.cases.iter().map(compared);
    let rows = rows.chain(comparison.states.iter().map(state));
    csv_of(
        rows.chain(comparison.only.iter().map(only)),
        &[
            ("base_library_name", &|row| of(row.base, |l| l.name.clone())),
            ("base_library_version", &|row| of(row.base, |l| l.version.clone())),
            ("base_library_id", &|row| of(row.base, |l| l.id.clone())),
            ("new_library_name", &|row| of(row.new, |l| l.name.clone())),
            ("new_library_version", &|row| of(row.new, |l| l.version.clone())),
            ("new_library_id", &|row| of(row.new, |l| l.id.clone())),
            ("algorithm", &|row| row.case.algorithm.clone()),
            ("family", &|row| judge::compare::family(&row.case.algorithm)),
            ("direction", &|row| row.case.direction.to_string()),
            ("model", &|row| row.case.model.to_string()),
            ("size_bytes", &|row| row.case.size.to_string()),
            ("base_algorithm", &|row| of(row.c, |c| of_base(&c.base.algorithm, &c.case.algorithm))),
            ("base_direction", &|row| of(row.c, |c| of_base(&c.base.direction, &c.case.direction))),
            ("base_size_bytes", &|row| of(row.c, |c| of_base(&c.base.size, &c.case.size))),
            ("base_tier", &|row| of(row.c, |c| of_base(&c.base.tier, &c.case.tier))),
            ("tier", &|row| row.case.tier.to_string()),
            ("threads", &|row| row.case.threads.to_string()),
            ("footprint", &|row| row.case.footprint.to_string()),
            ("in_place", &|row| row.case.in_place.to_string()),
            ("verdict", &|row| row.verdict.clone()),
            ("identical", &|row| of(row.c, |c| c.identical.to_string())),
            (&ratio, &|row| {
                let of_case =
                    |c: &Compared| c.ratio.map(|r| r.estimate).or(c.ratio_without_interval);
                of(row.c.and_then(of_case), |ratio| ratio.to_string())
            }),
            (&ratio_low, &|row| of(row.c.and_then(|c| c.ratio), |r| r.low.to_string())),
            (&ratio_high, &|row| of(row.c.and_then(|c| c.ratio), |r| r.high.to_string())),
            (&ratio_level, &|row| of(row.c.and_then(|c| c.ratio), |r| r.level.to_string())),
            (&base_cost, &|row| of(row.c.and_then(|c| c.base_cost), |cost| cost.to_string())),
            (&new_cost, &|row| of(row.c.and_then(|c| c.new_cost), |cost| cost.to_string())),
            ("reason", &|row| row.reason.to_owned()),
            ("clock_decides", &|row| of(row.c, |c| c.clock_decides.to_string())),
            ("pairs_verdict", &|row| of(by_pairs(row), |p| p.verdict.name().to_owned())),
            ("samples_verdict", &|row| of(by_pairs(row), |p| p.verdict_before.name().to_owned())),
            ("same_build", &|row| of(row.c, |c| c.same_build.to_string())),
        ],
    )
}

fn compared(c: &Compared) -> CsvRow<'_> {
    CsvRow {
        base: Some(&c.base_library),
        new: Some(&c.new_library),
        case: &c.case,
        verdict: c.verdict.name().to_owned(),
        reason: c.reason.as_deref().unwrap_or_default(),
        c: Some(c),
    }
}

fn state(s: &StateRow) -> CsvRow<'_> {
    let verdict = serde_json::to_value(s.change).ok();
    CsvRow {
        base: Some(&s.base_library),
        new: Some(&s.new_library),
        case: &s.case,
        verdict: of(verdict.as_ref().and_then(Value::as_str), str::to_owned),
        reason: s.reason.as_deref().unwrap_or_default(),
        c: None,
    }
}

fn only(o: &Only) -> CsvRow<'_> {
    let (base, new, verdict) = match o.only_in {
        Which::Base => (Some(&o.library), None, "only-in-base"),
        Which::New => (None, Some(&o.library), "only-in-new"),
    };
    CsvRow { base, new, case: &o.case, verdict: verdict.to_owned(), reason: o.reason, c: None }
}

pub(crate) fn markdown(c: &Comparison, found: &[Found], rows: usize) -> String {
    let mut out = format!("### {}\n\n", headline(c, found));
    for f in found {
        let condition = escape(&f.condition);
        out += &format!("- ❌ **{}** ({condition})\n", escape(&f.what));
    }
    if !found.is_empty() {
        out.push('\n');
    }
    out += &format!(
        "{} → {}. {} cases in {}: {}.\n",
        escape(&words::side(&c.base)),
        escape(&words::side(&c.new)),
        c.tally.cases(),
        c.unit.short(),
        words::tally(c)
    );
    for line in words::without_interval(c).into_iter().chain(words::answer(c)) {
        out += &format!("\n**{}**\n", escape(&line));
    }
    if let Some(confirmation) = &c.confirmation {
        out.push('\n');
        let lines = words::confirmation(confirmation);
        lines.iter().for_each(|l| out += &format!("- {}\n", escape(l)));
    }
    if !c.warnings.is_empty() {
        out.push('\n');
        c.warnings.iter().for_each(|w| out += &format!("- ⚠️ {}\n", escape(&clean(w))));
    }
    out += &markdown_means(c, &c.overall);
    for verdict in ORDER {
        out += &markdown_cases(c, verdict, rows);
    }
    out += &markdown_instructions(c, rows);
    out += &markdown_leaks(c, rows);
    if !c.families.is_empty() {
        let title = format!("By family of algorithms ({})", c.families.len());
        out += &folded(&title, &markdown_means(c, &c.families));
    }
    out += &markdown_states(c);
    let only = words::only(c);
    if !only.is_empty() {
        let items: String = only.iter().map(|l| format!("- {}\n", escape(l))).collect();
        out += &folded(&format!("On one side only ({} cases)", c.only.len()), &items);
    }
    if !c.cases.is_empty() {
        let notes: Vec<String> = words::legend(c).iter().map(|l| escape(l)).collect();
        out += &folded("How to read this", &format!("{}\n", notes.join("\n\n")));
    }
    out
}

/// One line that can stand alone.
fn headline(c: &Comparison, found: &[Found]) -> String {
    let sign = if found.is_empty() { "✅" } else { "❌" };
    let mean = match &c.overall[..] {
        [Summary { ratio: Some(r), libraries: None, .. }, ..] => {
            let change = words::of_ratio(*r, None);
            format!("; {} {} % on average", words::what_is_compared(c.unit), change[0])
        }
        _ => String::new(),
    };
    let t = &c.tally;
    format!(
        "{sign} {} slower, {} faster, {} undecided, {} same{mean}",
        t.slower, t.faster, t.undecided, t.same
    )
}

fn markdown_means(c: &Comparison, summaries: &[Summary]) -> String {
    if summaries.is_empty() {
        return String::new();
    }
    let known: Vec<&Summary> = summaries.iter().filter(|s| s.ratio.is_some()).collect();
    format!("\n{}", means(c, &known, true).markdown())
}

fn folded(title: &str, inside: &str) -> String {
    format!("\n<details><summary>{}</summary>\n\n{}\n</details>\n", title, inside.trim_start())
}

fn markdown_cases(c: &Comparison, verdict: Verdict, rows: usize) -> String {
    let (all, shown) = words::listed(c, verdict, rows);
    if shown.is_empty() {
        return String::new();
    }
    let mut inside = format!("\n{}", case_table(c, verdict, &shown, true).markdown());
    if all > shown.len() {
        inside += &format!("\n… and {} more.\n", all - shown.len());
    }
    let title = words::title(c, verdict, &capital(verdict.name()));
    // What has become slower is not hidden.
    if verdict == Verdict::Slower {
        format!("\n**{title}**\n{inside}")
    } else {
        folded(&title, &inside)
    }
}

fn markdown_instructions(c: &Comparison, rows: usize) -> String {
    if c.instructions.is_empty() {
        return String::new();
    }
    let (changed, equal) = words::changed(c);
    let title = format!("Instructions, counted exactly: {} changed, {equal} equal", changed.len());
    let uncounted = words::uncounted(c);
    let listed =
        uncounted.iter().take(rows).map(|line| format!("- not counted: {}\n", escape(line)));
    let mut listed: String = listed.collect();
    if uncounted.len() > rows {
        listed += &format!("- … and {} more not counted\n", uncounted.len() - rows);
    }
    if changed.is_empty() && listed.is_empty() {
        return format!("\n{title}.\n");
    }
    if changed.is_empty() {
        return folded(&title, &listed);
    }
    let shown = changed.iter().take(rows).copied();
    let mut inside = format!("\n{}", instruction_table(shown, c.several, true).markdown());
    if changed.len() > rows {
        inside += &format!("\n… and {} more.\n", changed.len() - rows);
    }
    if !listed.is_empty() {
        inside += &format!("\n{listed}");
    }
    folded(&title, &inside)
}

/// What got worse is not hidden.
fn markdown_leaks(c: &Comparison, rows: usize) -> String {
    if c.leaks.is_empty() {
        return String::new();
    }
    let (counts, changed) = words::leaks(c);
    let title = format!("Depends on secrets: {counts}");
    let lines = changed.iter().take(rows).map(|(_, line)| format!("- {}\n", escape(line)));
    let mut inside: String = lines.collect();
    if changed.len() > rows {
        inside += &format!("- … and {} more\n", changed.len() - rows);
    }
    match changed.first() {
        None => format!("\n{title}.\n"),
        Some((true, _)) => format!("\n**{title}**\n\n{inside}"),
        Some((false, _)) => folded(&title, &inside),
    }
}

fn markdown_states(c: &Comparison) -> String {
    let mut out = String::new();
    for group in c.states.chunk_by(|a, b| a.change == b.change) {
        let item = |s: &judge::compare::StateRow| {
            let library = words::pair(&s.base_library, &s.new_library);
            let reason = clean(s.reason.as_deref().unwrap_or("no reason given"));
            format!("- {}\n", escape(&format!("{}, {library}: {reason}", words::case(&s.case))))
        };
        let items: String = group.iter().map(item).collect();
        out += &folded(&format!("{}: {}", capital(group[0].change.words()), group.len()), &items);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::words;
    use crate::sample;
    use judge::compare::{Condition, Matching, Settings, Side};
    use record::{Measurement, Record, State};

    fn record(started: &str, factor: impl Fn(&Measurement) -> f64) -> Record {
        let record = sample::with_samples(|m, ns| ns * factor(m));
        Record { started: started.to_owned(), ..record }
    }

    fn before() -> Record {
        let mut before = record("2026-11-20T12:00:00Z", |_| 1.0);
        before.executed = vec![sample::executed()];
        before
    }

    /// One algorithm is slower, one faster, one refused, one gone.
    fn after() -> Record {
        let mut after = record("2026-11-21T12:00:00Z", |m| match m.algorithm.as_str() {
            "aes-128-gcm" if m.size >= 8192 => 1.1,
            "aes-128-ctr" => 0.5,
            _ => 1.0005,
        });
        after.executed = vec![sample::executed()];
        after.executed[0].per_byte = Some(0.26);
        // Other builds, but for the baselines: what a run adds is learned from those that are the same.
        let rebuilt = |id: &mut record::LibraryId| {
            if id.name != "baselines" {
                id.id = id.id.replace("001122", "ffeedd");
            }
        };
        after.measurements.iter_mut().for_each(|m| rebuilt(&mut m.library));
        after.executed.iter_mut().for_each(|e| rebuilt(&mut e.library));
        for m in after.measurements.iter_mut().filter(|m| m.algorithm == "aes-128-ecb") {
            *m = Measurement {
                state: State::Refused,
                reason: Some("round trip: byte 3 differs".to_owned()),
                ns_per_op: None,
                raw: record::Samples::default(),
                ..m.clone()
            };
        }
        after.measurements.retain(|m| m.algorithm != "xxh3-64");
        after
    }

    fn side(record: &Record) -> Side<'_> {
        Side { record, name: "run.json".to_owned(), rows: record.measurements.iter().collect() }
    }

    fn held(base: &Record, new: &Record) -> (Comparison, Vec<Found>) {
        let settings = Settings::of(Matching::ByName);
        let comparison = judge::compare::compare(&side(base), &side(new), &settings);
        let conditions = ["slower:2%", "refused", "instructions:0.5%"];
        let found =
            conditions.iter().filter_map(|c| c.parse::<Condition>().unwrap().find(&comparison));
        let found = found.collect();
        (comparison, found)
    }

    fn written(format: ComparisonFormat, width: usize) -> String {
        let (c, found) = held(&before(), &after());
        comparison(&c, &found, format, 5, Options { width, color: false })
    }

    #[test]
    fn a_comparison_with_every_verdict_for_a_terminal() {
        insta::assert_snapshot!(written(ComparisonFormat::Text, 110));
    }

    /// Two libraries of each of three machines' records: a survey, runtimes, handshakes.
    #[test]
    fn what_differs_in_the_records_of_three_machines_answers_on_a_screen() {
        for (machine, name, base, new) in [
            ("granite_rapids", "published-2026-11-23-gnr", ("openssl", "3.0"), ("openssl", "4")),
            ("zen_4", "runtimes-2026-11-25-zen4", ("openssl", "3.0"), ("go", "")),
            ("sapphire_rapids", "tls-handshake-2026-11-22-spr", ("openssl", ""), ("aws-lc", "")),
        ] {
            let path = format!("{}/../../records/{name}.json.gz", env!("CARGO_MANIFEST_DIR"));
            let text = record::load_text(std::path::Path::new(&path)).unwrap();
            let record = record::read(&text, name).unwrap();
            let side = |(library, version): (&str, &str)| {
                let is_of = |m: &&Measurement| {
                    m.library.name == library && m.library.version.starts_with(version)
                };
                let rows = record.measurements.iter().filter(is_of).collect();
                Side { record: &record, name: format!("{library}@{version}* of run.json"), rows }
            };
            let settings = Settings::of(Matching::Every);
            let c = judge::compare::compare(&side(base), &side(new), &settings);
            let found = Vec::from_iter("slower".parse::<Condition>().unwrap().find(&c));
            let text = comparison_screen(&c, &found, Options { width: 150, color: false });
            assert!(text.lines().count() <= LINES, "{text}");
            assert!(text.lines().all(|line| base::text::width(line) <= crate::screen::WIDTH));
            let cells =
                |line: &str| line.split("  ").filter(|cell| !cell.trim().is_empty()).count();
            for table in text.split("\n\n").filter(|table| table.contains("\nalgorithm")) {
                let rows = table.lines().skip(1).take_while(|l| !l.starts_with(['…', 'n']));
                let counts: Vec<usize> = rows.map(cells).collect();
                assert!(counts.iter().all(|count| *count >= counts[0]), "an empty cell: {table}");
            }
            insta::assert_snapshot!(format!("comparison_of_{machine}"), text);
        }
    }

    #[test]
    fn a_comparison_for_a_pull_request() {
        insta::assert_snapshot!(written(ComparisonFormat::Markdown, 110));
    }

    #[test]
    fn json_has_everything_and_csv_one_row_a_case() {
        let json: serde_json::Value =
            serde_json::from_str(&written(ComparisonFormat::Json, 80)).unwrap();
        assert_eq!(json["failed"][0]["condition"], "slower:2%");
        assert_eq!(json["tally"]["slower"], 8);
        let cases = json["cases"].as_array().unwrap();
        assert!(cases.iter().all(|c| c["ratio"]["low"].is_number()), "{}", cases[0]);
        let csv = written(ComparisonFormat::Csv, 80);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let headers = reader.headers().unwrap().clone();
        assert!(headers.iter().any(|h| h == "new_cycles_per_op"), "{headers:?}");
        let verdict = headers.iter().position(|h| h == "verdict").unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let count = |word: &str| rows.iter().filter(|r| &r[verdict] == word).count();
        assert_eq!((count("slower"), count("broken"), count("only-in-base")), (8, 7, 4));
        let lists = ["cases", "states", "only"].map(|l| json[l].as_array().unwrap().len());
        assert_eq!(rows.len(), lists.iter().sum::<usize>());
    }

    #[test]
    fn a_printed_interval_shows_the_decision_that_it_was_made_by() {
        let ratio =
            |low, estimate, high| base::analysis::Ratio { estimate, low, high, level: 0.95 };
        let shown = |r, tolerance| {
            let [change, interval, _] = words::of_ratio(r, tolerance);
            format!("{change}, {interval}")
        };
        let usual = ratio(1.01, 1.04, 1.07);
        assert_eq!(shown(usual, Some(0.005)), "+4, +1 to +7");
        assert_eq!(shown(ratio(1.002, 1.04, 1.07), Some(0.005)), "+4, +0.2 to +7.0");
        assert_eq!(shown(ratio(0.93, 0.96, 0.9996), Some(0.005)), "-4, -7.00 to -0.04");
        assert_eq!(shown(ratio(0.998, 1.04, 1.07), Some(0.005)), "+4, -0.2 to +7.0");
        // Beyond a tolerance of 4 %, and within one of 5 %.
        assert_eq!(shown(ratio(1.02, 1.042, 1.07), Some(0.04)), "+4.2, +2 to +7");
        assert_eq!(shown(ratio(0.99, 1.01, 1.0496), Some(0.05)), "+1, -1.00 to +4.96");
        // Undecided: nothing hangs on the estimate's sign.
        assert_eq!(shown(ratio(0.97, 1.001, 1.03), None), "0, -3 to +3");
    }

    #[test]
    fn intervals_of_another_level_than_95_per_cent_say_so() {
        let by_pairs =
            base::analysis::Ratio { estimate: 1.04, low: 1.03, high: 1.05, level: 0.999_97 };
        let (mut c, _) = held(&before(), &after());
        let index = c
            .cases
            .iter()
            .position(|case| case.verdict == base::analysis::Verdict::Slower)
            .unwrap();
        let told = judge::compare::Told { ratio: Some(by_pairs), pairs: 192, seconds: 1.0 };
        c.settle(index, base::analysis::Verdict::Slower, told);
        c.sum_up(Matching::ByName, judge::compare::Confirmation::default());
        let all = |format| comparison(&c, &[], format, 50, Options { width: 160, color: false });
        for format in [ComparisonFormat::Text, ComparisonFormat::Markdown] {
            let text = all(format);
            assert!(text.contains("+3 to +5 (99.997 %)"), "{text}");
            // Beside it in the same table, and alone in another one.
            assert!(text.contains(" (95 %)") && text.contains("95 % interval"), "{text}");
        }
        assert!(all(ComparisonFormat::Csv).contains(",0.99997,"));
        assert!(all(ComparisonFormat::Json).contains("\"level\": 0.99997"));
        assert_eq!(change_of_pairs(by_pairs, 0.01), "+4.00 % (+3.00 to +5.00 at 99.997 %)");
        let near = base::analysis::Ratio { low: 1.000_02, ..by_pairs };
        assert_eq!(change_of_pairs(near, 0.01), "+4.00 % (+0.002 to +5.000 at 99.997 %)");
    }

    #[test]
    fn the_answer_to_a_question_says_undecided_where_it_is_not_equal() {
        let (mut c, _) = held(&before(), &after());
        let [base, new] = ["aes-128-gcm", "aes-256-gcm"].map(str::to_owned);
        c.between = Some(judge::compare::Between { what: "algorithm", base, new });
        let mut said = |low: f64, high: f64| {
            let level = 0.95;
            c.overall[0].ratio =
                Some(base::analysis::Ratio { estimate: 1.0f64.midpoint(high), low, high, level });
            words::answer(&c).unwrap()
        };
        let sure = said(1.14, 1.19);
        assert!(
            sure.starts_with(
                "aes-256-gcm takes +9 % cycles (+14 to +19 at 95 %) over aes-128-gcm; "
            ),
            "{sure}"
        );
        assert!(said(0.98, 1.03).contains("aes-128-gcm: undecided, the interval has 0 in it; "));
        assert!(said(0.999, 1.001).contains("aes-128-gcm: the same; "));
    }
}
