//! One timed batch between two readings of the core clock and two of the throughput probe.

use crate::batch::Batch;
use crate::clock::Clock;
use crate::ring::RING;
use crate::stacks::ALIGNMENTS;
use base::model::RawSample;

/// A batch with what its calls returned.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The sample.
    pub sample: RawSample,
    /// The bits of every return code, or-ed: 0 when every call succeeded.
    pub codes: i32,
}

/// How long batches are.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds that a timed batch should take where the clock's steps are short ([`Clock::stretch`]).
    pub sample_ns: f64,
    /// Nanoseconds of untimed warm-up before it.
    pub warm_up_ns: f64,
}

impl Default for Pace {
    /// 30 µs: 3000 steps of a clock of 10 ns, so that its reading is exact to a thirtieth of
    /// a per cent, and short against a scheduler's slice and a timer interrupt's period. A third of
    /// that warms caches, predictors and the core's power state for the library: the visit before
    /// was another's.
    fn default() -> Self {
        Self { sample_ns: 30_000.0, warm_up_ns: 10_000.0 }
    }
}

impl Pace {
    /// For batches in a runtime's process: ten times as long, because a process begins such a batch behind a switch from
    /// another one, and reads a clock that takes up to a tenth of a microsecond.
    #[must_use]
    pub fn of_a_runtime() -> Self {
        let Self { sample_ns, warm_up_ns } = Self::default();
        Self { sample_ns: 10.0 * sample_ns, warm_up_ns: 10.0 * warm_up_ns }
    }
}

/// Times `batch` between the probes. Nothing but `batch` is inside the clock.
#[inline(always)]
pub(crate) fn bracket(clock: &Clock, process: u32, ops: u32, batch: impl FnOnce() -> i32) -> Taken {
    let quiet = Undisturbed::begin();
    let clock_before = clock.cycles_per_tick();
    let probe_before = warm_probe(clock, clock_before);
    let begin = clock.begin();
    let codes = batch();
    let end = clock.end();
    let clock_after = clock.cycles_per_tick();
    let probe_after = clock.instructions_per_cycle(clock_after, BLOCKS_AFTER);
    let sample = RawSample {
        process,
        ops,
        ticks: clock.net(begin, end),
        clock_before,
        clock_after,
        probe_before,
        probe_after,
        waited_us: clock.take_waited_us(),
        ..quiet.end().noted()
    };
    Taken { sample, codes }
}

/// A time in which the thread should be left alone.
#[derive(Clone, Copy, Debug)]
pub struct Undisturbed {
    usage: Usage,
    cpu: i32,
}

/// What a thread met in such a time.
#[derive(Clone, Copy, Debug)]
pub struct Met {
    usage: Usage,
    migrated: bool,
    cpu: i32,
}

impl Undisturbed {
    /// Now.
    #[must_use]
    pub fn begin() -> Self {
        Self { usage: Usage::now(), cpu: current_cpu() }
    }

    /// What has been met since it began.
    #[must_use]
    pub fn end(self) -> Met {
        let (usage, cpu) = (Usage::now().since(self.usage), current_cpu());
        Met { usage, migrated: cpu != self.cpu, cpu }
    }
}

impl Met {
    /// Whether no other program ran in between, here or by moving the thread.
    #[must_use]
    pub fn nothing(&self) -> bool {
        self.usage.involuntary == 0 && self.usage.major_faults == 0 && !self.migrated
    }

    /// As a sample notes it.
    pub(crate) fn noted(&self) -> RawSample {
        let Usage { involuntary, voluntary, minor_faults, major_faults } = self.usage;
        RawSample {
            switches: involuntary + voluntary,
            migrated: self.migrated,
            voluntary,
            page_faults: minor_faults + major_faults,
            major_faults,
            cpu: u32::try_from(self.cpu).unwrap_or(0),
            ..RawSample::default()
        }
    }
}

/// Blocks of the throughput probe before a batch, of which the fastest counts: behind other code the first of them
/// are slow, for some microseconds, as if a sibling thread were busy, which a tenant of milliseconds would be for all. With two,
/// an Intel core that nobody else used read a tenth to a quarter too low before 40 % of samples.
const BLOCKS_BEFORE: usize = 8;
/// Behind a batch the probe's code is known from before it.
const BLOCKS_AFTER: usize = 2;

/// The throughput probe behind a reading of the clock, where other code ran before.
#[inline(always)]
pub(crate) fn warm_probe(clock: &Clock, cycles_per_tick: f64) -> f64 {
    clock.instructions_per_cycle(cycles_per_tick, BLOCKS_BEFORE)
}

/// Finds how many operations fill the pace's sample.
///
/// Batches are doubled until one is long enough to scale from, and the scaled batch is timed twice
/// more: the first ones ran cold.
pub(crate) fn calibrate_ops(
    clock: &Clock,
    ticks_per_ns: f64,
    pace: Pace,
    batch: &mut impl Batch,
) -> u32 {
    let (most, together) = (batch.most().min(MAX_OPS), batch.together());
    let sample_ns = pace.sample_ns * clock.stretch() as f64;
    let mut time = |ops: u32| {
        batch.prepare(ops);
        batch.time(clock, ticks_per_ns, ops)
    };
    let scale = |ops: u32, ns: f64| {
        let op_ns = ns.max(1.0) / f64::from(ops);
        let ops = balanced((sample_ns / op_ns).round() as u32, op_ns);
        ops.next_multiple_of(together).min(most)
    };
    let mut ops = 1_u32;
    time(ops);
    loop {
        let ns = time(ops);
        // A quarter of the sample is long enough to scale from within a per cent or two.
        if ns >= sample_ns / 4.0 || ops >= most {
            let scaled = scale(ops, ns);
            // The faster of two: an interrupt in the one that counts would leave every sample of
            // the case too short.
            let again = time(scaled).min(time(scaled));
            return scale(scaled, again);
        }
        ops = (ops * 2).min(most);
    }
}

/// The number of operations near `ops` that gives every placement and every stack alignment the same
/// share of a batch: whole rounds of the ring, or else of the alignments, unless that would take
/// longer than [`LONGEST_ROUND_NS`].
fn balanced(ops: u32, op_ns: f64) -> u32 {
    let nearest = |step: u32| (ops + step / 2) / step * step;
    if ops >= RING as u32 {
        nearest(RING as u32)
    } else if f64::from(ALIGNMENTS) * op_ns <= LONGEST_ROUND_NS {
        nearest(ALIGNMENTS).max(ALIGNMENTS)
    } else {
        ops.max(1)
    }
}

/// Longer samples meet an interrupt of the system's or the hypervisor's too often: hundreds come in a second, and the
/// kernel counts them nowhere.
const LONGEST_ROUND_NS: f64 = 1.6e5;

/// Most operations in a batch: a batch of nothing at all, at a quarter of a nanosecond each, would
/// still end after milliseconds.
const MAX_OPS: u32 = 1 << 24;

/// What this thread has met so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) involuntary: u32,
    voluntary: u32,
    minor_faults: u32,
    major_faults: u32,
}

impl Usage {
    pub(crate) fn now() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to a whole `rusage`, which zeroes are a valid value of.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        // Differences are what counts: they survive the cut to 32 bits.
        Self {
            involuntary: usage.ru_nivcsw as u32,
            voluntary: usage.ru_nvcsw as u32,
            minor_faults: usage.ru_minflt as u32,
            major_faults: usage.ru_majflt as u32,
        }
    }

    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            involuntary: self.involuntary.wrapping_sub(earlier.involuntary),
            voluntary: self.voluntary.wrapping_sub(earlier.voluntary),
            minor_faults: self.minor_faults.wrapping_sub(earlier.minor_faults),
            major_faults: self.major_faults.wrapping_sub(earlier.major_faults),
        }
    }
}

fn current_cpu() -> i32 {
    // SAFETY: takes nothing, returns a number.
    unsafe { libc::sched_getcpu() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_touching_fresh_memory_are_counted_as_what_they_are() {
        let before = Usage::now();
        std::thread::sleep(std::time::Duration::from_millis(2));
        let slept = Usage::now().since(before);
        assert!(slept.voluntary >= 1, "{slept:?}");
        let before = Usage::now();
        // Beyond the largest that the C library takes from its heap (32 MiB): a mapping of its own, filled page by page.
        std::hint::black_box(vec![1_u8; 64 << 20]);
        let touched = Usage::now().since(before);
        assert!(touched.minor_faults >= 1, "{touched:?}");
    }

    #[test]
    fn batches_hold_whole_rounds_unless_operations_are_long() {
        assert_eq!(balanced(1000, 40.0), 1008);
        assert_eq!(balanced(11, 4e3), 12);
        assert_eq!(balanced(1, 35e3), 4);
        assert_eq!(balanced(1, 45e3), 1);
        assert_eq!(balanced(1, 3e6), 1);
        assert_eq!(balanced(0, 3e6), 1);
    }
}
