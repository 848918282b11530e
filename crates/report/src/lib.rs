//! Renderers: plain data in, text out. Never collects, computes statistics, reads a clock or a
//! terminal; what a renderer needs beyond the record is in [`Options`].
#![forbid(unsafe_code)]

mod advice;
mod archive;
mod calls;
mod checks;
mod comparison;
mod confinement;
mod costs;
mod digits;
mod executed;
mod first_screen;
mod flat;
mod labels;
mod leaks;
mod libraries;
mod limits;
mod markdown;
mod matrix;
pub mod neighbours;
mod offers;
pub mod page;
mod precision;
mod ranking;
mod remarks;
#[cfg(test)]
mod sample;
mod secrets;
mod summary;
mod survey;
mod table;
pub mod tabular;
mod tax;
#[cfg(test)]
mod tests;
mod vintage;

pub use advice::{Advice, Grade, advice};
pub use archive::{
    Archived, BestOfMachine, ComparedMachine, Line as TrendLine, Money, Point, archived,
    best_of_machines, best_of_machines_csv, best_of_machines_json, best_of_machines_table,
    machines, otava, trend, trend_csv,
};
pub use calls::{CallRow, MessageCost, calls};
pub use checks::{CheckRow, checks, pairs};
pub use comparison::{ComparisonFormat, change_of_pairs, comparison};
pub use costs::{costs, is_of as is_on};
pub use executed::ExecutedRow;
pub use first_screen::{Line, Summary, first_screen};
pub use leaks::leaks;
pub use libraries::libraries;
pub use limits::limits;
pub use matrix::{Matrix, MatrixRow, matrix};
pub use ranking::rankings;
pub use survey::mark;

use record::{Measurement, Record};

/// How measurements are written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// Ranked tables for a terminal.
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
#[must_use]
pub fn render(
    record: &Record,
    selection: &[&Measurement],
    best: &judge::compare::Best,
    format: Format,
    options: base::text::Options,
) -> String {
    match format {
        Format::Table => table::table(record, selection, best, options),
        Format::Json => flat::json(record, selection),
        Format::Jsonl => flat::jsonl(record, selection),
        Format::Csv => crate::tabular::csv(record, selection),
        Format::Markdown => markdown::markdown(record, selection),
    }
}
