//! The statistics tried out: random numbers for simulations, what must hold for any samples, and what holds
//! of costs of real processes. `testdata/process-costs.csv`: a case a line, then what 120 of its processes
//! cost, of eleven surveys in turn, in ten-thousandths of their median. Made by `scripts/process-costs`.

use crate::analysis::comparison::{FAMILY_ALPHA, Group, ratio_of_groups};
use crate::analysis::{Estimate, Estimator, fit_line, holm, median, quantile};
use proptest::prelude::*;

/// SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1, neither of them.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (G. E. P. Box, M. E. Muller, 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

fn close(a: f64, b: f64, scale: f64) -> bool {
    (a - b).abs() <= 1e-9 * scale.abs().max(a.abs()).max(b.abs())
}

fn parts(e: Estimate) -> [f64; 3] {
    [e.median, e.low, e.high]
}

fn estimate(values: &[f64]) -> Estimate {
    Estimator::TrimmedMean
        .with_interval(&mut values.to_vec())
        .expect("there are two values at least")
}

/// Times as they are measured: positive, of any unit.
fn times() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0..1e6_f64, 4..40)
}

/// The same values in another order.
fn shuffled() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    times().prop_flat_map(|values| (Just(values.clone()), Just(values).prop_shuffle()))
}

proptest! {
    #[test]
    fn another_unit_changes_an_estimate_as_it_changes_the_values_and_a_constant_on_top_the_median(
        values in times(), scale in 1e-3..1e3_f64, shift in -1e3..1e3_f64,
    ) {
        let scaled: Vec<f64> = values.iter().map(|v| v * scale).collect();
        for (was, is) in parts(estimate(&values)).into_iter().zip(parts(estimate(&scaled))) {
            prop_assert!(close(was * scale, is, 1e6 * scale), "{was} {is}");
        }
        let changed: Vec<f64> = values.iter().map(|v| v * scale + shift).collect();
        let (mut a, mut b) = (values, changed);
        let (was, is) = (median(&mut a).unwrap(), median(&mut b).unwrap());
        prop_assert!(close(was * scale + shift, is, 1e6 * scale));
        for fraction in [0.0, 0.05, 0.5, 0.95, 1.0] {
            let (was, is) = (quantile(&mut a, fraction).unwrap(), quantile(&mut b, fraction).unwrap());
            prop_assert!(close(was * scale + shift, is, 1e6 * scale));
        }
    }

    #[test]
    fn the_order_of_the_values_is_no_part_of_what_they_say((values, other) in shuffled()) {
        prop_assert_eq!(estimate(&values), estimate(&other));
        prop_assert_eq!(median(&mut values.clone()), median(&mut other.clone()));
        let base = [10.0, 11.0, 12.0, 13.0];
        let ratio = |new: &[f64]| ratio_of_groups(&base, new, 0.05, 0.0);
        prop_assert_eq!(ratio(&values), ratio(&other));
    }

    #[test]
    fn an_interval_holds_its_estimate_and_an_estimate_lies_among_the_values(values in times()) {
        let Estimate { median: middle, low, high } = estimate(&values);
        prop_assert!(low <= middle && middle <= high);
        let (least, most) = values.iter().fold((f64::MAX, 0.0_f64), |(l, m), v| (l.min(*v), m.max(*v)));
        let ulps = 1e-12 * most;
        prop_assert!(least - ulps <= middle && middle <= most + ulps, "{least} {middle} {most}");
        let within = median(&mut values.clone()).unwrap();
        prop_assert!(least <= within && within <= most);
    }

    #[test]
    fn holm_gives_up_more_as_chances_fall_and_never_a_likelier_one_before_a_less_likely(
        chances in prop::collection::vec(0.0..0.2_f64, 1..40), which in any::<prop::sample::Index>(),
        alpha in 0.001..0.2_f64,
    ) {
        let given_up = holm(&chances, alpha);
        for (a, gone) in chances.iter().zip(&given_up) {
            for (b, other) in chances.iter().zip(&given_up) {
                prop_assert!(a > b || *other <= *gone || a == b, "{a} {b}");
            }
        }
        let mut lower = chances.clone();
        lower[which.index(chances.len())] /= 2.0;
        let more = holm(&lower, alpha);
        prop_assert!(given_up.iter().zip(&more).all(|(was, is)| was <= is));
        let wider = holm(&chances, alpha * 2.0);
        prop_assert!(given_up.iter().zip(&wider).all(|(was, is)| was <= is));
        // Never less than C. E. Bonferroni's, never more than each by itself.
        let each = alpha / chances.len() as f64;
        let bounded = chances.iter().zip(&given_up).all(|(c, g)| (*c > each || *g) && (*c <= alpha || !*g));
        prop_assert!(bounded);
    }

    #[test]
    fn a_line_without_errors_is_found_whatever_its_two_numbers(
        intercept in 0.0..1e5_f64, slope in 1e-3..1e3_f64,
        sizes in prop::collection::btree_set(1..1_u32 << 20, 3..12),
    ) {
        let points: Vec<(f64, f64)> = sizes
            .iter()
            .map(|size| (f64::from(*size), intercept + slope * f64::from(*size)))
            .collect();
        let line = fit_line(&points).unwrap();
        prop_assert!(line.residual < 1e-6, "{line:?}");
        for (size, time) in &points {
            prop_assert!(((line.intercept + line.slope * size) / time - 1.0).abs() < 1e-6);
        }
        // The order of the points is no part of it, and neither is the unit of time.
        let doubled: Vec<_> = points.iter().rev().map(|(x, t)| (*x, 2.0 * t)).collect();
        let twice = fit_line(&doubled).unwrap();
        prop_assert!(close(twice.slope, 2.0 * line.slope, 1e-2));
    }
}

/// How often the interval of values from a source misses what it should hold.
fn missed(trials: usize, n: usize, mut source: impl FnMut() -> f64, truth: f64) -> f64 {
    let miss = |_: &usize| {
        let mut values: Vec<f64> = (0..n).map(|_| source()).collect();
        let e = Estimator::TrimmedMean.with_interval(&mut values).expect("two values at least");
        truth < e.low || truth > e.high
    };
    (0..trials).filter(miss).count() as f64 / trials as f64
}

#[test]
fn intervals_of_simulated_processes_miss_no_more_often_than_they_say() {
    for n in [6, 8, 12, 24] {
        let mut random = Random(n as u64);
        let normal = missed(1500, n, || 100.0 + random.normal(), 100.0);
        // One in twenty, and three standard deviations of counting.
        assert!(normal < 0.067, "{n} normal values: {normal}");
        // Two layouts of a library, as often as not.
        let mut random = Random(100 + n as u64);
        let layout = || if random.uniform() < 0.5 { 100.0 } else { 110.0 } + 0.5 * random.normal();
        let two = missed(1500, n, layout, 105.0);
        assert!(two < 0.067, "{n} processes of two layouts: {two}");
    }
}

const DRAWS: usize = 400;

struct Case {
    name: &'static str,
    costs: Vec<f64>,
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../../testdata/process-costs.csv").lines();
    let case = |line: &'static str| {
        let mut words = line.split(',');
        let name = words.next().unwrap();
        Case { name, costs: words.map(|w| w.parse().unwrap()).collect() }
    };
    lines.map(case).collect()
}

impl Case {
    /// So many of its processes, as a run of that length would have met them.
    fn draw(&self, n: usize, random: &mut Random) -> Vec<f64> {
        let mut at = || (random.uniform() * self.costs.len() as f64) as usize;
        (0..n).map(|_| self.costs[at()]).collect()
    }

    fn scatter(&self) -> f64 {
        let mut sorted = self.costs.clone();
        let middle = median(&mut sorted).unwrap();
        (sorted[sorted.len() * 9 / 10] - sorted[sorted.len() / 10]) / middle
    }
}

#[test]
fn the_costs_are_of_many_processes_and_some_scatter_widely() {
    let cases = cases();
    assert!(cases.len() >= 60 && cases.iter().all(|c| c.costs.len() >= 100));
    let wide = cases.iter().filter(|c| c.scatter() > 0.05).count();
    assert!(wide >= 10, "{wide} cases scatter by more than 5 %");
}

/// The trimmed mean of all processes of a case that were ever met.
fn truth(case: &Case) -> f64 {
    Estimator::TrimmedMean.of(&mut case.costs.clone()).unwrap()
}

#[test]
fn intervals_hold_the_trimmed_mean_of_all_processes_as_often_as_they_say() {
    let mut random = Random(11);
    for n in [6, 8, 12, 24, 48] {
        let (mut held, mut pushed) = (0, 0.0);
        let cases = cases();
        for case in &cases {
            let truth = truth(case);
            for _ in 0..DRAWS {
                let mut drawn = case.draw(n, &mut random);
                let e = Estimator::TrimmedMean.with_interval(&mut drawn).unwrap();
                held += usize::from(e.low <= truth && truth <= e.high);
                pushed += f64::from(i8::from(e.median > truth) - i8::from(e.median < truth));
            }
        }
        let all = (cases.len() * DRAWS) as f64;
        assert!(held as f64 / all > 0.94, "{n} processes: {}", held as f64 / all);
        assert!((pushed / all).abs() < 0.15, "{n} processes push the estimate: {}", pushed / all);
    }
}

/// What makes it the estimate.
#[test]
fn of_two_runs_the_trimmed_means_lie_nearer_to_each_other_than_the_medians() {
    for n in [12, 24, 48] {
        let [median, trimmed] = [Estimator::Median, Estimator::TrimmedMean].map(|estimator| {
            let (mut random, mut apart) = (Random(15), Vec::new());
            for case in &cases() {
                for _ in 0..DRAWS {
                    let mut run = || estimator.of(&mut case.draw(n, &mut random)).unwrap();
                    apart.push((run() / run()).ln().abs());
                }
            }
            quantile(&mut apart, 0.95).unwrap()
        });
        assert!(trimmed < 0.9 * median, "{n}: {trimmed} against {median}");
    }
}

#[test]
fn a_case_against_itself_is_called_different_no_more_often_than_promised() {
    let mut random = Random(12);
    for (n, m) in [(6, 6), (6, 12), (12, 12), (12, 24)] {
        let (mut rare, mut all) = (0, 0);
        for case in &cases() {
            for _ in 0..DRAWS {
                let group = |n, random: &mut Random| Group::of(&case.draw(n, random)).unwrap();
                let (base, new) = (group(n, &mut random), group(m, &mut random));
                rare += usize::from(new.less(&base).chance(0.0) < 0.01);
                all += 1;
            }
        }
        assert!(rare as f64 <= 0.01 * all as f64 * 1.15, "{n} against {m}: {rare} of {all}");
    }
}

#[test]
fn of_whole_surveys_hardly_any_says_that_something_changed() {
    let (mut random, cases) = (Random(13), cases());
    let family = |random: &mut Random| {
        let group = |case: &Case, random: &mut Random| Group::of(&case.draw(12, random)).unwrap();
        let chances: Vec<f64> = cases
            .iter()
            .map(|case| group(case, random).less(&group(case, random)).chance(0.0))
            .collect();
        holm(&chances, FAMILY_ALPHA).contains(&true)
    };
    let wrong = (0..DRAWS).filter(|_| family(&mut random)).count();
    // One in a hundred, and three standard deviations of counting.
    assert!(wrong <= 4 + 6, "{wrong} of {DRAWS} surveys");
}

#[test]
fn what_is_a_tenth_slower_is_found_where_its_processes_agree() {
    let mut random = Random(14);
    for case in cases().iter().filter(|c| c.scatter() < 0.02) {
        let slower: Vec<f64> = case.draw(12, &mut random).iter().map(|c| c * 1.1).collect();
        let base = Group::of(&case.draw(12, &mut random)).unwrap();
        let chance = Group::of(&slower).unwrap().less(&base).chance(0.001);
        assert!(chance < 0.001, "{}: {chance}", case.name);
    }
}
