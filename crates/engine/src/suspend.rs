//! Time in which the whole machine slept.

use std::time::Duration;

/// What two readings of the clocks may be apart.
const JITTER: Duration = Duration::from_millis(1);

/// How long the machine has slept since it was started: the difference of the clock that counts sleep
/// (`CLOCK_BOOTTIME`) and the one that does not (`CLOCK_MONOTONIC`).
#[derive(Clone, Debug)]
pub(crate) struct Suspend {
    last: Duration,
    read: fn() -> Duration,
}

impl Suspend {
    pub(crate) fn new() -> Self {
        Self::with(slept)
    }

    fn with(read: fn() -> Duration) -> Self {
        Self { last: read(), read }
    }

    /// Whether the machine slept since this was last asked.
    pub(crate) fn advanced(&mut self) -> bool {
        let now = (self.read)();
        let advanced = now > self.last + JITTER;
        self.last = now;
        advanced
    }
}

fn slept() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
    let awake = read(ClockId::Monotonic);
    read(ClockId::Boottime).saturating_sub(awake)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static SLEPT: AtomicU64 = AtomicU64::new(5000);

    #[test]
    fn a_sleep_is_told_once() {
        let mut suspend = Suspend::with(|| Duration::from_millis(SLEPT.load(Ordering::Relaxed)));
        assert!(!suspend.advanced());
        SLEPT.store(9000, Ordering::Relaxed);
        assert!(suspend.advanced());
        assert!(!suspend.advanced());
    }

    #[test]
    fn a_machine_that_is_awake_does_not_look_asleep() {
        let mut suspend = Suspend::new();
        assert!((0..1000).filter(|_| suspend.advanced()).count() < 10);
    }
}
