//! Answers to questions: the best, with the places that each may have.

mod flat;
mod text;

pub(crate) use text::place;

use crate::ComparisonFormat;
use base::text::Options;
use judge::compare::Ranking;

/// Answers as text that ends with a line break; `options` matter for text only.
#[must_use]
pub fn rankings(answers: &[Ranking], format: ComparisonFormat, options: Options) -> String {
    match format {
        ComparisonFormat::Text => text::text(answers, options),
        ComparisonFormat::Markdown => text::markdown(answers),
        ComparisonFormat::Json => flat::json(answers),
        ComparisonFormat::Csv => flat::csv(answers),
    }
}

#[cfg(test)]
mod tests;
