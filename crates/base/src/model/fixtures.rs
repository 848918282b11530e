//! Samples that nobody took: for tests, here and in other crates.

use crate::model::RawSample;

/// An undisturbed one of ten operations, on a core of so many cycles a tick whose quiet rate is 5.
pub fn sample(process: u32, ticks: u64, clock: f64) -> RawSample {
    RawSample {
        process,
        ops: 10,
        ticks,
        clock_before: clock,
        clock_after: clock,
        probe_before: 5.0,
        probe_after: 5.0,
        ..RawSample::default()
    }
}
