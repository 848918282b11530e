//! A comparison for a pull request: what matters in the first lines, the rest folded.

use crate::comparison::words;
use crate::comparison::words::ORDER;
use crate::labels::size;
use base::analysis::Verdict;
use base::text::{Align, Cell, Column, Table, clean, escape_markdown as escape};
use judge::compare::{Compared, Comparison, Counts, Found, InstructionRow, Summary};

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
        words::tally(&c.tally)
    );
    if let Some(line) = words::answer(c) {
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
    out += &means(c, &c.overall);
    for verdict in ORDER {
        out += &cases(c, verdict, rows);
    }
    out += &instructions(c, rows);
    out += &leaks(c, rows);
    if !c.families.is_empty() {
        let title = format!("By family of algorithms ({})", c.families.len());
        out += &folded(&title, &means(c, &c.families));
    }
    out += &states(c);
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
            format!("; time {} % on average", words::of_ratio(*r, None)[0])
        }
        _ => String::new(),
    };
    let t = &c.tally;
    format!(
        "{sign} {} slower, {} faster, {} undecided, {} same{mean}",
        t.slower, t.faster, t.undecided, t.same
    )
}

fn means(c: &Comparison, summaries: &[Summary]) -> String {
    if summaries.is_empty() {
        return String::new();
    }
    let several = c.several;
    let mut heads = vec!["geometric mean of"];
    heads.extend(several.then_some("libraries"));
    let heading = words::interval_heading(summaries.iter().filter_map(|s| s.ratio.as_ref()));
    heads.extend(["time %", heading, "×", "slower", "faster", "undecided", "same"]);
    let row = |s: &Summary| {
        let mut cells = vec![words::of_what(s)];
        cells.extend(several.then(|| words::of_which(s)));
        cells.extend(words::with_level(s.ratio?, None, heading));
        let t = &s.tally;
        cells.extend([t.slower, t.faster, t.undecided, t.same].map(|n| n.to_string()));
        Some(cells)
    };
    table(&heads, 1 + usize::from(several), summaries.iter().filter_map(row))
}

/// A table, the first `names` columns to the left.
fn table(heads: &[&'static str], names: usize, rows: impl Iterator<Item = Vec<String>>) -> String {
    let align = |i| if i < names { Align::Left } else { Align::Right };
    let columns = heads.iter().enumerate().map(|(i, head)| Column::new(head, align(i)));
    let rows = rows.map(|row| row.into_iter().map(Cell::plain).collect());
    format!("\n{}", Table::new(columns.collect::<Vec<_>>(), rows.collect()).markdown())
}

fn folded(title: &str, inside: &str) -> String {
    format!("\n<details><summary>{}</summary>\n\n{}\n</details>\n", title, inside.trim_start())
}

fn cases(c: &Comparison, verdict: Verdict, rows: usize) -> String {
    let (all, shown) = words::listed(c, verdict, rows);
    if shown.is_empty() {
        return String::new();
    }
    let several = c.several;
    let [base, new] = words::per_byte_heading(c);
    let mut heads = vec!["algorithm"];
    heads.extend(several.then_some("libraries"));
    let heading = words::interval_heading(shown.iter().filter_map(|case| case.ratio.as_ref()));
    heads.extend(["bytes", "time %", heading, "×", base, new]);
    let rows = shown.iter().map(|case| row(case, c, heading));
    let mut inside = table(&heads, 1 + usize::from(several), rows);
    if all > shown.len() {
        inside += &format!("\n… and {} more.\n", all - shown.len());
    }
    let title = format!("{}: {all}", capital(verdict.name()));
    // What has become slower is not hidden.
    if verdict == Verdict::Slower {
        format!("\n**{title}**\n{inside}")
    } else {
        folded(&title, &inside)
    }
}

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    first.to_uppercase() + rest
}

fn row(case: &Compared, c: &Comparison, heading: &str) -> Vec<String> {
    let mut name = words::algorithm(case);
    let direction = words::directions(case);
    let setting = words::setting(&case.case, case.base.tier);
    for word in [direction, setting].iter().filter(|w| !w.is_empty()) {
        name += &format!(" {word}");
    }
    let pair = || words::pair(&case.base_library, &case.new_library);
    if case.by_pairs.is_some() {
        name += &format!(" ({})", words::remark(case));
    }
    let mut cells = vec![name];
    cells.extend(c.several.then(pair));
    cells.push(words::bytes(case));
    let reason = || clean(case.reason.as_deref().unwrap_or_default());
    let without = || [String::new(), reason(), String::new()];
    let with = |r| words::with_level(r, Some(c.tolerance), heading);
    cells.extend(case.ratio.map_or_else(without, with));
    cells.push(words::per_byte(case.base_cost, &case.case, case.base.size));
    cells.push(words::per_byte(case.new_cost, &case.case, None));
    cells
}

fn instructions(c: &Comparison, rows: usize) -> String {
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
    let shown = changed.iter().take(rows).map(|row| instruction_row(row, c.several));
    let mut inside = table(&INSTRUCTIONS, 1, shown);
    if changed.len() > rows {
        inside += &format!("\n… and {} more.\n", changed.len() - rows);
    }
    if !listed.is_empty() {
        inside += &format!("\n{listed}");
    }
    folded(&title, &inside)
}

/// What got worse is not hidden.
fn leaks(c: &Comparison, rows: usize) -> String {
    if c.leaks.is_empty() {
        return String::new();
    }
    let (equal, changed) = words::leaks(c);
    let title = format!("Depends on secrets: {} changed, {equal} equal", changed.len());
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

const INSTRUCTIONS: [&str; 11] = [
    "algorithm",
    "most at",
    "base",
    "new",
    "%",
    "base /B",
    "new /B",
    "/B %",
    "base /message",
    "new /message",
    "/message %",
];

fn instruction_row(row: &InstructionRow, several: bool) -> Vec<String> {
    let mut name = format!("{} {}", clean(&row.algorithm), words::direction(row.direction));
    if several {
        name += &format!(", {}", words::pair(&row.base_library, &row.new_library));
    }
    let per_byte = |c: Option<Counts>| c.map(|c| format!("{:.4}", c.per_byte));
    let per_message = |c: Option<Counts>| c.map(|c| format!("{:.0}", c.per_message));
    let change = |growth: Option<f64>| growth.map(|g| words::change(1.0 + g, 0.0));
    let worst = row.worst_size();
    let cells = [
        Some(name),
        worst.map(|s| size(s.size)),
        worst.map(|s| s.base.to_string()),
        worst.map(|s| s.new.to_string()),
        change(row.per_operation_growth()),
        per_byte(row.base),
        per_byte(row.new),
        change(row.per_byte_growth),
        per_message(row.base),
        per_message(row.new),
        change(row.per_message_growth),
    ];
    cells.map(Option::unwrap_or_default).to_vec()
}

fn states(c: &Comparison) -> String {
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
