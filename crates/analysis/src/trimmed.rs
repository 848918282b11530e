//! The trimmed mean and its interval.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Confidence of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// The part of the values that is left out at each end: enough that one odd process in ten or more
/// moves nothing, little enough that two or three layouts which really differ all count. A median
/// would jump between them: where half the processes run at one speed and half at another it never
/// settles.
pub(crate) const TRIM: f64 = 0.1;

/// An estimate with its interval of 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// 10 % trimmed mean over processes of each process's median; the median of those where few samples
    /// are clean.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// Half the interval's width as a fraction of the middle.
    #[must_use]
    pub fn precision(&self) -> f64 {
        (self.high - self.low) / 2.0 / self.median
    }
}

/// The trimmed mean with its interval; `None` of fewer than two values. Sorts its argument.
///
/// Interval of J. W. Tukey and D. H. McLaughlin, Sankhya A 25 (1963), from the winsorised variance
/// and Student's t with as many degrees of freedom as values are left, less one: R. R. Wilcox,
/// Introduction to Robust Estimation and Hypothesis Testing, 3rd ed., §4.3.
pub(crate) fn trimmed_mean(values: &mut [f64]) -> Option<Estimate> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let trim = (n as f64 * TRIM) as usize;
    let kept = &values[trim..n - trim];
    let middle = kept.iter().sum::<f64>() / kept.len() as f64;
    let (lowest, highest) = (kept[0], kept[kept.len() - 1]);
    let winsorised = || values.iter().map(|v| v.clamp(lowest, highest));
    let mean = winsorised().sum::<f64>() / n as f64;
    let variance = winsorised().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
    let freedom = (kept.len() - 1) as f64;
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(f64::midpoint(1.0, CONFIDENCE));
    let half = t * variance.sqrt() * (n as f64).sqrt() / kept.len() as f64;
    Some(Estimate { median: middle, low: middle - half, high: middle + half })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without trimming (fewer than ten values) it is Student's interval: for 1, 2, 3, 4, 5 the mean
    /// is 3, the standard error 0.7071 and t(4, 0.975) = 2.7764 (any table).
    #[test]
    fn few_values_give_students_interval() {
        let e = trimmed_mean(&mut [5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(e.median, 3.0);
        assert!((e.high - (3.0 + 2.7764 * std::f64::consts::FRAC_1_SQRT_2)).abs() < 1e-3, "{e:?}");
        assert!((e.precision() - 2.7764 * std::f64::consts::FRAC_1_SQRT_2 / 3.0).abs() < 1e-3);
    }

    /// Ten values: one is cut at each end and counts as its neighbour in the variance. By hand for
    /// 0, 2, 3, 4, 5, 6, 7, 8, 9, 100: mean of the middle eight 5.5; winsorised values 2, 2, 3 … 9, 9
    /// have variance 7.3889; t(7, 0.975) = 2.3646; half = 2.3646 × √7.3889 × √10 / 8 = 2.5408.
    #[test]
    fn an_odd_value_in_ten_moves_nothing() {
        let mut values = [0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0];
        let e = trimmed_mean(&mut values).unwrap();
        assert_eq!(e.median, 5.5);
        assert!((e.high - e.median - 2.5408).abs() < 1e-3, "{e:?}");
    }

    #[test]
    fn two_layouts_of_equal_weight_settle_between_them() {
        let mut values: Vec<f64> = (0..200).map(|i| if i % 2 == 0 { 1.0 } else { 1.1 }).collect();
        let e = trimmed_mean(&mut values).unwrap();
        assert!((e.median - 1.05).abs() < 1e-9 && e.precision() < 0.01, "{e:?}");
    }

    #[test]
    fn one_value_is_no_estimate() {
        assert_eq!(trimmed_mean(&mut [1.0]), None);
    }
}
