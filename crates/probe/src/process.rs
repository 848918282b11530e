//! The process: CPUs, which ones it may use and is moved to, what interrupts a loop on one, and a CPU's own
//! counter of instructions; memory that is allocated: its own heap, laid out alike in every process, and what
//! the code under test allocates and copies, by the meter that is preloaded into some processes.

use crate::arch;
use crate::batch::timed::Usage;
use crate::clock::Clock;
use perf_event::events::Hardware;
use perf_event::{Builder, Counter};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub fn allowed_cpus() -> Vec<u32> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..CpuSet::MAX_CPU).filter(|c| set.is_set(*c)).filter_map(|c| u32::try_from(c).ok()).collect()
}

/// Lets the calling thread run on these CPUs only.
pub fn pin_to(cpus: &[u32]) -> std::io::Result<()> {
    Ok(sched_setaffinity(None, &set_of(cpus))?)
}

/// Lets another process, which has one thread, run on this CPU only.
pub fn move_to(process: u32, cpu: u32) -> std::io::Result<()> {
    Ok(sched_setaffinity(Pid::from_raw(process.cast_signed()), &set_of(&[cpu]))?)
}

/// Lets another process, with all of its threads and those that they start, run on this CPU only.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interruptions {
    pub seconds: f64,
    pub gaps_ns: Vec<f64>,
    pub preempted: u32,
}

/// Most interruptions that are kept: a machine that is busy all the time must not fill the memory.
const MOST_GAPS: usize = 1 << 16;

impl Clock {
    /// Spins on the clock for a time; what lies further apart than `gap` was an interruption: a timer
    /// or device interrupt, another program, or the hypervisor.
    /// How fast the clock ticks has to be known roughly: exact lengths come at the end.
    pub fn interruptions(&self, ticks_per_ns: f64, time: Duration, gap: Duration) -> Interruptions {
        let (anchor, usage) = (self.anchor(), Usage::now());
        let ticks = |d: Duration| (d.as_nanos() as f64 * ticks_per_ns) as u64;
        // A slow clock's own reading is no gap, nor is its step.
        let least = (4 * self.overhead_ticks()).max(2 * self.step_ticks());
        let (long, end) = (ticks(gap).max(least), anchor.ticks + ticks(time));
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
    pub fn core_cycles_per_tick(&self) -> f64 {
        self.cycles_per_tick()
    }

    /// The throughput probe, and then the clock, while another CPU is kept busy with what fills the front end of a
    /// core, or none is. Who shares the core is seen by it, and in virtual machines
    /// what the system says of siblings is often not true.
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

#[derive(Clone, Debug, Default)]
pub struct Beside {
    pub rates: Vec<f64>,
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
    pub fn count<R>(&mut self, run: impl FnOnce() -> R) -> Result<u64, String> {
        let failed = |e: std::io::Error| format!("the CPU's counter for instructions failed: {e}");
        self.0.reset().map_err(failed)?;
        self.0.enable().map_err(failed)?;
        run();
        self.0.disable().map_err(failed)?;
        self.0.read().map_err(failed)
    }
}
/// Has the C library give large blocks back to the system when they are freed. By itself it learns from
/// the first that is freed to keep them, in each thread's part of the heap, and what was read of
/// libraries' files, hundreds of megabytes, would lie there for as long as a survey samples. For the
/// process that schedules: in one that measures it would change what libraries' allocations cost.
pub fn give_large_blocks_back() {
    /// Where the C library begins by itself: malloc(3), `M_MMAP_THRESHOLD`.
    #[cfg(target_env = "gnu")]
    const LARGE_BYTES: libc::c_int = 128 << 10;
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets numbers of the allocator, under the allocator's own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Has the next allocations lie one behind the other from an address that is always the same modulo 64 KiB. Where they
/// lie decides which way some code goes (AES-GCM of OpenSSL moves its stack where that shares cache sets with the key),
/// and what was freed before leaves holes that differ by the length of a library's name. What fills the holes stays
/// allocated.
pub fn lay_heap_out() {
    #[cfg(target_env = "gnu")]
    {
        fill_holes();
        let at = allocate(SMALLEST) + CHUNK;
        let pad = (FIRST.wrapping_sub(at)) % PLACES;
        allocate(if pad < CHUNK { pad + PLACES } else { pad } - HEADER);
    }
}

/// Where allocations begin, modulo so much: behind a page's begin and a header.
#[cfg(target_env = "gnu")]
const PLACES: usize = 64 << 10;
#[cfg(target_env = "gnu")]
const FIRST: usize = 16;
/// What the C library adds to an allocation, the smallest that it makes, and what that takes.
#[cfg(target_env = "gnu")]
const HEADER: usize = 8;
#[cfg(target_env = "gnu")]
const SMALLEST: usize = 24;
#[cfg(target_env = "gnu")]
const CHUNK: usize = 32;

/// Filling ends here. A heap may go on below what it had (a thread's, or the process's where another mapping stopped it):
/// then everything looks like a hole.
#[cfg(target_env = "gnu")]
const MOST_FILLED_BYTES: usize = 16 << 20;

/// Allocates of each size until none is left but at the heap's end. Returns what that took.
#[cfg(target_env = "gnu")]
fn fill_holes() -> usize {
    /// Below the C library's limit for mappings of their own.
    const LARGEST: usize = 96 << 10;
    /// Up to here it keeps what is freed by size, and joins it with nothing.
    const BY_SIZE: usize = 1032;
    let mut end = 0;
    let mut filled_bytes = 0;
    // What the first turn takes for the heap's end may be a hole.
    for _ in 0..2 {
        let mut size = LARGEST;
        while size >= SMALLEST {
            let mut at = allocate(size);
            while at != 0 && at < end && filled_bytes < MOST_FILLED_BYTES {
                filled_bytes += size;
                at = allocate(size);
            }
            end = end.max(at);
            if size > BY_SIZE {
                // SAFETY: allocated just now, and nobody has it.
                unsafe { libc::free(at as *mut libc::c_void) };
                size = (size / 2).max(BY_SIZE);
            } else {
                size -= 16;
            }
        }
    }
    filled_bytes
}

#[cfg(target_env = "gnu")]
fn allocate(size: usize) -> usize {
    // SAFETY: any size may be asked for. What nobody uses the compiler would not allocate.
    std::hint::black_box(unsafe { libc::malloc(size) }) as usize
}
/// What was counted since the process began; `struct Counts` of the meter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub allocations: u64,
    pub allocated_bytes: u64,
    pub copied_bytes: u64,
    /// Pieces of memory that were given and not given back.
    pub held: i64,
    /// Bytes that can be used in them.
    pub held_bytes: i64,
}

impl Counts {
    /// What came since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            allocations: self.allocations - earlier.allocations,
            allocated_bytes: self.allocated_bytes - earlier.allocated_bytes,
            copied_bytes: self.copied_bytes - earlier.copied_bytes,
            held: self.held - earlier.held,
            held_bytes: self.held_bytes - earlier.held_bytes,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Meter(unsafe extern "C" fn(*mut Counts));

impl Meter {
    /// `None` where it was not preloaded.
    pub fn find() -> Option<Self> {
        // SAFETY: a lookup by name among the loaded objects.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"ciphermark_meter".as_ptr()) };
        if symbol.is_null() {
            return None;
        }
        // SAFETY: the meter's own name, which has this type.
        Some(Self(unsafe {
            std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut Counts)>(symbol)
        }))
    }

    pub fn read(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: `counts` is writable and has the meter's layout.
        unsafe { (self.0)(&raw mut counts) };
        counts
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
        let rate = clock.rough_ticks_per_ns();
        let seen = clock.interruptions(rate, Duration::from_millis(20), Duration::from_micros(1));
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

    /// In a process of its own with one heap for all threads, as a worker has it.
    #[cfg(target_env = "gnu")]
    #[test]
    fn allocations_lie_alike_whatever_was_freed_before() {
        const ALONE: &str = "CIPHERMARK_TEST_HEAP";
        let Some(case) = std::env::var_os(ALONE) else {
            let places = ["plain", "small", "mixed", "large"].map(|case| {
                let output = std::process::Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "process::tests::allocations_lie_alike_whatever_was_freed_before",
                    ])
                    .args(["--nocapture", "--test-threads=1"])
                    .env("MALLOC_ARENA_MAX", "1")
                    .env(ALONE, case)
                    .output()
                    .unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                let places = text.lines().find_map(|line| line.strip_prefix("places: "));
                places.unwrap_or_else(|| panic!("{case}: {text}")).to_owned()
            });
            assert!(places[0].starts_with(&format!("[{FIRST}, ")), "{places:?}");
            assert!(places.iter().all(|other| *other == places[0]), "{places:?}");
            return;
        };
        let sizes: &[usize] = match case.to_str().unwrap() {
            "plain" => &[],
            "small" => &[24, 24, 24, 24, 24],
            "mixed" => &[300, 40, 5000, 24, 700, 60],
            _ => &[20_000, 24, 700],
        };
        let mut before: Vec<Vec<u8>> = sizes.iter().map(|n| vec![0; *n]).collect();
        before.iter_mut().step_by(2).for_each(|hole| *hole = Vec::new());
        lay_heap_out();
        let places = [24, 700, 40, 5000, 24].map(|n| allocate(n) % PLACES);
        drop(before);
        println!("\nplaces: {places:?}");
    }

    /// A thread's heap begins anew wherever there is room, also below.
    #[cfg(target_env = "gnu")]
    #[test]
    fn filling_holes_ends_where_a_heap_goes_on_below_itself() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let kept: Vec<Vec<u8>> = (0..1200).map(|_| vec![1; 60 << 10]).collect();
                    let filled_bytes = fill_holes();
                    drop(kept);
                    assert!(filled_bytes <= MOST_FILLED_BYTES + (96 << 10), "{filled_bytes}");
                });
            }
        });
    }

    #[test]
    fn a_process_without_the_meter_has_none() {
        assert!(Meter::find().is_none());
    }
}
