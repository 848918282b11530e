//! What the throughput probe gives on a core where nothing else runs.

use std::collections::BTreeMap;

/// The throughput probe's quiet rate on each CPU: independent instructions per core cycle. Cores of
/// one processor can differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuietRates(BTreeMap<u32, f64>);

impl QuietRates {
    /// The rate of one CPU.
    #[must_use]
    pub fn of_one(cpu: u32, rate: f64) -> Self {
        Self(BTreeMap::from([(cpu, rate)]))
    }

    /// Notes a CPU's rate.
    pub fn set(&mut self, cpu: u32, rate: f64) {
        self.0.insert(cpu, rate);
    }

    /// A CPU's rate; 0, below which no probe falls, where it is not known.
    #[must_use]
    pub fn of(&self, cpu: u32) -> f64 {
        self.0.get(&cpu).copied().unwrap_or(0.0)
    }

    /// Every CPU with its rate.
    pub fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.0.iter().map(|(cpu, rate)| (*cpu, *rate))
    }
}
