//! What must hold of the statistics for any samples.

use crate::analysis::estimate::Estimator;
use crate::analysis::groups::ratio_of_groups;
use crate::analysis::simulated::Random;
use crate::analysis::{Estimate, fit_line, holm, median, quantile};
use proptest::prelude::*;

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
