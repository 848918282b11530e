//! Patterns in figures: the line through the times of several sizes, the slope that groups of points have in
//! common, calls that take long again and again, processes of two kinds, and how much a run moves all costs
//! of a case beyond what processes scatter by.

use crate::analysis::{median, quantile};

/// A fitted line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Time of a message of no bytes.
    pub intercept: f64,
    /// Time of each further byte.
    pub slope: f64,
    /// Largest distance of a point from the line, as a fraction of the point.
    pub residual: f64,
}

/// Fewest different sizes that a line is fitted to: it goes through any two.
pub const MIN_SIZES: usize = 3;

/// Largest residual at which points lie on a line. Small messages are often served by other code
/// than large ones, so that times bend by some per cent; where they are off by more, the line's two
/// numbers describe no size well.
const LINEAR: f64 = 0.1;

impl Line {
    /// Whether the points lie on the line.
    pub fn is_linear(&self) -> bool {
        self.residual <= LINEAR
    }

    /// The size at which half of the peak speed is reached: as much time goes into the message as
    /// into its bytes. `None` where the line has no such size.
    pub fn half_speed(&self) -> Option<f64> {
        (self.intercept > 0.0 && self.slope > 0.0).then(|| self.intercept / self.slope)
    }
}

/// The line through (size, time) that has the least sum of squared *relative* distances; `None` of
/// fewer than [`MIN_SIZES`] different sizes or of a time that is not above zero.
///
/// Relative, because times of 16 bytes and of 64 KiB are known to the same per cent and not to the
/// same nanosecond: plain least squares would fit the largest size alone and leave the intercept to
/// its error. C. Tofallis, "Least Squares Percentage Regression", Journal of Modern Applied
/// Statistical Methods 7 (2009) 526-534: least squares weighted by one over the time squared.
pub fn fit_line(points: &[(f64, f64)]) -> Option<Line> {
    let mut sizes: Vec<f64> = points.iter().map(|(size, _)| *size).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    sizes.dedup();
    let usable = points.iter().all(|(_, time)| *time > 0.0 && time.is_finite());
    if sizes.len() < MIN_SIZES || !usable {
        return None;
    }
    let weighted = |value: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|(x, t)| value(*x, *t) / (t * t)).sum::<f64>()
    };
    let weight = weighted(&|_, _| 1.0);
    // Centred: the sums of squares of sizes would lose the small ones' digits.
    let (x_mean, t_mean) = (weighted(&|x, _| x) / weight, weighted(&|_, t| t) / weight);
    let slope = weighted(&|x, t| (x - x_mean) * (t - t_mean))
        / weighted(&|x, _| (x - x_mean) * (x - x_mean));
    let intercept = t_mean - slope * x_mean;
    let distance = |(x, t): &(f64, f64)| ((intercept + slope * x) / t - 1.0).abs();
    let residual = points.iter().map(distance).fold(0.0, f64::max);
    Some(Line { intercept, slope, residual })
}
/// How many of its standard errors a slope must lie from zero to be believed: what is corrected by a slope that is chance
/// scatters more than before.
const BELIEVED: f64 = 3.0;
/// Fewest degrees of freedom that a standard error is taken from.
const LEAST_FREEDOM: usize = 10;

/// By how much y changes for each unit of x within each group, where groups differ in their levels of y and share the
/// slope: the covariate's coefficient in an analysis of covariance (R. A. Fisher, *Statistical Methods for Research
/// Workers*, 4th edition 1932, section 49.1), from the sums of squares and products around each group's means. `None` where it
/// does not lie three standard errors from zero, or of too few points.
pub fn common_slope(groups: &[Vec<(f64, f64)>]) -> Option<f64> {
    let mut centred: Vec<(f64, f64)> = Vec::new();
    let mut levels = 0;
    for group in groups.iter().filter(|group| group.len() > 1) {
        let mean =
            |of: fn(&(f64, f64)) -> f64| group.iter().map(of).sum::<f64>() / group.len() as f64;
        let (x_mean, y_mean) = (mean(|p| p.0), mean(|p| p.1));
        centred.extend(group.iter().map(|(x, y)| (x - x_mean, y - y_mean)));
        levels += 1;
    }
    let freedom = centred.len().checked_sub(levels + 1).filter(|n| *n >= LEAST_FREEDOM)?;
    let sum = |of: fn(&(f64, f64)) -> f64| centred.iter().map(of).sum::<f64>();
    let squares = sum(|(x, _)| x * x);
    let slope = sum(|(x, y)| x * y) / squares;
    let rest: f64 = centred.iter().map(|(x, y)| (y - slope * x).powi(2)).sum();
    let error = (rest / freedom as f64 / squares).sqrt();
    (slope.is_finite() && slope.abs() > BELIEVED * error).then_some(slope)
}

// Calls that take long again and again, after the same number of calls: work that is put off, pools that
// are filled, or a figure that would look better without them.
/// How many times the median a call must take to count as long.
const LONG: u64 = 4;
/// Long calls in a row, all the same number of calls apart, that are no chance.
const LEAST_LONG_CALLS: usize = 4;

/// Every so many calls, one that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// From one long call to the next.
    pub every: usize,
    /// Median of the long ones, in the unit of the times.
    pub long: u64,
    /// Median of all.
    pub usual: u64,
}

/// Finds a period in the times of single calls, one after the other. Interruptions are long as well, but
/// not after the same number of calls each time: each call that the period has must be a long one.
pub fn period(times: &[u64]) -> Option<Period> {
    let usual = median_time(times.to_vec())?;
    let is_long = |at: &usize| times[*at] > LONG * usual.max(1);
    let long: Vec<usize> = (0..times.len()).filter(is_long).collect();
    let mut gaps: Vec<usize> = long.windows(2).map(|pair| pair[1] - pair[0]).collect();
    gaps.sort_unstable();
    gaps.dedup();
    gaps.into_iter().filter(|gap| *gap > 1).find_map(|every| {
        long.iter().map(|at| at % every).find_map(|first| {
            let due: Vec<usize> = (first..times.len()).step_by(every).collect();
            let all = due.len() >= LEAST_LONG_CALLS && due.iter().all(is_long);
            let long = median_time(due.iter().map(|at| times[*at]).collect()).filter(|_| all)?;
            Some(Period { every, long, usual })
        })
    })
}

fn median_time(mut times: Vec<u64>) -> Option<u64> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

// Processes of a case that come in two kinds: two layouts of memory, two states of the predictors.
/// Processes of which two kinds can be told at the least, and those that each kind has at the least.
const LEAST_PROCESSES: usize = 8;
const LEAST_OF_A_KIND: f64 = 0.2;
/// What parts two kinds (a fraction of the cost), and how many times as wide that is as either of them.
const APART: f64 = 0.02;
const TIMES: f64 = 2.0;

/// Processes that cost about the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfAKind {
    /// The median of their costs.
    pub cost: f64,
    /// How many there are.
    pub processes: usize,
}

/// The two kinds in which so many processes come by their costs, the cheaper one first; `None` where they are of one kind.
pub fn two_kinds(costs: &[f64]) -> Option<[OfAKind; 2]> {
    let mut costs = costs.to_vec();
    costs.sort_unstable_by(f64::total_cmp);
    let least = ((costs.len() as f64 * LEAST_OF_A_KIND).ceil() as usize).max(2);
    if costs.len() < LEAST_PROCESSES || costs[0] <= 0.0 {
        return None;
    }
    let gap = |at: &usize| costs[*at] / costs[at - 1] - 1.0;
    let at = (least..=costs.len() - least).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let (low, high) = costs.split_at(at);
    let is_apart = gap(&at) >= APART && gap(&at) >= TIMES * width(low).max(width(high));
    let kind = |own: &[f64]| OfAKind { cost: own[own.len() / 2], processes: own.len() };
    is_apart.then(|| [kind(low), kind(high)])
}

/// How far most of them lie apart, as a fraction: without the outermost tenth, of five and more at least one.
fn width(sorted: &[f64]) -> f64 {
    let out = (sorted.len() / 10).max(usize::from(sorted.len() > 4));
    let (first, last) = (out / 2, sorted.len() - 1 - out.div_ceil(2));
    sorted[last] / sorted[first] - 1.0
}

/// Cases that an effect is learned from at least.
const LEAST_CASES: usize = 20;
/// The part of the cases whose difference is at most what is taken for typical: most, so that the effect
/// covers them, and not the odd ones.
const MOST: f64 = 0.9;
/// How often processes are dealt anew.
const DEALS: u64 = 8;

/// What a run adds to the differences of cases that are the same on both sides (a fraction): each entry has the
/// costs of one case, one a process, in either run. `None` of too few cases.
///
/// Were it nothing, processes would be exchangeable between the runs: what each is off its own run's middle is dealt anew,
/// and what the differences exceed those of such deals by is the runs'. Dealt as they are, costs of two runs that are
/// far apart would make differences as large as the runs'.
pub fn run_effect(cases: &[(Vec<f64>, Vec<f64>)]) -> Option<f64> {
    let usable: Vec<_> = cases.iter().filter(|(a, b)| a.len() > 1 && b.len() > 1).collect();
    if usable.len() < LEAST_CASES {
        return None;
    }
    let mut seen: Vec<f64> = usable.iter().map(|(a, b)| apart(a, b)).collect();
    let mut dealt: Vec<f64> = (0..DEALS)
        .flat_map(|deal| {
            usable.iter().zip(0..).map(move |((a, b), case)| anew(a, b, deal << 32 | case))
        })
        .collect();
    let (seen, dealt) = (quantile(&mut seen, MOST)?, quantile(&mut dealt, MOST)?);
    Some((seen * seen - dealt * dealt).max(0.0).sqrt())
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let middle = |costs: &[f64]| median(&mut costs.to_vec()).unwrap_or(1.0).ln();
    (middle(a) - middle(b)).abs()
}

/// What costs are off their geometric mean, as factors; as wide as those of whoever knows the mean of all, not of so few
/// alone. Off their median one in an odd number would be nothing, and the deals too close together.
fn off_their_middle(costs: &[f64]) -> impl Iterator<Item = f64> {
    let n = costs.len() as f64;
    let middle = costs.iter().map(|cost| cost.ln()).sum::<f64>() / n;
    let wider = (n / (n - 1.0)).sqrt();
    costs.iter().map(move |cost| ((cost.ln() - middle) * wider).exp())
}

/// The same of groups as large, dealt from both.
fn anew(a: &[f64], b: &[f64], seed: u64) -> f64 {
    let mut all: Vec<f64> = off_their_middle(a).chain(off_their_middle(b)).collect();
    // SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014): the same deals at every call.
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for i in (1..all.len()).rev() {
        all.swap(i, (next() % (i as u64 + 1)) as usize);
    }
    let (a, b) = all.split_at(a.len());
    apart(a, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::simulation::Random;

    fn on(intercept: f64, slope: f64) -> Vec<(f64, f64)> {
        (4..=16).map(|n| f64::from(1 << n)).map(|x| (x, intercept + slope * x)).collect()
    }

    #[test]
    fn a_known_line_is_found() {
        let line = fit_line(&on(50.0, 0.125)).unwrap();
        assert!((line.intercept - 50.0).abs() < 1e-9 && (line.slope - 0.125).abs() < 1e-12);
        assert!(line.residual < 1e-12 && line.is_linear());
        assert!((line.half_speed().unwrap() - 400.0).abs() < 1e-6);
    }

    #[test]
    fn an_error_at_the_largest_size_leaves_the_intercept_alone() {
        let mut points = on(50.0, 0.125);
        points.last_mut().unwrap().1 *= 1.02;
        let line = fit_line(&points).unwrap();
        // Two per cent of 64 KiB are 160 ns, three times the intercept.
        assert!((line.intercept - 50.0).abs() < 1.0, "{line:?}");
        assert!(line.residual < 0.02 && line.is_linear());
    }

    #[test]
    fn what_bends_says_so() {
        let bent: Vec<_> = on(50.0, 0.125)
            .into_iter()
            .map(|(x, t)| (x, if x < 1024.0 { t * 2.0 } else { t }))
            .collect();
        let line = fit_line(&bent).unwrap();
        assert!(line.residual > 0.2 && !line.is_linear(), "{line:?}");
    }

    /// Any other line near it has a larger sum of squared relative distances.
    #[test]
    fn the_weights_are_those_of_relative_distances() {
        let line = fit_line(&[(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]).unwrap();
        let sum = |a: f64, b: f64| {
            [(1.0, 1.0), (2.0, 2.0), (3.0, 2.0)]
                .iter()
                .map(|(x, t): &(f64, f64)| ((a + b * x - t) / t).powi(2))
                .sum::<f64>()
        };
        let best = sum(line.intercept, line.slope);
        for (da, db) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 0.01), (0.0, -0.01), (0.01, -0.01)] {
            assert!(sum(line.intercept + da, line.slope + db) > best);
        }
    }

    #[test]
    fn two_sizes_or_no_time_give_no_line() {
        assert_eq!(fit_line(&[(1.0, 1.0), (2.0, 2.0), (2.0, 2.1)]), None);
        assert_eq!(fit_line(&[(1.0, 1.0), (2.0, 0.0), (3.0, 2.0)]), None);
    }

    #[test]
    fn a_line_without_a_cost_for_each_message_has_no_half_speed() {
        let falling = Line { intercept: -1.0, slope: 1.0, residual: 0.0 };
        assert_eq!(falling.half_speed(), None);
    }

    /// Five groups of ten on levels of their own, with a slope and with scatter.
    fn groups(slope: f64, scatter: f64) -> Vec<Vec<(f64, f64)>> {
        let mut random = Random(1);
        let mut point = |level: f64| {
            let x = random.uniform();
            (x, level + slope * x + scatter * (random.uniform() - 0.5))
        };
        (0..5).map(|level| (0..10).map(|_| point(f64::from(level))).collect()).collect()
    }

    #[test]
    fn the_slope_is_found_whatever_the_groups_levels_are() {
        let slope = common_slope(&groups(-0.5, 0.1)).unwrap();
        assert!((slope + 0.5).abs() < 0.05, "{slope}");
        assert!((common_slope(&groups(-0.5, 0.0)).unwrap() + 0.5).abs() < 1e-9);
    }

    #[test]
    fn a_slope_that_may_be_chance_is_none() {
        assert_eq!(common_slope(&groups(0.0, 1.0)), None);
        assert_eq!(common_slope(&groups(-0.5, 0.1)[..1]), None, "too few");
        assert_eq!(common_slope(&[vec![(1.0, 2.0); 50]]), None, "x never differs");
        assert_eq!(common_slope(&[]), None);
    }

    fn calls(long: impl Fn(usize) -> bool) -> Vec<u64> {
        (0..4096).map(|i| if long(i) { 5000 } else { 100 + i as u64 % 7 }).collect()
    }

    #[test]
    fn a_call_that_is_long_every_so_often_is_found_among_interruptions() {
        let found = period(&calls(|i| i % 64 == 63 || i == 100 || i == 1234)).unwrap();
        assert_eq!((found.every, found.long, found.usual), (64, 5000, 103));
        assert_eq!(period(&calls(|i| i % 1000 == 0)).unwrap().every, 1000);
    }

    #[test]
    fn interruptions_alone_are_no_period() {
        let now_and_then = [3, 450, 901, 1340, 1800, 2251, 2700, 3151, 3600, 4050];
        assert_eq!(period(&calls(|i| now_and_then.contains(&i))), None);
        assert_eq!(period(&calls(|_| false)), None);
        assert_eq!(period(&[]), None);
    }

    #[test]
    fn three_in_a_row_may_be_chance() {
        assert_eq!(period(&calls(|i| [1400, 2700, 4000].contains(&i))), None);
    }

    fn found(costs: &[f64]) -> Option<[(f64, usize); 2]> {
        two_kinds(costs).map(|kinds| kinds.map(|kind| (kind.cost, kind.processes)))
    }

    #[test]
    fn two_layouts_are_told_with_their_shares_and_an_outlier_is_no_kind() {
        let costs = [70.0, 95.1, 70.2, 69.9, 95.0, 70.1, 94.8, 70.0, 95.2, 70.3];
        assert_eq!(found(&costs), Some([(70.1, 6), (95.1, 4)]));
        let one = [70.0, 70.1, 70.2, 69.9, 70.0, 70.1, 70.3, 70.0, 70.2, 95.0];
        assert_eq!(found(&one), None);
        assert_eq!(found(&costs[..7]), None, "too few to tell");
        assert_eq!(found(&[0.0; 12]), None);
    }

    #[test]
    fn of_simulated_processes_two_kinds_are_found_and_one_is_hardly_ever_taken_for_two() {
        let mut random = Random(17);
        for n in [12, 24, 48] {
            let mut share = |apart: f64| {
                let mut case = |_: &usize| {
                    let kind = |r: &mut Random| if r.uniform() < 0.4 { 1.0 + apart } else { 1.0 };
                    let costs: Vec<f64> = (0..n)
                        .map(|_| kind(&mut random) * (1.0 + 0.01 * random.normal()))
                        .collect();
                    two_kinds(&costs).is_some()
                };
                (0..500).filter(|i| case(i)).count() as f64 / 500.0
            };
            assert!(share(0.3) > 0.85, "{n}: {}", share(0.3));
            assert!(share(0.0) < 0.01, "{n}: {}", share(0.0));
        }
    }

    fn cases(effect: f64) -> Vec<(Vec<f64>, Vec<f64>)> {
        let mut random = Random(9);
        (0..200)
            .map(|_| {
                let run = 1.0 + effect * random.normal();
                let mut group =
                    |by: f64| (0..12).map(|_| by * (1.0 + 0.004 * random.normal())).collect();
                (group(1.0), group(run))
            })
            .collect()
    }

    #[test]
    fn runs_that_add_nothing_have_next_to_no_effect_and_others_theirs() {
        let of = |effect| run_effect(&cases(effect)).unwrap();
        assert!(of(0.0) < 0.0015, "{}", of(0.0));
        // Nine in ten of normal effects of 1 % are up to 1.6 %.
        assert!((0.012..0.021).contains(&of(0.01)), "{}", of(0.01));
    }

    #[test]
    fn runs_of_few_processes_that_add_nothing_have_next_to_no_effect() {
        for processes in [2, 3, 5, 8, 12] {
            let mut random = Random(9);
            let mut group =
                || (0..processes).map(|_| 1.0 + 0.01 * random.normal()).collect::<Vec<_>>();
            let cases: Vec<_> = (0..300).map(|_| (group(), group())).collect();
            let found = run_effect(&cases).unwrap();
            assert!(found < 0.0025, "{processes}: {found}");
        }
    }

    #[test]
    fn a_run_that_moves_all_cases_alike_has_that_effect_however_steady_its_processes_are() {
        for (shift, scatter) in [(0.03, 0.001), (0.05, 0.0005), (0.02, 0.003), (0.10, 0.01)] {
            let mut random = Random(9);
            let mut group =
                |by: f64| (0..12).map(|_| by * (1.0 + scatter * random.normal())).collect();
            let cases: Vec<_> = (0..40).map(|_| (group(1.0), group(1.0 + shift))).collect();
            let found = run_effect(&cases).unwrap();
            assert!((0.9 * shift..1.3 * shift).contains(&found), "{shift} {scatter}: {found}");
        }
    }

    #[test]
    fn a_few_cases_say_nothing() {
        assert_eq!(run_effect(&cases(0.0)[..LEAST_CASES - 1]), None);
    }
}
