//! Renderers: plain data in, text out. Never collects, computes statistics, reads a clock or a
//! terminal; what a renderer needs beyond the record is in [`Options`].
#![forbid(unsafe_code)]

mod advice;
mod calls;
mod checks;
mod comparison;
mod confinement;
mod costs;
mod csv_text;
mod digits;
mod executed;
mod fitted;
mod flat;
mod grid;
mod labels;
mod libraries;
mod limits;
mod markdown;
mod matrix;
mod offers;
mod ranking;
mod remarks;
#[cfg(test)]
mod sample;
mod summary;
mod survey;
mod table;
mod text;
mod vintage;

pub use advice::{Advice, Grade, advice};
pub use calls::{CallRow, MessageCost, calls};
pub use checks::{CheckRow, checks, pairs};
pub use comparison::{ComparisonFormat, comparison};
pub use costs::{costs, is_of as is_on};
pub use csv_text::csv;
pub use executed::ExecutedRow;
pub use libraries::libraries;
pub use limits::limits;
pub use markdown::escape as escape_markdown;
pub use matrix::{Matrix, MatrixRow, matrix};
pub use ranking::rankings;
pub use text::{clean, width, wrap};

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

impl Format {
    /// Every format.
    pub const ALL: &'static [Self] =
        &[Self::Table, Self::Json, Self::Jsonl, Self::Csv, Self::Markdown];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
        }
    }
}

/// What a renderer must know of the place where the text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal. Tables fit from 60 on; what has to go is said.
    pub width: usize,
    /// Whether ANSI styles may be used. Everything is legible without.
    pub color: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { width: 100, color: false }
    }
}

/// The selected measurements as text that ends with a line break. `selection` holds measurements
/// of `record`, in any order; `options` matter for [`Format::Table`] only.
#[must_use]
pub fn render(
    record: &Record,
    selection: &[&Measurement],
    format: Format,
    options: Options,
) -> String {
    render_with(record, selection, &compare::Best::default(), format, options)
}

/// As [`render`], with the best of each table and its ties marked.
#[must_use]
pub fn render_with(
    record: &Record,
    selection: &[&Measurement],
    best: &compare::Best,
    format: Format,
    options: Options,
) -> String {
    match format {
        Format::Table => table::table(record, selection, best, options),
        Format::Json => flat::json(record, selection),
        Format::Jsonl => flat::jsonl(record, selection),
        Format::Csv => tabular::csv(selection),
        Format::Markdown => markdown::markdown(record, selection),
    }
}
