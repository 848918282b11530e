//! Two cases of which no samples were taken in pairs: of different runs, or of one run's processes
//! that have nothing to do with each other.

use crate::pair::Ratio;
use crate::trimmed::TRIM;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

/// Scatter between processes below which a group is not believed to lie (a fraction): six values
/// that agree by luck, on one of two layouts, would else be sure of anything.
const LEAST_SCATTER: f64 = 0.002;

/// The ratio of the new group's costs to the base's, one cost a process; `alpha` is the chance that
/// the interval misses the true one. `common` is the error, a fraction, that all costs of a group
/// may share: two runs each have a scale error of the core clock. `None` of fewer than two costs in
/// a group, or of a cost that is no positive number.
///
/// It takes scatter between processes for roughly normal; where layouts come in two kinds, six
/// processes can agree by luck, and pairs ([`crate::ratio_of_pairs`]) are the surer way.
#[must_use]
pub fn ratio_of_groups(base: &[f64], new: &[f64], alpha: f64, common: f64) -> Option<Ratio> {
    let difference = Group::of(new)?.less(&Group::of(base)?);
    Some(difference.ratio(alpha, common))
}

/// The costs of one case, one a process, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    mean: f64,
    /// Squared standard error of the mean.
    squared_error: f64,
    freedom: f64,
}

impl Group {
    /// `None` of fewer than two costs, or of a cost that is no positive number.
    ///
    /// The mean leaves out a tenth at each end, as the estimate of a measurement does; the error is
    /// that of K. K. Yuen (Biometrika 61, 1974), from the winsorised variance.
    #[must_use]
    pub fn of(costs: &[f64]) -> Option<Self> {
        let mut logs: Vec<f64> = costs.iter().map(|c| c.ln()).collect();
        if logs.len() < 2 || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        logs.sort_unstable_by(f64::total_cmp);
        let trim = (logs.len() as f64 * TRIM) as usize;
        let kept = &logs[trim..logs.len() - trim];
        let (lowest, highest) = (kept[0], kept[kept.len() - 1]);
        let (n, left) = (logs.len() as f64, kept.len() as f64);
        let winsorised = || logs.iter().map(|log| log.clamp(lowest, highest));
        let middle = winsorised().sum::<f64>() / n;
        let variance = winsorised().map(|log| (log - middle).powi(2)).sum::<f64>() / (n - 1.0);
        let variance = variance.max(LEAST_SCATTER.powi(2));
        Some(Self {
            mean: kept.iter().sum::<f64>() / left,
            squared_error: (n - 1.0) * variance / (left * (left - 1.0)),
            freedom: left - 1.0,
        })
    }

    /// The typical cost: a trimmed geometric mean, in the unit of the costs.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.mean.exp()
    }

    /// What parts this group from another.
    #[must_use]
    pub fn less(&self, base: &Self) -> Difference {
        let (a, b) = (base.squared_error, self.squared_error);
        Difference {
            log: self.mean - base.mean,
            error: (a + b).sqrt(),
            // F. E. Satterthwaite, Biometrics Bulletin 2 (1946).
            freedom: (a + b).powi(2) / (a * a / base.freedom + b * b / self.freedom),
        }
    }
}

/// The difference of two groups' mean logarithms, with what is known of its error: B. L. Welch,
/// Biometrika 34 (1947).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    log: f64,
    error: f64,
    freedom: f64,
}

impl Difference {
    /// As a ratio, whose interval misses the true one with the chance `alpha`; `common` as in
    /// [`ratio_of_groups`].
    #[must_use]
    pub fn ratio(&self, alpha: f64, common: f64) -> Ratio {
        let half = self.student().inverse_cdf(1.0 - alpha / 2.0) * self.error + common;
        Ratio {
            estimate: self.log.exp(),
            low: (self.log - half).exp(),
            high: (self.log + half).exp(),
        }
    }

    /// The chance that two cases of the same speed differ at least so much, in either direction.
    #[must_use]
    pub fn chance(&self, common: f64) -> f64 {
        let surplus = (self.log.abs() - common).max(0.0);
        // From the lower tail: near 1 a double has no digits left for what is missing to it.
        2.0 * self.student().cdf(-surplus / self.error)
    }

    fn student(&self) -> StudentsT {
        StudentsT::new(0.0, 1.0, self.freedom).expect("at least one degree of freedom")
    }
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
