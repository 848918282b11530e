//! Two cases of different runs held against each other: no pairs, because nothing was in turn.

use crate::pair::Ratio;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Scatter between processes below which a group is not believed to lie (a fraction): six values
/// that agree by luck, on one of two layouts, would else be sure of anything.
const LEAST_SCATTER: f64 = 0.002;

/// The ratio of the new group's costs to the base's, one cost a process; `alpha` is the chance that
/// the interval misses the true one. `common` is the error, a fraction, that all costs of a group
/// may share: two runs each have a scale error of the core clock. `None` of fewer than two costs in
/// a group, or of a cost that is no positive number.
///
/// B. L. Welch's interval (Biometrika 34, 1947) of the difference of mean logarithms. It takes
/// scatter between processes for roughly normal; where layouts come in two kinds, six processes can
/// agree by luck, and pairs ([`crate::ratio_of_pairs`]) are the surer way.
#[must_use]
pub fn ratio_of_groups(base: &[f64], new: &[f64], alpha: f64, common: f64) -> Option<Ratio> {
    let (base, new) = (Group::of(base)?, Group::of(new)?);
    let difference = new.mean - base.mean;
    let (a, b) = (base.variance / base.n, new.variance / new.n);
    // F. E. Satterthwaite, Biometrics Bulletin 2 (1946).
    let freedom = (a + b).powi(2) / (a * a / (base.n - 1.0) + b * b / (new.n - 1.0));
    let t = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - alpha / 2.0);
    let half = t * (a + b).sqrt() + common;
    Some(Ratio {
        estimate: difference.exp(),
        low: (difference - half).exp(),
        high: (difference + half).exp(),
    })
}

/// Logarithms of a group's costs.
struct Group {
    n: f64,
    mean: f64,
    variance: f64,
}

impl Group {
    fn of(costs: &[f64]) -> Option<Self> {
        let logs: Vec<f64> = costs.iter().map(|c| c.ln()).collect();
        if logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
        Some(Self { n, mean, variance: variance.max(LEAST_SCATTER.powi(2)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::Verdict;
    use crate::simulated::Random;

    /// Two groups with equal variances and sizes: Welch's interval is Student's. Means 1 and 2 in
    /// logarithms, variance 2.5, n 5: half = t(8, 0.975) × √(2.5 / 5 × 2) = 2.3060.
    #[test]
    fn equal_groups_give_students_interval() {
        let base = [-1.0, 0.0, 1.0, 2.0, 3.0].map(f64::exp);
        let new = base.map(|c| c * std::f64::consts::E);
        let r = ratio_of_groups(&base, &new, 0.05, 0.0).unwrap();
        assert!((r.estimate.ln() - 1.0).abs() < 1e-9, "{r:?}");
        assert!((r.high.ln() - 3.3060).abs() < 1e-3 && (r.low.ln() + 1.3060).abs() < 1e-3, "{r:?}");
        let wider = ratio_of_groups(&base, &new, 0.05, 0.1).unwrap();
        assert!((wider.high.ln() - r.high.ln() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn six_processes_each_are_seldom_wrong() {
        const TRIALS: usize = 20_000;
        let mut random = Random(5);
        let mut group = || -> Vec<f64> { (0..6).map(|_| 1.0 + 0.004 * random.normal()).collect() };
        let wrong = (0..TRIALS).filter(|_| {
            let ratio = ratio_of_groups(&group(), &group(), 0.001, 0.0).unwrap();
            matches!(ratio.verdict(0.0), Verdict::Faster | Verdict::Slower)
        });
        // One in a thousand, and three standard deviations of counting.
        let wrong = wrong.count();
        assert!(wrong <= 20 + 14, "{wrong} of {TRIALS}");
    }

    #[test]
    fn values_that_agree_by_luck_are_not_believed_to_the_last_digit() {
        let r = ratio_of_groups(&[1.0; 6], &[1.001; 6], 0.001, 0.0).unwrap();
        assert!(r.low < 1.0, "{r:?}");
        assert_eq!(ratio_of_groups(&[1.0], &[1.0, 1.0], 0.001, 0.0), None);
        assert_eq!(ratio_of_groups(&[1.0, 0.0], &[1.0, 1.0], 0.001, 0.0), None);
    }
}
