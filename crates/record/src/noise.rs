//! How disturbed a run was.

use base::model::Disturbance;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What disturbed the samples of a run, and what was done against it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// Samples taken.
    pub samples: u64,
    /// Of these, the clean ones.
    pub clean: u64,
    /// The others, by the first reason that was found.
    pub disturbed: Disturbances,
    /// What the throughput probe gives on each measuring CPU when nothing else runs on its core.
    pub quiet: Vec<QuietCpu>,
    /// Seconds that the hypervisor took from the measuring CPUs during the run, in the kernel's
    /// steps of 10 ms; null where the kernel does not count them.
    pub stolen_seconds: Option<f64>,
    /// Seconds for which workers waited for their core to be quiet, of all CPUs together (since 1.6).
    #[serde(default, skip_serializing_if = "is_no_time")]
    pub waited_seconds: f64,
    /// What kept other programs off the core's other hardware threads: `core-scheduling`, where the
    /// kernel let nothing else run there while a worker ran, or `none`.
    pub shield: String,
}

/// Samples by the reason for which they do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Disturbances {
    /// Ended on another CPU.
    pub migrated: u64,
    /// Switched out against their will.
    pub switched: u64,
    /// A page had to be read from a disk.
    pub paged_in: u64,
    /// The hypervisor took the CPU away.
    pub stolen: u64,
    /// The core clock before and after differ.
    pub clock_moved: u64,
    /// A busy sibling hardware thread took execution slots.
    pub contended: u64,
    /// The process had not run the case for as long as it needs to reach its speed (since 1.6).
    #[serde(skip_serializing_if = "is_zero")]
    pub unsettled: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_no_time(seconds: &f64) -> bool {
    *seconds == 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Disturbances {
    /// Adds samples that were disturbed for this reason.
    pub fn add(&mut self, why: Disturbance, samples: u64) {
        *self.of_mut(why) += samples;
    }

    /// How many were disturbed for this reason.
    #[must_use]
    pub fn of(&self, why: Disturbance) -> u64 {
        let mut copy = *self;
        *copy.of_mut(why)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.total() == 0
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        Disturbance::ALL.iter().fold(0, |all, why| all.saturating_add(self.of(*why)))
    }

    fn of_mut(&mut self, why: Disturbance) -> &mut u64 {
        match why {
            Disturbance::Migrated => &mut self.migrated,
            Disturbance::Switched => &mut self.switched,
            Disturbance::PagedIn => &mut self.paged_in,
            Disturbance::Stolen => &mut self.stolen,
            Disturbance::ClockMoved => &mut self.clock_moved,
            Disturbance::Contended => &mut self.contended,
            Disturbance::Unsettled => &mut self.unsettled,
        }
    }
}

/// A CPU's quiet rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuietCpu {
    /// The CPU.
    pub cpu: u32,
    /// Independent instructions per core cycle on the quiet core.
    pub rate: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_counted_apart() {
        let mut counts = Disturbances::default();
        for (i, why) in Disturbance::ALL.into_iter().enumerate() {
            counts.add(why, i as u64 + 1);
        }
        assert_eq!(counts.of(Disturbance::Contended), 6);
        assert_eq!(counts.total(), 28);
        let fields = serde_json::to_value(counts).unwrap();
        for why in Disturbance::ALL {
            assert_eq!(fields[why.name().replace('-', "_")], counts.of(why), "{}", why.name());
        }
    }
}
