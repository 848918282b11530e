//! For a terminal.

use super::{bare, heading, reference, remarks, row_name, summary, table_head};
use crate::{Answer, Judged, PrintedTable, Verdict};
use anstyle::{AnsiColor, Style};
use text::{Options, clean, width, wrap};

/// Where the claims' text begins: past the longest verdict.
const INDENT: usize = 19;

pub(super) fn claims(judged: &[Judged<'_>], options: Options) -> String {
    let mut out = String::new();
    for (i, one) in judged.iter().enumerate() {
        let of_another = i == 0 || judged[i - 1].source.id != one.source.id;
        if of_another {
            let gap = if i == 0 { "" } else { "\n" };
            let head = format!(
                "{}: {}; figures: {}",
                one.source.id,
                reference(one.source),
                one.source.machine
            );
            out += gap;
            wrap(&clean(&head), options.width).iter().for_each(|line| out += &format!("{line}\n"));
        }
        out += &claim(one, options);
    }
    out + &format!("\n{}\n", summary(judged))
}

fn claim(judged: &Judged<'_>, options: Options) -> String {
    let room = options.width.saturating_sub(INDENT).max(30);
    let title = format!("{}: {}", judged.claim.id, judged.claim.says);
    let mut lines = wrap(&clean(&title), room);
    let mut add = |text: &str| lines.extend(wrap(&clean(text), room));
    add(&judged.why());
    for (figure, answers) in &judged.figures {
        let published = figure.published.as_deref();
        let published = published.map(|p| format!("published {p}; ")).unwrap_or_default();
        add(&format!("{}: {published}here {}", figure.of, here(answers)));
    }
    remarks(judged).iter().for_each(|remark| add(remark));
    let verdict = format!("{:<1$}", judged.verdict.words(), INDENT);
    let mut out = String::from("\n");
    for (i, line) in lines.iter().filter(|l| !l.is_empty()).enumerate() {
        let margin =
            if i == 0 { painted(&verdict, judged.verdict, options) } else { " ".repeat(INDENT) };
        out += &format!("{margin}{line}\n");
    }
    out
}

fn painted(verdict: &str, of: Verdict, options: Options) -> String {
    let color = |c: AnsiColor| c.on_default().bold();
    let style = match of {
        Verdict::Holds => color(AnsiColor::Green),
        Verdict::DoesNotHold => color(AnsiColor::Red),
        Verdict::Depends => color(AnsiColor::Yellow),
        Verdict::NotTestable => Style::new().dimmed(),
    };
    if options.color { format!("{style}{verdict}{style:#}") } else { verdict.to_owned() }
}

/// `9421 MB/s ±0.2 % (openssl@3.0.22), …`
pub(super) fn here(answers: &[Answer]) -> String {
    let shown = |answer: &Answer| {
        let value = match &answer.value {
            Ok(value) => value.to_string(),
            Err(missing) => format!("– ({missing})"),
        };
        if answer.library.is_empty() { value } else { format!("{value} ({})", answer.library) }
    };
    // Where some libraries have the figure, those without it are noise.
    let known = answers.iter().filter(|a| a.value.is_ok());
    let known: Vec<String> = known.map(shown).collect();
    if known.is_empty() {
        return answers.first().map_or_else(|| "–".to_owned(), shown);
    }
    known.join(", ")
}

pub(super) fn table(table: &PrintedTable, options: Options) -> String {
    let mut out = String::new();
    for line in table_head(table) {
        wrap(&clean(&line), options.width).iter().for_each(|line| out += &format!("{line}\n"));
    }
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()]];
    rows[0].extend(table.columns.iter().map(|c| heading(*c)));
    for group in &table.groups {
        rows.push(vec![clean(&row_name(group))]);
        for line in &group.lines {
            let mut row = vec![format!("  {}", clean(&line.who))];
            row.extend((0..line.cells.len()).map(|at| bare(group, line, at, " !")));
            rows.push(row);
        }
    }
    out.push('\n');
    out + &aligned(&rows)
}

/// The first column to the left, the others to the right; a row of one cell is a title.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let cells =
        |column: usize| rows.iter().filter(|r| r.len() > 1).filter_map(move |r| r.get(column));
    let widths: Vec<usize> =
        (0..columns).map(|c| cells(c).map(|cell| width(cell)).max().unwrap_or_default()).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let space = " ".repeat(widths[i].saturating_sub(width(cell)));
            line += &if i == 0 { format!("{cell}{space}") } else { format!("  {space}{cell}") };
        }
        out += &format!("{}\n", line.trim_end());
    }
    out
}
