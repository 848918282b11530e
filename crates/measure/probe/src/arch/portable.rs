//! No time-stamp counter and no known chain: times come from the system's clock, cycles are unknown.

/// Why the time-stamp counter cannot be used.
pub(crate) fn tsc_unusable() -> Option<String> {
    Some("this architecture's counter is not supported yet".to_owned())
}

/// Never called: [`tsc_unusable`] says so.
pub(crate) fn tsc_begin() -> u64 {
    0
}

/// Never called: [`tsc_unusable`] says so.
pub(crate) fn tsc_end() -> u64 {
    0
}

/// Links in a round of [`latency_chain`]; 0 where there is none.
pub(crate) const CHAIN_LINKS: f64 = 0.0;

/// Nothing.
pub(crate) fn latency_chain(_rounds: u64) {}

/// Cycles that a round of [`simple_chain`] takes; 0 where there is none.
pub(crate) const SIMPLE_ROUND_CYCLES: f64 = 0.0;

/// Nothing.
pub(crate) fn simple_chain(_rounds: u64) {}

/// Instructions that [`independent_block`] runs; 0 where there is none.
pub(crate) const BLOCK_INSTRUCTIONS: f64 = 0.0;

/// Nothing.
pub(crate) fn independent_block() {}
