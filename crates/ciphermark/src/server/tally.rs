//! What a cell's visits came to.

use crate::server::cpu::{Cpu, Usage};
use crate::server::job::Told;
use crate::server::level::Level;
use judge::load::{Counted, Unit};
use record::State;

/// One visit: the slices in which the server had its CPU, or all where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// What the server used.
    pub usage: Usage,
    /// Core cycles of that: its time in each slice by the clock around it. 0 where the clock cannot be known.
    pub cycles: f64,
    /// What the client did.
    pub told: Told,
    /// The throughput probe between the slices, mean: less where others were busy on the core.
    pub rate: f64,
}

impl Visit {
    pub(crate) fn add(&mut self, usage: Usage, told: &Told, ghz: f64) {
        self.usage = self.usage.plus(usage);
        self.told.add(told);
        self.cycles += usage.ns as f64 * ghz;
    }
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Tally {
    /// One a round; none where a round was not ended or the visit failed.
    pub visits: Vec<Option<Visit>>,
    /// What became of it.
    pub state: State,
    /// Why not measured.
    pub reason: Option<String>,
    /// Visits that failed.
    pub errors: u64,
    /// What CPU times are told at.
    pub level: Level,
}

impl Tally {
    pub(crate) fn new(target: &Result<(u16, Cpu), String>) -> Self {
        let (state, reason) = match target {
            Ok(_) => (State::Measured, None),
            Err(why) => (State::Unsupported, Some(why.clone())),
        };
        Self { visits: Vec::new(), state, reason, errors: 0, level: Level::default() }
    }

    /// Twice is no accident.
    pub(crate) fn failed(&mut self, why: String) {
        self.errors += 1;
        if self.errors >= 2 {
            let never = self.visits.iter().all(Option::is_none);
            self.state = if never { State::Unsupported } else { State::Failed };
            self.reason = Some(why);
        }
    }

    /// Server CPU per unit in µs at the run's level, one figure a round.
    #[must_use]
    pub fn rounds_cpu_us(&self, unit: Unit) -> Vec<Option<f64>> {
        let per_unit = |visit: &Visit| {
            let units = match unit {
                Unit::Connection => visit.told.connections,
                Unit::Request => visit.told.requests,
            };
            (units > 0).then(|| self.level.ns(visit) / 1e3 / units as f64)
        };
        self.visits.iter().map(|v| v.as_ref().and_then(per_unit)).collect()
    }

    /// What was counted, over all rounds.
    #[must_use]
    pub fn counted(&self) -> Counted {
        let mut sum =
            Counted { errors: self.errors, context_switches: Some(0), ..Counted::default() };
        for visit in self.visits.iter().flatten() {
            sum.connections += visit.told.connections;
            sum.resumed += visit.told.resumed;
            sum.requests += visit.told.requests;
            sum.context_switches = sum.context_switches.map(|n| n + visit.usage.switches);
        }
        sum
    }

    /// Of all visits.
    pub fn visited(&self) -> impl Iterator<Item = &Visit> {
        self.visits.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(ns: u64, connections: u64, requests: u64) -> Visit {
        let told = Told { connections, requests, ..Told::default() };
        Visit { usage: Usage { ns, waited_ns: 0, switches: 2 }, told, ..Visit::default() }
    }

    #[test]
    fn a_rounds_figure_is_cpu_time_by_units() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits = vec![Some(visit(30_000, 10, 100)), None, Some(visit(5, 0, 0))];
        assert_eq!(tally.rounds_cpu_us(Unit::Connection), [Some(3.0), None, None]);
        assert_eq!(tally.rounds_cpu_us(Unit::Request)[0], Some(0.3));
        assert_eq!(tally.counted().context_switches, Some(4));
    }

    #[test]
    fn a_cell_that_fails_twice_is_given_up_with_its_reason() {
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.failed("once".to_owned());
        assert_eq!(tally.state, State::Measured);
        tally.failed("group p384 was negotiated".to_owned());
        assert_eq!(tally.state, State::Unsupported);
        assert_eq!(tally.reason.as_deref(), Some("group p384 was negotiated"));
        let mut tally = Tally::new(&Ok((1, Cpu::of(1))));
        tally.visits.push(Some(visit(1, 1, 1)));
        tally.failed("gone".to_owned());
        tally.failed("gone".to_owned());
        assert_eq!(tally.state, State::Failed);
    }
}
