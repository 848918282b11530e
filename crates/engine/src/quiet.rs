//! The quiet rate of the throughput probe, learned while the run goes on.

use analysis::quantile;

/// The part of all throughput probes that lies below the quiet rate. High, so that a core that is
/// quiet a fiftieth of the time is enough to know it by; the few readings above are the counter's
/// rounding, and interrupts within the clock's chain.
const QUIET_QUANTILE: f64 = 0.98;

/// The rate is worked out again when there are so many times more probes than the last time: it
/// settles early, and sorting all of them each round would cost more than the samples.
const GROWTH: f64 = 1.05;

/// Every throughput probe so far and what they say of the quiet core.
#[derive(Debug, Default)]
pub(crate) struct Quiet {
    probes: Vec<f64>,
    used: usize,
    rate: f64,
}

impl Quiet {
    pub(crate) fn add(&mut self, probe: f64) {
        self.probes.push(probe);
    }

    /// Independent instructions per core cycle on the quiet core; 0 as long as nothing is known.
    pub(crate) fn rate(&mut self) -> f64 {
        if self.probes.len() as f64 >= self.used as f64 * GROWTH {
            self.rate = quantile(&mut self.probes, QUIET_QUANTILE).unwrap_or(0.0);
            self.used = self.probes.len();
        }
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
