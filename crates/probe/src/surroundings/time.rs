//! CPU time that other threads of this process use.

use std::time::Duration;

/// CPU time of the process and of the calling thread at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthersTime {
    process: Duration,
    thread: Duration,
}

impl OthersTime {
    /// Now. The kernel brings the time of threads that run on other CPUs up to date at its timer's ticks,
    /// some milliseconds apart.
    #[must_use]
    pub fn now() -> Self {
        // The process's first: what passes in between is then the thread's, and not another's.
        let process = clock(libc::CLOCK_PROCESS_CPUTIME_ID);
        Self { process, thread: clock(libc::CLOCK_THREAD_CPUTIME_ID) }
    }

    /// CPU time since `earlier`, of the calling thread and of all others.
    #[must_use]
    pub fn since(self, earlier: Self) -> (Duration, Duration) {
        let own = self.thread.saturating_sub(earlier.thread);
        let all = self.process.saturating_sub(earlier.process);
        (own, all.saturating_sub(own))
    }
}

fn clock(which: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable.
    unsafe { libc::clock_gettime(which, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    #[test]
    fn the_time_of_another_thread_is_told_apart_from_the_callers() {
        let (begin, stop) = (OthersTime::now(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let until = Instant::now() + Duration::from_secs(20);
            while OthersTime::now().since(begin).1 < Duration::from_millis(50) {
                assert!(Instant::now() < until, "no other thread's time in twenty seconds");
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let (own, others) = OthersTime::now().since(begin);
        assert!(own < others, "{own:?} {others:?}");
    }
}
