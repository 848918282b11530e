//! Values of expressions: numbers with a unit and an interval, truths that may be undecided, words.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A plain number, such as a ratio.
    One,
    /// Megabytes (10^6 bytes) a second.
    MbPerSecond,
    /// Core cycles per byte.
    CyclesPerByte,
    /// Instructions per byte.
    InstructionsPerByte,
    /// Microseconds.
    Microseconds,
}

impl Unit {
    /// As it is written after a number; empty for plain ones.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::One => "",
            Self::MbPerSecond => "MB/s",
            Self::CyclesPerByte => "c/B",
            Self::InstructionsPerByte => "ins/B",
            Self::Microseconds => "us",
        }
    }
}

/// A number and the interval that it lies in, at 95 % where it was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimate.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// A number that is known exactly.
    #[must_use]
    pub fn exact(median: f64) -> Self {
        Self { median, low: median, high: median }
    }

    /// Half of its width.
    #[must_use]
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half of its width as a fraction of the estimate.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { self.half() / self.median.abs() }
    }

    /// Whether it may be zero.
    #[must_use]
    pub fn has_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// Everything between the extremes of what both can be: `how` rises or falls in each.
    #[must_use]
    pub fn with(self, other: Self, how: fn(f64, f64) -> f64) -> Self {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low)];
        let ends = ends.map(|(a, b)| how(a, b));
        let last = how(self.high, other.high);
        Self {
            median: how(self.median, other.median),
            low: ends.into_iter().fold(last, f64::min),
            high: ends.into_iter().fold(last, f64::max),
        }
    }

    /// A sum or difference of two whose errors do not depend on each other.
    #[must_use]
    pub fn independent(self, other: Self, how: fn(f64, f64) -> f64) -> Self {
        let half = self.half().hypot(other.half());
        let median = how(self.median, other.median);
        Self { median, low: median - half, high: median + half }
    }
}

/// What an expression is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Truth,
    /// A number with this unit.
    Number(Unit),
    /// A word.
    Word,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truth => "a condition",
            Self::Number(Unit::One) => "a plain number",
            Self::Number(unit) => unit.symbol(),
            Self::Word => "a word",
        })
    }
}

/// What an expression is worth.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(Interval, Unit),
    /// True, false, or undecided because the intervals overlap.
    Truth(Option<bool>),
    /// A word.
    Word(String),
    /// One of ordered words, the least first.
    Level(usize, &'static [&'static str]),
}

impl Value {
    /// What it is of.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Number(_, unit) => Kind::Number(*unit),
            Self::Truth(_) => Kind::Truth,
            Self::Word(_) | Self::Level(..) => Kind::Word,
        }
    }

    /// The number, where it is one.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        match self {
            Self::Number(interval, _) => Some(*interval),
            _ => None,
        }
    }

    /// The places of this level and of a word in the order of levels.
    pub(super) fn ranks(&self, other: &Self) -> Option<(Interval, Interval)> {
        let Self::Level(rank, names) = self else { return None };
        let other = names.iter().position(|name| *name == other.to_string())?;
        Some((Interval::exact(*rank as f64), Interval::exact(other as f64)))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(interval, unit) => {
                f.write_str(&digits(interval.median))?;
                if *unit != Unit::One {
                    write!(f, " {}", unit.symbol())?;
                }
                match interval.half_width() * 100.0 {
                    0.0 => Ok(()),
                    percent if percent < 0.05 => f.write_str(" ±<0.1 %"),
                    percent => write!(f, " ±{percent:.1} %"),
                }
            }
            Self::Truth(Some(true)) => f.write_str("yes"),
            Self::Truth(Some(false)) => f.write_str("no"),
            Self::Truth(None) => f.write_str("undecided"),
            Self::Word(word) => f.write_str(word),
            Self::Level(rank, names) => f.write_str(names[*rank]),
        }
    }
}

/// Four digits, which no interval here is narrower than, or all before the point.
fn digits(median: f64) -> String {
    let decimals: usize = match median.abs() {
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        0.0 => 0,
        m if m >= 0.1 => 3,
        _ => 4,
    };
    let number = format!("{median:.decimals$}");
    // 1371.97 MB/s is shown as 1372, and 8.000 as 8.
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, median: f64, high: f64) -> Interval {
        Interval { median, low, high }
    }

    #[test]
    fn intervals_widen_as_they_are_computed_with() {
        let (a, b) = (interval(9.0, 10.0, 11.0), interval(1.0, 2.0, 4.0));
        assert_eq!(a.with(b, |a, b| a + b), interval(10.0, 12.0, 15.0));
        assert_eq!(a.with(b, |a, b| a - b), interval(5.0, 8.0, 10.0));
        assert_eq!(a.with(b, |a, b| a * b), interval(9.0, 20.0, 44.0));
        assert_eq!(a.with(b, |a, b| a / b), interval(2.25, 5.0, 11.0));
        assert_eq!(interval(-2.0, -1.0, 3.0).with(b, |a, b| a * b), interval(-8.0, -2.0, 12.0));
    }

    #[test]
    fn errors_that_do_not_depend_on_each_other_add_as_such() {
        let around = |median, half| interval(median - half, median, median + half);
        let sum = around(10.0, 3.0).independent(around(20.0, 4.0), |a, b| a + b);
        assert_eq!(sum, around(30.0, 5.0));
    }

    #[test]
    fn numbers_are_shown_with_unit_and_interval() {
        let shown = |median, half: f64, unit| {
            let i = interval(median - median * half, median, median + median * half);
            Value::Number(i, unit).to_string()
        };
        assert_eq!(shown(6338.4, 0.004, Unit::MbPerSecond), "6338 MB/s ±0.4 %");
        assert_eq!(shown(0.3912, 0.0, Unit::InstructionsPerByte), "0.391 ins/B");
        assert_eq!(shown(14.49, 0.0001, Unit::One), "14.49 ±<0.1 %");
        assert_eq!(Value::Truth(None).to_string(), "undecided");
    }
}
