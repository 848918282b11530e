//! Many comparisons at once: what may be said of all of them together.

use crate::analysis::groups::Group;
use crate::analysis::pair::{Ratio, Verdict};

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
#[must_use]
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
#[must_use]
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
#[must_use]
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
/// one of which none is faster. They stand in the order of their costs, the lowest first.
///
/// Surely: with the chance of 1 − `alpha` at least, all that is said of one case against all others
/// is right (C. E. Bonferroni's inequality). So the case that is truly the fastest is, with that
/// chance, among those with none that is surely faster: S. S. Gupta's subset selection
/// (Technometrics 7, 1965).
#[must_use]
pub fn surely_faster(ranked: &[Group], shown: usize, alpha: f64) -> Vec<Standing> {
    let each = alpha / ranked.len().saturating_sub(1).max(1) as f64;
    let is_faster = |faster: &Group, group: &Group| {
        faster.is_far_below(group) || group.less(faster).chance(0.0) < each
    };
    let count = |(at, group): (usize, &Group)| {
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

#[cfg(test)]
#[path = "many_tests.rs"]
mod tests;
