//! What an operation of a case costs, process by process: all that verdicts are made of.

use crate::{Measurement, Record, State};
use base::analysis::{costs_by_process, of_visits};
use base::model::{QuietRates, RawSample};

/// The costs of one operation, one for each worker process with enough valid samples, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessCosts {
    /// In core cycles; zeros where these are unknown.
    pub cycles: Vec<f64>,
    /// In nanoseconds.
    pub ns: Vec<f64>,
}

impl ProcessCosts {
    /// The costs of a measured case, as the estimates in the record are made of them; `None` in every other state.
    #[must_use]
    pub fn of(record: &Record, m: &Measurement) -> Option<Self> {
        Some(Self { cycles: m.cycles_by_process()?, ns: m.ns_by_process(record)? })
    }
}

impl Measurement {
    /// Core cycles of one operation, one a process: as an archive kept them, else from the raw samples.
    #[must_use]
    pub fn cycles_by_process(&self) -> Option<Vec<f64>> {
        match &self.costs {
            Some(kept) => Some(kept.cycles.clone()),
            None => self.by_process(RawSample::cycles_per_op),
        }
    }

    /// The same in nanoseconds; `record` is the one that the measurement is of.
    #[must_use]
    pub fn ns_by_process(&self, record: &Record) -> Option<Vec<f64>> {
        if let Some(kept) = &self.costs {
            return Some(kept.ns.clone());
        }
        let tick = 1e9 / record.host.clock.ticks_per_second;
        Some(self.by_process(RawSample::ticks_per_op)?.into_iter().map(|t| t * tick).collect())
    }

    /// A visit's samples all count or none does.
    fn by_process(&self, value: fn(&RawSample) -> f64) -> Option<Vec<f64>> {
        if self.state != State::Measured {
            return None;
        }
        let clean: Vec<RawSample> =
            self.raw.iter().filter(|(_, counts)| *counts).map(|(s, _)| s).collect();
        Some(costs_by_process(&of_visits(&clean, self.threads, &QuietRates::default()), value))
    }
}
