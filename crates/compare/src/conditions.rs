//! What makes a comparison fail: `--fail-if`.

use crate::{Change, Comparison, InstructionRow, OnlyIn};
use analysis::Verdict;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A condition under which a comparison has found something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// A case is surely slower, and by more than this by its estimate.
    Slower(f64),
    /// The geometric mean over all shared cases is surely slower, and by more than this.
    Mean(f64),
    /// Instructions for each byte, for each message or of an operation of a measured size grew by more
    /// than this.
    Instructions(f64),
    /// Instructions of an operation of a measured size grew by more than this.
    InstructionsPerOperation(f64),
    /// Instructions for each byte grew by more than this.
    InstructionsPerByte(f64),
    /// Instructions for each message grew by more than this.
    InstructionsPerMessage(f64),
    /// A case that was measured in the base is refused or failed now.
    Refused,
    /// A case that was measured in the base is not there now.
    Missing,
    /// A case can be called neither the same nor faster nor slower.
    Undecided,
    /// Nothing fails.
    Never,
}

/// Each condition as it is typed, with its meaning.
pub const CONDITIONS: [(&str, &str); 10] = [
    ("slower[:PERCENT]", "a case is surely slower, and by more than this (default: the tolerance)"),
    (
        "mean[:PERCENT]",
        "the geometric mean over the shared cases is surely slower, by more than this",
    ),
    (
        "instructions[:PERCENT]",
        "instructions at a measured size, per byte or per message grew by more than this (default 0)",
    ),
    (
        "instructions-per-operation[:PERCENT]",
        "instructions at a measured size grew by more than this",
    ),
    ("instructions-per-byte[:PERCENT]", "instructions per byte grew by more than this"),
    ("instructions-per-message[:PERCENT]", "instructions per message grew by more than this"),
    ("refused", "a case measured in the base is refused or failed now"),
    ("missing", "a case measured in the base is not there now"),
    ("undecided", "a case can be called neither the same nor faster nor slower"),
    ("never", "nothing: the exit code is 0 whatever is found"),
];

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, least) = match text.split_once(':') {
            Some((name, percent)) => (name, Some(fraction(text, percent)?)),
            None => (text, None),
        };
        let or = |default: f64| least.unwrap_or(default);
        let condition = match name {
            "slower" => Self::Slower(or(0.0)),
            "mean" => Self::Mean(or(0.0)),
            "instructions" => Self::Instructions(or(0.0)),
            "instructions-per-operation" => Self::InstructionsPerOperation(or(0.0)),
            "instructions-per-byte" => Self::InstructionsPerByte(or(0.0)),
            "instructions-per-message" => Self::InstructionsPerMessage(or(0.0)),
            "refused" | "missing" | "undecided" | "never" if least.is_some() => {
                return Err(format!("'{name}' takes no percentage"));
            }
            "refused" => Self::Refused,
            "missing" => Self::Missing,
            "undecided" => Self::Undecided,
            "never" => Self::Never,
            _ => {
                let names: Vec<&str> = CONDITIONS.iter().map(|(name, _)| *name).collect();
                return Err(format!("'{text}' is none of: {}", names.join(", ")));
            }
        };
        Ok(condition)
    }
}

/// `2%`, or 0.02; nothing is a percentage as well here.
fn fraction(whole: &str, text: &str) -> Result<f64, String> {
    let (number, scale) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim(), 0.01),
        None => (text.trim(), 1.0),
    };
    let parsed = number.parse::<f64>().map(|n| n * scale);
    parsed.ok().filter(|f| (0.0..=10.0).contains(f)).ok_or_else(|| {
        format!("'{whole}': write the percentage as in slower:2% or instructions:0.5%")
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, least) = match self {
            Self::Slower(least) => ("slower", *least),
            Self::Mean(least) => ("mean", *least),
            Self::Instructions(least) => ("instructions", *least),
            Self::InstructionsPerOperation(least) => ("instructions-per-operation", *least),
            Self::InstructionsPerByte(least) => ("instructions-per-byte", *least),
            Self::InstructionsPerMessage(least) => ("instructions-per-message", *least),
            Self::Refused => ("refused", 0.0),
            Self::Missing => ("missing", 0.0),
            Self::Undecided => ("undecided", 0.0),
            Self::Never => ("never", 0.0),
        };
        f.write_str(name)?;
        if least > 0.0 {
            // Percentages are typed with few digits; a fraction's own last ones are noise.
            write!(f, ":{}%", (least * 1e8).round() / 1e6)?;
        }
        Ok(())
    }
}

/// A condition that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// As it is typed.
    pub condition: String,
    /// What was found, in words.
    pub what: String,
}

impl Condition {
    /// What it finds in a comparison.
    #[must_use]
    pub fn find(&self, comparison: &Comparison) -> Option<Found> {
        let rows = &comparison.instructions;
        let grew = |what: &str, growth: &dyn Fn(&InstructionRow) -> Option<f64>, least: f64| {
            let growths: Vec<f64> = rows.iter().filter_map(growth).filter(|g| *g > least).collect();
            let most = growths.iter().copied().fold(0.0, f64::max) * 100.0;
            let count = counted(growths.len(), &format!("{what} grew in"), "case")?;
            Some(format!("{count}, by up to {most:.2} %"))
        };
        let what = match self {
            Self::Slower(least) => counted(slower(comparison, *least), "slower:", "case"),
            Self::Mean(least) => mean(comparison, *least),
            Self::Instructions(least) => {
                grew("instructions", &|row| Some(row.largest_growth()), *least)
            }
            Self::InstructionsPerOperation(least) => {
                grew("instructions of an operation", &|row| row.per_operation_growth(), *least)
            }
            Self::InstructionsPerByte(least) => {
                grew("instructions per byte", &|row| row.per_byte_growth, *least)
            }
            Self::InstructionsPerMessage(least) => {
                grew("instructions per message", &|row| row.per_message_growth, *least)
            }
            Self::Refused => {
                let broken = comparison.states.iter().filter(|s| s.change == Change::Broken);
                counted(broken.count(), "measured before and refused or failed now:", "case")
            }
            Self::Missing => {
                let gone = comparison.only.iter().filter(|o| o.only_in == OnlyIn::Base);
                counted(gone.count(), "measured before and not there now:", "case")
            }
            Self::Undecided => counted(comparison.tally.undecided, "undecided:", "case"),
            Self::Never => None,
        }?;
        Some(Found { condition: self.to_string(), what })
    }
}

fn counted(count: usize, what: &str, noun: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{what} {count} {noun}{plural}"))
}

fn slower(comparison: &Comparison, least: f64) -> usize {
    let beyond = |estimate: f64| estimate > 1.0 + least;
    let cases = comparison.cases.iter().filter(|c| c.verdict == Verdict::Slower);
    cases.filter(|c| c.ratio.is_some_and(|r| beyond(r.estimate))).count()
}

fn mean(comparison: &Comparison, least: f64) -> Option<String> {
    let ratios = comparison.overall.iter().filter_map(|summary| summary.ratio);
    let worst = ratios
        .filter(|r| r.low > 1.0 && r.estimate > 1.0 + least)
        .max_by(|a, b| a.estimate.total_cmp(&b.estimate))?;
    Some(format!("the geometric mean takes {:.2} % longer", (worst.estimate - 1.0) * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for text in ["slower", "slower:2%", "instructions:0.5%", "mean:1%", "refused", "never"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
        assert_eq!("slower:0.02".parse(), Ok(Condition::Slower(0.02)));
        assert_eq!("instructions:0%".parse(), Ok(Condition::Instructions(0.0)));
    }

    #[test]
    fn what_is_no_condition_is_told_what_there_is() {
        let error = |text: &str| text.parse::<Condition>().unwrap_err();
        assert!(error("slow").contains("'slow' is none of: slower[:PERCENT], mean"));
        assert!(error("slower:x").contains("'slower:x': write the percentage as in slower:2%"));
        assert!(error("slower:-1%").contains("slower:-1%"));
        assert_eq!(error("refused:2%"), "'refused' takes no percentage");
    }
}
