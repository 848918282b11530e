//! The quiet rate of the throughput probe, learned while the run goes on.

use analysis::quantile;
use probe::Clock;
use std::time::Duration;

/// The part of all throughput probes that lies below the quiet rate. High, so that a core that is
/// quiet a fiftieth of the time is enough to know it by; the few readings above are the counter's
/// rounding, and interrupts within the clock's chain.
const QUIET_QUANTILE: f64 = 0.98;

/// The rate is worked out again when there are so many times more probes than the last time: it
/// settles early, and sorting all of them each round would cost more than the samples.
const GROWTH: f64 = 1.05;

/// How long the core is watched before the first sample. Another tenant keeps a sibling thread busy
/// for tens to hundreds of milliseconds at a time; a run of a few cases is over sooner and would
/// never see the core quiet.
const WATCH: Duration = Duration::from_millis(300);
/// The part of the watch's probes that lies below what it finds: lower than for samples, because a
/// rate that is found too high here would mark quiet samples for the whole run.
const WATCH_QUANTILE: f64 = 0.8;
/// Between two probes of the watch: they are to be spread, not many.
const PAUSE: Duration = Duration::from_millis(1);

/// Every throughput probe so far and what they say of the quiet core.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    probes: Vec<f64>,
    used: usize,
    rate: f64,
    /// What a watch before the run found: the rate is never lower.
    watched: f64,
}

/// Watches a CPU for the quiet rate; 0 where it cannot be known.
pub(crate) fn watch(clock: &Clock, cpu: u32) -> f64 {
    let mut probes = std::thread::scope(|scope| {
        let watching = scope.spawn(|| match probe::pin_to(&[cpu]) {
            Ok(()) => clock.probe_for(WATCH, PAUSE),
            Err(_) => Vec::new(),
        });
        watching.join().unwrap_or_default()
    });
    quantile(&mut probes, WATCH_QUANTILE).unwrap_or(0.0)
}

impl Quiet {
    /// Nothing is known but what a watch found.
    pub(crate) fn new(watched: f64) -> Self {
        Self { rate: watched, watched, ..Self::default() }
    }

    pub(crate) fn add(&mut self, probe: f64) {
        self.probes.push(probe);
    }

    /// Independent instructions per core cycle on the quiet core; 0 as long as nothing is known.
    pub(crate) fn rate(&mut self) -> f64 {
        if self.probes.len() as f64 >= self.used as f64 * GROWTH {
            let seen = quantile(&mut self.probes, QUIET_QUANTILE).unwrap_or(0.0);
            self.rate = seen.max(self.watched);
            self.used = self.probes.len();
        }
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_never_below_what_a_watch_found() {
        let mut quiet = Quiet::new(5.0);
        assert_eq!(quiet.rate(), 5.0);
        quiet.add(3.0);
        assert_eq!(quiet.rate(), 5.0);
        (0..10).for_each(|_| quiet.add(6.0));
        assert_eq!(quiet.rate(), 6.0);
    }

    #[test]
    fn the_rate_lies_high_among_the_probes_and_follows_them() {
        let mut quiet = Quiet::default();
        assert_eq!(quiet.rate(), 0.0);
        (0..=100).for_each(|i| quiet.add(f64::from(i)));
        assert_eq!(quiet.rate(), 98.0);
        (0..1000).for_each(|_| quiet.add(200.0));
        assert_eq!(quiet.rate(), 200.0);
    }
}
