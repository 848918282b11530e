//! Cases held against each other: which one takes longer, at a stated chance of being wrong. Of samples taken
//! in pairs (by Wilcoxon's signed ranks); of groups that have nothing to do with each other (by his rank sums,
//! exact for whatever distribution they have, if it is the same one: M. Hollander, D. A. Wolfe, E. Chicken,
//! Nonparametric Statistical Methods, 3rd ed., §4.1 to 4.3); and of many comparisons at once.

use crate::analysis::{Estimator, median};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

/// The chance that two cases of the same speed are called faster or slower, over all looks.
pub const FALSE_VERDICTS: f64 = 0.001;

/// One look at the pairs so far, with the part of [`FALSE_VERDICTS`] that it may spend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Pairs of processes that there must be.
    pub pairs: usize,
    /// The chance of a false verdict that this look spends.
    pub alpha: f64,
}

/// When a comparison may end. Each look more is a chance more to be wrong by luck, so each has a
/// part of the whole chance (alpha spending: K. K. G. Lan, D. L. DeMets, Biometrika 70, 1983), and
/// the parts add up to it (Bonferroni: they do so whatever one look has to do with the next).
///
/// Twelve pairs are the fewest for which signed ranks can be as sure as one in two thousand: all of
/// one sign, 2 / 2^12. That finds a difference of three times what pairs scatter by, and takes half of
/// the chance: most comparisons end there. Twenty-four find one of the scatter itself, the last look one
/// of a third of it. Each has about half as many pairs more than the one before.
pub const LOOKS: [Look; 8] = [
    Look { pairs: 12, alpha: 0.0005 },
    Look { pairs: 16, alpha: 0.000_14 },
    Look { pairs: 24, alpha: 0.000_12 },
    Look { pairs: 36, alpha: 0.000_08 },
    Look { pairs: 56, alpha: 0.000_05 },
    Look { pairs: 84, alpha: 0.000_04 },
    Look { pairs: 128, alpha: 0.000_04 },
    Look { pairs: 192, alpha: 0.000_03 },
];

/// The look for a comparison whose time is over between two looks: at all pairs that it has, with all
/// of the chance that was not spent. `None` where there are no pairs but those of the look before.
///
/// When the time is over hangs on how long pairs take, not on which of a pair is slower, so this is a
/// look like any other, and the parts add up as before.
pub fn last_look(pairs: usize) -> Option<Look> {
    let before = LOOKS.iter().take_while(|look| look.pairs <= pairs);
    let (count, spent) = before.clone().fold((0, 0.0), |(_, sum), l| (l.pairs, sum + l.alpha));
    let left = FALSE_VERDICTS - spent;
    (count > 0 && count < pairs && count < LOOKS[LOOKS.len() - 1].pairs)
        .then_some(Look { pairs, alpha: left })
}

/// What is said of the new case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Verdict {
    /// The difference is surely within the margin.
    Same,
    /// It takes less time, beyond the margin.
    Faster,
    /// It takes more time, beyond the margin.
    Slower,
    /// None of these can be said.
    Undecided,
}

impl Verdict {
    /// The word for it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The new case's cost over the base's, with an interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// Above 1 where the new case takes longer.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The chance that the interval holds the true ratio: 0.95.
    pub level: f64,
}

impl Ratio {
    /// Of what does not scatter.
    pub fn exact(ratio: f64) -> Self {
        Self { estimate: ratio, low: ratio, high: ratio, level: 1.0 }
    }

    /// What it says, where differences up to `margin` (a fraction) do not matter.
    ///
    /// `Faster` and `Slower` need an interval without 1 in it, so that is where the chance of a
    /// false verdict lies, and an estimate beyond the margin. `Same` needs the whole interval within
    /// the margin: two one-sided tests (D. J. Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).
    pub fn verdict(&self, margin: f64) -> Verdict {
        let (least, most) = (1.0 / (1.0 + margin), 1.0 + margin);
        if self.low >= least && self.high <= most {
            Verdict::Same
        } else if self.low > 1.0 && self.estimate > most {
            Verdict::Slower
        } else if self.high < 1.0 && self.estimate < least {
            Verdict::Faster
        } else {
            Verdict::Undecided
        }
    }
}

/// The ratio over pairs `(base, new)` of costs, each of one process of either case that were sampled
/// in turn; `alpha` is the chance that the interval misses the true one. `None` where there are too
/// few pairs for that, or a cost that is no positive number.
///
/// Between two processes of the same build only luck decides which one is slower, so the logarithms
/// of their ratios scatter symmetrically, whatever layouts do to a single one's speed. That is all
/// that the signed ranks ask for.
pub fn ratio_of_pairs(pairs: &[(f64, f64)], alpha: f64) -> Option<Ratio> {
    let logs: Vec<f64> = pairs.iter().map(|(base, new)| (new / base).ln()).collect();
    if logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let [estimate, low, high] = middle(&logs, alpha)?.map(f64::exp);
    Some(Ratio { estimate, low, high, level: 1.0 - alpha })
}

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
    pub fn cost(&self) -> f64 {
        self.cost
    }

    /// How far apart the middle eight tenths of the costs lie (a logarithm).
    pub fn spread(&self) -> f64 {
        let tenth = (self.logs.len() - 1) / 10;
        self.logs[self.logs.len() - 1 - tenth] - self.logs[tenth]
    }

    /// Whether every cost lies below every one of the other group by more than layouts were ever seen to move a
    /// case: groups of six are too small for rank sums to say so among hundreds.
    fn is_far_below(&self, other: &Self) -> bool {
        self.logs[self.logs.len() - 1] + FAR < other.logs[0]
    }

    /// Whether it costs less than another group: with the chance of 1 − `alpha` at least, or by far.
    pub fn is_surely_below(&self, other: &Self, alpha: f64) -> bool {
        self.cost <= other.cost
            && (self.is_far_below(other) || other.less(self).chance(0.0) < alpha)
    }

    /// What parts this group from another.
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

// Many comparisons at once: what may be said of all of them together.

/// The chance that an interval shown beside one case misses the true ratio.
pub const ALPHA: f64 = 0.05;

/// The chance that any of all the cases of a comparison is called faster or slower although it is
/// neither. One in a hundred: who lets a comparison decide over every change would else be called
/// for nothing every twentieth time.
pub const FAMILY_ALPHA: f64 = 0.01;

/// The error that all costs of a case in one run may share (a fraction): the core clock's scale, and how busy the
/// machine's other parts were. On a shared machine 95 % of the estimates of ten surveys lay so near to a long one's
/// (docs/ACCURACY.md, "Do intervals hold what they promise?").
pub const BETWEEN_RUNS: f64 = 0.002;

/// What records made before 2026-11-25 have in its place.
pub const BETWEEN_RUNS_BEFORE: f64 = 0.001;

/// What a single case of equal builds was seen to move by from run to run (a fraction), all of its processes together: beyond
/// what all cases of a run share, a case in a thousand meets a state of memory or of the core's power that lasts for seconds.
/// What verdicts are worth with it is measured (docs/ACCURACY.md, "Same against same").
pub const BETWEEN_RUNS_OF_ONE_CASE: f64 = 0.015;

/// Which of many hypotheses of equality can be given up so that, with the chance of at least
/// 1 − `alpha`, not one of them was true: S. Holm, Scandinavian Journal of Statistics 6 (1979)
/// 65-70. It needs no assumption about what one comparison has to do with another.
pub fn holm(chances: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut given_up = vec![false; chances.len()];
    for (rank, i) in order.into_iter().enumerate() {
        if chances[i] > alpha / (chances.len() - rank) as f64 {
            break;
        }
        given_up[i] = true;
    }
    given_up
}

/// The geometric mean of ratios; the ends of its interval are the geometric means of the ratios'
/// ends. `None` of nothing.
///
/// That is what errors which all cases share give: they do not average out. Cases of one library
/// have its processes in common, so part of their errors is shared, and nobody knows how much. Where
/// they are independent the interval is wider than it had to be. Its level is the lowest of theirs.
pub fn geometric_mean<'a>(ratios: impl IntoIterator<Item = &'a Ratio>) -> Option<Ratio> {
    let (mut n, mut logs, mut level) = (0.0, [0.0; 3], 1.0_f64);
    for r in ratios {
        n += 1.0;
        logs = [logs[0] + r.estimate.ln(), logs[1] + r.low.ln(), logs[2] + r.high.ln()];
        level = level.min(r.level);
    }
    let [estimate, low, high] = logs.map(|sum| (sum / n).exp());
    (n > 0.0).then_some(Ratio { estimate, low, high, level })
}

/// What is said of one of many cases: `differs` is its answer from [`holm`], `ratio` its own
/// interval.
pub fn verdict_of_many(ratio: &Ratio, differs: bool, tolerance: f64) -> Verdict {
    let (least, most) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
    if ratio.low >= least && ratio.high <= most {
        Verdict::Same
    } else if differs && ratio.estimate > most {
        Verdict::Slower
    } else if differs && ratio.estimate < least {
        Verdict::Faster
    } else {
        Verdict::Undecided
    }
}

/// Where a case may stand among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its index.
    pub at: usize,
    /// How many others are surely faster.
    pub faster: usize,
    /// How many others are surely slower.
    pub slower: usize,
}

/// How many of the others are surely faster and slower than a case, for the first `shown` of `ranked` and for every other
/// one of which none is faster. They stand in the order of their costs, the lowest first; `is_faster` says whether the first
/// of two surely costs less than the second, with the chance of being wrong that it may take.
///
/// Surely: with the chance of 1 − `alpha` at least, all that is said of one case against all others
/// is right (C. E. Bonferroni's inequality). So the case that is truly the fastest is, with that
/// chance, among those with none that is surely faster: S. S. Gupta's subset selection
/// (Technometrics 7, 1965).
pub fn surely_faster<T>(
    ranked: &[T],
    shown: usize,
    alpha: f64,
    is_faster: impl Fn(&T, &T, f64) -> bool,
) -> Vec<Standing> {
    let each = alpha / ranked.len().saturating_sub(1).max(1) as f64;
    let is_faster = |faster: &T, group: &T| is_faster(faster, group, each);
    let count = |(at, group): (usize, &T)| {
        // Most are surely slower than the first: one look is enough for them.
        if at >= shown && is_faster(&ranked[0], group) {
            return None;
        }
        let faster = ranked[..at].iter().filter(|faster| is_faster(faster, group)).count();
        let slower = ranked[at + 1..].iter().filter(|slower| is_faster(group, slower)).count();
        (at < shown || faster == 0).then_some(Standing { at, faster, slower })
    };
    ranked.iter().enumerate().filter_map(count).collect()
}

// Wilcoxon's signed ranks: estimate and interval of the middle of a symmetric distribution.

/// The Hodges-Lehmann estimate of the middle of differences, and both ends of the interval that belongs to the signed-rank test of `alpha`,
/// two-sided; `None` where so few differences cannot give one.
///
/// M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3rd ed., §3.2 and §3.3.
/// Exact for differences that scatter symmetrically, whatever their distribution: no normality, no
/// variance that must exist. Ties make it conservative, because the interval's ends belong to it.
pub(crate) fn middle(differences: &[f64], alpha: f64) -> Option<[f64; 3]> {
    let rank = interval_rank(differences.len(), alpha)?;
    let mut averages = walsh_averages(differences);
    let estimate = median(&mut averages)?;
    Some([estimate, averages[rank - 1], averages[averages.len() - rank]])
}

/// The averages of all pairs, each value with itself among them.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let with_later = |(i, a): (usize, &f64)| {
        let a = *a;
        values[i..].iter().map(move |b| f64::midpoint(a, *b))
    };
    values.iter().enumerate().flat_map(with_later).collect()
}

/// The largest rank r for which the statistic is below r with a chance of at most `alpha` / 2: the
/// r-th smallest and r-th largest average are the interval's ends.
pub(crate) fn interval_rank(n: usize, alpha: f64) -> Option<usize> {
    let chances = null_distribution(n);
    let mut below = 0.0;
    let within = chances.iter().take_while(|chance| {
        below += **chance;
        below <= alpha / 2.0
    });
    let rank = within.count();
    (rank > 0).then_some(rank)
}

/// Chances of each value of the sum of the ranks of positive differences, when positive and
/// negative are as likely: each rank is in the sum or not.
fn null_distribution(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let mut chances = vec![0.0; most + 1];
    chances[0] = 1.0;
    for rank in 1..=n {
        for sum in (0..=most).rev() {
            let with = if sum >= rank { chances[sum - rank] } else { 0.0 };
            chances[sum] = f64::midpoint(chances[sum], with);
        }
    }
    chances
}

// Wilcoxon's rank sums, as H. B. Mann and D. R. Whitney count them: do values of one group lie above those
// of another? Exact for whatever distribution they have, if it is the same one.
// M. Hollander, D. A. Wolfe, E. Chicken, Nonparametric Statistical Methods, 3rd ed., §4.1 to 4.3.

/// Products of both numbers up to which chances are counted out; beyond, the normal distribution is as good.
const COUNTED: usize = 2500;

/// Chances of at most so many pairs, by the numbers of both groups.
type Tables = HashMap<(usize, usize), Arc<Vec<f64>>>;

/// In how many pairs the value of `above`, shifted down by `by`, is larger than that of `below`. A tie is half
/// a pair. Both are sorted.
pub(crate) fn pairs_above(above: &[f64], below: &[f64], by: f64) -> f64 {
    let (mut less, mut not_more) = (0, 0);
    let mut pairs = 0.0;
    for value in above {
        let value = value - by;
        while less < below.len() && below[less] < value {
            less += 1;
        }
        while not_more < below.len() && below[not_more] <= value {
            not_more += 1;
        }
        pairs += (less + not_more) as f64 / 2.0;
    }
    pairs
}

/// The chance of at least so many pairs where both groups have the same distribution.
pub(crate) fn chance_of_at_least(pairs: f64, n: usize, m: usize) -> f64 {
    // As many the other way round; half a pair goes to the safe side.
    chance_of_at_most((n * m) as f64 - pairs.floor(), n, m)
}

fn chance_of_at_most(pairs: f64, n: usize, m: usize) -> f64 {
    let all = n * m;
    if all <= COUNTED {
        let table = table(n, m);
        return table[(pairs.max(0.0).ceil() as usize).min(all)];
    }
    let mean = all as f64 / 2.0;
    let deviation = (all as f64 * (n + m + 1) as f64 / 12.0).sqrt();
    let normal = Normal::new(mean, deviation).expect("a positive deviation");
    normal.cdf(pairs + 0.5)
}

/// The largest number of pairs that with the chance `alpha` at most is not exceeded; `None` where not even
/// none is so rare.
pub(crate) fn rare_pairs(alpha: f64, n: usize, m: usize) -> Option<usize> {
    let rare = |pairs: usize| chance_of_at_most(pairs as f64, n, m) <= alpha;
    if !rare(0) {
        return None;
    }
    let (mut low, mut high) = (0, n * m);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if rare(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

fn table(n: usize, m: usize) -> Arc<Vec<f64>> {
    static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(Mutex::default);
    let key = (n.min(m), n.max(m));
    let mut tables = TABLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Arc::clone(tables.entry(key).or_insert_with(|| Arc::new(counted(key.0, key.1))))
}

/// The largest of all values is of either group; if it is of the first, it makes `m` pairs.
fn counted(n: usize, m: usize) -> Vec<f64> {
    // Chances of each number of pairs, of so many of the first group (rows) and of the second.
    let mut before: Vec<Vec<f64>> = vec![vec![1.0]; m + 1];
    for i in 1..=n {
        let mut row: Vec<Vec<f64>> = vec![vec![1.0]];
        for j in 1..=m {
            let (first, second) = (i as f64 / (i + j) as f64, j as f64 / (i + j) as f64);
            let mut chances = vec![0.0; i * j + 1];
            before[j].iter().enumerate().for_each(|(u, c)| chances[u + j] += first * c);
            row[j - 1].iter().enumerate().for_each(|(u, c)| chances[u] += second * c);
            row.push(chances);
        }
        before = row;
    }
    let mut sum = 0.0;
    let cumulate = |chance: &f64| {
        sum += chance;
        sum
    };
    before[m].iter().map(cumulate).collect()
}

#[cfg(test)]
mod tests;
