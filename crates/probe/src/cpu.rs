//! CPUs: which ones the process may use and is moved to, what interrupts a loop on one, and a CPU's own
//! counter of instructions.

use crate::arch;
use crate::batch::timed::Usage;
use crate::clock::Clock;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The CPUs that this process may use, ascending.
#[must_use]
pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).filter_map(|c| u32::try_from(c).ok()).collect()
}

/// Lets the calling thread run on these CPUs only.
///
/// # Errors
/// The system's reason, when none of the CPUs may be used.
pub fn pin_to(cpus: &[u32]) -> std::io::Result<()> {
    Ok(sched_setaffinity(None, &set_of(cpus))?)
}

/// Lets another process, which has one thread, run on this CPU only.
///
/// # Errors
/// The system's reason, when the CPU may not be used or the process is not this user's.
pub fn move_to(process: u32, cpu: u32) -> std::io::Result<()> {
    Ok(sched_setaffinity(Pid::from_raw(process.cast_signed()), &set_of(&[cpu]))?)
}

/// Lets another process, with all of its threads and those that they start, run on this CPU only.
///
/// # Errors
/// The system's reason, as for [`move_to`].
pub fn move_threads_to(process: u32, cpu: u32) -> std::io::Result<()> {
    for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
        let number = thread?.file_name().to_str().and_then(|name| name.parse().ok());
        // A thread may have ended since.
        let moved = number.map_or(Ok(()), |thread| move_to(thread, cpu));
        if number == Some(process) {
            moved?;
        }
    }
    Ok(())
}

fn set_of(cpus: &[u32]) -> CpuSet {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu as usize);
    }
    set
}

/// Asks the kernel to let no other program run on the core's other hardware threads while this
/// process runs (core scheduling, Linux 5.14). Needs no privileges.
///
/// # Errors
/// The system's reason: a kernel without it, or one that knows of no other hardware thread.
pub fn have_core_alone() -> std::io::Result<()> {
    // <linux/prctl.h>; the calling process, with all of its threads.
    const PR_SCHED_CORE: i32 = 62;
    const CREATE: libc::c_ulong = 1;
    const SELF: libc::c_ulong = 0;
    const THREAD_GROUP: libc::c_ulong = 1;
    const UNUSED: libc::c_ulong = 0;
    // SAFETY: takes numbers alone; makes a new cookie for this process.
    let outcome = unsafe { libc::prctl(PR_SCHED_CORE, CREATE, SELF, THREAD_GROUP, UNUSED) };
    if outcome == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

// Watching a CPU: what interrupts a loop that does nothing but read the clock.

/// What interrupted a spinning loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interruptions {
    /// How long the loop spun, in seconds.
    pub seconds: f64,
    /// Length of each interruption in nanoseconds.
    pub gaps_ns: Vec<f64>,
    /// Times that another program took the CPU.
    pub preempted: u32,
}

/// Most interruptions that are kept: a machine that is busy all the time must not fill the memory.
const MOST_GAPS: usize = 1 << 16;

impl Clock {
    /// Spins on the clock for a time; what lies further apart than `gap` was an interruption: a timer
    /// or device interrupt, another program, or the hypervisor.
    #[must_use]
    pub fn interruptions(&self, time: Duration, gap: Duration) -> Interruptions {
        let (anchor, usage) = (self.anchor(), Usage::now());
        // Roughly how fast the clock ticks is enough to know a gap; exact lengths come at the end.
        let rate = self.rough_ticks_per_ns();
        let ticks = |d: Duration| (d.as_nanos() as f64 * rate) as u64;
        let (long, end) = (ticks(gap), anchor.ticks + ticks(time));
        let (mut last, mut gaps) = (self.begin(), Vec::new());
        while last < end {
            let now = self.begin();
            if now.saturating_sub(last) > long && gaps.len() < MOST_GAPS {
                gaps.push(now - last);
            }
            last = now;
        }
        let after = self.anchor();
        let ns = 1e9 / anchor.ticks_per_second(after);
        Interruptions {
            seconds: (after.nanos - anchor.nanos) as f64 / 1e9,
            gaps_ns: gaps.into_iter().map(|ticks| ticks as f64 * ns).collect(),
            preempted: Usage::now().since(usage).involuntary,
        }
    }

    /// Core cycles per tick right now; 0 where the architecture has no chain of known latency.
    #[must_use]
    pub fn core_cycles_per_tick(&self) -> f64 {
        self.cycles_per_tick()
    }

    /// The throughput probe, and then the clock, while another CPU is kept busy with what fills the front end of a
    /// core, or none is. Who shares the core is seen by it, and in virtual machines
    /// what the system says of siblings is often not true.
    #[must_use]
    pub fn beside(&self, other: Option<u32>, time: Duration) -> Beside {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let Some(other) = other else { return };
                while pin_to(&[other]).is_ok() && !stop.load(Ordering::Relaxed) {
                    (0..1000).for_each(|_| arch::independent_block());
                }
            });
            let rates = self.probe_for(time, Duration::ZERO);
            let clocks = (0..101).map(|_| self.core_cycles_per_tick()).collect();
            stop.store(true, Ordering::Relaxed);
            Beside { rates, clocks }
        })
    }
}

/// What is left of a CPU while another one is busy.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Independent instructions per core cycle.
    pub rates: Vec<f64>,
    /// Core cycles per tick.
    pub clocks: Vec<f64>,
}

// The CPU's own counter of instructions, where the system lets us have it.

/// Counts instructions that this thread executes in user space.
pub struct InstructionCounter(Counter);

impl InstructionCounter {
    /// Opens the counter.
    ///
    /// # Errors
    /// Why there is none, in words: virtual machines mostly have none, and
    /// `kernel.perf_event_paranoid` above 2 forbids it.
    pub fn open() -> Result<Self, String> {
        let mut builder = Builder::new(Hardware::INSTRUCTIONS);
        builder.exclude_kernel(true).exclude_hv(true);
        let none = |e| format!("the CPU's counter for instructions is not to be had: {e}");
        builder.build().map(Self).map_err(none)
    }

    /// Instructions that `run` takes, with those that start and stop the counter.
    ///
    /// # Errors
    /// When the counter cannot be started, stopped or read.
    pub fn count<R>(&mut self, run: impl FnOnce() -> R) -> Result<u64, String> {
        let failed = |e: std::io::Error| format!("the CPU's counter for instructions failed: {e}");
        self.0.reset().map_err(failed)?;
        self.0.enable().map_err(failed)?;
        run();
        self.0.disable().map_err(failed)?;
        self.0.read().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether there is another hardware thread to be kept free hangs on the machine; that nothing
    /// else breaks does not.
    #[test]
    fn a_core_of_its_own_is_given_or_refused_with_a_reason() {
        if let Err(why) = have_core_alone() {
            assert!(why.raw_os_error().is_some_and(|code| code > 0), "{why}");
        }
        assert!(!allowed_cpus().is_empty());
    }

    #[test]
    fn a_spin_lasts_as_long_as_asked_and_its_gaps_are_part_of_it() {
        let clock = Clock::calibrate();
        let seen = clock.interruptions(Duration::from_millis(20), Duration::from_micros(1));
        // An interruption at the end can only make it longer.
        assert!(seen.seconds >= 0.019, "{}", seen.seconds);
        let lost = seen.gaps_ns.iter().sum::<f64>() / 1e9;
        assert!(lost <= seen.seconds, "{seen:?}");
        assert!(seen.gaps_ns.iter().all(|gap| *gap >= 900.0), "{seen:?}");
    }

    #[test]
    fn a_loop_of_known_length_is_counted_or_the_reason_is_told() {
        let sum = |n: u64| (0..n).fold(0_u64, |a, i| std::hint::black_box(a) + i);
        match InstructionCounter::open() {
            Ok(mut counter) => {
                let short = counter.count(|| sum(1000)).unwrap();
                let long = counter.count(|| sum(11_000)).unwrap();
                assert!(long > short + 10_000, "{short} {long}");
            }
            Err(why) => assert!(why.contains("not to be had: "), "{why}"),
        }
    }
}
