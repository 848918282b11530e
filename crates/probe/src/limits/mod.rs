//! What the core can do at best: throughput and latency of the instructions that bound ciphers,
//! and the bandwidth of each level of memory. One reading at a time, between two readings of the
//! core clock and of the throughput probe, as samples are; what they say is decided by the caller.

#[cfg(target_arch = "aarch64")]
mod catalogue_aarch64;
#[cfg(target_arch = "x86_64")]
mod catalogue_x86_64;
#[cfg(target_arch = "aarch64")]
mod kernels_aarch64;
#[cfg(target_arch = "x86_64")]
mod kernels_x86_64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod portable;
#[cfg(target_arch = "aarch64")]
mod walks_aarch64;
#[cfg(target_arch = "x86_64")]
mod walks_x86_64;

mod buffer;
mod memory;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use portable::{self as catalogue, Kernel, SCRATCH, STRIDE, Walk};
#[cfg(target_arch = "aarch64")]
use {
    catalogue_aarch64 as catalogue,
    kernels_aarch64::{Kernel, SCRATCH},
    walks_aarch64::{STRIDE, Walk},
};
#[cfg(target_arch = "x86_64")]
use {
    catalogue_x86_64 as catalogue,
    kernels_x86_64::{Kernel, SCRATCH},
    walks_x86_64::{STRIDE, Walk},
};

pub use memory::{Move, Stretch};

use crate::clock::Clock;
use crate::sample::warm_probe;
use buffer::Buffer;

/// What an instruction or a walk needs of the CPU.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Asimd,
    Aes,
    Sha2,
    Sha3,
    Crc,
    Sve,
    SveAes,
    Zva,
}

/// What an instruction or a walk needs of the CPU.
#[cfg(not(target_arch = "aarch64"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code))]
enum Needs {
    Sse2,
    Ssse3,
    Sse42,
    Bmi2,
    Avx2,
    Avx512,
    Ifma,
    Aes,
    Vaes,
    Vaes512,
    Clmul,
    Vclmul,
    Vclmul512,
    Gfni,
    Gfni512,
    Sha,
    Sha512,
}

/// What is read of an instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reads {
    /// Cycles from one independent instruction to the next.
    Throughput,
    /// Cycles from one to the next that depends on it.
    Latency,
    /// Cycles of a pair, this instruction and another in turn.
    Pair {
        /// The other.
        second: &'static str,
        /// Its width.
        width_bits: u32,
    },
    /// Cycles of a chain of so many steps that begins anew again and again.
    Window {
        /// Steps from one beginning to the next.
        steps: f64,
    },
}

/// One instruction that this CPU has, and what is read of it.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Name as assemblers write it, without the prefix `v`; `aesenc-key` is `aesenc` from its round
    /// key on. Of AArch64's `eor.16b` is one on vectors, `aese+aesmc` two that do a round together.
    pub name: &'static str,
    /// Bits of the registers that it works on.
    pub width_bits: u32,
    /// What is read of it.
    pub reads: Reads,
    kernel: Kernel,
    per_round: f64,
}

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Core cycles: of one instruction, pair or chain; or of one byte.
    pub cycles: f64,
    /// Clock ticks of the same.
    pub ticks: f64,
    /// Independent instructions per core cycle beside it, the lower of two: falls when a sibling
    /// hardware thread is busy.
    pub probe: f64,
    /// Whether the core clock before and after agree.
    pub steady: bool,
}

/// Ticks of one reading at least, in multiples of the clock's step: a step more or less is then
/// a thirtieth of a per cent, as in samples.
const STEPS: u64 = 3000;
/// Ticks of one reading at least, where the clock's step is fine: 20 µs at 2.5 GHz. Where the counter's rate is known
/// they are as many as it makes in that time.
const TICKS: u64 = 50_000;
const NS: f64 = 20_000.0;
/// How far the clock may move within a reading, as in samples.
const MOVED: f64 = 0.02;

/// Reads the instructions of this CPU. Holds the memory that they load from and store to.
#[derive(Debug)]
pub struct Prober<'a> {
    clock: &'a Clock,
    scratch: Buffer,
}

impl<'a> Prober<'a> {
    /// Reads with this clock, on the CPU that the calling thread is on.
    #[must_use]
    pub fn new(clock: &'a Clock) -> Self {
        Self { clock, scratch: Buffer::new(SCRATCH) }
    }

    /// The instructions that this CPU has; none where the architecture has no probes, or core
    /// cycles cannot be known.
    #[must_use]
    pub fn subjects(&self) -> Vec<Subject> {
        if self.clock.cycles_per_tick() <= 0.0 {
            return Vec::new();
        }
        catalogue::subjects(&catalogue::has)
    }

    /// How many rounds make a reading long enough.
    #[must_use]
    pub fn rounds(&mut self, subject: &Subject) -> u64 {
        let at = self.scratch.start();
        // SAFETY: the catalogue has only what this CPU has; the scratch is as long as kernels need.
        self.clock.long_enough(|rounds| unsafe { (subject.kernel)(rounds, at) })
    }

    /// One reading of so many rounds.
    #[must_use]
    pub fn read(&mut self, subject: &Subject, rounds: u64) -> Reading {
        let at = self.scratch.start();
        // SAFETY: as in `rounds`.
        let run = || unsafe { (subject.kernel)(rounds, at) };
        self.clock.reading(rounds as f64 * subject.per_round, run)
    }
}

impl Clock {
    /// The smallest power of two of rounds that takes long enough.
    fn long_enough(&self, mut run: impl FnMut(u64)) -> u64 {
        let least = crate::arch::counter_per_ns().map_or(TICKS, |rate| (NS * rate) as u64);
        let wanted = (self.step_ticks() * STEPS).max(least);
        let mut rounds = 1;
        loop {
            let begin = self.begin();
            run(rounds);
            if self.net(begin, self.end()) >= wanted || rounds >= 1 << 30 {
                return rounds;
            }
            rounds *= 2;
        }
    }

    /// Times `run`, which does `units` of something.
    fn reading(&self, units: f64, run: impl FnOnce()) -> Reading {
        let clock_before = self.cycles_per_tick();
        let probe_before = warm_probe(self, clock_before);
        let begin = self.begin();
        run();
        let end = self.end();
        let clock_after = self.cycles_per_tick();
        let probe_after = warm_probe(self, clock_after);
        let ticks = self.net(begin, end) as f64 / units;
        Reading {
            cycles: ticks * f64::midpoint(clock_before, clock_after),
            ticks,
            probe: probe_before.min(probe_after),
            steady: (clock_after / clock_before - 1.0).abs() <= MOVED,
        }
    }
}

#[cfg(test)]
mod tests;
