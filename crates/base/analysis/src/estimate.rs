//! The median with its interval.

use crate::many::BETWEEN_RUNS;
use crate::order::{median, median_rank};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Confidence of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Median over processes of each one's median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Half the interval's width as a fraction of the middle.
    #[must_use]
    pub fn precision(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }

    /// What is known exactly, or what nobody knows the interval of.
    #[must_use]
    pub fn exactly(median: f64) -> Self {
        Self { median, low: median, high: median }
    }
}

/// The median with the interval of order statistics, which holds whatever the distribution, and with what a run's
/// costs may share, which its processes cannot show; the two independent errors add by their squares. `None` of fewer
/// than two values. Fewer than six can give no interval of 95 %: then it is from the least to the most.
/// Sorts its argument.
pub(crate) fn median_with_interval(values: &mut [f64]) -> Option<Estimate> {
    let middle = median(values)?;
    let last = values.len().checked_sub(2)? + 1;
    let rank = median_rank(values.len()).unwrap_or(0);
    let shared = middle * BETWEEN_RUNS;
    let (below, above) = (middle - values[rank], values[last - rank] - middle);
    let (low, high) = (middle - below.hypot(shared), middle + above.hypot(shared));
    Some(Estimate { median: middle, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_values_give_the_third_and_the_tenth() {
        let mut values: Vec<f64> = (1..=12).rev().map(f64::from).collect();
        let e = median_with_interval(&mut values).unwrap();
        assert_eq!(e.median, 6.5);
        assert!((e.low - 3.0).abs() < 1e-4 && (e.high - 10.0).abs() < 1e-4, "{e:?}");
        assert!((e.precision() - 3.5 / 6.5).abs() < 1e-4);
    }

    #[test]
    fn two_layouts_of_equal_weight_have_an_interval_that_spans_both() {
        let mut values: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1.0 } else { 1.1 }).collect();
        let e = median_with_interval(&mut values).unwrap();
        assert!((e.low - 1.0).abs() < 1e-4 && (e.high - 1.1).abs() < 1e-4, "{e:?}");
    }

    #[test]
    fn an_odd_process_in_twelve_moves_nothing() {
        let mut values = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        let e = median_with_interval(&mut values).unwrap();
        assert_eq!(e, Estimate { median: 1.0, low: 1.0 - BETWEEN_RUNS, high: 1.0 + BETWEEN_RUNS });
    }

    #[test]
    fn one_value_is_no_estimate() {
        assert_eq!(median_with_interval(&mut [1.0]), None);
        assert_eq!(median_with_interval(&mut [1.0, 2.0]).map(|e| e.median), Some(1.5));
    }
}
