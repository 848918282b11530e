//! How long a worker could run and had no CPU.
//!
//! On a machine with more to do than it has CPUs, a worker may get a tenth of one. That is no fault of
//! its library's: a deadline that counted it would call a slow machine a library that hangs.

use std::collections::HashMap;
use std::time::Duration;

/// A process's threads, and how long each has waited for a CPU so far.
#[derive(Debug)]
pub(crate) struct RunQueue {
    process: u32,
    /// By thread, in nanoseconds.
    waited: HashMap<String, u64>,
}

impl RunQueue {
    pub(crate) fn of(process: u32) -> Self {
        Self { process, waited: HashMap::new() }
    }

    /// How much longer the thread that waited longest has waited, since this was last asked. Nothing the
    /// first time, and where the kernel does not count it (`CONFIG_SCHED_INFO`).
    ///
    /// Not the sum: threads of a library that wait for each other are its own affair.
    pub(crate) fn grown(&mut self) -> Duration {
        let before = std::mem::replace(&mut self.waited, delays(self.process));
        let grown = |(thread, now): (&String, &u64)| Some(now.saturating_sub(*before.get(thread)?));
        Duration::from_nanos(self.waited.iter().filter_map(grown).max().unwrap_or(0))
    }
}

/// The second number of each thread's `schedstat`: nanoseconds on a run queue
/// (Documentation/scheduler/sched-stats.rst).
fn delays(process: u32) -> HashMap<String, u64> {
    // Of the process that it has forked too, where the work is done (`CONFIG_PROC_CHILDREN`).
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let mut all = delays_of(&process.to_string());
    children.iter().flat_map(|c| c.split_whitespace()).for_each(|c| all.extend(delays_of(c)));
    all
}

fn delays_of(process: &str) -> HashMap<String, u64> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten();
    let delay = |thread: std::io::Result<std::fs::DirEntry>| {
        let thread = thread.ok()?;
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        let delay = text.split_whitespace().nth(1)?.parse().ok()?;
        Some((thread.file_name().to_string_lossy().into_owned(), delay))
    };
    threads.filter_map(delay).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Instant;

    #[test]
    fn two_threads_that_want_the_same_cpu_wait_for_it() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu)).unwrap();
        let ended = AtomicBool::new(false);
        let spin = || {
            let mut one = rustix::thread::CpuSet::new();
            one.set(cpu);
            rustix::thread::sched_setaffinity(None, &one).unwrap();
            while !ended.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| {
            let (begun, mut queue) = (Instant::now(), RunQueue::of(std::process::id()));
            scope.spawn(spin);
            scope.spawn(spin);
            queue.grown();
            let mut waited = Duration::ZERO;
            while waited.is_zero() && begun.elapsed() < Duration::from_secs(60) {
                std::thread::sleep(Duration::from_millis(10));
                waited += queue.grown();
            }
            ended.store(true, Ordering::Relaxed);
            assert!(!waited.is_zero());
        });
    }

    #[test]
    fn a_process_that_is_gone_waits_for_nothing() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let mut queue = RunQueue::of(child.id());
        assert_eq!((queue.grown(), queue.grown()), (Duration::ZERO, Duration::ZERO));
    }
}
