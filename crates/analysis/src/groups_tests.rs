use super::*;
use crate::pair::Verdict;
use crate::simulated::Random;
use proptest::prelude::*;

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

/// Ten values: one is left out at each end. Winsorised variance of the test in `trimmed.rs`, 7.3889;
/// Yuen's squared error is 9 × 7.3889 / (8 × 7) = 1.18751, with 7 degrees of freedom.
#[test]
fn one_odd_process_in_ten_moves_nothing() {
    let logs = [0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 100.0_f64];
    let group = Group::of(&logs.map(f64::exp)).unwrap();
    assert!((group.mean - 5.5).abs() < 1e-9 && group.freedom == 7.0, "{group:?}");
    assert!((group.squared_error - 1.18751).abs() < 1e-4, "{group:?}");
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

fn costs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5f64..2.0, 2..30)
}

proptest! {
    /// What is faster one way round is slower by as much the other way round.
    #[test]
    fn sides_can_be_swapped(base in costs(), new in costs(), alpha in 0.0001f64..0.5) {
        let there = ratio_of_groups(&base, &new, alpha, 0.001).unwrap();
        let back = ratio_of_groups(&new, &base, alpha, 0.001).unwrap();
        prop_assert!((there.estimate * back.estimate - 1.0).abs() < 1e-9);
        prop_assert!((there.low * back.high - 1.0).abs() < 1e-9);
    }

    /// Cycles or nanoseconds: the unit is no part of a ratio.
    #[test]
    fn the_unit_does_not_matter(base in costs(), new in costs(), unit in 0.001f64..1e6) {
        let scaled = |costs: &[f64]| costs.iter().map(|c| c * unit).collect::<Vec<_>>();
        let plain = ratio_of_groups(&base, &new, 0.05, 0.0).unwrap();
        let other = ratio_of_groups(&scaled(&base), &scaled(&new), 0.05, 0.0).unwrap();
        prop_assert!((plain.low / other.low - 1.0).abs() < 1e-6);
        prop_assert!((plain.estimate / other.estimate - 1.0).abs() < 1e-6);
    }

    /// The chance and the interval are two sides of one test.
    #[test]
    fn the_interval_leaves_1_out_where_the_chance_is_less_than_alpha(
        base in costs(), new in costs(), alpha in 0.0001f64..0.5
    ) {
        let difference = Group::of(&new).unwrap().less(&Group::of(&base).unwrap());
        let (ratio, chance) = (difference.ratio(alpha, 0.001), difference.chance(0.001));
        prop_assume!((chance / alpha - 1.0).abs() > 1e-6);
        prop_assert_eq!(ratio.low > 1.0 || ratio.high < 1.0, chance < alpha, "{:?}", ratio);
    }

    /// Surer is wider.
    #[test]
    fn a_smaller_alpha_gives_a_wider_interval(base in costs(), new in costs()) {
        let at = |alpha| ratio_of_groups(&base, &new, alpha, 0.0).unwrap();
        let (wide, narrow) = (at(0.001), at(0.05));
        prop_assert!(wide.low < narrow.low && wide.high > narrow.high);
        prop_assert!(narrow.low <= narrow.estimate && narrow.estimate <= narrow.high);
    }
}
