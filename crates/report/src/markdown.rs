//! The ranked tables as GitHub-flavoured Markdown.

use crate::digits::{cycles_per_byte, percent, speed};
use crate::survey::{Row, Section, Survey, mark, shout};
use crate::{labels, summary};
use record::{Measurement, Record, State};

/// The tables of a selection, with every size.
pub(crate) fn markdown(record: &Record, selection: &[&Measurement]) -> String {
    let survey = Survey::of(record, selection);
    let head: Vec<String> = summary::head(record, selection).iter().map(|l| escape(l)).collect();
    let mut out = head.join("\\\n") + "\n";
    for section in &survey.sections {
        out += &table(section, &survey);
    }
    let foot = summary::foot(record, selection, &survey);
    if !foot.is_empty() {
        out.push('\n');
    }
    for line in foot {
        out += &format!("- {}\n", escape(&line));
    }
    out
}

fn table(section: &Section<'_>, survey: &Survey<'_>) -> String {
    let mut heads = vec!["algorithm".to_owned(), "library".to_owned()];
    heads.extend(survey.sizes.iter().map(|size| labels::size(*size)));
    heads.extend(["c/B", "±%", "limit%", "note"].map(str::to_owned));
    let mut rules = vec!["---"; 2];
    rules.extend(vec!["---:"; survey.sizes.len() + 3]);
    rules.push("---");
    let mut out = format!("\n### {}\n\n", escape(&section.title()));
    out += &line(&heads);
    out += &line(&rules);
    for row in &section.rows {
        out += &line(&cells(row, survey));
    }
    out
}

pub(crate) fn line<S: AsRef<str>>(cells: &[S]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn cells(row: &Row<'_>, survey: &Survey<'_>) -> Vec<String> {
    let mut cells = vec![escape(&row.algorithm), escape(&row.library)];
    cells.extend(survey.sizes.iter().map(|size| number(row.cells.get(size).copied())));
    let at_reference = row.measured(survey.reference);
    cells.push(at_reference.and_then(cycles_per_byte).unwrap_or_default());
    let precision = at_reference.and_then(|m| m.precision).map(percent).unwrap_or_default();
    cells.push(escape(&precision));
    let fraction = at_reference.and_then(|m| m.limit_fraction);
    cells.push(fraction.map_or("–".to_owned(), |f| format!("{:.0}", f * 100.0)));
    let problems = row.problems().into_iter().map(|p| p.text());
    let notes: Vec<String> = row.warning.iter().cloned().chain(problems).collect();
    cells.push(escape(&notes.join("; ")));
    cells
}

fn number(m: Option<&Measurement>) -> String {
    let Some(m) = m else { return String::new() };
    match m.state {
        State::Measured | State::Imported => {
            let mark = mark(m);
            let text = speed(m).unwrap_or_else(|| "?".to_owned());
            escape(&format!("{mark}{text}"))
        }
        State::Unsupported => "–".to_owned(),
        State::Refused | State::Failed => shout(m.state),
    }
}

/// Takes the meaning from everything that Markdown, its tables or HTML would read as markup.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_markup() {
        assert_eq!(
            escape("a|b <script> [x](y) `z` *w* \\"),
            "a\\|b &lt;script&gt; \\[x\\](y) \\`z\\` \\*w\\* \\\\"
        );
    }

    #[test]
    fn a_record_with_every_state_as_markdown() {
        let record = crate::sample::record();
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        insta::assert_snapshot!(markdown(&record, &selection));
    }

    #[test]
    fn a_hostile_name_stays_in_its_cell() {
        let mut record = crate::sample::record();
        for m in &mut record.measurements {
            m.library.name = "a|b\n| c | <img>".to_owned();
        }
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        let text = markdown(&record, &selection);
        let bars = |line: &str| line.replace("\\|", "").matches('|').count();
        let rows: Vec<&str> = text.lines().filter(|l| l.starts_with('|')).collect();
        assert!(rows.iter().all(|row| bars(row) == bars(rows[0])), "{text}");
        assert!(!text.contains("<img>"), "{text}");
    }
}
