use super::{Verdict, interval_rank, *};
use crate::analysis::simulation::Random;
use proptest::prelude::*;

// Verdicts on made-up processes: how often they are wrong, and how often they find what is there.

/// The cost of one process of a case whose layouts do what the function says.
type Layouts = fn(&mut Random) -> f64;

/// Takes pairs until a look decides, as the engine does, or until its time is over after `most`
/// pairs. The new case costs `slower` times as much.
fn trial(
    random: &mut Random,
    layouts: Layouts,
    slower: f64,
    margin: f64,
    most: usize,
) -> (Verdict, usize) {
    let mut pairs = Vec::new();
    for look in looks(most) {
        pairs.resize_with(look.pairs, || (layouts(random), layouts(random) * slower));
        let verdict = ratio_of_pairs(&pairs, look.alpha).unwrap().verdict(margin);
        if verdict != Verdict::Undecided {
            return (verdict, look.pairs);
        }
    }
    (Verdict::Undecided, most)
}

/// The looks of a comparison whose time is over after so many pairs.
fn looks(most: usize) -> Vec<Look> {
    LOOKS.into_iter().filter(|l| l.pairs <= most).chain(last_look(most)).collect()
}

const ALL: usize = LOOKS[LOOKS.len() - 1].pairs;

/// Whether a look calls the same different, without a margin: the interval's end at this rank of the
/// averages of two differences has zero outside, when fewer averages than its rank are on one side.
/// What `trial` does, without sorting thousands of averages for each of thousands of trials.
fn differs(differences: &[f64], rank: usize) -> bool {
    let (mut above, mut below) = (0, 0);
    for (i, a) in differences.iter().enumerate() {
        for b in &differences[i..] {
            above += usize::from(a + b > 0.0);
            below += usize::from(a + b < 0.0);
        }
    }
    let all = differences.len() * (differences.len() + 1) / 2;
    all - above < rank || all - below < rank
}

/// False verdicts of so many trials of the same with the same.
fn wrong(trials: usize, layouts: Layouts, most: usize) -> usize {
    let looks: Vec<(usize, usize)> =
        looks(most).iter().map(|l| (l.pairs, interval_rank(l.pairs, l.alpha).unwrap())).collect();
    let mut random = Random(1);
    let mut differences = Vec::new();
    let mut is_wrong = || {
        differences.clear();
        looks.iter().any(|(pairs, rank)| {
            differences.resize_with(*pairs, || (layouts(&mut random) / layouts(&mut random)).ln());
            differs(&differences, *rank)
        })
    };
    (0..trials).filter(|_| is_wrong()).count()
}

fn normal(random: &mut Random) -> f64 {
    1.0 + 0.003 * random.normal()
}

/// Half the layouts are a tenth slower, as libgcrypt's ECB.
fn two_kinds(random: &mut Random) -> f64 {
    let odd = random.uniform() < 0.5;
    if odd { 1.1 } else { 1.0 }
}

/// One layout in ten is a twentieth slower, and all scatter a little.
fn odd_ones(random: &mut Random) -> f64 {
    let odd = random.uniform() < 0.1;
    (if odd { 1.05 } else { 1.0 }) + 0.001 * random.normal()
}

/// Logarithms with Cauchy's distribution, which has no variance.
fn wild(random: &mut Random) -> f64 {
    (0.001 * (std::f64::consts::PI * (random.uniform() - 0.5)).tan()).clamp(-5.0, 5.0).exp()
}

/// As coarse as a clock that knows few values.
fn coarse(random: &mut Random) -> f64 {
    1.0 + (random.normal() * 2.0).round() * 0.001
}

#[test]
#[ignore = "long: seconds"]
fn same_against_same_is_called_different_at_most_once_in_a_thousand() {
    const TRIALS: usize = 4_000;
    // One in a thousand of them, and three standard deviations of counting.
    const MOST: usize = 4 + 6;
    let all: [(&str, Layouts); 5] = [
        ("normal", normal),
        ("two kinds", two_kinds),
        ("odd ones", odd_ones),
        ("wild", wild),
        ("coarse", coarse),
    ];
    for (name, layouts) in all {
        let count = wrong(TRIALS, layouts, ALL);
        assert!(count <= MOST, "{name}: {count} of {TRIALS}");
    }
}

/// Where the time is over between two looks, at the worst places: just before the next one, and just
/// after one.
#[test]
fn a_comparison_that_ends_with_its_time_is_wrong_no_more_often() {
    const TRIALS: usize = 20_000;
    const MOST: usize = 20 + 14;
    for most in [13, 15, 23, 35, 57] {
        for (name, layouts) in [("normal", normal as Layouts), ("two kinds", two_kinds)] {
            let count = wrong(TRIALS, layouts, most);
            assert!(count <= MOST, "{name} up to {most} pairs: {count} of {TRIALS}");
        }
    }
}

/// The short cut of the simulation says what the interval says.
#[test]
fn zero_is_outside_the_interval_where_too_few_averages_are_on_one_side() {
    let mut random = Random(5);
    for look in &LOOKS[..4] {
        let rank = interval_rank(look.pairs, look.alpha).unwrap();
        for slower in [1.0, 1.002, 1.003, 1.004, 1.01] {
            let pairs: Vec<(f64, f64)> = (0..look.pairs)
                .map(|_| (normal(&mut random), normal(&mut random) * slower))
                .collect();
            let logs: Vec<f64> = pairs.iter().map(|(base, new)| (new / base).ln()).collect();
            let ratio = ratio_of_pairs(&pairs, look.alpha).unwrap();
            assert_eq!(differs(&logs, rank), ratio.low > 1.0 || ratio.high < 1.0, "{ratio:?}");
        }
    }
}

/// The parts of a chance that all looks spend, held against a test that has none: were each look
/// given the whole, there would be more false verdicts than may be.
#[test]
fn the_looks_together_spend_what_may_be_spent() {
    for most in [12, 13, 15, 16, 100, 191, ALL] {
        let spent: f64 = looks(most).iter().map(|look| look.alpha).sum();
        assert!(spent < FALSE_VERDICTS + 1e-12, "{most}: {spent}");
        let whole = most == ALL || last_look(most).is_some();
        assert!(!whole || (spent - FALSE_VERDICTS).abs() < 1e-12, "{most}: {spent}");
    }
    assert!(LOOKS.windows(2).all(|w| w[0].pairs < w[1].pairs));
    assert!(LOOKS.iter().all(|l| interval_rank(l.pairs, l.alpha).is_some()));
    let none = [11, 12, 24, ALL, ALL + 1].map(last_look);
    assert_eq!(none, [None; 5], "too few, and those of a look that there was");
}

#[test]
fn a_difference_of_half_the_scatter_is_found_by_the_later_looks() {
    const TRIALS: usize = 200;
    // Pairs scatter by 0.42 %.
    let found = |most: usize| {
        let mut random = Random(6);
        let verdicts = (0..TRIALS).map(|_| trial(&mut random, normal, 1.0025, 0.001, most).0);
        verdicts.filter(|v| *v == Verdict::Slower).count()
    };
    let (early, late) = (found(24), found(ALL));
    assert!(late >= TRIALS * 95 / 100 && early < TRIALS / 2, "{early} by 24, {late} in all");
}

#[test]
fn one_per_cent_is_found_in_nineteen_trials_of_twenty() {
    const TRIALS: usize = 2000;
    let mut random = Random(2);
    let found =
        (0..TRIALS).filter(|_| trial(&mut random, normal, 1.01, 0.002, ALL).0 == Verdict::Slower);
    let found = found.count();
    assert!(found >= TRIALS * 95 / 100, "{found} of {TRIALS} at 0.3 % between processes");
    let faster =
        (0..TRIALS).filter(|_| trial(&mut random, normal, 0.99, 0.002, ALL).0 == Verdict::Faster);
    assert!(faster.count() >= TRIALS * 95 / 100);
}

#[test]
fn steady_cases_of_the_same_speed_are_called_the_same() {
    let mut random = Random(4);
    let steady = |random: &mut Random| 1.0 + 0.0005 * random.normal();
    let same = (0..500).filter(|_| trial(&mut random, steady, 1.0, 0.005, ALL).0 == Verdict::Same);
    assert!(same.count() >= 490);
}

#[test]
fn verdicts_follow_from_the_interval_and_the_margin() {
    let verdict = |low, estimate, high| Ratio { estimate, low, high, level: 0.95 }.verdict(0.02);
    assert_eq!(verdict(1.03, 1.04, 1.05), Verdict::Slower);
    assert_eq!(verdict(0.90, 0.92, 0.94), Verdict::Faster);
    assert_eq!(verdict(0.99, 1.00, 1.01), Verdict::Same);
    // Surely slower, by too little to matter.
    assert_eq!(verdict(1.005, 1.01, 1.015), Verdict::Same);
    // Surely slower, perhaps by too little to matter.
    assert_eq!(verdict(1.005, 1.015, 1.03), Verdict::Undecided);
    assert_eq!(verdict(0.99, 1.04, 1.09), Verdict::Undecided);
}

#[test]
fn the_ratio_is_of_the_new_case_over_the_base() {
    let pairs = [(2.0, 3.0); 12];
    let ratio = ratio_of_pairs(&pairs, 0.0005).unwrap();
    assert!((ratio.estimate - 1.5).abs() < 1e-9 && ratio.low <= ratio.high, "{ratio:?}");
    assert_eq!(ratio_of_pairs(&pairs[..11], 0.0005), None, "eleven cannot be that sure");
    assert_eq!(ratio_of_pairs(&[(0.0, 1.0); 12], 0.0005), None);
}

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

/// Holm's own steps: 0.01 ≤ 0.05 / 4, 0.013 ≤ 0.05 / 3, 0.03 > 0.05 / 2, and there it ends although
/// 0.04 would do by itself.
#[test]
fn holm_goes_down_step_by_step_and_stops_at_the_first_that_is_too_likely() {
    assert_eq!(holm(&[0.03, 0.01, 0.04, 0.013], 0.05), [false, true, false, true]);
    assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    assert_eq!(holm(&[0.05], 0.05), [true]);
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
        let places = surely_faster(&groups, groups.len(), ALPHA, Group::is_surely_below);
        found += usize::from(places.iter().any(|p| cases[p.at].1 && p.faster == 0));
        let ties = |places: &[Standing]| places.iter().filter(|p| p.faster == 0).count();
        assert!(ties(&places) >= 1);
        let few = surely_faster(&groups, 1, ALPHA, Group::is_surely_below);
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

#[test]
fn the_distribution_counts_subsets_of_ranks() {
    // Of the eight subsets of {1, 2, 3} two have the sum 3.
    let eighths: Vec<f64> = null_distribution(3).iter().map(|c| c * 8.0).collect();
    assert_eq!(eighths, [1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
}

/// Any table of the signed-rank test: 5 % two-sided rejects up to 8 of 10, up to 52 of 20; the
/// interval's rank is one more.
#[test]
fn ranks_are_those_of_the_tables() {
    assert_eq!(interval_rank(10, 0.05), Some(9));
    assert_eq!(interval_rank(20, 0.05), Some(53));
    assert_eq!(interval_rank(5, 0.05), None, "1/32 on each side is more than 2.5 %");
    assert_eq!(interval_rank(12, 0.0005), Some(1), "2/4096 is less");
}

/// Example 3.1 of the book (Hamilton depression scale of nine patients): estimate -0.46, interval
/// of 96 % from -0.786 to -0.010.
#[test]
#[allow(clippy::approx_constant, reason = "a patient's score, not pi")]
fn the_books_example_comes_out() {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let d: Vec<f64> = before.iter().zip(after).map(|(x, y)| y - x).collect();
    let [estimate, low, high] = middle(&d, 0.04).unwrap();
    assert!((estimate + 0.46).abs() < 1e-9, "{estimate}");
    assert!((low + 0.786).abs() < 1e-9 && (high + 0.010).abs() < 1e-9, "{low} {high}");
}

#[test]
fn one_wild_value_moves_the_estimate_little() {
    let mut values: Vec<f64> = (0..15).map(|i| f64::from(i) / 100.0).collect();
    let quiet = middle(&values, 0.05).unwrap();
    values[14] = 1000.0;
    let wild = middle(&values, 0.05).unwrap();
    assert!((wild[0] - quiet[0]).abs() < 0.01, "{wild:?}");
    assert_eq!(middle(&[], 0.05), None);
}

/// Hollander, Wolfe and Chicken, table A.6: of 5 and 5 at least 21 pairs with 0.048 on one side; all 144 of
/// 12 and 12 are one of the 2,704,156 orders.
#[test]
fn chances_are_those_of_tables() {
    assert!((chance_of_at_least(21.0, 5, 5) - 0.0476).abs() < 1e-3);
    assert!((chance_of_at_least(144.0, 12, 12) * 2_704_156.0 - 1.0).abs() < 1e-6);
    assert!((chance_of_at_least(0.0, 4, 9) - 1.0).abs() < 1e-12);
    assert_eq!(rare_pairs(0.025, 3, 3), None, "twenty orders are too few");
    assert_eq!(rare_pairs(0.025, 5, 5), Some(2));
}

#[test]
fn what_is_counted_and_the_normal_distribution_agree_where_one_follows_the_other() {
    let (n, m) = (50, 50);
    let mean = (n * m) as f64 / 2.0;
    let deviation = ((n * m * (n + m + 1)) as f64 / 12.0).sqrt();
    for by in [-2.0, -1.0, 0.0, 1.5] {
        let pairs = (mean + by * deviation).floor();
        let normal = Normal::new(mean, deviation).unwrap().cdf(pairs + 0.5);
        assert!((chance_of_at_most(pairs, n, m) - normal).abs() < 2e-3, "{by}");
    }
}

#[test]
fn ties_are_half_pairs_and_a_shift_takes_pairs_away() {
    let (above, below) = ([2.0, 3.0, 5.0], [1.0, 2.0, 4.0]);
    assert_eq!(pairs_above(&above, &below, 0.0), 1.5 + 2.0 + 3.0);
    assert_eq!(pairs_above(&above, &below, 10.0), 0.0);
    assert_eq!(pairs_above(&above, &below, -10.0), 9.0);
}
