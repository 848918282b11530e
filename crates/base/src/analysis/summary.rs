//! A case's samples, summarised.

use crate::analysis::estimate::{Estimate, Estimator};
use crate::analysis::order::median;
use crate::model::{Disturbance, QuietRates, RawSample};
use std::collections::BTreeMap;

/// Processes that an interval of 95 % needs at least: with fewer, both extremes lie on one side of the
/// median too often.
pub const MIN_PROCESSES: usize = 6;

/// Clean samples that a process needs before its median counts. What varies most is processes: two samples of each and
/// more of them say more in the same time than three.
pub const MIN_PER_PROCESS: usize = 2;

/// A case's samples, summarised.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Ticks of one operation.
    pub ticks_per_op: Estimate,
    /// Core cycles of one operation; `None` where the core clock is unknown.
    pub cycles_per_op: Option<Estimate>,
    /// Clean samples.
    pub clean: usize,
    /// Samples that do not count, by reason.
    pub disturbed: BTreeMap<Disturbance, usize>,
    /// Processes whose medians count.
    pub processes: usize,
}

impl Summary {
    /// The precision that sampling is stopped by: of the cycles, the steadier unit, where they are
    /// known.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.cycles_per_op.unwrap_or(self.ticks_per_op).precision()
    }

    /// Whether enough processes count for the interval to have its confidence.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.processes >= MIN_PROCESSES
    }
}

/// Summarises samples; `None` as long as fewer than two processes have enough clean ones.
///
/// Samples of one process share its memory layout, so they are no independent witnesses of what
/// another layout would give: each process counts once, with its median. The estimate is the trimmed mean over
/// processes, at any number of them. `quiet` holds what
/// [`RawSample::disturbance`] asks for, CPU by CPU.
#[must_use]
pub fn summarise(samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
    Estimator::TrimmedMean.summarise(samples, quiet)
}

/// Summarises samples of a core that was hardly ever quiet: every process with a clean sample counts,
/// with the median of those it has. `None` where there are fewer than [`MIN_PROCESSES`].
#[must_use]
pub fn summarise_sparse(samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
    Estimator::TrimmedMean.summarise_sparse(samples, quiet)
}

impl Estimator {
    /// [`summarise`] by this estimator.
    #[must_use]
    pub fn summarise(self, samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
        self.summarised(samples, quiet, MIN_PER_PROCESS)
    }

    /// [`summarise_sparse`] by this estimator.
    #[must_use]
    pub fn summarise_sparse(self, samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
        self.summarised(samples, quiet, 1).filter(Summary::is_complete)
    }

    fn summarised(
        self,
        samples: &[RawSample],
        quiet: &QuietRates,
        least: usize,
    ) -> Option<Summary> {
        let mut by_process: BTreeMap<u32, Vec<&RawSample>> = BTreeMap::new();
        let mut disturbed = BTreeMap::new();
        for sample in samples {
            match sample.disturbance(quiet.of(sample.cpu)) {
                None => by_process.entry(sample.process).or_default().push(sample),
                Some(why) => *disturbed.entry(why).or_insert(0) += 1,
            }
        }
        let clean = by_process.values().map(Vec::len).sum();
        let groups: Vec<Vec<&RawSample>> =
            by_process.into_values().filter(|g| g.len() >= least).collect();
        let estimate = |value| self.with_interval(&mut medians(&groups, value));
        let ticks_per_op = estimate(RawSample::ticks_per_op)?;
        let cycles_known = groups.iter().flatten().all(|s| s.clock() > 0.0);
        let cycles_per_op = cycles_known.then(|| estimate(RawSample::cycles_per_op)).flatten();
        Some(Summary { ticks_per_op, cycles_per_op, clean, disturbed, processes: groups.len() })
    }
}

fn medians(groups: &[Vec<&RawSample>], value: fn(&RawSample) -> f64) -> Vec<f64> {
    let of_one = |g: &Vec<&RawSample>| median(&mut g.iter().map(|s| value(s)).collect::<Vec<_>>());
    groups.iter().filter_map(of_one).collect()
}

/// One cost a process that counts, in the order of their numbers: the median of what `value` says of
/// its samples, all of which are taken for clean. What [`summarise`] estimates from.
#[must_use]
pub fn costs_by_process(clean: &[RawSample], value: fn(&RawSample) -> f64) -> Vec<f64> {
    let mut by_process: BTreeMap<u32, Vec<&RawSample>> = BTreeMap::new();
    for sample in clean {
        by_process.entry(sample.process).or_default().push(sample);
    }
    let groups: Vec<Vec<&RawSample>> =
        by_process.into_values().filter(|g| g.len() >= MIN_PER_PROCESS).collect();
    medians(&groups, value)
}

/// What operations of `own` take longer than those of `base`, in ticks, over processes that took samples of both, all of
/// which are taken for clean: the difference of each one's medians, with the interval of [`summarise`]. Whether there are
/// enough processes for its confidence beside; `None` of fewer than two.
#[must_use]
pub fn summarise_differences(own: &[RawSample], base: &[RawSample]) -> Option<(Estimate, bool)> {
    let medians_of = |samples: &[RawSample]| -> BTreeMap<u32, f64> {
        let mut by_process: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for sample in samples {
            by_process.entry(sample.process).or_default().push(sample.ticks_per_op());
        }
        let one = |(process, mut costs): (u32, Vec<f64>)| Some((process, median(&mut costs)?));
        by_process.into_iter().filter_map(one).collect()
    };
    let base = medians_of(base);
    let difference = |(process, cost): (u32, f64)| Some(cost - base.get(&process)?);
    let mut all: Vec<f64> = medians_of(own).into_iter().filter_map(difference).collect();
    Some((Estimator::TrimmedMean.with_interval(&mut all)?, all.len() >= MIN_PROCESSES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::many::BETWEEN_RUNS;

    fn quiet() -> QuietRates {
        QuietRates::of_one(0, 5.0)
    }

    fn sample(process: u32, ticks: u64) -> RawSample {
        RawSample {
            process,
            thread: 0,
            ops: 10,
            ticks,
            clock_before: 1.5,
            clock_after: 1.5,
            probe_before: 5.0,
            probe_after: 5.0,
            switches: 0,
            migrated: false,
            ..RawSample::default()
        }
    }

    fn processes(n: u32, ticks: impl Fn(u32) -> u64) -> Vec<RawSample> {
        (0..n).flat_map(|p| (0..5).map(move |i| (p, i))).map(|(p, _)| sample(p, ticks(p))).collect()
    }

    #[test]
    fn the_interval_covers_the_differences_between_processes() {
        let s = summarise(&processes(6, |p| 1000 + 10 * u64::from(p)), &quiet()).unwrap();
        assert!(s.is_complete());
        assert!(s.ticks_per_op.low <= 100.0 && s.ticks_per_op.high >= 105.0, "{s:?}");
        assert!((s.ticks_per_op.median - 102.5).abs() < 1e-9);
        assert!((s.cycles_per_op.unwrap().median - 102.5 * 1.5).abs() < 1e-9);
        let same = summarise(&processes(6, |_| 1000), &quiet()).unwrap();
        assert!(s.precision() > 0.015 && (same.precision() - BETWEEN_RUNS).abs() < 1e-9);
    }

    #[test]
    fn disturbed_samples_are_counted_and_change_nothing() {
        let mut samples = processes(6, |_| 1000);
        let undisturbed = summarise(&samples, &quiet()).unwrap();
        samples.push(RawSample { switches: 1, ticks: 9000, ..samples[0] });
        samples.push(RawSample { probe_after: 3.0, ticks: 9000, ..samples[0] });
        let noisy = summarise(&samples, &quiet()).unwrap();
        assert_eq!(noisy.ticks_per_op, undisturbed.ticks_per_op);
        assert_eq!(noisy.clean, 30);
        assert_eq!(noisy.disturbed[&Disturbance::Switched], 1);
        assert_eq!(noisy.disturbed[&Disturbance::Contended], 1);
    }

    #[test]
    fn one_clean_sample_in_each_of_six_processes_makes_a_figure_that_outliers_do_not_move() {
        let contended = |s: &RawSample| RawSample { probe_after: 3.0, ticks: 1900, ..*s };
        let clean = |p: u32| sample(p, 1000 + 10 * u64::from(p));
        let mut samples: Vec<RawSample> = (0..6).map(clean).collect();
        samples.extend((0..6).flat_map(|p| [contended(&samples[p]); 9]).collect::<Vec<_>>());
        assert_eq!(summarise(&samples, &quiet()), None);
        let s = summarise_sparse(&samples, &quiet()).unwrap();
        assert_eq!((s.clean, s.processes, s.disturbed[&Disturbance::Contended]), (6, 6, 54));
        assert!((s.ticks_per_op.median - 102.5).abs() < 1e-9, "{s:?}");
        // Disturbed where no probe looks.
        samples[5].ticks = 1900;
        let outlier = summarise_sparse(&samples, &quiet()).unwrap();
        assert_eq!(outlier.ticks_per_op.median, s.ticks_per_op.median);
        assert!(outlier.ticks_per_op.high > 189.9, "{outlier:?}");
        assert_eq!(summarise_sparse(&samples[1..], &quiet()), None, "five processes are too few");
    }

    #[test]
    fn each_cpu_has_a_quiet_rate_of_its_own() {
        let mut samples = processes(6, |_| 1000);
        samples.push(RawSample { cpu: 1, ..samples[0] });
        let mut quiet = quiet();
        quiet.set(1, 6.0);
        let s = summarise(&samples, &quiet).unwrap();
        assert_eq!(s.disturbed[&Disturbance::Contended], 1, "5 is quiet on CPU 0 and not on CPU 1");
    }

    #[test]
    fn costs_by_process_are_the_medians_that_the_estimate_is_made_of() {
        let mut samples = processes(6, |p| 1000 + 10 * u64::from(p));
        samples.push(sample(7, 5000));
        let costs = costs_by_process(&samples, RawSample::ticks_per_op);
        assert_eq!(costs, [100.0, 101.0, 102.0, 103.0, 104.0, 105.0], "the seventh has one sample");
        let estimate = summarise(&samples, &quiet()).unwrap().ticks_per_op.median;
        assert!((costs.iter().sum::<f64>() / 6.0 - estimate).abs() < 1e-9);
    }

    #[test]
    fn differences_are_taken_process_by_process() {
        let base = processes(6, |p| 1000 + 500 * u64::from(p));
        let own = processes(8, |p| 1300 + 500 * u64::from(p));
        let (e, complete) = summarise_differences(&own, &base).unwrap();
        assert!(complete && (e.median - 30.0).abs() < 1e-9, "{e:?}");
        assert!((e.low - 30.0).abs() < 0.1 && (e.high - 30.0).abs() < 0.1, "{e:?}");
        let (e, complete) = summarise_differences(&base[..10], &own).unwrap();
        assert!(!complete && (e.median + 30.0).abs() < 1e-9, "{e:?}");
        assert_eq!(summarise_differences(&own, &base[..5]), None, "one process");
    }

    #[test]
    fn a_process_with_few_samples_does_not_count_yet() {
        let mut samples = processes(6, |_| 1000);
        samples.push(sample(6, 5000));
        let s = summarise(&samples, &quiet()).unwrap();
        assert_eq!((s.processes, s.ticks_per_op.median), (6, 100.0));
        assert_eq!(summarise(&[sample(0, 1)], &quiet()), None);
    }

    #[test]
    fn cycles_stay_unknown_where_the_core_clock_is() {
        let samples: Vec<_> = processes(6, |_| 1000)
            .into_iter()
            .map(|s| RawSample { clock_before: 0.0, clock_after: 0.0, ..s })
            .collect();
        let s = summarise(&samples, &QuietRates::default()).unwrap();
        assert_eq!(s.cycles_per_op, None);
        assert_eq!(s.clean, 30);
    }
}
