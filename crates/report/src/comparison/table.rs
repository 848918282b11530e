//! A comparison for a terminal.

use super::words::{self, ORDER};
use crate::labels::size_with_unit;
use anstyle::Style;
use base::analysis::Verdict;
use base::text::{
    ALARM, ASIDE, Align, CAUTION, Cell, Column, GOOD, HEADING, Options, PLAIN, Table, clean, paint,
};
use judge::compare::{Compared, Comparison, Found, InstructionRow, Summary};

pub(super) fn table(c: &Comparison, found: &[Found], rows: usize, options: Options) -> String {
    let mut out = head(c, options);
    out += &summaries(c, options);
    for verdict in ORDER {
        out += &cases(c, verdict, rows, options);
    }
    out += &instructions(c, rows, options);
    out += &leaks(c, rows, options);
    out += &states(c, options);
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

fn head(c: &Comparison, options: Options) -> String {
    let mut out = options.hang(&format!("base {}", words::side(&c.base)), 5, PLAIN);
    out += &options.hang(&format!("new  {}", words::side(&c.new)), 5, PLAIN);
    for warning in &c.warnings {
        out += &options.hang(&format!("note: {}", clean(warning)), 2, CAUTION);
    }
    let unit = c.unit.short();
    let text = format!("{} cases in {unit}: {}", c.tally.cases(), words::tally(&c.tally));
    out += &options.hang(&text, 2, HEADING);
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

const SUMMARY: [Column; 9] = [
    Column::new("geometric mean of", Align::Left),
    Column::new("libraries", Align::Left),
    Column::new("time %", Align::Point),
    Column::new("interval", Align::Right).goes(5),
    Column::new("×", Align::Right).goes(6),
    Column::new("slower", Align::Right).goes(4),
    Column::new("faster", Align::Right).goes(3),
    Column::new("undecided", Align::Right).goes(2),
    Column::new("same", Align::Right).goes(1),
];

fn summaries(c: &Comparison, options: Options) -> String {
    // Of one library against many others there are hundreds of families.
    let families = if c.families.len() <= MOST_FAMILIES { &c.families[..] } else { &[] };
    let shown = || c.overall.iter().chain(families);
    let heading = words::interval_heading(shown().filter_map(|s| s.ratio.as_ref()));
    let rows: Vec<Vec<Cell>> = shown().map(|s| summary(s, heading)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut columns = SUMMARY;
    columns[3] = Column::new(heading, Align::Right).goes(5);
    let table = Table::new(columns, rows);
    let mut out = format!("\n{}", table.text(options));
    if families.len() < c.families.len() {
        out += &format!("{} families of algorithms: --format json\n", c.families.len());
    }
    out
}

fn summary(s: &Summary, heading: &str) -> Vec<Cell> {
    let style = match s.ratio {
        Some(r) if r.low > 1.0 => ALARM,
        Some(r) if r.high < 1.0 => GOOD,
        _ => PLAIN,
    };
    let [change, interval, factor] =
        s.ratio.map(|r| words::with_level(r, None, heading)).unwrap_or_default();
    let count = |n: usize| Cell::new(if n == 0 { "–".to_owned() } else { n.to_string() }, PLAIN);
    vec![
        Cell::plain(words::of_what(s)),
        Cell::plain(words::of_which(s)),
        Cell::number(change, style),
        Cell::new(interval, ASIDE),
        Cell::plain(factor),
        count(s.tally.slower),
        count(s.tally.faster),
        count(s.tally.undecided),
        count(s.tally.same),
    ]
}

fn cases(c: &Comparison, verdict: Verdict, rows: usize, options: Options) -> String {
    let (all, shown) = words::listed(c, verdict, rows);
    if shown.is_empty() {
        return String::new();
    }
    let style = style(verdict);
    let heading = words::interval_heading(shown.iter().filter_map(|case| case.ratio.as_ref()));
    let cells = shown.iter().map(|case| row(case, c, style, heading)).collect();
    let [base, new] = words::per_byte_heading(c);
    let columns = [
        Column::new("algorithm", Align::Left),
        Column::new("bytes", Align::Right),
        Column::new("direction", Align::Left).goes(7),
        Column::new("", Align::Left).goes(6),
        Column::new("libraries", Align::Left).goes(8),
        Column::new("time %", Align::Point),
        Column::new(heading, Align::Right).goes(5),
        Column::new("×", Align::Right).goes(3),
        Column::new(base, Align::Point).goes(1),
        Column::new(new, Align::Point).goes(2),
        Column::new("why", Align::Left).goes(4),
    ];
    let table = Table::new(columns, cells);
    let title = paint(&format!("{}: {}", verdict.name(), all), HEADING, options.color);
    let mut out = format!("\n{title}\n{}", table.text(options));
    if all > shown.len() {
        out += &format!("… and {} more (--rows all)\n", all - shown.len());
    }
    out
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Slower => ALARM,
        Verdict::Faster => GOOD,
        Verdict::Undecided => CAUTION,
        Verdict::Same => PLAIN,
    }
}

fn row(case: &Compared, c: &Comparison, style: Style, heading: &str) -> Vec<Cell> {
    let several = c.several;
    let libraries =
        if several { words::pair(&case.base_library, &case.new_library) } else { String::new() };
    let [change, interval, factor] =
        case.ratio.map(|r| words::with_level(r, Some(c.tolerance), heading)).unwrap_or_default();
    let interval = if case.identical { "same samples".to_owned() } else { interval };
    vec![
        Cell::plain(words::algorithm(case)),
        Cell::plain(words::bytes(case)),
        Cell::plain(words::directions(case)),
        Cell::plain(words::setting(&case.case, case.base.tier)),
        Cell::plain(libraries),
        Cell::number(change, style),
        Cell::new(interval, ASIDE),
        Cell::plain(factor),
        Cell::number(words::per_byte(case.base_cost, &case.case, case.base.size), PLAIN),
        Cell::number(words::per_byte(case.new_cost, &case.case, None), PLAIN),
        Cell::new(words::remark(case), CAUTION),
    ]
}

const INSTRUCTIONS: [Column; 13] = [
    Column::new("instructions of", Align::Left),
    Column::new("direction", Align::Left).goes(5),
    Column::new("", Align::Left).goes(4),
    Column::new("libraries", Align::Left).goes(6),
    Column::new("most at", Align::Left),
    Column::new("base", Align::Point).goes(7),
    Column::new("new", Align::Point).goes(7),
    Column::new("%", Align::Point),
    Column::new("base /B", Align::Point).goes(2),
    Column::new("new /B", Align::Point).goes(3),
    Column::new("/B %", Align::Point),
    Column::new("base /message", Align::Point).goes(1),
    Column::new("/message %", Align::Point),
];

fn instructions(c: &Comparison, rows: usize, options: Options) -> String {
    if c.instructions.is_empty() {
        return String::new();
    }
    let (changed, equal) = words::changed(c);
    let title = format!("instructions, counted exactly: {} changed, {equal} equal", changed.len());
    let mut out = format!("\n{}\n", paint(&title, HEADING, options.color));
    if changed.is_empty() {
        return out + &uncounted(c, rows, options);
    }
    let several = c.several;
    let cells = changed.iter().take(rows).map(|row| instruction_row(row, several)).collect();
    let table = Table::new(INSTRUCTIONS, cells);
    out += &table.text(options);
    if changed.len() > rows {
        out += &format!("… and {} more (--rows all)\n", changed.len() - rows);
    }
    out + &uncounted(c, rows, options)
}

/// Measured sizes that no count speaks for.
fn uncounted(c: &Comparison, rows: usize, options: Options) -> String {
    let lines = words::uncounted(c);
    let mut out = String::new();
    for line in lines.iter().take(rows) {
        out += &options.hang(&format!("not counted: {line}"), 2, CAUTION);
    }
    if lines.len() > rows {
        out += &format!("… and {} more not counted (--rows all)\n", lines.len() - rows);
    }
    out
}

fn instruction_row(row: &InstructionRow, several: bool) -> Vec<Cell> {
    let style = |growth: f64| match growth {
        g if g > 0.0 => ALARM,
        g if g < 0.0 => GOOD,
        _ => ASIDE,
    };
    let case = judge::compare::Case {
        algorithm: row.algorithm.clone(),
        direction: row.direction,
        model: row.model,
        size: 0,
        tier: row.tier,
        threads: 1,
        footprint: base::model::Footprint::Hot,
        in_place: false,
        setting: String::new(),
    };
    let pair = || words::pair(&row.base_library, &row.new_library);
    let growth = |g: Option<f64>| match g {
        Some(g) => Cell::number(words::change(1.0 + g, 0.0), style(g)),
        None => Cell::plain(String::new()),
    };
    let worst = row.worst_size();
    let at =
        |text: &dyn Fn(&judge::compare::SizeCounts) -> String| worst.map(text).unwrap_or_default();
    let of = |counts: Option<judge::compare::Counts>,
              text: &dyn Fn(judge::compare::Counts) -> String| {
        Cell::number(counts.map(text).unwrap_or_default(), PLAIN)
    };
    vec![
        Cell::plain(clean(&row.algorithm)),
        Cell::plain(words::direction(row.direction)),
        Cell::plain(words::setting(&case, None)),
        Cell::plain(if several { pair() } else { String::new() }),
        Cell::plain(at(&|s| size_with_unit(s.size))),
        Cell::number(at(&|s| s.base.to_string()), PLAIN),
        Cell::number(at(&|s| s.new.to_string()), PLAIN),
        growth(row.per_operation_growth()),
        of(row.base, &|c| format!("{:.4}", c.per_byte)),
        of(row.new, &|c| format!("{:.4}", c.per_byte)),
        growth(row.per_byte_growth),
        of(row.base, &|c| format!("{:.0}", c.per_message)),
        growth(row.per_message_growth),
    ]
}

/// Nothing where no algorithm was judged on both sides.
fn leaks(c: &Comparison, rows: usize, options: Options) -> String {
    if c.leaks.is_empty() {
        return String::new();
    }
    let (equal, changed) = words::leaks(c);
    let title = format!("depends on secrets: {} changed, {equal} equal", changed.len());
    let mut out = format!("\n{}\n", paint(&title, HEADING, options.color));
    for (worse, line) in changed.iter().take(rows) {
        out += &options.hang(line, 2, if *worse { ALARM } else { PLAIN });
    }
    if changed.len() > rows {
        out += &format!("… and {} more (--rows all)\n", changed.len() - rows);
    }
    out
}

fn states(c: &Comparison, options: Options) -> String {
    let mut out = String::new();
    for group in c.states.chunk_by(|a, b| a.change == b.change) {
        let title = format!("{}: {}", group[0].change.words(), group.len());
        out += &format!("\n{}\n", paint(&title, HEADING, options.color));
        for s in group {
            let library = words::pair(&s.base_library, &s.new_library);
            let reason = clean(s.reason.as_deref().unwrap_or("no reason given"));
            let text = format!("{}, {library}: {reason}", words::case(&s.case));
            let style = if s.change == judge::compare::Change::Broken { ALARM } else { CAUTION };
            out += &options.hang(&text, 2, style);
        }
    }
    out
}
