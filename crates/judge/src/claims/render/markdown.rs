//! GitHub-flavoured Markdown.

use super::text::here;
use super::{bare, heading, reference, remarks, row_name, summary, table_head};
use crate::claims::{Judged, PrintedTable};
use base::text::{clean, escape_markdown};

pub(super) fn claims(judged: &[Judged<'_>]) -> String {
    let mut out = format!("{}.\n", summary(judged));
    for (i, one) in judged.iter().enumerate() {
        if i == 0 || judged[i - 1].source.id != one.source.id {
            out += &format!(
                "\n### {}\n\n{}. Figures: {}.\n\n",
                safe(&one.source.id),
                safe(&reference(one.source)),
                safe(&one.source.machine)
            );
            out += "| claim | verdict | published | here |\n| --- | --- | --- | --- |\n";
        }
        out += &claim(one);
    }
    out
}

fn claim(judged: &Judged<'_>) -> String {
    let says =
        format!("`{}`<br>{}", judged.claim.id.replace(['`', '|'], ""), safe(&judged.claim.says));
    let mut verdict = format!("**{}**", judged.verdict.words());
    let mut sentences: Vec<String> =
        Some(judged.why()).filter(|w| !w.is_empty()).into_iter().collect();
    sentences.extend(remarks(judged));
    for sentence in sentences {
        verdict += &format!("<br>{}", safe(&sentence));
    }
    let published = judged.figures.iter().filter_map(|(figure, _)| {
        let published = figure.published.as_deref()?;
        Some(safe(&format!("{}: {published}", figure.of)))
    });
    let published = published.collect::<Vec<_>>().join("<br>");
    let here = judged.figures.iter().map(|(f, a)| safe(&format!("{}: {}", f.of, here(a))));
    let here = here.collect::<Vec<_>>().join("<br>");
    format!("| {says} | {verdict} | {published} | {here} |\n")
}

pub(super) fn table(table: &PrintedTable) -> String {
    let head: Vec<String> = table_head(table).iter().map(|line| safe(line)).collect();
    let mut out = format!("{}\n\n", head.join("\\\n"));
    let headings: Vec<String> = table.columns.iter().map(|c| heading(*c)).collect();
    out += &format!("| | | {} |\n", headings.join(" | "));
    out += &format!("| --- | --- | {} |\n", vec!["---:"; headings.len()].join(" | "));
    for group in &table.groups {
        for (i, line) in group.lines.iter().enumerate() {
            let name = if i == 0 { safe(&row_name(group)) } else { String::new() };
            let cells: Vec<String> =
                (0..line.cells.len()).map(|at| bare(group, line, at, " \\!")).collect();
            out += &format!("| {name} | {} | {} |\n", safe(&line.who), cells.join(" | "));
        }
    }
    out
}

fn safe(text: &str) -> String {
    escape_markdown(&clean(text))
}
