//! Verdicts on made-up processes: how often they are wrong, and how often they find what is there.

use super::*;
use crate::analysis::signed_rank::interval_rank;
use crate::analysis::simulated::Random;

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
fn same_against_same_is_called_different_at_most_once_in_a_thousand() {
    const TRIALS: usize = 10_000;
    // One in a thousand of them, and three standard deviations of counting.
    const MOST: usize = 10 + 10;
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
fn a_large_difference_is_found_at_the_first_look() {
    let mut random = Random(3);
    for _ in 0..200 {
        assert_eq!(trial(&mut random, normal, 1.05, 0.002, ALL), (Verdict::Slower, LOOKS[0].pairs));
    }
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
