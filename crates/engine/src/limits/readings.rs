//! Readings of one thing, and what they say.

use base::analysis::{median, quantile};
use base::model::QUIET_PROBE_FRACTION;
use probe::Reading;

/// Quiet readings from which on there is a figure.
pub(super) const LEAST: usize = 5;

/// Readings of one thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Readings(Vec<Reading>);

/// What readings say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figure {
    /// Median cycles.
    pub(super) cycles: f64,
    /// Median ticks.
    pub(super) ticks: f64,
    /// Half the distance between the quartiles of cycles, relative to the median: an interrupt in one
    /// reading of ten must not make a figure look vague.
    pub(super) spread: f64,
    /// Readings that count.
    pub(super) samples: u32,
}

impl Readings {
    pub(super) fn add(&mut self, reading: Reading) {
        self.0.push(reading);
    }

    /// Throughput probes of all of them.
    pub(super) fn probes(&self) -> impl Iterator<Item = f64> + '_ {
        self.0.iter().map(|r| r.probe)
    }

    fn quiet(&self, rate: f64) -> Vec<Reading> {
        let clean = |r: &&Reading| r.steady && r.probe >= rate * QUIET_PROBE_FRACTION;
        self.0.iter().filter(clean).copied().collect()
    }

    pub(super) fn enough(&self, rate: f64, wanted: usize) -> bool {
        self.quiet(rate).len() >= wanted
    }

    /// None from fewer than [`LEAST`] quiet readings.
    pub(super) fn figure(&self, rate: f64) -> Option<Figure> {
        let quiet = self.quiet(rate);
        if quiet.len() < LEAST {
            return None;
        }
        let mut cycles: Vec<f64> = quiet.iter().map(|r| r.cycles).collect();
        let mut ticks: Vec<f64> = quiet.iter().map(|r| r.ticks).collect();
        let (low, high) = (quantile(&mut cycles, 0.25)?, quantile(&mut cycles, 0.75)?);
        let middle = median(&mut cycles)?;
        Some(Figure {
            cycles: middle,
            ticks: median(&mut ticks)?,
            spread: (high - low) / 2.0 / middle,
            samples: quiet.len() as u32,
        })
    }
}

/// The quiet rate as far as it is known: what the watch found, or more if the readings saw more.
pub(super) fn quiet_rate(watched: f64, all: &[Readings]) -> f64 {
    let mut probes: Vec<f64> = all.iter().flat_map(Readings::probes).collect();
    base::analysis::quiet_rate(&mut probes).max(watched)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(all: &[(f64, f64, bool)]) -> Readings {
        let reading = |(cycles, probe, steady): &(f64, f64, bool)| Reading {
            cycles: *cycles,
            ticks: cycles / 2.0,
            probe: *probe,
            steady: *steady,
        };
        Readings(all.iter().map(reading).collect())
    }

    #[test]
    fn contended_and_unsteady_readings_do_not_count() {
        let mut all = vec![(1.0, 5.0, true); 9];
        all.extend([(9.0, 3.0, true); 20]);
        all.extend([(9.0, 5.0, false); 20]);
        let figure = readings(&all).figure(5.0).unwrap();
        assert_eq!((figure.cycles, figure.spread, figure.samples), (1.0, 0.0, 9));
    }

    #[test]
    fn few_quiet_readings_are_no_figure() {
        assert_eq!(readings(&[(1.0, 5.0, true); 4]).figure(5.0), None);
    }

    #[test]
    fn the_quiet_rate_is_the_higher_of_watched_and_seen() {
        let seen = [readings(&[(1.0, 5.5, true); 50])];
        assert_eq!(quiet_rate(5.0, &seen), 5.5);
        assert_eq!(quiet_rate(6.0, &seen), 6.0);
    }
}
