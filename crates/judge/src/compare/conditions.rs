//! What makes a comparison fail: `--fail-if`.

use crate::compare::{Change, Comparison, InstructionRow, OnlyIn};
use base::analysis::Verdict;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use strum::VariantArray as _;

/// What a comparison is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::EnumString, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Sought {
    /// A case that is surely slower, and by more than a fraction by its estimate.
    Slower,
    /// A geometric mean over all shared cases that is surely slower, and by more than a fraction.
    Mean,
    /// Instructions for each byte, for each message or of an operation of a measured size that grew by
    /// more than a fraction.
    Instructions,
    /// Instructions of an operation of a measured size.
    InstructionsPerOperation,
    /// Instructions for each byte.
    InstructionsPerByte,
    /// Instructions for each message.
    InstructionsPerMessage,
    /// A place that depends on the secret now, and did not in the base.
    Leaks,
    /// A case that was measured in the base and is refused or failed now.
    Refused,
    /// A case that was measured in the base and is not there now.
    Missing,
    /// A case that can be called neither the same nor faster nor slower.
    Undecided,
    /// Nothing fails.
    Never,
}

impl Sought {
    /// Whether it takes a fraction.
    fn has_least(self) -> bool {
        self.is_of_instructions() || matches!(self, Self::Slower | Self::Mean)
    }

    /// Whether it is found in counted instructions.
    #[must_use]
    pub fn is_of_instructions(self) -> bool {
        matches!(
            self,
            Self::Instructions
                | Self::InstructionsPerOperation
                | Self::InstructionsPerByte
                | Self::InstructionsPerMessage
        )
    }
}

/// A condition under which a comparison has found something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Condition {
    /// What is sought.
    pub sought: Sought,
    /// The fraction that it must exceed.
    least: f64,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, percent) = match text.split_once(':') {
            Some((name, percent)) => (name, Some(percent)),
            None => (text, None),
        };
        let sought: Sought = name.parse().map_err(|_| none_of(text))?;
        match percent {
            Some(_) if !sought.has_least() => Err(format!("'{name}' takes no percentage")),
            Some(percent) => Ok(Self { sought, least: fraction(text, percent)? }),
            None => Ok(Self { sought, least: 0.0 }),
        }
    }
}

fn none_of(text: &str) -> String {
    let name = |sought: &Sought| {
        let percent = if sought.has_least() { "[:PERCENT]" } else { "" };
        format!("{}{percent}", <&str>::from(sought))
    };
    let names: Vec<String> = Sought::VARIANTS.iter().map(name).collect();
    format!("'{text}' is none of: {}", names.join(", "))
}

/// `2%`, or 0.02; nothing is a percentage as well here.
fn fraction(whole: &str, text: &str) -> Result<f64, String> {
    let found = base::text::units::fraction(text).filter(|f| (0.0..=10.0).contains(f));
    found.ok_or_else(|| {
        format!("'{whole}': write the percentage as in slower:2% or instructions:0.5%")
    })
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sought.into())?;
        if self.least > 0.0 {
            // Percentages are typed with few digits; a fraction's own last ones are noise.
            write!(f, ":{}%", (self.least * 1e8).round() / 1e6)?;
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
        let grew = |what: &str, growth: fn(&InstructionRow) -> Option<f64>| {
            let growths = rows.iter().filter_map(growth).filter(|g| *g > self.least);
            let growths: Vec<f64> = growths.collect();
            let most = growths.iter().copied().fold(0.0, f64::max) * 100.0;
            let count = counted(growths.len(), &format!("{what} grew in"))?;
            Some(format!("{count}, by up to {most:.2} %"))
        };
        let what = match self.sought {
            Sought::Slower => counted(slower(comparison, self.least), "slower:"),
            Sought::Mean => mean(comparison, self.least),
            Sought::Instructions => grew("instructions", |row| Some(row.largest_growth())),
            Sought::InstructionsPerOperation => {
                grew("instructions of an operation", InstructionRow::per_operation_growth)
            }
            Sought::InstructionsPerByte => grew("instructions per byte", |row| row.per_byte_growth),
            Sought::InstructionsPerMessage => {
                grew("instructions per message", |row| row.per_message_growth)
            }
            Sought::Leaks => leaks(comparison),
            Sought::Refused => {
                let broken = comparison.states.iter().filter(|s| s.change == Change::Broken);
                counted(broken.count(), "measured before and refused or failed now:")
            }
            Sought::Missing => {
                let gone = comparison.only.iter().filter(|o| o.only_in == OnlyIn::Base);
                counted(gone.count(), "measured before and not there now:")
            }
            Sought::Undecided => counted(comparison.tally.undecided, "undecided:"),
            Sought::Never => None,
        }?;
        Some(Found { condition: self.to_string(), what })
    }
}

fn counted(count: usize, what: &str) -> Option<String> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("{what} {count} case{plural}"))
}

fn slower(comparison: &Comparison, least: f64) -> usize {
    let beyond = |estimate: f64| estimate > 1.0 + least;
    let cases = comparison.cases.iter().filter(|c| c.verdict == Verdict::Slower);
    cases.filter(|c| c.ratio.is_some_and(|r| beyond(r.estimate))).count()
}

fn leaks(comparison: &Comparison) -> Option<String> {
    let worse = comparison.leaks.iter().filter(|row| row.is_worse());
    let names: Vec<&str> = worse.map(|row| row.algorithm.as_str()).collect();
    let more =
        if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
    names.first().map(|name| format!("newly depends on the secret: {name}{more}"))
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
        assert_eq!("slower:0.02".parse::<Condition>(), "slower:2%".parse());
        assert_eq!("instructions:0%".parse::<Condition>(), "instructions".parse());
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
