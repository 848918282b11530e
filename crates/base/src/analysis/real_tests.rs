//! The statistics on costs of real processes: of two or three kinds of layout, skewed, with stragglers.
//!
//! `testdata/process-costs.csv`: a case a line, then what 120 of its processes cost, of eleven surveys in turn, in
//! ten-thousandths of their median. Made by `scripts/process-costs`.

use crate::analysis::estimate::Estimator;
use crate::analysis::groups::Group;
use crate::analysis::many::{FAMILY_ALPHA, holm};
use crate::analysis::order::{median, quantile};
use crate::analysis::simulated::Random;

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
