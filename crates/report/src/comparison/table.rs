//! A comparison for a terminal.

use super::words::{self, ORDER};
use crate::Options;
use crate::fitted::{Column, Fitted};
use crate::grid::{Align, Cell};
use crate::labels::{size, size_with_unit};
use crate::text::{ALARM, ASIDE, CAUTION, GOOD, HEADING, PLAIN, clean, paint, wrap_hanging};
use analysis::Verdict;
use anstyle::Style;
use compare::{Compared, Comparison, Found, InstructionRow, Summary};

pub(super) fn table(c: &Comparison, found: &[Found], rows: usize, options: Options) -> String {
    let mut out = head(c, options);
    out += &summaries(c, options);
    for verdict in ORDER {
        out += &cases(c, verdict, rows, options);
    }
    out += &instructions(c, rows, options);
    out += &states(c, options);
    for line in words::only(c) {
        out += &wrap_hanging(&line, options.width, 2);
    }
    out.push('\n');
    let notes = if c.cases.is_empty() { Vec::new() } else { words::legend(c) };
    for line in notes {
        out += &wrap_hanging(&line, options.width, 2);
    }
    for f in found {
        let text = format!("--fail-if {}: {}", f.condition, f.what);
        out += &painted(&text, ALARM, options);
    }
    out
}

fn painted(text: &str, style: Style, options: Options) -> String {
    let lines = wrap_hanging(text, options.width, 2);
    let styled = |l: &str| paint(l, style, options.color);
    lines.lines().map(|l| styled(l) + "\n").collect()
}

fn head(c: &Comparison, options: Options) -> String {
    let mut out = wrap_hanging(&format!("base {}", words::side(&c.base)), options.width, 5);
    out += &wrap_hanging(&format!("new  {}", words::side(&c.new)), options.width, 5);
    for warning in &c.warnings {
        out += &painted(&format!("note: {}", clean(warning)), CAUTION, options);
    }
    let unit = c.unit.short();
    let text = format!("{} cases in {unit}: {}", c.tally.cases(), words::tally(&c.tally));
    out += &painted(&text, HEADING, options);
    for line in c.confirmation.iter().flat_map(words::confirmation) {
        out += &wrap_hanging(&line, options.width, 2);
    }
    out
}

/// More rows than this are no summary.
const MOST_FAMILIES: usize = 60;

const SUMMARY: [Column; 9] = [
    Column::new("geometric mean of", Align::Left, 0),
    Column::new("libraries", Align::Left, 0),
    Column::new("time %", Align::Point, 0),
    Column::new("95 % interval", Align::Right, 5),
    Column::new("×", Align::Right, 6),
    Column::new("slower", Align::Right, 4),
    Column::new("faster", Align::Right, 3),
    Column::new("undecided", Align::Right, 2),
    Column::new("same", Align::Right, 1),
];

fn summaries(c: &Comparison, options: Options) -> String {
    // Of one library against many others there are hundreds of families.
    let families = if c.families.len() <= MOST_FAMILIES { &c.families[..] } else { &[] };
    let rows: Vec<Vec<Cell>> = c.overall.iter().chain(families).map(summary).collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = Fitted::new(&SUMMARY, rows);
    let mut out = format!("\n{}", table.text(options));
    if families.len() < c.families.len() {
        out += &format!("{} families of algorithms: --format json\n", c.families.len());
    }
    out
}

fn summary(s: &Summary) -> Vec<Cell> {
    let ratio = s.ratio.unwrap_or(compare::Interval { estimate: f64::NAN, low: 0.0, high: 0.0 });
    let style = match (ratio.low > 1.0, ratio.high < 1.0) {
        (true, _) => ALARM,
        (_, true) => GOOD,
        _ => PLAIN,
    };
    let known = s.ratio.is_some();
    let text = |text: String| if known { text } else { String::new() };
    let count = |n: usize| Cell::new(if n == 0 { "–".to_owned() } else { n.to_string() }, PLAIN);
    vec![
        Cell::plain(words::of_what(s)),
        Cell::plain(words::of_which(s)),
        Cell::number(text(words::change(ratio.estimate, (ratio.high - ratio.low) / 2.0)), style),
        Cell::new(text(words::interval(ratio.low, ratio.high)), ASIDE),
        Cell::new(text(words::factor(ratio.estimate)), PLAIN),
        count(s.tally.slower),
        count(s.tally.faster),
        count(s.tally.undecided),
        count(s.tally.same),
    ]
}

fn cases(c: &Comparison, verdict: Verdict, rows: usize, options: Options) -> String {
    let mut found: Vec<&Compared> = c.cases.iter().filter(|case| case.verdict == verdict).collect();
    // Who asks for the same ones asks for all.
    let shown = if verdict == Verdict::Same && rows < usize::MAX { 0 } else { rows };
    if found.is_empty() || shown == 0 {
        return String::new();
    }
    sort(&mut found);
    let style = style(verdict);
    let cells = found.iter().take(shown).map(|case| row(case, c, style)).collect();
    let [base, new] = words::per_byte_heading(c.unit);
    let columns = [
        Column::new("algorithm", Align::Left, 0),
        Column::new("bytes", Align::Right, 0),
        Column::new("direction", Align::Left, 7),
        Column::new("", Align::Left, 6),
        Column::new("libraries", Align::Left, 8),
        Column::new("time %", Align::Point, 0),
        Column::new("95 % interval", Align::Right, 5),
        Column::new("×", Align::Right, 3),
        Column::new(base, Align::Point, 1),
        Column::new(new, Align::Point, 2),
        Column::new("why", Align::Left, 4),
    ];
    let table = Fitted::new(&columns, cells);
    let title = paint(&format!("{}: {}", verdict.name(), found.len()), HEADING, options.color);
    let mut out = format!("\n{title}\n{}", table.text(options));
    if found.len() > shown {
        out += &format!("… and {} more (--rows all)\n", found.len() - shown);
    }
    out
}

/// The largest change first, whichever way it goes.
pub(super) fn sort(cases: &mut [&Compared]) {
    let size = |case: &Compared| case.ratio.map_or(0.0, |r| r.estimate.ln().abs());
    cases.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.case.cmp(&b.case)));
}

fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Slower => ALARM,
        Verdict::Faster => GOOD,
        Verdict::Undecided => CAUTION,
        Verdict::Same => PLAIN,
    }
}

fn row(case: &Compared, c: &Comparison, style: Style) -> Vec<Cell> {
    let several = c.several;
    let libraries =
        if several { words::pair(&case.base_library, &case.new_library) } else { String::new() };
    let ratio = case.ratio;
    let half = ratio.map_or(0.0, |r| (r.high - r.low) / 2.0);
    let of_ratio = |text: &dyn Fn(compare::Interval) -> String| ratio.map(text).unwrap_or_default();
    let interval = if case.identical {
        "same samples".to_owned()
    } else {
        of_ratio(&|r| words::interval(r.low, r.high))
    };
    vec![
        Cell::plain(clean(&case.case.algorithm)),
        Cell::plain(size(case.case.size)),
        Cell::plain(words::direction(case.case.direction)),
        Cell::plain(words::setting(&case.case, case.base_tier)),
        Cell::plain(libraries),
        Cell::number(of_ratio(&|r| words::change(r.estimate, half)), style),
        Cell::new(interval, ASIDE),
        Cell::plain(of_ratio(&|r| words::factor(r.estimate))),
        Cell::number(words::per_byte(case.base_cost, &case.case), PLAIN),
        Cell::number(words::per_byte(case.new_cost, &case.case), PLAIN),
        Cell::new(words::remark(case), CAUTION),
    ]
}

const INSTRUCTIONS: [Column; 13] = [
    Column::new("instructions of", Align::Left, 0),
    Column::new("direction", Align::Left, 5),
    Column::new("", Align::Left, 4),
    Column::new("libraries", Align::Left, 6),
    Column::new("most at", Align::Left, 0),
    Column::new("base", Align::Point, 7),
    Column::new("new", Align::Point, 7),
    Column::new("%", Align::Point, 0),
    Column::new("base /B", Align::Point, 2),
    Column::new("new /B", Align::Point, 3),
    Column::new("/B %", Align::Point, 0),
    Column::new("base /message", Align::Point, 1),
    Column::new("/message %", Align::Point, 0),
];

fn instructions(c: &Comparison, rows: usize, options: Options) -> String {
    if c.instructions.is_empty() {
        return String::new();
    }
    let mut changed: Vec<&InstructionRow> =
        c.instructions.iter().filter(|row| !row.is_equal()).collect();
    let equal = c.instructions.len() - changed.len();
    changed.sort_by(|a, b| b.largest_growth().total_cmp(&a.largest_growth()));
    let title = format!("instructions, counted exactly: {} changed, {equal} equal", changed.len());
    let mut out = format!("\n{}\n", paint(&title, HEADING, options.color));
    if changed.is_empty() {
        return out + &uncounted(c, rows, options);
    }
    let several = c.several;
    let cells = changed.iter().take(rows).map(|row| instruction_row(row, several)).collect();
    let table = Fitted::new(&INSTRUCTIONS, cells);
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
        out += &painted(&format!("not counted: {line}"), CAUTION, options);
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
    let case = compare::Case {
        algorithm: row.algorithm.clone(),
        direction: row.direction,
        model: row.model,
        size: 0,
        tier: row.tier,
        threads: 1,
        footprint: model::Footprint::Hot,
        in_place: false,
    };
    let pair = || words::pair(&row.base_library, &row.new_library);
    let growth = |g: Option<f64>| match g {
        Some(g) => Cell::number(words::change(1.0 + g, 0.0), style(g)),
        None => Cell::plain(String::new()),
    };
    let worst = row.worst_size();
    let at = |text: &dyn Fn(&compare::SizeCounts) -> String| worst.map(text).unwrap_or_default();
    let of = |counts: Option<compare::Counts>, text: &dyn Fn(compare::Counts) -> String| {
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

fn states(c: &Comparison, options: Options) -> String {
    let mut out = String::new();
    for group in c.states.chunk_by(|a, b| a.change == b.change) {
        let title = format!("{}: {}", group[0].change.words(), group.len());
        out += &format!("\n{}\n", paint(&title, HEADING, options.color));
        for s in group {
            let library = words::pair(&s.base_library, &s.new_library);
            let reason = clean(s.reason.as_deref().unwrap_or("no reason given"));
            let text = format!("{}, {library}: {reason}", words::case(&s.case));
            let style = if s.change == compare::Change::Broken { ALARM } else { CAUTION };
            out += &painted(&text, style, options);
        }
    }
    out
}
