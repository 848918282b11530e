//! The ranked tables as GitHub-flavoured Markdown.

use crate::digits::{cycles_per_byte, percent, speed};
use crate::survey::{LEFT_OUT, Row, Section, Survey, mark, shout};
use crate::{labels, summary};
use base::text::{Align, Cell, Column, Table, escape_markdown as escape};
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
    let name = |head| Column::new(head, Align::Left);
    let number = |head| Column::new(head, Align::Right);
    let mut columns = vec![name("algorithm"), name("library")];
    let sizes = survey.sizes.iter().map(|size| labels::size(*size));
    columns.extend(sizes.map(|size| Column::named(size, Align::Right)));
    columns.extend([number("c/B"), number("±%"), number("limit%"), name("note")]);
    let row = |row| cells(row, survey).into_iter().map(Cell::plain).collect();
    let table = Table::new(columns, section.rows.iter().map(row).collect());
    format!("\n### {}\n\n{}", escape(&section.title()), table.markdown())
}

fn cells(row: &Row<'_>, survey: &Survey<'_>) -> Vec<String> {
    let mut cells = vec![row.algorithm.clone(), row.library(usize::MAX)];
    cells.extend(survey.sizes.iter().map(|size| number(row.cells.get(size).copied())));
    let at_reference = row.measured(survey.reference);
    cells.push(at_reference.and_then(cycles_per_byte).unwrap_or_default());
    cells.push(at_reference.and_then(|m| m.precision).map(percent).unwrap_or_default());
    let fraction = at_reference.and_then(|m| m.limit_fraction);
    cells.push(fraction.map_or("–".to_owned(), |f| format!("{:.0}", f * 100.0)));
    let problems = row.problems().into_iter().map(|p| p.text());
    let notes: Vec<String> = row.warning.iter().cloned().chain(problems).collect();
    cells.push(notes.join("; "));
    cells
}

fn number(m: Option<&Measurement>) -> String {
    let Some(m) = m else { return String::new() };
    match m.state {
        State::Measured | State::Imported => {
            format!("{}{}", mark(m), speed(m).unwrap_or_else(|| "?".to_owned()))
        }
        State::Unsupported => "–".to_owned(),
        State::Failed if m.is_left_out() => LEFT_OUT.to_owned(),
        State::Refused | State::Failed => shout(m.state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_with_every_state_as_markdown() {
        let record = crate::sample::record();
        let selection: Vec<&Measurement> = record.measurements.iter().collect();
        insta::assert_snapshot!(markdown(&record, &selection));
    }
}
