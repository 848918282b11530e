//! What a run's CPU times are told at: one core clock, and one share of the core.
//!
//! Both move while a run goes on, as other cores of the processor and the core's other hardware thread come and go, and they move the
//! time of whatever is measured meanwhile. What is compared was not measured at the same moment, so each visit is told as it would have been
//! at the run's usual clock and share.

use crate::server::tally::{Tally, Visit};
use base::analysis::{common_slope, median};

/// A level; where a part of it is not known, times are not changed for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    /// The core clock in GHz, median over visits.
    pub core_ghz: Option<f64>,
    /// The throughput probe, as a share of that of the quiet core, median over visits.
    pub core_share: Option<f64>,
    /// What the logarithm of a time gains with each instruction per cycle that the probe has more, and the median of the probe.
    slope: Option<(f64, f64)>,
}

impl Level {
    /// Of all visits of a run; `quiet` is the probe on a quiet core.
    pub(crate) fn of(tallies: &[Tally], quiet: f64) -> Self {
        let visits = || tallies.iter().flat_map(Tally::visited).filter(|v| v.usage.ns > 0);
        let mut clocks: Vec<f64> = visits().map(|v| v.cycles / v.usage.ns as f64).collect();
        let clock_is_known = clocks.iter().all(|ghz| *ghz > 0.0);
        let mut rates: Vec<f64> = visits().map(|v| v.rate).collect();
        let rate_is_known = quiet > 0.0 && rates.iter().all(|rate| *rate > 0.0);
        let rate = median(&mut rates).filter(|_| rate_is_known);
        let level = Self {
            core_ghz: median(&mut clocks).filter(|_| clock_is_known),
            core_share: rate.map(|rate| rate / quiet),
            slope: None,
        };
        let points = |tally: &Tally| {
            let point = |visit: &Visit| Some((visit.rate, (level.ns(visit) / units(visit)?).ln()));
            tally.visited().filter_map(point).collect::<Vec<_>>()
        };
        let groups: Vec<Vec<(f64, f64)>> = tallies.iter().map(points).collect();
        // More of the core cannot make a server slower: what looks like that is something else.
        let slope = common_slope(&groups).filter(|slope| *slope < 0.0);
        Self { slope: slope.zip(rate), ..level }
    }

    /// Nanoseconds of CPU that a visit would have had at this level.
    pub(crate) fn ns(&self, visit: &Visit) -> f64 {
        let ns = self.core_ghz.map_or(visit.usage.ns as f64, |ghz| visit.cycles / ghz);
        let others = self.slope.map_or(0.0, |(slope, rate)| slope * (visit.rate - rate));
        ns * (-others).exp()
    }
}

/// Whatever a visit's time is in proportion to.
fn units(visit: &Visit) -> Option<f64> {
    let (requests, connections) = (visit.told.requests, visit.told.connections);
    let units = if requests > 0 { requests } else { connections };
    (units > 0 && visit.usage.ns > 0).then_some(units as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::cpu::Usage;
    use crate::server::job::Told;
    use record::State;

    fn visit(ns: u64, ghz: f64, rate: f64) -> Visit {
        let told = Told { connections: 10, requests: 10, ..Told::default() };
        Visit { usage: Usage { ns, ..Usage::default() }, cycles: ns as f64 * ghz, told, rate }
    }

    fn tally(visits: Vec<Visit>) -> Tally {
        let visits = visits.into_iter().map(Some).collect();
        Tally { visits, state: State::Measured, reason: None, errors: 0, level: Level::default() }
    }

    #[test]
    fn times_are_told_at_the_clock_that_most_visits_had() {
        let visits = vec![visit(3000, 2.0, 5.0), visit(3000, 2.0, 5.0), visit(2000, 3.0, 5.0)];
        let level = Level::of(&[tally(visits.clone())], 5.0);
        assert_eq!((level.core_ghz, level.core_share, level.slope), (Some(2.0), Some(1.0), None));
        assert!(visits.iter().all(|visit| (level.ns(visit) - 3000.0).abs() < 1e-9));
    }

    #[test]
    fn what_neighbours_add_is_taken_to_the_usual_share_of_the_core() {
        // Half of the core's throughput makes it half as slow again, in two cells that differ tenfold.
        let at =
            |base: f64, rate: f64| visit((base * (1.0 + (5.0 - rate) / 5.0)) as u64, 2.0, rate);
        let rates = [5.0, 4.5, 4.0, 3.5, 3.0, 2.5, 5.0, 4.0];
        let cell = |base: f64| tally(rates.iter().map(|rate| at(base, *rate)).collect());
        let tallies = [cell(100_000.0), cell(1_000_000.0)];
        let level = Level::of(&tallies, 5.0);
        assert_eq!(level.core_share, Some(0.8));
        let told: Vec<f64> = tallies[0].visited().map(|visit| level.ns(visit)).collect();
        // The line is one of logarithms, what was made is none.
        assert!(told.iter().all(|ns| (ns / 120_000.0 - 1.0).abs() < 0.03), "{told:?}");
    }

    #[test]
    fn what_is_not_known_changes_nothing() {
        let visits = vec![visit(3000, 0.0, 0.0), visit(6000, 0.0, 0.0)];
        let level = Level::of(&[tally(visits.clone())], 0.0);
        assert_eq!(level, Level::default());
        assert_eq!(level.ns(&visits[1]), 6000.0);
        assert_eq!(Level::of(&[], 5.0), Level::default());
    }
}
