//! What processes cost together, with its interval.

use crate::analysis::many::BETWEEN_RUNS;
use crate::analysis::order::{median, median_rank};
use crate::analysis::summary::MIN_PROCESSES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Confidence of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// What processes cost together, each by its median: the mean without the lowest and the highest fifth (since
    /// 1.6; before, the median. The name is still that of the median).
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

/// How an estimate is made of what processes cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The mean without the lowest and the highest fifth, with the interval of K. K. Yuen (Biometrika 61, 1974,
    /// 165-170).
    TrimmedMean,
    /// The median, with the interval of order statistics: records before format 1.6.
    Median,
}

/// The fraction that the trimmed mean leaves out at either end.
const TRIMMED: f64 = 0.2;
/// Of fewer processes of two kinds all that are kept may be of one kind: then the interval holds the median's, too.
const FEW: usize = 12;

impl Estimator {
    /// The estimate, and its interval with what a run's costs may share, which its processes cannot show; the two
    /// independent errors add by their squares. `None` of fewer than two values. Fewer than six can give no interval
    /// of 95 %: then it is from the least to the most. Sorts its argument.
    pub(crate) fn with_interval(self, values: &mut [f64]) -> Option<Estimate> {
        let last = values.len().checked_sub(2)? + 1;
        let middle = self.of(values)?;
        let rank = median_rank(values.len()).unwrap_or(0);
        let (mut low, mut high) = (values[rank], values[last - rank]);
        if self == Self::TrimmedMean && values.len() >= MIN_PROCESSES {
            let half = half_width(values);
            let is_few = values.len() < FEW;
            low = if is_few { low.min(middle - half) } else { middle - half };
            high = if is_few { high.max(middle + half) } else { middle + half };
        }
        let shared = middle * BETWEEN_RUNS;
        let (below, above) = (middle - low, high - middle);
        Some(Estimate {
            median: middle,
            low: middle - below.hypot(shared),
            high: middle + above.hypot(shared),
        })
    }

    /// The estimate alone; `None` of nothing. Sorts its argument.
    pub fn of(self, values: &mut [f64]) -> Option<f64> {
        if self == Self::Median {
            return median(values);
        }
        values.sort_unstable_by(f64::total_cmp);
        let kept = kept(values);
        (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
    }
}

/// The values that the trimmed mean is of. Of five and more at least one is left out at either end: a process that met
/// something that nothing marks is no part of what a library costs.
fn kept(sorted: &[f64]) -> &[f64] {
    let cut = (sorted.len() as f64 * TRIMMED) as usize;
    &sorted[cut..sorted.len() - cut]
}

/// Half the width of the trimmed mean's interval: the standard error by the variance of the values with those left out
/// moved to the nearest kept one, times the quantile of Student's t over the kept ones.
fn half_width(sorted: &[f64]) -> f64 {
    let (n, kept) = (sorted.len() as f64, kept(sorted));
    let (first, last) = (kept[0], kept[kept.len() - 1]);
    let moved = || sorted.iter().map(|v| v.clamp(first, last));
    let mean = moved().sum::<f64>() / n;
    let squares = moved().map(|v| (v - mean).powi(2)).sum::<f64>();
    let h = kept.len() as f64;
    let t = StudentsT::new(0.0, 1.0, h - 1.0).expect("two values or more are kept");
    t.inverse_cdf(0.5 + CONFIDENCE / 2.0) * (squares / (h * (h - 1.0))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(values: &mut [f64]) -> Estimate {
        Estimator::TrimmedMean.with_interval(values).unwrap()
    }

    #[test]
    fn the_interval_of_fifteen_values_is_the_one_that_the_formula_gives() {
        let e = trimmed(&mut (1..=15).map(f64::from).collect::<Vec<_>>());
        // 4 to 12 are kept; 4, 4, 4, 4, 5, … 12, 12, 12 have squares of 156; t of 8 degrees of freedom is 2.3060.
        let half = 2.306_004 * (156.0_f64 / (9.0 * 8.0)).sqrt();
        assert_eq!(e.median, 8.0);
        assert!((e.high - 8.0 - half).abs() < 1e-4 && (8.0 - e.low - half).abs() < 1e-4, "{e:?}");
    }

    #[test]
    fn of_few_processes_the_interval_holds_the_medians_too() {
        let e = trimmed(&mut [100.0, 100.0, 100.0, 100.0, 100.0, 110.0]);
        assert!(e.median == 100.0 && e.high >= 110.0, "{e:?}");
    }

    #[test]
    fn processes_of_two_kinds_move_the_estimate_by_their_share_and_not_from_one_kind_to_the_other()
    {
        let of = |slow: usize| {
            let mut values: Vec<f64> =
                (0..12).map(|i| if i < slow { 110.0 } else { 100.0 }).collect();
            (trimmed(&mut values.clone()).median, Estimator::Median.of(&mut values).unwrap())
        };
        assert_eq!((of(5).1, of(7).1), (100.0, 110.0), "the median goes from one end to the other");
        assert!(of(7).0 - of(5).0 < 3.0, "{:?} {:?}", of(5), of(7));
    }

    #[test]
    fn an_odd_process_in_twelve_moves_nothing() {
        let mut values = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        let e = trimmed(&mut values);
        assert_eq!(e, Estimate { median: 1.0, low: 1.0 - BETWEEN_RUNS, high: 1.0 + BETWEEN_RUNS });
    }

    #[test]
    fn an_interval_of_fewer_than_six_values_spans_them_and_one_value_is_no_estimate() {
        let e = trimmed(&mut [1.0, 2.0, 4.0, 3.0, 9.0]);
        assert_eq!(e.median, 3.0);
        assert!((e.low - 1.0).abs() < 1e-4 && (e.high - 9.0).abs() < 1e-4, "{e:?}");
        assert_eq!(Estimator::TrimmedMean.with_interval(&mut [1.0]), None);
        assert_eq!(Estimator::TrimmedMean.of(&mut [1.0]), Some(1.0));
        assert_eq!(Estimator::TrimmedMean.of(&mut []), None);
    }

    #[test]
    fn the_median_of_earlier_records_keeps_its_interval() {
        let mut values: Vec<f64> = (1..=12).rev().map(f64::from).collect();
        let e = Estimator::Median.with_interval(&mut values).unwrap();
        assert_eq!(e.median, 6.5);
        assert!((e.low - 3.0).abs() < 1e-4 && (e.high - 10.0).abs() < 1e-4, "{e:?}");
    }
}
