//! No time-stamp counter and no known chain: times come from the system's clock, cycles are unknown.

use std::ops::RangeInclusive;

/// Never used: [`counter_unusable`] says so.
pub(crate) const COUNTER: &str = "";

/// Why the time-stamp counter cannot be used.
pub(crate) fn counter_unusable() -> Option<String> {
    Some("this architecture's counter is not supported yet".to_owned())
}

/// Never called: [`counter_unusable`] says so.
pub(crate) fn counter_begin() -> u64 {
    0
}

/// Never called: [`counter_unusable`] says so.
pub(crate) fn counter_end() -> u64 {
    0
}

/// Links in a round of [`latency_chain`]; 0 where there is none.
pub(crate) const CHAIN_LINKS: f64 = 0.0;

/// Nothing is known of a chain that is not there.
pub(crate) const LINK_CYCLES: RangeInclusive<i32> = 1..=1;
pub(crate) const USUAL_CYCLES: f64 = 1.0;
pub(crate) const LINK_NAME: &str = "";
pub(crate) const SIMPLE_NAME: &str = "";

/// The system's clock has steps of a nanosecond.
pub(crate) fn counter_per_ns() -> Option<f64> {
    None
}

pub(crate) fn latency_chain(_rounds: u64) {}

/// Cycles that a round of [`simple_chain`] takes; 0 where there is none.
pub(crate) const SIMPLE_ROUND_CYCLES: f64 = 0.0;

pub(crate) fn simple_chain(_rounds: u64) {}

/// Instructions that [`independent_block`] runs; 0 where there is none.
pub(crate) const BLOCK_INSTRUCTIONS: f64 = 0.0;

pub(crate) fn independent_block() {}
