//! The record for people and programs.

mod csv;
mod markdown;
mod rows;
mod table;

use crate::format::PagesRecord;

/// How it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    Table,
    /// The whole record.
    Json,
    /// One cell a row.
    Csv,
    /// GitHub-flavoured Markdown.
    Markdown,
}

/// Shows a record.
#[must_use]
pub fn render(record: &PagesRecord, format: Format, width: usize) -> String {
    match format {
        Format::Table => table::table(record, width),
        Format::Json => crate::to_json(record),
        Format::Csv => csv::csv(record),
        Format::Markdown => markdown::markdown(record),
    }
}
