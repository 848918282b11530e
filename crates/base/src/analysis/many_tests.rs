use super::*;
use crate::analysis::simulated::Random;
use proptest::prelude::*;

/// Holm's own steps: 0.01 ≤ 0.05 / 4, 0.013 ≤ 0.05 / 3, 0.03 > 0.05 / 2, and there it ends although
/// 0.04 would do by itself.
#[test]
fn holm_goes_down_step_by_step_and_stops_at_the_first_that_is_too_likely() {
    assert_eq!(holm(&[0.03, 0.01, 0.04, 0.013], 0.05), [false, true, false, true]);
    assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    assert_eq!(holm(&[0.05], 0.05), [true]);
}

#[test]
fn of_many_equal_cases_seldom_any_is_told_apart() {
    const TRIALS: usize = 2000;
    let mut random = Random(11);
    let mut group = || {
        let costs: Vec<f64> = (0..12).map(|_| 1.0 + 0.004 * random.normal()).collect();
        Group::of(&costs).unwrap()
    };
    let wrong = (0..TRIALS).filter(|_| {
        let chances: Vec<f64> = (0..40).map(|_| group().less(&group()).chance(0.0)).collect();
        holm(&chances, FAMILY_ALPHA).contains(&true)
    });
    let wrong = wrong.count();
    // One in a hundred, and three standard deviations of counting.
    assert!(wrong <= 20 + 14, "{wrong} of {TRIALS}");
}

/// The first of thirty is 1 % faster than the others, with a scatter of 0.4 % between processes.
#[test]
fn the_truly_fastest_is_nearly_always_among_those_that_tie() {
    const TRIALS: usize = 500;
    let mut random = Random(3);
    let mut found = 0;
    for _ in 0..TRIALS {
        let mut cases: Vec<(Group, bool)> = (0..30)
            .map(|i| {
                let speed = if i == 0 { 0.99 } else { 1.0 };
                let costs: Vec<f64> =
                    (0..12).map(|_| speed * (1.0 + 0.004 * random.normal())).collect();
                (Group::of(&costs).unwrap(), i == 0)
            })
            .collect();
        cases.sort_by(|a, b| a.0.cost().total_cmp(&b.0.cost()));
        let groups: Vec<Group> = cases.iter().map(|(g, _)| g.clone()).collect();
        let places = surely_faster(&groups, groups.len(), ALPHA);
        found += usize::from(places.iter().any(|p| cases[p.at].1 && p.faster == 0));
        let ties = |places: &[Standing]| places.iter().filter(|p| p.faster == 0).count();
        assert!(ties(&places) >= 1);
        let few = surely_faster(&groups, 1, ALPHA);
        assert_eq!(ties(&few), ties(&places), "ties are told however few rows are shown");
        assert_eq!(few.len(), ties(&few));
    }
    assert!(found >= TRIALS * 95 / 100, "{found} of {TRIALS}");
}

#[test]
fn the_verdict_needs_both_a_sure_difference_and_one_that_matters() {
    let ratio = |estimate: f64, half: f64| Ratio {
        estimate,
        low: estimate - half,
        high: estimate + half,
        level: 0.95,
    };
    let verdict = |estimate, half, differs| verdict_of_many(&ratio(estimate, half), differs, 0.005);
    assert_eq!(verdict(1.001, 0.003, true), Verdict::Same);
    assert_eq!(verdict(1.004, 0.003, true), Verdict::Undecided, "sure, and perhaps too small");
    assert_eq!(verdict(1.02, 0.003, true), Verdict::Slower);
    assert_eq!(verdict(0.98, 0.003, true), Verdict::Faster);
    assert_eq!(verdict(1.02, 0.003, false), Verdict::Undecided, "one of many");
    assert_eq!(verdict(1.0, 0.1, false), Verdict::Undecided);
}

fn ratios() -> impl Strategy<Value = Vec<Ratio>> {
    let ratio = (0.1f64..10.0, 0.0f64..0.5, 0.0f64..0.5);
    let ratio = ratio.prop_map(|(estimate, below, above)| Ratio {
        estimate,
        low: estimate * (1.0 - below),
        high: estimate * (1.0 + above),
        level: 0.95,
    });
    prop::collection::vec(ratio, 1..40)
}

proptest! {
    #[test]
    fn a_geometric_mean_lies_between_its_ratios_and_turns_over_with_them(ratios in ratios()) {
        let mean = geometric_mean(&ratios).unwrap();
        let least = ratios.iter().map(|r| r.estimate).fold(f64::MAX, f64::min);
        let most = ratios.iter().map(|r| r.estimate).fold(0.0, f64::max);
        prop_assert!(mean.estimate >= least * (1.0 - 1e-12) && mean.estimate <= most * (1.0 + 1e-12));
        prop_assert!(mean.low <= mean.estimate && mean.estimate <= mean.high);
        let turned: Vec<Ratio> = ratios
            .iter()
            .map(|r| Ratio {
                estimate: 1.0 / r.estimate,
                low: 1.0 / r.high,
                high: 1.0 / r.low,
                level: r.level,
            })
            .collect();
        let back = geometric_mean(&turned).unwrap();
        prop_assert!((back.estimate * mean.estimate - 1.0).abs() < 1e-9);
        prop_assert!((back.low * mean.high - 1.0).abs() < 1e-9);
    }
}
