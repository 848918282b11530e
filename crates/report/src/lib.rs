//! Renderers: plain data in, text out. Never collects, computes statistics, reads a clock or a
//! terminal; what a renderer needs beyond the record is in [`Options`].
#![forbid(unsafe_code)]

mod archive;
mod calls;
mod comparison;
mod executed;
pub mod formats;
mod labels;
mod leaks;
mod lists;
mod notes;
pub mod page;
mod prediction;
mod ranking;
#[cfg(test)]
mod sample;
mod sampled;
mod screen;
mod stacks;
mod summary;
mod survey;
mod table;
mod verdicts;

pub use archive::{
    BestOfMachine, ComparedMachine, Line as TrendLine, Money, Point, Without, archived,
    best_of_machines, machines, otava, trend, trend_csv,
};
pub use calls::watched;
pub use comparison::{ComparisonFormat, change_of_pairs, comparison, comparison_screen};
pub use executed::{CallRow, ExecutedRow, MessageCost, calls};
pub use leaks::leaks;
pub use lists::{
    Advice, CheckRow, Grade, Matrix, MatrixRow, advice, checks, libraries, limits, matrix, pairs,
};
pub use prediction::{PredictionAsked, prediction};
pub use ranking::{Line, Summary, first_screen, rankings};
use record::{Measurement, Record};
pub use sampled::sampled;
pub use stacks::stacks_screen;
pub use survey::{costs, mark};
pub use verdicts::{checks_screen, claims_screen, explain_screen, leaks_screen};

/// How measurements are written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    #[default]
    Table,
    /// The record, with the selected measurements only.
    Json,
    /// One JSON object a line and measurement.
    Jsonl,
    /// One row a measurement, without raw samples.
    Csv,
    /// The ranked tables as GitHub-flavoured Markdown.
    Markdown,
}

/// The selected measurements as text that ends with a line break. `selection` holds measurements
/// of `record`, in any order; `best` is marked and `options` matter in [`Format::Table`] only.
pub fn render(
    record: &Record,
    selection: &[&Measurement],
    best: &judge::compare::Best,
    format: Format,
    options: base::text::Options,
) -> String {
    match format {
        Format::Table => table::table(record, selection, best, options),
        Format::Json => formats::as_json(record, selection),
        Format::Jsonl => formats::as_json_lines(record, selection),
        Format::Csv => formats::csv(record, selection),
        Format::Markdown => table::markdown(record, selection),
    }
}

#[cfg(test)]
mod tests;
