//! What was seen of a program that ran in quiet moments.

use crate::doctor::quietly::prober::Seen;
use serde::Serialize;
use std::time::Duration;

/// A program's run. CPU time is that of its process with all threads, user and system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quietly {
    /// The CPU that it ran on.
    pub cpu: u32,
    /// Seconds from its beginning to its end.
    pub seconds: f64,
    /// Seconds of these in which it was stopped.
    pub stopped_seconds: f64,
    /// Its CPU time in seconds.
    pub cpu_seconds: f64,
    /// Of that, in slices at whose beginning and end the core was quiet.
    pub quiet_cpu_seconds: f64,
    /// Slices that it ran in.
    pub slices: u64,
    /// Of these, quiet ones.
    pub quiet_slices: u64,
    /// The core's clock in GHz, mean over its CPU time; none where that cannot be known.
    pub core_ghz: Option<f64>,
    /// The lowest and the highest that was read.
    pub core_ghz_range: Option<[f64; 2]>,
    /// Its exit code, where it exited.
    pub exit_code: Option<i32>,
    /// The signal that ended it, where one did.
    pub signal: Option<i32>,
}

/// What a run adds up to while it goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    cpu_ns: u64,
    quiet_ns: u64,
    slices: u64,
    quiet_slices: u64,
    ran: Duration,
    /// Sum of CPU nanoseconds by clock: core cycles.
    cycles: f64,
    range: Option<[f64; 2]>,
}

impl Tally {
    /// A slice: CPU time in it, how long it was, what the core showed before and after, and whether that is quiet.
    pub(crate) fn add(&mut self, cpu_ns: u64, long: Duration, around: [Seen; 2], quiet: bool) {
        self.cpu_ns += cpu_ns;
        self.slices += 1;
        self.ran += long;
        if quiet {
            self.quiet_ns += cpu_ns;
            self.quiet_slices += 1;
        }
        let [before, after] = around.map(|seen| seen.ghz);
        self.cycles += cpu_ns as f64 * before.midpoint(after);
        let [low, high] = self.range.unwrap_or([f64::INFINITY, 0.0]);
        self.range = Some([low.min(before).min(after), high.max(before).max(after)]);
    }

    /// All of it, of a program that has ended.
    pub(crate) fn told(
        self,
        cpu: u32,
        whole: Duration,
        end: (Option<i32>, Option<i32>),
    ) -> Quietly {
        let known = self.cpu_ns > 0 && self.range.is_some_and(|[low, _]| low > 0.0);
        Quietly {
            cpu,
            seconds: whole.as_secs_f64(),
            stopped_seconds: whole.saturating_sub(self.ran).as_secs_f64(),
            cpu_seconds: self.cpu_ns as f64 / 1e9,
            quiet_cpu_seconds: self.quiet_ns as f64 / 1e9,
            slices: self.slices,
            quiet_slices: self.quiet_slices,
            core_ghz: known.then(|| self.cycles / self.cpu_ns as f64),
            core_ghz_range: self.range.filter(|_| known),
            exit_code: end.0,
            signal: end.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_weighed_by_cpu_time_and_a_slice_that_was_not_quiet_is_told() {
        let at = |ghz| Seen { rate: 5.0, ghz };
        let mut tally = Tally::default();
        tally.add(3_000_000, Duration::from_millis(4), [at(2.0), at(2.0)], true);
        tally.add(1_000_000, Duration::from_millis(4), [at(2.0), at(4.0)], false);
        let told = tally.told(1, Duration::from_millis(20), (Some(0), None));
        assert_eq!((told.slices, told.quiet_slices), (2, 1));
        assert!((told.quiet_cpu_seconds - 0.003).abs() < 1e-12);
        assert!((told.stopped_seconds - 0.012).abs() < 1e-12);
        assert!((told.core_ghz.unwrap() - 2.25).abs() < 1e-12);
        assert_eq!(told.core_ghz_range, Some([2.0, 4.0]));
    }

    #[test]
    fn a_clock_that_cannot_be_read_is_none() {
        let mut tally = Tally::default();
        let nothing = Seen { rate: 0.0, ghz: 0.0 };
        tally.add(1000, Duration::from_millis(1), [nothing; 2], true);
        let told = tally.told(0, Duration::from_millis(1), (None, Some(9)));
        assert_eq!((told.core_ghz, told.core_ghz_range, told.signal), (None, None, Some(9)));
    }
}
