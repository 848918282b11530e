//! Verdicts on made-up processes: how often they are wrong, and how often they find what is there.

use super::*;
use crate::simulated::Random;

/// The cost of one process of a case whose layouts do what the function says.
type Layouts = fn(&mut Random) -> f64;

/// Takes pairs until a look decides, as the engine does. The new case costs `slower` times as much.
fn trial(random: &mut Random, layouts: Layouts, slower: f64, margin: f64) -> (Verdict, usize) {
    let mut pairs = Vec::new();
    for look in LOOKS {
        pairs.resize_with(look.pairs, || (layouts(random), layouts(random) * slower));
        let verdict = ratio_of_pairs(&pairs, look.alpha).unwrap().verdict(margin);
        if verdict != Verdict::Undecided {
            return (verdict, look.pairs);
        }
    }
    (Verdict::Undecided, LOOKS[2].pairs)
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
        let mut random = Random(1);
        // No margin: whatever the interval says is a verdict.
        let wrong = (0..TRIALS)
            .filter(|_| {
                let (verdict, _) = trial(&mut random, layouts, 1.0, 0.0);
                matches!(verdict, Verdict::Faster | Verdict::Slower)
            })
            .count();
        assert!(wrong <= MOST, "{name}: {wrong} of {TRIALS}");
    }
}

/// The parts of a chance that all looks spend, held against a test that has none: were each look
/// given the whole, there would be more false verdicts than may be.
#[test]
fn the_looks_together_spend_what_may_be_spent() {
    let spent: f64 = LOOKS.iter().map(|look| look.alpha).sum();
    assert!((spent - FALSE_VERDICTS).abs() < 1e-12, "{spent}");
    assert!(LOOKS.windows(2).all(|w| w[0].pairs < w[1].pairs));
}

#[test]
fn one_per_cent_is_found_in_nineteen_trials_of_twenty() {
    const TRIALS: usize = 2000;
    let mut random = Random(2);
    let found =
        (0..TRIALS).filter(|_| trial(&mut random, normal, 1.01, 0.002).0 == Verdict::Slower);
    let found = found.count();
    assert!(found >= TRIALS * 95 / 100, "{found} of {TRIALS} at 0.3 % between processes");
    let faster =
        (0..TRIALS).filter(|_| trial(&mut random, normal, 0.99, 0.002).0 == Verdict::Faster);
    assert!(faster.count() >= TRIALS * 95 / 100);
}

#[test]
fn a_large_difference_is_found_at_the_first_look() {
    let mut random = Random(3);
    for _ in 0..200 {
        assert_eq!(trial(&mut random, normal, 1.05, 0.002), (Verdict::Slower, LOOKS[0].pairs));
    }
}

#[test]
fn steady_cases_of_the_same_speed_are_called_the_same() {
    let mut random = Random(4);
    let steady = |random: &mut Random| 1.0 + 0.0005 * random.normal();
    let same = (0..500).filter(|_| trial(&mut random, steady, 1.0, 0.005).0 == Verdict::Same);
    assert!(same.count() >= 490);
}

#[test]
fn verdicts_follow_from_the_interval_and_the_margin() {
    let verdict = |low, estimate, high| Ratio { estimate, low, high }.verdict(0.02);
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
