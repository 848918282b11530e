//! CPU time of a process, from the scheduler's own exact counter.
//!
//! `/proc/PID/schedstat` (Linux, Documentation/scheduler/sched-stats.rst) has nanoseconds on the CPU and
//! nanoseconds that the process was ready and had to wait; utime and stime of `/proc/PID/stat` are ticks
//! of 10 ms.

use crate::server::Trouble;
use std::time::{Duration, Instant};

/// The counters of a process with one thread.
#[derive(Clone, Debug)]
pub struct Cpu {
    pid: u32,
}

/// What a process used from one reading to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Nanoseconds on the CPU.
    pub ns: u64,
    /// Nanoseconds that it was ready and others ran.
    pub waited_ns: u64,
    /// Times that it gave the CPU up by itself: waits for events, at most.
    pub switches: u64,
}

/// How long a server must have used nothing to be idle.
const STILL: Duration = Duration::from_millis(1);
/// When waiting for that is given up.
const PATIENCE: Duration = Duration::from_secs(5);

impl Cpu {
    /// Of a process.
    #[must_use]
    pub fn of(pid: u32) -> Self {
        Self { pid }
    }

    /// The counters from its beginning, and whether it sleeps: one that is ready and waits for its CPU uses nothing either.
    fn reading(&self) -> Result<(Usage, bool), Trouble> {
        let at = |name: &str| {
            let path = format!("/proc/{}/{name}", self.pid);
            std::fs::read_to_string(&path).map_err(|e| Trouble::of(&path, e))
        };
        let (ns, waited_ns) = times(&at("schedstat")?)
            .ok_or_else(|| Trouble(format!("/proc/{}/schedstat has no times", self.pid)))?;
        let status = at("status")?;
        let switches = voluntary(&status).unwrap_or(0);
        Ok((Usage { ns, waited_ns, switches }, sleeps(&status)))
    }

    /// Bytes of its memory that are in RAM: `/proc/PID/statm` (proc(5)) counts pages.
    ///
    /// # Errors
    /// The process is gone.
    pub fn resident_bytes(&self) -> Result<u64, Trouble> {
        let path = format!("/proc/{}/statm", self.pid);
        let text = std::fs::read_to_string(&path).map_err(|e| Trouble::of(&path, e))?;
        let pages = text.split_ascii_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok());
        let pages = pages.ok_or_else(|| Trouble(format!("{path} has no number of pages")))?;
        Ok(pages * rustix::param::page_size() as u64)
    }

    /// Its counters once it has come to rest.
    ///
    /// # Errors
    /// The process is gone, does not come to rest, or the kernel has no such counters (`CONFIG_SCHED_INFO`).
    pub fn at_rest(&self) -> Result<Usage, Trouble> {
        let begun = Instant::now();
        let mut last = None;
        while begun.elapsed() < PATIENCE {
            let (now, sleeps) = self.reading()?;
            let still = sleeps.then_some(now.ns);
            if still.is_some() && still == last {
                return Ok(now);
            }
            last = still;
            std::thread::sleep(STILL);
        }
        Err(Trouble(format!("process {} does not come to rest", self.pid)))
    }
}

impl Usage {
    /// This and other use together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            ns: self.ns + other.ns,
            waited_ns: self.waited_ns + other.waited_ns,
            switches: self.switches + other.switches,
        }
    }

    /// What was used since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            ns: self.ns.saturating_sub(earlier.ns),
            waited_ns: self.waited_ns.saturating_sub(earlier.waited_ns),
            switches: self.switches.saturating_sub(earlier.switches),
        }
    }
}

/// A CPU for the client: another one than the servers', of another core where this process may use one. None
/// where there is only one.
#[must_use]
pub fn client_cpu(server_cpu: u32) -> Option<u32> {
    let place = format!("/sys/devices/system/cpu/cpu{server_cpu}/topology/thread_siblings_list");
    let siblings = std::fs::read_to_string(place).ok();
    let siblings = siblings.and_then(|list| host::ranges_of_list(&list)).unwrap_or_default();
    let others = || probe::allowed_cpus().into_iter().rev().filter(|cpu| *cpu != server_cpu);
    let is_sibling = |cpu: &u32| siblings.iter().any(|range| range.contains(cpu));
    others().find(|cpu| !is_sibling(cpu)).or_else(|| others().next())
}

fn times(schedstat: &str) -> Option<(u64, u64)> {
    let mut numbers = schedstat.split_ascii_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// The line `State: S (sleeping)`.
fn sleeps(status: &str) -> bool {
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().starts_with('S'))
}

fn voluntary(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_read_by_their_places_and_names() {
        assert_eq!(times("123456 789 42\n"), Some((123_456, 789)));
        assert_eq!(times(""), None);
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t17\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(voluntary(status), Some(17));
        assert!(sleeps("Name:\tx\nState:\tS (sleeping)\n") && !sleeps("State:\tR (running)\n"));
    }

    #[test]
    fn the_client_has_another_cpu_where_there_is_one() {
        let cpus = probe::allowed_cpus();
        assert_eq!(client_cpu(cpus[0]).is_some(), cpus.len() > 1);
        assert_ne!(client_cpu(cpus[0]), Some(cpus[0]));
    }

    #[test]
    fn a_process_that_works_uses_time_and_one_that_is_gone_has_no_counters() {
        // Another one: the counters are those of a process's first thread, which sleeps while a test runs.
        let mut child =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let busy = Cpu::of(child.id());
        let used = || busy.reading().unwrap().0;
        let before = used();
        while used().since(before).ns == 0 {
            std::thread::sleep(STILL);
        }
        assert!(busy.resident_bytes().unwrap() > 1 << 16);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(busy.reading().is_err() && Cpu::of(u32::MAX).reading().is_err());
    }
}
