//! What all batches have in common: calibrated, run, timed, alone and together.

use crate::clock::Clock;
use crate::sample::{Pace, Taken, bracket, calibrate_ops};
use crate::settle::settle;
use base::model::Settling;
use std::convert::Infallible;
use std::time::Duration;

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

    /// Runs operations untimed, of which nobody looks at what they leave.
    fn warm(&mut self, ops: u32) {
        self.run(ops);
    }

    /// Runs until the code is as fast as it gets, where it is compiled while it runs.
    fn settle_compiled(&mut self) -> Option<Settling> {
        None
    }

    /// Runs for so long, and until the code is as fast as it gets.
    fn settle(&mut self, clock: &Clock, ticks_per_ns: f64, least: Duration) -> Settling {
        if let Some(settled) = self.settle_compiled() {
            return settled;
        }
        let most = self.most();
        let settled = settle(
            least,
            || clock.is_quiet(),
            |ops| {
                let ops = ops.min(most);
                self.prepare(ops);
                Ok::<_, Infallible>(self.time(clock, ticks_per_ns, ops))
            },
        );
        settled.unwrap_or_else(|never| match never {})
    }

    /// Nanoseconds that operations take outside of a sample.
    fn time(&mut self, clock: &Clock, ticks_per_ns: f64, ops: u32) -> f64 {
        let begin = clock.begin();
        self.run(ops);
        clock.net(begin, clock.end()) as f64 / ticks_per_ns
    }

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
