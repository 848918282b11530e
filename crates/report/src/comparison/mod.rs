//! A comparison as text, Markdown, JSON and CSV.

mod flat;
mod markdown;
mod table;
pub(crate) mod words;

pub use words::change_of_pairs;

use base::text::Options;
use judge::compare::{Comparison, Found};

/// How a comparison is written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum ComparisonFormat {
    /// Tables for people.
    #[default]
    Text,
    /// Markdown for a pull request.
    Markdown,
    /// Everything as one JSON object.
    Json,
    /// One row a case.
    Csv,
}

/// The comparison as text that ends with a line break. `found` is what makes it fail; `rows` is how
/// many cases of each verdict text and Markdown list; `options` matter for text only.
#[must_use]
pub fn comparison(
    comparison: &Comparison,
    found: &[Found],
    format: ComparisonFormat,
    rows: usize,
    options: Options,
) -> String {
    match format {
        ComparisonFormat::Text => table::table(comparison, found, rows, options),
        ComparisonFormat::Markdown => markdown::markdown(comparison, found, rows),
        ComparisonFormat::Json => flat::json(comparison, found),
        ComparisonFormat::Csv => flat::csv(comparison),
    }
}

#[cfg(test)]
mod tests;
