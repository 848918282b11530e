//! Deadlines that count only the time in which this process ran.
//!
//! A run that is stopped (Ctrl-Z, `kill -STOP`, a debugger, a frozen container) and goes on an hour
//! later has not waited for an hour: a deadline that counted the stop would call every worker hung.
//! A machine that sleeps is no matter, because the system's monotonic clock, which [`Instant`] reads,
//! sleeps with it.

use std::time::{Duration, Instant};

/// Longest single wait. Also how soon a wait notices that the run is to end.
const STRETCH: Duration = Duration::from_millis(100);

/// What a wait may take beyond its time on a busy machine before it is taken for a stop.
const LATE: Duration = Duration::from_millis(400);

/// What is left of a deadline.
#[derive(Debug)]
pub(crate) struct Patience {
    left: Duration,
    /// Time in which this process did not run.
    away: Duration,
}

impl Patience {
    pub(crate) fn new(deadline: Duration) -> Self {
        Self { left: deadline, away: Duration::ZERO }
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
        self.count(time, begun.elapsed());
        waited
    }

    fn count(&mut self, asked: Duration, took: Duration) {
        let stopped = took > asked + LATE;
        let counted = if stopped { asked } else { took };
        self.left = self.left.saturating_sub(counted);
        self.away += took - counted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wait_is_cut_into_short_ones_that_add_up() {
        let mut patience = Patience::new(STRETCH * 3 / 2);
        assert_eq!(patience.stretch(|time| time), STRETCH);
        patience.count(STRETCH, STRETCH);
        assert!(patience.left <= STRETCH / 2);
        patience.count(STRETCH, STRETCH + LATE);
        assert!(patience.is_over());
        assert_eq!(patience.away(), Duration::ZERO);
    }

    #[test]
    fn an_hour_of_standing_still_costs_one_stretch() {
        let mut patience = Patience::new(20 * SECOND);
        patience.count(STRETCH, 3600 * SECOND);
        assert_eq!(patience.left, 20 * SECOND - STRETCH);
        assert_eq!(patience.away(), 3600 * SECOND - STRETCH);
    }
}
