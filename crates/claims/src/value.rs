//! Values of expressions: numbers with a unit and an interval, and truths that may be undecided.

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The estimate.
    pub mid: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// A number that is known exactly.
    #[must_use]
    pub fn exact(mid: f64) -> Self {
        Self { low: mid, mid, high: mid }
    }

    /// Half of its width as a fraction of the estimate.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        if self.mid == 0.0 { 0.0 } else { (self.high - self.low) / 2.0 / self.mid.abs() }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, mid: self.mid + other.mid, high: self.high + other.high }
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        Self { low: self.low - other.high, mid: self.mid - other.mid, high: self.high - other.low }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let (low, high) = ends([
            self.low * other.low,
            self.low * other.high,
            self.high * other.low,
            self.high * other.high,
        ]);
        Self { low, mid: self.mid * other.mid, high }
    }

    /// `None` where the other may be zero.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        if other.low <= 0.0 && other.high >= 0.0 {
            return None;
        }
        let (low, high) = ends([
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ]);
        Some(Self { low, mid: self.mid / other.mid, high })
    }
}

fn ends(candidates: [f64; 4]) -> (f64, f64) {
    let low = candidates.into_iter().fold(f64::INFINITY, f64::min);
    (low, candidates.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// What an expression is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(Interval, Unit),
    /// True, false, or undecided because the intervals overlap.
    Truth(Option<bool>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(interval, unit) => {
                f.write_str(&digits(interval.mid))?;
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
        }
    }
}

/// Four digits, which no interval here is narrower than, or all before the point.
fn digits(mid: f64) -> String {
    let decimals: usize = match mid.abs() {
        m if m >= 1000.0 => 0,
        m if m >= 100.0 => 1,
        m if m >= 10.0 => 2,
        0.0 => 0,
        m if m >= 0.1 => 3,
        _ => 4,
    };
    let number = format!("{mid:.decimals$}");
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

    fn interval(low: f64, mid: f64, high: f64) -> Interval {
        Interval { low, mid, high }
    }

    #[test]
    fn intervals_widen_as_they_are_computed_with() {
        let (a, b) = (interval(9.0, 10.0, 11.0), interval(1.0, 2.0, 4.0));
        assert_eq!(a.plus(b), interval(10.0, 12.0, 15.0));
        assert_eq!(a.minus(b), interval(5.0, 8.0, 10.0));
        assert_eq!(a.times(b), interval(9.0, 20.0, 44.0));
        assert_eq!(a.over(b), Some(interval(2.25, 5.0, 11.0)));
        assert_eq!(a.over(interval(-1.0, 0.0, 1.0)), None);
        let negative = interval(-2.0, -1.0, 3.0);
        assert_eq!(negative.times(b), interval(-8.0, -2.0, 12.0));
    }

    #[test]
    fn numbers_are_shown_with_unit_and_interval() {
        let shown = |mid, half: f64, unit| {
            let i = interval(mid - mid * half, mid, mid + mid * half);
            Value::Number(i, unit).to_string()
        };
        assert_eq!(shown(6338.4, 0.004, Unit::MbPerSecond), "6338 MB/s ±0.4 %");
        assert_eq!(shown(0.3912, 0.0, Unit::InstructionsPerByte), "0.391 ins/B");
        assert_eq!(shown(14.49, 0.0001, Unit::One), "14.49 ±<0.1 %");
        assert_eq!(Value::Truth(None).to_string(), "undecided");
    }
}
