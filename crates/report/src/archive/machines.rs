//! Comparisons of two runs on each of several machines.

use crate::comparison::{ComparisonFormat, comparison, words};
use base::text::{ALARM, ASIDE, Align, Cell, Column, HEADING, Options, PLAIN, Table, clean};
use judge::compare::{Comparison, Found};
use serde::Serialize;

/// Two runs on one machine.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedMachine {
    /// The machine's type.
    pub machine: String,
    /// Day and SHA-256 of the base.
    pub base: (String, String),
    /// Day and SHA-256 of what is judged.
    pub new: (String, String),
    /// The comparison.
    pub comparison: Comparison,
    /// What makes it fail.
    pub found: Vec<Found>,
}

/// One line a machine, then the comparisons in which a condition holds; JSON has all. `without` are machines that lack
/// two such runs.
#[must_use]
pub fn machines(
    all: &[ComparedMachine],
    without: &[String],
    format: ComparisonFormat,
    rows: usize,
    options: Options,
) -> String {
    let failing = || all.iter().filter(|m| !m.found.is_empty());
    match format {
        ComparisonFormat::Json => {
            serde_json::to_string_pretty(all).expect("plain data always serialises") + "\n"
        }
        ComparisonFormat::Markdown => {
            let mut out = table(all).markdown();
            for m in failing() {
                out += &format!("\n### {}\n\n", base::text::escape_markdown(&clean(&m.machine)));
                out += &comparison(&m.comparison, &m.found, format, rows, options);
            }
            out
        }
        ComparisonFormat::Text | ComparisonFormat::Csv => {
            let mut out = table(all).text(options);
            if !without.is_empty() {
                let names: Vec<String> = without.iter().map(|name| clean(name)).collect();
                let note = format!("without two such runs: {}", names.join(", "));
                out += &options.hang(&note, 2, ASIDE);
            }
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

fn table(all: &[ComparedMachine]) -> Table {
    let columns = vec![
        Column::new("machine", Align::Left),
        Column::new("base", Align::Left).goes(2),
        Column::new("new", Align::Left).goes(1),
        Column::new("slower", Align::Right),
        Column::new("faster", Align::Right),
        Column::new("undecided", Align::Right),
        Column::new("same", Align::Right),
        Column::new("mean %", Align::Point),
        Column::new("found", Align::Left),
    ];
    let row = |m: &ComparedMachine| {
        let c = &m.comparison;
        let mean = c.overall.first().and_then(|s| s.ratio);
        let mean = mean.map(|r| words::change(r.estimate, (r.high - r.low) / 2.0));
        let found: Vec<&str> = m.found.iter().map(|f| f.what.as_str()).collect();
        let style = if found.is_empty() { PLAIN } else { ALARM };
        vec![
            Cell::new(clean(&m.machine), style),
            Cell::plain(m.base.0.clone()),
            Cell::plain(m.new.0.clone()),
            Cell::number(c.tally.slower.to_string(), style),
            Cell::number(c.tally.faster.to_string(), PLAIN),
            Cell::number(c.tally.undecided.to_string(), PLAIN),
            Cell::number(c.tally.same.to_string(), PLAIN),
            Cell::number(mean.unwrap_or_default(), PLAIN),
            Cell::new(found.join("; "), style),
        ]
    };
    Table::new(columns, all.iter().map(row).collect())
}
