//! Instructions, and walks through buffers as large as a level of memory; with the memory for both.
//!
//! What the core can do at best: throughput and latency of the instructions that bound ciphers,
//! and the bandwidth of each level of memory. One reading at a time, between two readings of the
//! core clock and of the throughput probe, as samples are; what they say is decided by the caller.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::clock::{Clock, warm_probe};
#[cfg(target_arch = "aarch64")]
use aarch64 as catalogue;
use base::analysis::bound::Access;
use catalogue::{BLOCK, Kernel, Needs, SCRATCH, STRIDE, Walk};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::NonNull;
#[cfg(target_arch = "x86_64")]
use x86_64 as catalogue;

/// Name, width, what it needs; what throughput and latency are read of.
type Line = (&'static str, u32, Needs, Option<Kernel>, Option<Kernel>);
/// Two names, their widths, what they need, the kernel.
type PairLine = (&'static str, &'static str, (u32, u32), Needs, Kernel);

/// Steps of the chain between two beginnings: several times what today's schedulers hold (64 to 200), so that a chain
/// never overlaps with the next but one.
const WINDOW_STEPS: f64 = 600.0;

/// Every instruction that this CPU has.
fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for (name, width, needs, throughput, latency) in catalogue::INSTRUCTIONS {
        if !catalogue::has(*needs) {
            continue;
        }
        let width_bits = catalogue::width(*width);
        for (reads, kernel) in [(Reads::Throughput, throughput), (Reads::Latency, latency)] {
            let Some(kernel) = *kernel else { continue };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: BLOCK });
        }
    }
    for (name, second, (width_bits, other), needs, kernel) in catalogue::PAIRS {
        if catalogue::has(*needs) {
            let (width_bits, kernel) = (*width_bits, *kernel);
            let reads = Reads::Pair { second, width_bits: *other };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: BLOCK });
        }
    }
    for (name, width_bits, needs, kernel) in catalogue::WINDOWS {
        if catalogue::has(needs) {
            let reads = Reads::Window { steps: WINDOW_STEPS };
            subjects.push(Subject { name, width_bits, reads, kernel, per_round: 1.0 });
        }
    }
    subjects
}

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
    pub width_bits: u32,
    pub reads: Reads,
    kernel: Kernel,
    per_round: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Core cycles: of one instruction, pair or chain; or of one byte.
    pub cycles: f64,
    pub ticks: f64,
    /// Independent instructions per core cycle beside it, the lower of two: falls when a sibling
    /// hardware thread is busy.
    pub probe: f64,
    pub steady: bool,
}

/// Ticks of one reading at least, in multiples of the clock's step: a step more or less is then
/// a thirtieth of a per cent, as in samples.
const STEPS: u64 = 3000;
/// Ticks of one reading at least, where the clock's step is fine: 5 µs at 2.5 GHz, which fits between two moments at which
/// a hypervisor takes the core. Where the counter's rate is known they are as many as it makes in that time.
const TICKS: u64 = 12_500;
const NS: f64 = 5_000.0;
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
    pub fn new(clock: &'a Clock) -> Self {
        Self { clock, scratch: Buffer::new(SCRATCH) }
    }

    /// The instructions that this CPU has; none where the architecture has no probes, or core
    /// cycles cannot be known.
    pub fn subjects(&self) -> Vec<Subject> {
        if self.clock.cycles_per_tick() <= 0.0 {
            return Vec::new();
        }
        subjects()
    }

    pub fn rounds(&mut self, subject: &Subject) -> u64 {
        let at = self.scratch.start();
        // SAFETY: the catalogue has only what this CPU has; the scratch is as long as kernels need.
        self.clock.long_enough(|rounds| unsafe { (subject.kernel)(rounds, at) })
    }

    pub fn read(&mut self, subject: &Subject, rounds: u64) -> Reading {
        let at = self.scratch.start();
        // SAFETY: as in `rounds`.
        let run = || unsafe { (subject.kernel)(rounds, at) };
        self.clock.reading(rounds as f64 * subject.per_round, true, run)
    }
}

impl Clock {
    /// The smallest power of two of rounds that takes long enough, not only when it is interrupted.
    fn long_enough(&self, mut run: impl FnMut(u64)) -> u64 {
        let least = crate::arch::counter_per_ns().map_or(TICKS, |rate| (NS * rate) as u64);
        let wanted = (self.step_ticks() * STEPS).max(least);
        let mut rounds = 1;
        let mut is_long = |rounds| {
            let begin = self.begin();
            run(rounds);
            self.net(begin, self.end()) >= wanted
        };
        while rounds < 1 << 30 && !(0..3).all(|_| is_long(rounds)) {
            rounds *= 2;
        }
        rounds
    }

    /// What runs `warm` runs untimed before: behind a probe or chain, AVX-512 is given its power back.
    fn reading(&self, units: f64, warm: bool, mut run: impl FnMut()) -> Reading {
        let probe_before = warm_probe(self, self.cycles_per_tick());
        if warm {
            run();
        }
        let clock_before = self.cycles_per_tick();
        if warm {
            run();
        }
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

/// Bytes between what is loaded and what is stored at the same time, beside multiples of a page: no
/// load's address ends like that of a store just before it, which cores take for the same.
const APART: usize = 2048;

/// Two stretches of memory that are walked through piece by piece.
#[derive(Debug)]
pub struct Stretch {
    buffer: Buffer,
    half: usize,
    piece: usize,
    next: usize,
}

impl Stretch {
    /// Together `bytes`, walked through in pieces of `piece` bytes; one after the other, so that a
    /// piece is met again when all others have been.
    pub fn new(bytes: usize, piece: usize) -> std::io::Result<Self> {
        let round = |n: usize| (n / STRIDE).max(1) * STRIDE;
        let half = round(bytes / 2);
        let piece = round(piece.min(half));
        Ok(Self { buffer: Buffer::try_new(2 * half + APART)?, half, piece, next: 0 })
    }

    /// Bytes of the buffer that reading, writing or copying walks through.
    pub fn bytes(&self) -> u64 {
        (self.buffer.len() - APART) as u64
    }

    /// Source and destination of the next piece.
    fn advance(&mut self) -> (*const u8, *mut u8) {
        if self.next + self.piece > self.half {
            self.next = 0;
        }
        let at = self.next;
        self.next += self.piece;
        // SAFETY: both pieces lie within the buffer: `at + piece <= half`, and the second half ends
        // `APART` bytes behind `2 * half`.
        unsafe {
            let base = self.buffer.start();
            (base.add(at), base.add(self.half + APART + at))
        }
    }
}

impl Prober<'_> {
    /// Names of the ways to move bytes that this CPU has.
    pub fn ways(&self, how: Access) -> Vec<&'static str> {
        walks(how).iter().filter(|(_, needs, _)| catalogue::has(*needs)).map(|w| w.0).collect()
    }

    /// One reading, per byte moved, of at least `bytes`. Reading and writing go through both
    /// stretches in turn.
    ///
    /// # Panics
    /// When [`Prober::ways`] does not have the way.
    pub fn walk(&mut self, stretch: &mut Stretch, how: Access, way: &str, bytes: usize) -> Reading {
        let mut ways = walks(how).iter().filter(|(_, needs, _)| catalogue::has(*needs));
        let walk = ways.find(|w| w.0 == way).expect("one of the ways that `ways` gave").2;
        let piece = stretch.piece;
        let pieces = bytes.div_ceil(piece).max(1);
        let mut odd = false;
        self.clock.reading((pieces * piece) as f64, false, || {
            for _ in 0..pieces {
                // A copy takes both halves; reading and writing take one and then the other.
                let (from, to) = if how == Access::Copy || !odd {
                    stretch.advance()
                } else {
                    let (from, to) = stretch.last();
                    (to.cast_const(), from.cast_mut())
                };
                odd = !odd;
                // SAFETY: both point to `piece` bytes of the stretch, aligned to a line; the CPU has
                // the instructions.
                unsafe { walk(piece, from, to) };
            }
        })
    }
}

impl Stretch {
    /// The piece that [`Self::advance`] gave last.
    fn last(&self) -> (*const u8, *mut u8) {
        let at = self.next - self.piece;
        // SAFETY: as in `advance`.
        unsafe {
            let base = self.buffer.start();
            (base.add(at), base.add(self.half + APART + at))
        }
    }
}

fn walks(how: Access) -> &'static [(&'static str, Needs, Walk)] {
    match how {
        Access::Read => catalogue::READS,
        Access::Write => catalogue::WRITES,
        Access::Copy => catalogue::COPIES,
    }
}

// Page-aligned memory for the probes.

/// Memory of its own mapping, all of it touched.
#[derive(Debug)]
struct Buffer {
    base: NonNull<c_void>,
    len: usize,
}

impl Buffer {
    fn new(len: usize) -> Self {
        Self::try_new(len).expect("memory for the probes")
    }

    fn try_new(len: usize) -> std::io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping anywhere, which `Drop` takes away.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), len, protection, flags)? };
        // Huge pages where the system gives them: what is measured is the memory's bandwidth and not
        // that of page tables. Where it refuses, small pages do.
        // SAFETY: advice about the mapping just made changes none of its bytes.
        let _ = unsafe { madvise(base, len, Advice::LinuxHugepage) };
        // SAFETY: the mapping is `len` writable bytes.
        unsafe { base.cast::<u8>().write_bytes(1, len) };
        let base = NonNull::new(base).expect("a mapping is not at address 0");
        Ok(Self { base, len })
    }

    fn start(&self) -> *mut u8 {
        self.base.as_ptr().cast()
    }

    fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, which nobody else has.
        let _ = unsafe { munmap(self.base.as_ptr(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_runs_and_takes_a_time_that_a_core_can_have() {
        let clock = Clock::calibrate();
        let mut prober = Prober::new(&clock);
        for subject in prober.subjects() {
            let rounds = prober.rounds(&subject);
            // The least of several: whatever else runs on the machine only adds. On a core that others share few
            // are steady.
            let readings =
                (0..5000).map(|_| prober.read(&subject, rounds)).filter(|r| r.steady).take(10);
            let cycles = readings.map(|r| r.cycles).fold(f64::INFINITY, f64::min);
            let most = match subject.reads {
                Reads::Window { steps } => steps * 50.0,
                _ => 400.0,
            };
            assert!(cycles > 0.02 && cycles < most, "{subject:?}: {cycles}");
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn what_every_cpu_has_is_measured() {
        let clock = Clock::calibrate();
        let names: Vec<_> = Prober::new(&clock).subjects().iter().map(|s| s.name).collect();
        let vectors =
            if cfg!(target_arch = "aarch64") { ["eor.16b", "mul"] } else { ["pxor", "imul"] };
        for name in ["add", "load", "store", "load+store"].iter().chain(&vectors) {
            assert!(names.contains(name), "{name}");
        }
    }

    /// The chain that cycles are counted by, held against another one: a unit mistaken somewhere would
    /// show here, and speed cancels.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_multiplication_takes_three_additions() {
        let clock = Clock::calibrate();
        let mut prober = Prober::new(&clock);
        let mut least = |name: &str| {
            let all = prober.subjects();
            let chain = |s: &&Subject| s.name == name && s.reads == Reads::Latency;
            let subject = *all.iter().find(chain).expect("in the catalogue");
            let rounds = prober.rounds(&subject);
            (0..50).map(|_| prober.read(&subject, rounds).ticks).fold(f64::INFINITY, f64::min)
        };
        let ratio = least("imul") / least("adc");
        assert!((2.0..4.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn every_way_to_move_bytes_goes_through_the_whole_stretch() {
        let clock = Clock::calibrate();
        let mut prober = Prober::new(&clock);
        for how in [Access::Read, Access::Write, Access::Copy] {
            for way in prober.ways(how) {
                let mut stretch = Stretch::new(64 << 10, 8 << 10).expect("64 KiB");
                let reading = prober.walk(&mut stretch, how, way, 64 << 10);
                assert!(reading.ticks > 0.0, "{how:?} {way}");
            }
        }
    }

    #[test]
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    fn writing_fills_and_copying_copies() {
        let clock = Clock::calibrate();
        let mut prober = Prober::new(&clock);
        for way in prober.ways(Access::Copy) {
            let mut stretch = Stretch::new(8192, 4096).expect("8 KiB");
            // SAFETY: both halves are 4096 bytes of the stretch.
            let (from, to) = unsafe {
                let (from, to) = stretch.advance();
                (
                    std::slice::from_raw_parts_mut(from.cast_mut(), 4096),
                    std::slice::from_raw_parts(to, 4096),
                )
            };
            from.iter_mut().enumerate().for_each(|(i, b)| *b = i as u8 ^ (i >> 8) as u8 ^ 0x5a);
            let _ = prober.walk(&mut stretch, Access::Copy, way, 4096);
            assert!(from == to, "{way}");
        }
    }
}
