//! Samples into estimates and intervals. Pure: no I/O, no clock, no randomness, no unsafe code. Here, samples
//! into figures: a case's samples summarised, and what its processes cost together, with the interval;
//! samples of several threads put together, percentiles of single operations, the rate of a core that nobody
//! shares, medians and quantiles.

pub mod bound;
mod comparison;
mod pattern;
mod share;
#[cfg(test)]
mod simulation;

use crate::model::{Disturbance, QuietRates, RawSample};
pub use comparison::{
    ALPHA, BETWEEN_RUNS, BETWEEN_RUNS_BEFORE, BETWEEN_RUNS_OF_ONE_CASE, Difference, FALSE_VERDICTS,
    FAMILY_ALPHA, Group, LOOKS, Look, Ratio, Standing, Verdict, geometric_mean, holm, last_look,
    ratio_of_pairs, surely_faster, verdict_of_many,
};
pub use pattern::{
    Line, MIN_SIZES, OfAKind, Period, common_slope, fit_line, period, run_effect, two_kinds,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use share::SampledShare;
use statrs::distribution::{ContinuousCDF as _, StudentsT};
use std::borrow::Cow;
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
    pub fn precision(&self) -> f64 {
        self.cycles_per_op.unwrap_or(self.ticks_per_op).precision()
    }

    /// Whether enough processes count for the interval to have its confidence.
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
pub fn summarise(samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
    Estimator::TrimmedMean.summarise(samples, quiet)
}

/// Which samples a figure is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// The undisturbed ones of processes that have enough.
    Clean,
    /// Undisturbed ones, one and more from each of many processes: few have enough.
    Sparse,
    /// Those beside another busy thread too, because the others give no figure.
    Contended,
}

impl Estimator {
    /// What a case's samples come to: the undisturbed ones, else all that a quiet core is not asked for, else undisturbed ones
    /// of processes that have one.
    pub fn best(self, samples: &[RawSample], quiet: &QuietRates) -> Option<(Summary, Counted)> {
        let contended = || self.summarise(samples, &QuietRates::default());
        let single = || self.summarised(samples, quiet, 1);
        self.undisturbed(samples, quiet)
            .or_else(|| Some((contended()?, Counted::Contended)))
            .or_else(|| Some((single()?, Counted::Sparse)))
    }

    /// What undisturbed samples come to. A few from many processes tell more than many from two.
    pub fn undisturbed(
        self,
        samples: &[RawSample],
        quiet: &QuietRates,
    ) -> Option<(Summary, Counted)> {
        let full = self.summarise(samples, quiet).map(|summary| (summary, Counted::Clean));
        if full.as_ref().is_some_and(|(summary, _)| summary.is_complete()) {
            return full;
        }
        let sparse = self.summarised(samples, quiet, 1).filter(Summary::is_complete);
        sparse.map(|summary| (summary, Counted::Sparse)).or(full)
    }

    /// [`summarise`] by this estimator.
    pub fn summarise(self, samples: &[RawSample], quiet: &QuietRates) -> Option<Summary> {
        self.summarised(samples, quiet, MIN_PER_PROCESS)
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

/// Confidence of every interval.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// An estimate with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// What processes cost together, each by its median: the mean without the lowest and the highest fifth (since
    /// 1.6; before, the median. The name is still that of the median).
    pub median: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Half the interval's width as a fraction of the middle.
    pub fn precision(&self) -> f64 {
        self.half() / self.median
    }

    /// The same, and 0 where the middle is.
    pub fn half_width(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { self.half() / self.median.abs() }
    }

    /// Half the interval's width.
    pub fn half(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Whether 0 lies within.
    pub fn has_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The same in another unit.
    pub fn map(self, how: impl Fn(f64) -> f64) -> Self {
        Self { median: how(self.median), low: how(self.low), high: how(self.high) }
    }

    /// Everything between the extremes of what both can be: `how` rises or falls in each.
    pub fn with(self, other: Self, how: fn(f64, f64) -> f64) -> Self {
        let ends = [(self.low, other.low), (self.low, other.high), (self.high, other.low)];
        let ends = ends.map(|(a, b)| how(a, b));
        let last = how(self.high, other.high);
        Self {
            median: how(self.median, other.median),
            low: ends.into_iter().fold(last, f64::min),
            high: ends.into_iter().fold(last, f64::max),
        }
    }

    /// A sum or difference of two whose errors do not depend on each other.
    pub fn independent(self, other: Self, how: fn(f64, f64) -> f64) -> Self {
        let half = self.half().hypot(other.half());
        let median = how(self.median, other.median);
        Self { median, low: median - half, high: median + half }
    }

    /// What is known exactly, or what nobody knows the interval of.
    pub fn exactly(median: f64) -> Self {
        Self { median, low: median, high: median }
    }
}

/// How an estimate is made of what processes cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The mean without the lowest and the highest fifth, with the interval of K. K. Yuen (Biometrika 61, 1974,
    /// 165-170).
    TrimmedMean,
    /// The median, with the interval of order statistics: records before format 1.6.
    Median,
}

/// The fraction that the trimmed mean leaves out at either end.
const TRIMMED: f64 = 0.2;
/// Of fewer processes of two kinds all that are kept may be of one kind: then the interval holds the median's, too.
const FEW: usize = 12;

impl Estimator {
    /// The estimate, and its interval with what a run's costs may share, which its processes cannot show; the two
    /// independent errors add by their squares. `None` of fewer than two values. Fewer than six can give no interval
    /// of 95 %: then it is from the least to the most. Sorts its argument.
    pub(crate) fn with_interval(self, values: &mut [f64]) -> Option<Estimate> {
        let last = values.len().checked_sub(2)? + 1;
        let middle = self.of(values)?;
        let rank = median_rank(values.len()).unwrap_or(0);
        let (mut low, mut high) = (values[rank], values[last - rank]);
        if self == Self::TrimmedMean && values.len() >= MIN_PROCESSES {
            let half = half_width(values);
            let is_few = values.len() < FEW;
            low = if is_few { low.min(middle - half) } else { middle - half };
            high = if is_few { high.max(middle + half) } else { middle + half };
        }
        let shared = middle * BETWEEN_RUNS;
        let (below, above) = (middle - low, high - middle);
        Some(Estimate {
            median: middle,
            low: middle - below.hypot(shared),
            high: middle + above.hypot(shared),
        })
    }

    /// The estimate alone; `None` of nothing. Sorts its argument.
    pub fn of(self, values: &mut [f64]) -> Option<f64> {
        if self == Self::Median {
            return median(values);
        }
        values.sort_unstable_by(f64::total_cmp);
        let kept = kept(values);
        (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
    }
}

/// The values that the trimmed mean is of. Of five and more at least one is left out at either end: a process that met
/// something that nothing marks is no part of what a library costs.
fn kept(sorted: &[f64]) -> &[f64] {
    let cut = (sorted.len() as f64 * TRIMMED) as usize;
    &sorted[cut..sorted.len() - cut]
}

/// Half the width of the trimmed mean's interval: the standard error by the variance of the values with those left out
/// moved to the nearest kept one, times the quantile of Student's t over the kept ones.
fn half_width(sorted: &[f64]) -> f64 {
    let (n, kept) = (sorted.len() as f64, kept(sorted));
    let (first, last) = (kept[0], kept[kept.len() - 1]);
    let moved = || sorted.iter().map(|v| v.clamp(first, last));
    let mean = moved().sum::<f64>() / n;
    let squares = moved().map(|v| (v - mean).powi(2)).sum::<f64>();
    let h = kept.len() as f64;
    let t = StudentsT::new(0.0, 1.0, h - 1.0).expect("two values or more are kept");
    t.inverse_cdf(0.5 + CONFIDENCE / 2.0) * (squares / (h * (h - 1.0))).sqrt()
}

/// One sample for each visit of `threads` threads, whose own stand one after the other; an incomplete
/// visit at the end is left out.
///
/// Rates add up, so its ticks are the harmonic mean of the threads': `threads` operations are done
/// in the time that it gives for one. It is clean only if all of them were: of the probes, the one counts
/// that lies lowest against its own CPU's quiet rate, as if it were the first CPU's.
pub fn of_visits<'a>(
    samples: &'a [RawSample],
    threads: u32,
    quiet: &QuietRates,
) -> Cow<'a, [RawSample]> {
    if threads <= 1 {
        return Cow::Borrowed(samples);
    }
    samples.chunks_exact(threads as usize).map(|visit| together(visit, quiet)).collect()
}

fn together(visit: &[RawSample], quiet: &QuietRates) -> RawSample {
    let n = visit.len() as f64;
    let mean = |value: fn(&RawSample) -> f64| visit.iter().map(value).sum::<f64>() / n;
    let sum = |value: fn(&RawSample) -> u32| visit.iter().map(value).sum::<u32>();
    let any = |value: fn(&RawSample) -> bool| visit.iter().any(value);
    let first = quiet.of(visit[0].cpu);
    let least = |value: fn(&RawSample) -> f64| {
        let as_first = |s: &RawSample| match quiet.of(s.cpu) {
            own if own > 0.0 && first > 0.0 => value(s) / own * first,
            _ => value(s),
        };
        visit.iter().map(as_first).fold(f64::MAX, f64::min)
    };
    let inverse = mean(|s| 1.0 / (s.ticks.max(1) as f64));
    RawSample {
        ticks: (1.0 / inverse).round() as u64,
        clock_before: mean(|s| s.clock_before),
        clock_after: mean(|s| s.clock_after),
        probe_before: least(|s| s.probe_before),
        probe_after: least(|s| s.probe_after),
        away_ticks: visit.iter().map(|s| s.away_ticks).max().unwrap_or(0),
        switches: sum(|s| s.switches),
        voluntary: sum(|s| s.voluntary),
        page_faults: sum(|s| s.page_faults),
        major_faults: sum(|s| s.major_faults),
        migrated: any(|s| s.migrated),
        stolen: any(|s| s.stolen),
        ..visit[0]
    }
}

/// How many operations took how many ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ticks(BTreeMap<u64, u64>);

impl Ticks {
    /// Adds operations of the same length.
    pub fn add(&mut self, ticks: u64, operations: u64) {
        *self.0.entry(ticks).or_insert(0) += operations;
    }

    /// All operations.
    pub fn operations(&self) -> u64 {
        self.0.values().sum()
    }

    /// The longest; `None` of none.
    pub fn longest(&self) -> Option<u64> {
        self.0.last_key_value().map(|(ticks, _)| *ticks)
    }

    /// The length that a fraction of the operations do not exceed, by nearest rank; `None` where the
    /// operations are too few for one to lie above it.
    pub fn percentile(&self, fraction: f64) -> Option<u64> {
        let all = self.operations();
        // A hair less: one minus a thousandth is not quite 0.999 in binary.
        let needed = (1.0 / (1.0 - fraction) - 1e-6).ceil() as u64;
        if all == 0 || all < needed {
            return None;
        }
        let rank = ((all as f64 * fraction - 1e-6).ceil() as u64).max(1);
        let mut seen = 0;
        self.0.iter().find_map(|(ticks, count)| {
            seen += count;
            (seen >= rank).then_some(*ticks)
        })
    }

    /// Each length with its count, ascending.
    pub fn into_pairs(self) -> Vec<(u64, u64)> {
        self.0.into_iter().collect()
    }
}

// The rate of a core that nobody shares, from readings of the throughput probe.

/// The part of all readings that lies below the quiet rate. High, so that a core that is quiet a
/// fiftieth of the time is enough to know it by; the few readings above are the counter's rounding,
/// and interrupts within the clock's chain.
const OF_ALL: f64 = 0.98;

/// The part of a short watch's readings that lies below what it finds: lower than of all, because a
/// rate that is found too high before the first sample would mark quiet samples for the whole run.
const OF_A_WATCH: f64 = 0.8;

/// Independent instructions per core cycle of the quiet core, by all readings of a run; 0 of none.
/// Reorders its argument.
pub fn quiet_rate(readings: &mut [f64]) -> f64 {
    quantile(readings, OF_ALL).unwrap_or(0.0)
}

/// The same by readings of a fraction of a second, which is never too high; 0 of none. Reorders its
/// argument.
pub fn watched_rate(readings: &mut [f64]) -> f64 {
    quantile(readings, OF_A_WATCH).unwrap_or(0.0)
}

// Order statistics: medians and quantiles.

/// The median; `None` of nothing. Sorts its argument.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(values[n / 2]),
        _ => Some(f64::midpoint(values[n / 2 - 1], values[n / 2])),
    }
}

/// The value below which the given fraction lies (nearest rank); `None` of nothing. Reorders its
/// argument.
pub fn quantile(values: &mut [f64], fraction: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = (last as f64 * fraction.clamp(0.0, 1.0)).round() as usize;
    Some(*values.select_nth_unstable_by(rank, f64::total_cmp).1)
}

/// Ranks from either end of so many values between which their distribution's median lies with the
/// confidence of every interval, whatever the distribution; `None` where not even the extremes do it (fewer
/// than six). H. A. David and H. N. Nagaraja, Order Statistics, 3rd ed., §7.1.
pub fn median_rank(n: usize) -> Option<usize> {
    // The chance that fewer than `rank` of n values fall below the median, from either end.
    let (mut outside, mut ways, mut rank) = (0.0, 1.0, 0);
    let each = 0.5_f64.powi(i32::try_from(n).ok()?);
    loop {
        outside += 2.0 * ways * each;
        if outside > 1.0 - CONFIDENCE || 2 * rank >= n {
            return rank.checked_sub(1);
        }
        rank += 1;
        ways *= (n + 1 - rank) as f64 / rank as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::comparison::BETWEEN_RUNS;
    use crate::model::fixtures;

    fn quiet() -> QuietRates {
        QuietRates::of_one(0, 5.0)
    }

    fn sample(process: u32, ticks: u64) -> RawSample {
        fixtures::sample(process, ticks, 1.5)
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
        let sparse = |samples: &[RawSample]| Estimator::TrimmedMean.undisturbed(samples, &quiet());
        let (s, counted) = sparse(&samples).unwrap();
        assert_eq!(counted, Counted::Sparse);
        assert_eq!((s.clean, s.processes, s.disturbed[&Disturbance::Contended]), (6, 6, 54));
        assert!((s.ticks_per_op.median - 102.5).abs() < 1e-9, "{s:?}");
        // Disturbed where no probe looks.
        samples[5].ticks = 1900;
        let (outlier, _) = sparse(&samples).unwrap();
        assert_eq!(outlier.ticks_per_op.median, s.ticks_per_op.median);
        assert!(outlier.ticks_per_op.high > 189.9, "{outlier:?}");
        assert_eq!(sparse(&samples[1..]), None, "five processes are too few");
    }

    #[test]
    fn where_nothing_else_makes_a_figure_one_clean_sample_of_each_of_two_processes_does() {
        let best = |samples: &[RawSample]| Estimator::TrimmedMean.best(samples, &quiet());
        let interrupted = |s: &RawSample| RawSample { interrupted: true, ticks: 1100, ..*s };
        let contended = |s: &RawSample| RawSample { probe_after: 3.0, ticks: 1900, ..*s };
        let clean = [sample(0, 1000), sample(1, 1020)];
        let hit = [&clean[..], &[interrupted(&clean[0]), interrupted(&clean[1])]].concat();
        let (two, counted) = best(&hit).unwrap();
        assert_eq!((two.ticks_per_op.median, two.processes, two.clean), (101.0, 2, 2));
        assert!(!two.is_complete() && counted == Counted::Sparse);
        let beside = [&clean[..], &[contended(&clean[0]), contended(&clean[1])]].concat();
        assert_eq!(best(&beside).unwrap().1, Counted::Contended, "a bound is surer");
        assert_eq!(best(&clean[..1]), None, "one process tells nothing of the others");
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

    fn trimmed(values: &mut [f64]) -> Estimate {
        Estimator::TrimmedMean.with_interval(values).unwrap()
    }

    #[test]
    fn the_interval_of_fifteen_values_is_the_one_that_the_formula_gives() {
        let e = trimmed(&mut (1..=15).map(f64::from).collect::<Vec<_>>());
        // 4 to 12 are kept; 4, 4, 4, 4, 5, … 12, 12, 12 have squares of 156; t of 8 degrees of freedom is 2.3060.
        let half = 2.306_004 * (156.0_f64 / (9.0 * 8.0)).sqrt();
        assert_eq!(e.median, 8.0);
        assert!((e.high - 8.0 - half).abs() < 1e-4 && (8.0 - e.low - half).abs() < 1e-4, "{e:?}");
    }

    #[test]
    fn of_few_processes_the_interval_holds_the_medians_too() {
        let e = trimmed(&mut [100.0, 100.0, 100.0, 100.0, 100.0, 110.0]);
        assert!(e.median == 100.0 && e.high >= 110.0, "{e:?}");
    }

    #[test]
    fn processes_of_two_kinds_move_the_estimate_by_their_share_and_not_from_one_kind_to_the_other()
    {
        let of = |slow: usize| {
            let mut values: Vec<f64> =
                (0..12).map(|i| if i < slow { 110.0 } else { 100.0 }).collect();
            (trimmed(&mut values.clone()).median, Estimator::Median.of(&mut values).unwrap())
        };
        assert_eq!((of(5).1, of(7).1), (100.0, 110.0), "the median goes from one end to the other");
        assert!(of(7).0 - of(5).0 < 3.0, "{:?} {:?}", of(5), of(7));
    }

    #[test]
    fn an_odd_process_in_twelve_moves_nothing() {
        let mut values = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 9.0];
        let e = trimmed(&mut values);
        assert_eq!(e, Estimate { median: 1.0, low: 1.0 - BETWEEN_RUNS, high: 1.0 + BETWEEN_RUNS });
    }

    #[test]
    fn an_interval_of_fewer_than_six_values_spans_them_and_one_value_is_no_estimate() {
        let e = trimmed(&mut [1.0, 2.0, 4.0, 3.0, 9.0]);
        assert_eq!(e.median, 3.0);
        assert!((e.low - 1.0).abs() < 1e-4 && (e.high - 9.0).abs() < 1e-4, "{e:?}");
        assert_eq!(Estimator::TrimmedMean.with_interval(&mut [1.0]), None);
        assert_eq!(Estimator::TrimmedMean.of(&mut [1.0]), Some(1.0));
        assert_eq!(Estimator::TrimmedMean.of(&mut []), None);
    }

    #[test]
    fn the_median_of_earlier_records_keeps_its_interval() {
        let mut values: Vec<f64> = (1..=12).rev().map(f64::from).collect();
        let e = Estimator::Median.with_interval(&mut values).unwrap();
        assert_eq!(e.median, 6.5);
        assert!((e.low - 3.0).abs() < 1e-4 && (e.high - 10.0).abs() < 1e-4, "{e:?}");
    }

    fn sample_of_thread(thread: u32, ticks: u64, switches: u32) -> RawSample {
        let clock = 1.0 + f64::from(thread);
        let probe_before = 5.0 - f64::from(thread);
        RawSample { thread, switches, probe_before, ..fixtures::sample(3, ticks, clock) }
    }

    #[test]
    fn rates_add_up_and_one_disturbed_thread_disturbs_the_visit() {
        let samples = [
            sample_of_thread(0, 1000, 0),
            sample_of_thread(1, 3000, 0),
            sample_of_thread(0, 1000, 0),
            sample_of_thread(1, 1000, 1),
        ];
        let visits = of_visits(&samples, 2, &QuietRates::default());
        assert_eq!(visits.len(), 2);
        // 10 operations in 1000 ticks and 10 in 3000 are as 20 in 1500: each thread's mean.
        assert_eq!((visits[0].ticks, visits[0].ops, visits[0].thread), (1500, 10, 0));
        assert_eq!((visits[0].clock_before, visits[0].probe_before), (1.5, 4.0));
        assert_eq!((visits[0].switches, visits[1].switches), (0, 1));
    }

    #[test]
    fn a_visit_that_was_cut_off_does_not_count() {
        let samples = [
            sample_of_thread(0, 1000, 0),
            sample_of_thread(1, 1000, 0),
            sample_of_thread(0, 1000, 0),
        ];
        assert_eq!(of_visits(&samples, 2, &QuietRates::default()).len(), 1);
        assert_eq!(of_visits(&samples, 1, &QuietRates::default()).len(), 3);
    }

    #[test]
    fn percentiles_are_lengths_that_were_seen() {
        let mut ticks = Ticks::default();
        (1..=1000).for_each(|t| ticks.add(t, 1));
        assert_eq!(ticks.percentile(0.5), Some(500));
        assert_eq!(ticks.percentile(0.99), Some(990));
        assert_eq!((ticks.percentile(0.999), ticks.longest()), (Some(999), Some(1000)));
        ticks.add(26, 9000);
        assert_eq!(ticks.percentile(0.5), Some(26));
        assert_eq!(ticks.operations(), 10_000);
    }

    #[test]
    fn too_few_operations_have_no_tail() {
        let mut ticks = Ticks::default();
        assert_eq!(ticks.percentile(0.5), None);
        ticks.add(10, 99);
        assert_eq!((ticks.percentile(0.5), ticks.percentile(0.99)), (Some(10), None));
        ticks.add(20, 1);
        assert_eq!((ticks.percentile(0.99), ticks.percentile(0.999)), (Some(10), None));
        ticks.add(10, 900);
        assert_eq!(ticks.percentile(0.999), Some(10));
    }

    #[test]
    fn a_core_that_is_quiet_a_fiftieth_of_the_time_is_known_by_it_and_a_watch_is_careful() {
        let mut readings: Vec<f64> = vec![3.0; 97];
        readings.extend([5.0; 3]);
        assert_eq!(quiet_rate(&mut readings), 5.0);
        assert_eq!(watched_rate(&mut readings), 3.0);
        assert_eq!((quiet_rate(&mut []), watched_rate(&mut [])), (0.0, 0.0));
    }

    #[test]
    fn the_median_lies_between_the_ranks_that_tables_give() {
        // From the ends, counted from 0: tables of the sign test count from 1 (n = 12: 3rd and 10th).
        let ranks = [5, 6, 8, 9, 11, 12, 15, 20, 25].map(median_rank);
        let found = [None, Some(0), Some(0), Some(1), Some(1), Some(2), Some(3), Some(5), Some(7)];
        assert_eq!(ranks, found);
    }

    #[test]
    fn the_median_of_an_even_count_lies_between_the_middle_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let mut v: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut v, 0.95), Some(95.0));
        assert_eq!(quantile(&mut v, 0.0), Some(0.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }
}
