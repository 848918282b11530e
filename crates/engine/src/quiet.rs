//! The quiet rate of the throughput probe, learned while the run goes on and known from earlier ones.

use base::analysis::{quiet_rate, watched_rate};
use base::model::{QuietRates, RawSample};
use host::Remembered;
use probe::Clock;
use std::collections::BTreeMap;

/// The rate is worked out again when there are so many times more probes than the last time: it
/// settles early, and sorting all of them each round would cost more than the samples.
const GROWTH: f64 = 1.05;

/// Probes of a CPU before what they say of it is kept for later runs: ten then lie above the rate.
const WORTH_KEEPING: usize = 500;

/// The quiet rate by which no sample is contended.
const ANY_RATE: f64 = 0.0;

/// Every throughput probe so far and what they say of each quiet core.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    cpus: BTreeMap<u32, Probes>,
    rates: QuietRates,
}

/// One CPU's probes.
#[derive(Debug, Default)]
struct Probes {
    all: Vec<f64>,
    used: usize,
    /// What was known before the run: the rate is never lower.
    watched: f64,
}

/// Watches a CPU for the quiet rate; what an earlier run saw of it where that is higher, because a core
/// that is busy all the time shows nothing else. 0 where it cannot be known.
pub(crate) fn watch(clock: &Clock, cpu: u32) -> QuietRates {
    let mut probes = std::thread::scope(|scope| {
        let watching = scope.spawn(|| match probe::pin_to(&[cpu]) {
            Ok(()) => clock.on_this_cpu().watch(),
            Err(_) => Vec::new(),
        });
        watching.join().unwrap_or_default()
    });
    let now = watched_rate(&mut probes);
    // Where the architecture has no probe there is nothing to remember either.
    QuietRates::of_one(cpu, now.max(Remembered::here(cpu).of(cpu)))
}

impl Quiet {
    /// Nothing is known but what a watch found.
    pub(crate) fn new(watched: &QuietRates) -> Self {
        let probes = |(cpu, watched)| (cpu, Probes { watched, ..Probes::default() });
        Self { cpus: watched.iter().map(probes).collect(), rates: watched.clone() }
    }

    /// Notes the lower probe of a sample. One in which the clock moved, or that was interrupted, says nothing: a clock that rises
    /// between the chain that tells it and the block that is counted by it makes a core look quieter than any is.
    pub(crate) fn learn(&mut self, sample: &RawSample) {
        if sample.disturbance(ANY_RATE).is_none() {
            self.add(sample.cpu, sample.probe());
        }
    }

    fn add(&mut self, cpu: u32, probe: f64) {
        let probes = self.cpus.entry(cpu).or_default();
        probes.all.push(probe);
        if probes.all.len() as f64 >= probes.used as f64 * GROWTH {
            let seen = quiet_rate(&mut probes.all);
            probes.used = probes.all.len();
            self.rates.set(cpu, seen.max(probes.watched));
        }
    }

    /// Keeps for later runs what this one saw of a CPU, if it looked often enough.
    pub(crate) fn keep(&self, cpu: u32) {
        let Some(probes) = self.cpus.get(&cpu).filter(|p| p.all.len() >= WORTH_KEEPING) else {
            return;
        };
        let seen = quiet_rate(&mut probes.all.clone());
        Remembered::here(cpu).keep(cpu, seen);
    }

    /// Independent instructions per core cycle on each quiet core.
    pub(crate) fn rates(&self) -> &QuietRates {
        &self.rates
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_never_below_what_a_watch_found() {
        let mut quiet = Quiet::new(&QuietRates::of_one(1, 5.0));
        assert_eq!(quiet.rates().of(1), 5.0);
        quiet.add(1, 3.0);
        assert_eq!(quiet.rates().of(1), 5.0);
        (0..10).for_each(|_| quiet.add(1, 6.0));
        assert_eq!(quiet.rates().of(1), 6.0);
    }

    #[test]
    fn the_rate_lies_high_among_the_probes_and_follows_them() {
        let mut quiet = Quiet::default();
        assert_eq!(quiet.rates().of(0), 0.0);
        (0..=100).for_each(|i| quiet.add(0, f64::from(i)));
        assert!((94.0..=98.0).contains(&quiet.rates().of(0)), "{:?}", quiet.rates());
        (0..1000).for_each(|_| quiet.add(0, 200.0));
        assert_eq!(quiet.rates().of(0), 200.0);
    }

    #[test]
    fn a_sample_whose_clock_moved_says_nothing_of_how_quiet_a_core_is() {
        let steady = RawSample {
            ops: 1,
            ticks: 1,
            clock_before: 1.4,
            clock_after: 1.4,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        let mut quiet = Quiet::default();
        quiet.learn(&steady);
        let rate = quiet.rates().of(steady.cpu);
        assert_eq!(rate, steady.probe());
        let rising = RawSample {
            clock_after: steady.clock_after * 1.2,
            probe_before: rate * 1.2,
            probe_after: rate * 1.2,
            ..steady
        };
        (0..100).for_each(|_| quiet.learn(&rising));
        assert_eq!(quiet.rates().of(steady.cpu), rate);
    }

    #[test]
    fn each_core_is_learned_apart() {
        let mut quiet = Quiet::default();
        (0..10).for_each(|_| quiet.add(0, 6.0));
        (0..10).for_each(|_| quiet.add(2, 4.0));
        assert_eq!((quiet.rates().of(0), quiet.rates().of(2)), (6.0, 4.0));
    }
}
