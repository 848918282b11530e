//! Deadlines that count only the time in which this process ran, and the other could.
//!
//! A run that is stopped (Ctrl-Z, `kill -STOP`, a debugger, a frozen container) and goes on an hour
//! later has not waited for an hour: a deadline that counted the stop would call every worker hung.
//! A machine that sleeps is no matter, because the system's monotonic clock, which [`Instant`] reads,
//! sleeps with it.
//!
//! Nor does the time count in which the process that is waited for had no CPU ([`RunQueue`]).

use crate::run_queue::RunQueue;
use std::time::{Duration, Instant};

/// Longest single wait. Also how soon a wait notices that the run is to end.
const STRETCH: Duration = Duration::from_millis(100);

/// What a wait may take beyond its time on a busy machine before it is taken for a stop.
const LATE: Duration = Duration::from_millis(400);

/// What is left of a deadline.
#[derive(Debug)]
pub(crate) struct Deadline {
    left: Duration,
    /// Time in which this process did not run.
    away: Duration,
    queue: RunQueue,
}

impl Deadline {
    /// Deadline with a process.
    pub(crate) fn with(process: u32, deadline: Duration) -> Self {
        Self { left: deadline, away: Duration::ZERO, queue: RunQueue::of(process) }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left.is_zero()
    }

    /// Time for which this process was stopped while it waited.
    pub(crate) fn away(&self) -> Duration {
        self.away
    }

    /// Waits once, for no longer than it is told, and takes that time off.
    pub(crate) fn stretch<T>(&mut self, wait: impl FnOnce(Duration) -> T) -> T {
        let (begun, time) = (Instant::now(), self.left.min(STRETCH));
        let waited = wait(time);
        let took = begun.elapsed();
        // Most answers come sooner, and the queue is not looked at for them.
        let queued = if took >= time { self.queue.grown() } else { Duration::ZERO };
        self.count(time, took, queued);
        waited
    }

    fn count(&mut self, asked: Duration, took: Duration, queued: Duration) {
        let stopped = took > asked + LATE;
        let ran = if stopped { asked } else { took };
        self.left = self.left.saturating_sub(ran.saturating_sub(queued));
        self.away += took - ran;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wait_is_cut_into_short_ones_that_add_up() {
        let mut deadline = Deadline::with(1, STRETCH * 3 / 2);
        assert_eq!(deadline.stretch(|time| time), STRETCH);
        deadline.count(STRETCH, STRETCH, Duration::ZERO);
        assert!(deadline.left <= STRETCH / 2);
        deadline.count(STRETCH, STRETCH + LATE, Duration::ZERO);
        assert!(deadline.is_over());
        assert_eq!(deadline.away(), Duration::ZERO);
    }

    #[test]
    fn waiting_for_a_process_that_waits_for_a_cpu_costs_what_it_ran() {
        let mut deadline = Deadline::with(1, SECOND);
        deadline.count(STRETCH, STRETCH, STRETCH * 9 / 10);
        assert_eq!(deadline.left, SECOND - STRETCH / 10);
        deadline.count(STRETCH, STRETCH, STRETCH * 2);
        assert_eq!(deadline.left, SECOND - STRETCH / 10);
        assert_eq!(deadline.away(), Duration::ZERO);
    }

    #[test]
    fn an_hour_of_standing_still_costs_one_stretch() {
        let mut deadline = Deadline::with(1, 20 * SECOND);
        deadline.count(STRETCH, 3600 * SECOND, Duration::ZERO);
        assert_eq!(deadline.left, 20 * SECOND - STRETCH);
        assert_eq!(deadline.away(), 3600 * SECOND - STRETCH);
    }
}
