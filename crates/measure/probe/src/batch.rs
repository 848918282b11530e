//! What all batches have in common: calibrated, run, timed, alone and together.

use crate::clock::Clock;
use crate::sample::{Pace, Taken, bracket, calibrate_ops};

/// Operations, ready to run.
pub trait Batch {
    /// Makes the next operations' data what they must be, outside any clock. Most batches need
    /// nothing: theirs stays.
    fn prepare(&mut self, ops: u32);

    /// Most operations that can be run after one [`Batch::prepare`].
    fn most(&self) -> u32;

    /// Operations that are in work side by side: a sample holds whole groups of so many.
    fn together(&self) -> u32 {
        1
    }

    /// Runs operations outside any clock; returns the bits of their return codes, each exclusive-or
    /// the expected one.
    fn run(&mut self, ops: u32) -> i32;

    /// Runs operations and adds the ticks of each to a list, the clock's own cost taken off.
    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32;

    /// How many operations fill a sample.
    fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32
    where
        Self: Sized,
    {
        calibrate_ops(clock, ticks_per_ns, pace, self)
    }

    /// Times one batch of `ops` operations.
    fn sample(&mut self, clock: &Clock, process: u32, ops: u32) -> Taken
    where
        Self: Sized,
    {
        bracket(clock, process, ops, || self.run(ops))
    }
}
