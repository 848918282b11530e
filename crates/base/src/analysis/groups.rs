//! Two cases of which no samples were taken in pairs: of different runs, or of one run's processes
//! that have nothing to do with each other.

use crate::analysis::estimate::Estimator;
use crate::analysis::order::median;
use crate::analysis::pair::Ratio;
use crate::analysis::rank_sum::{chance_of_at_least, pairs_above, rare_pairs};

/// A quarter (as a logarithm): twice the 13 % that the place of a session moved a case by at most, when all cases
/// of a library shared a process.
const FAR: f64 = 0.223;

/// Costs of a group at least: of four and four, one order in 35 has all of one side above or below.
const LEAST: usize = 4;

/// The costs of one case, one a process, as logarithms. All that is said of two groups asks only that builds of the
/// same speed draw their costs from the same distribution, whatever it is: two kinds of layouts, long tails, few values.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Ascending.
    logs: Vec<f64>,
    cost: f64,
}

impl Group {
    /// `None` of fewer than four costs, or of a cost that is no positive number.
    #[must_use]
    pub fn of(costs: &[f64]) -> Option<Self> {
        let mut logs: Vec<f64> = costs.iter().map(|c| c.ln()).collect();
        if logs.len() < LEAST || logs.iter().any(|log| !log.is_finite()) {
            return None;
        }
        logs.sort_unstable_by(f64::total_cmp);
        let cost = Estimator::TrimmedMean.of(&mut costs.to_vec())?;
        Some(Self { logs, cost })
    }

    /// The typical cost, in the unit of the costs: the trimmed mean, as in estimates.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// How far apart the middle eight tenths of the costs lie (a logarithm).
    #[must_use]
    pub fn spread(&self) -> f64 {
        let tenth = (self.logs.len() - 1) / 10;
        self.logs[self.logs.len() - 1 - tenth] - self.logs[tenth]
    }

    /// Whether every cost lies below every one of the other group by more than layouts were ever seen to move a
    /// case: groups of six are too small for rank sums to say so among hundreds.
    #[must_use]
    pub fn is_far_below(&self, other: &Self) -> bool {
        self.logs[self.logs.len() - 1] + FAR < other.logs[0]
    }

    /// What parts this group from another.
    #[must_use]
    pub fn less<'g>(&'g self, base: &'g Self) -> Difference<'g> {
        Difference { base: &base.logs, new: &self.logs }
    }
}

/// The chance that all of one group lie above all of another alike.
fn all_above(n: usize, m: usize) -> f64 {
    (1..=n).map(|i| i as f64 / (m + i) as f64).product()
}

/// The difference of two groups of logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference<'g> {
    base: &'g [f64],
    new: &'g [f64],
}

impl Difference<'_> {
    /// As a ratio, whose interval misses the true one with the chance `alpha`; `common` is the part (a fraction) by
    /// which a run may have moved all costs of a case. Estimate and interval are those of J. L. Hodges and E. L. Lehmann that belong to the
    /// rank sums. Groups that are too small for `alpha` have an interval that holds every ratio between them, at the
    /// level that this has.
    #[must_use]
    pub fn ratio(&self, alpha: f64, common: f64) -> Ratio {
        let (n, m) = (self.new.len(), self.base.len());
        let mut all = Vec::with_capacity(n * m);
        for new in self.new {
            all.extend(self.base.iter().map(|base| new - base));
        }
        let estimate = median(&mut all).expect("costs in each group");
        let rank = rare_pairs(alpha / 2.0, n, m);
        let level = 1.0 - if rank.is_some() { alpha } else { 2.0 * all_above(n, m) };
        let rank = rank.unwrap_or(0);
        let (low, high) = (all[rank] - common, all[n * m - 1 - rank] + common);
        Ratio { estimate: estimate.exp(), low: low.exp(), high: high.exp(), level }
    }

    /// By how much the whole of the group lies above the base (a logarithm; below it: negative): by what its lower and its
    /// upper quartile do both; 0 where they lie on two sides. Where processes come in two kinds, how many are of which
    /// hangs on the hour and moves the median from one kind to the other; a build that is another one moves both kinds.
    #[must_use]
    pub fn shift(&self) -> f64 {
        let moved = |q| quartile(self.new, q) - quartile(self.base, q);
        let (lower, upper) = (moved(1), moved(3));
        if lower * upper <= 0.0 {
            0.0
        } else if lower.abs() < upper.abs() {
            lower
        } else {
            upper
        }
    }

    /// The chance that two cases of the same speed differ at least so much, in either direction.
    #[must_use]
    pub fn chance(&self, common: f64) -> f64 {
        let slower = pairs_above(self.new, self.base, common);
        let faster = pairs_above(self.base, self.new, common);
        let pairs = slower.max(faster);
        (2.0 * chance_of_at_least(pairs, self.new.len(), self.base.len())).min(1.0)
    }
}

/// Of values in ascending order, the one that so many quarters of them lie below.
fn quartile(sorted: &[f64], quarters: usize) -> f64 {
    sorted[(sorted.len() - 1) * quarters / 4]
}

/// The ratio of the new group's costs to the base's.
#[cfg(test)]
pub(crate) fn ratio_of_groups(base: &[f64], new: &[f64], alpha: f64, common: f64) -> Option<Ratio> {
    Some(Group::of(new)?.less(&Group::of(base)?).ratio(alpha, common))
}

#[cfg(test)]
#[path = "groups_tests.rs"]
mod tests;
