use super::*;
use crate::analysis::pair::Verdict;
use crate::analysis::simulated::Random;
use proptest::prelude::*;

/// Twelve against twelve, all of the new side above: 2 of 2,704,156 orders.
#[test]
fn groups_that_do_not_overlap_are_as_sure_as_their_sizes_allow() {
    let base: Vec<f64> = (0..12).map(|i| 100.0 + f64::from(i) / 10.0).collect();
    let new: Vec<f64> = base.iter().map(|c| c * 1.05).collect();
    let (base, new) = (Group::of(&base).unwrap(), Group::of(&new).unwrap());
    let difference = new.less(&base);
    assert!((difference.chance(0.0) * 2_704_156.0 / 2.0 - 1.0).abs() < 1e-6);
    assert!((base.less(&new).chance(0.0) - difference.chance(0.0)).abs() < 1e-12);
    assert!(difference.chance(0.06) > 0.5, "what a run may have added explains it");
    let r = difference.ratio(0.05, 0.0);
    assert!((r.estimate - 1.05).abs() < 0.002 && r.low > 1.04 && r.high < 1.06, "{r:?}");
    let wider = difference.ratio(0.05, 0.1);
    assert!((wider.high.ln() - r.high.ln() - 0.1).abs() < 1e-9);
}

#[test]
fn one_odd_process_in_ten_moves_little() {
    let costs = |odd: f64| [1.0, 1.001, 1.002, 1.003, 1.004, 1.005, 1.006, 1.007, 1.008, odd];
    let (plain, odd) = (Group::of(&costs(1.009)).unwrap(), Group::of(&costs(9.0)).unwrap());
    assert_eq!(plain.cost(), odd.cost());
    assert!(odd.less(&plain).chance(0.0) > 0.5);
}

#[test]
fn twelve_processes_each_are_seldom_wrong() {
    const TRIALS: usize = 20_000;
    let mut random = Random(5);
    let mut group = || -> Vec<f64> { (0..12).map(|_| 1.0 + 0.004 * random.normal()).collect() };
    let wrong = (0..TRIALS).filter(|_| {
        let ratio = ratio_of_groups(&group(), &group(), 0.001, 0.0).unwrap();
        matches!(ratio.verdict(0.0), Verdict::Faster | Verdict::Slower)
    });
    // One in a thousand, and three standard deviations of counting.
    let wrong = wrong.count();
    assert!(wrong <= 20 + 14, "{wrong} of {TRIALS}");
}

#[test]
fn six_of_one_kind_of_layout_against_six_of_another_are_not_sure_enough_for_a_thousandth() {
    let r = ratio_of_groups(&[1.0; 6], &[1.1; 6], 0.001, 0.0).unwrap();
    let chance = Group::of(&[1.1; 6]).unwrap().less(&Group::of(&[1.0; 6]).unwrap()).chance(0.0);
    assert!(r.low > 1.0 && chance > 0.001, "{r:?} {chance}");
    assert_eq!(ratio_of_groups(&[1.0; 3], &[1.0; 4], 0.001, 0.0), None);
    assert_eq!(ratio_of_groups(&[1.0, 1.0, 1.0, 0.0], &[1.0; 4], 0.001, 0.0), None);
}

fn costs() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5f64..2.0, 4..30)
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
        base in costs(), new in costs(), alpha in 0.03f64..0.5
    ) {
        let (new, base) = (Group::of(&new).unwrap(), Group::of(&base).unwrap());
        let difference = new.less(&base);
        let (ratio, chance) = (difference.ratio(alpha, 0.001), difference.chance(0.001));
        prop_assume!((chance / alpha - 1.0).abs() > 1e-6);
        prop_assert_eq!(ratio.low > 1.0 || ratio.high < 1.0, chance < alpha, "{:?}", ratio);
    }

    /// Surer is wider.
    #[test]
    fn a_smaller_alpha_gives_a_wider_interval(base in costs(), new in costs()) {
        let at = |alpha| ratio_of_groups(&base, &new, alpha, 0.0).unwrap();
        let (wide, narrow) = (at(0.001), at(0.05));
        prop_assert!(wide.low <= narrow.low && wide.high >= narrow.high);
        prop_assert!(narrow.low <= narrow.estimate && narrow.estimate <= narrow.high);
    }
}

#[test]
fn another_number_of_processes_of_each_kind_is_no_shift_and_both_kinds_slower_is_one() {
    let two_kinds = |fast: usize, by: f64| -> Group {
        let costs: Vec<f64> =
            (0..48).map(|i| if i < fast { 1700.0 } else { 2340.0 } * by).collect();
        Group::of(&costs).unwrap()
    };
    let shift = |a: &Group, b: &Group| b.less(a).shift();
    assert_eq!(shift(&two_kinds(30, 1.0), &two_kinds(18, 1.0)), 0.0);
    assert_eq!(shift(&two_kinds(44, 1.0), &two_kinds(18, 1.0)), 0.0);
    let slower = shift(&two_kinds(30, 1.0), &two_kinds(18, 1.03));
    assert!((slower - 1.03_f64.ln()).abs() < 1e-9, "{slower}");
    let faster = shift(&two_kinds(30, 1.03), &two_kinds(30, 1.0));
    assert!((faster + 1.03_f64.ln()).abs() < 1e-9, "{faster}");
}
