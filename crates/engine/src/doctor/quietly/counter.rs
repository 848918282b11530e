//! CPU time of a process with its threads, from the scheduler's exact counter (`/proc/PID/task/TID/schedstat`:
//! nanoseconds; Linux, Documentation/scheduler/sched-stats.rst).

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The counters of a process.
#[derive(Debug)]
pub(crate) struct Counter {
    tasks: PathBuf,
    /// What each thread had used when it was last seen: those that ended stay.
    used_ns: BTreeMap<String, u64>,
}

impl Counter {
    /// Of a process, all zero before the first reading.
    pub(crate) fn of(pid: u32) -> Self {
        Self { tasks: PathBuf::from(format!("/proc/{pid}/task")), used_ns: BTreeMap::new() }
    }

    /// Nanoseconds that it has used from its beginning, user and system.
    pub(crate) fn read_ns(&mut self) -> u64 {
        // A thread that ends in between, and a process that is gone, keep what they had.
        for task in fs::read_dir(&self.tasks).into_iter().flatten().flatten() {
            let text = fs::read_to_string(task.path().join("schedstat")).unwrap_or_default();
            let used = text.split_ascii_whitespace().next().and_then(|n| n.parse().ok());
            if let Some(used) = used {
                self.used_ns.insert(task.file_name().to_string_lossy().into_owned(), used);
            }
        }
        self.used_ns.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_and_that_of_threads_that_ended_stays() {
        let mut counter = Counter::of(std::process::id());
        let before = counter.read_ns();
        assert!(before > 0);
        std::thread::scope(|scope| {
            let counter = &mut counter;
            scope.spawn(move || while counter.read_ns() == before {});
        });
        assert!(counter.read_ns() > before);
        assert_eq!(Counter::of(u32::MAX).read_ns(), 0);
    }
}
