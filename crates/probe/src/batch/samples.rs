//! Samples that are not of one batch of this thread alone: of several threads at once, where every thread's
//! batch is timed while all the others run; of operations whose time is made of parts, as where two ends of a
//! connection take turns; and of batches that a runtime's process runs: the same ring of descriptors, gone
//! through there. The descriptors here keep nonces and tags; messages and outputs are the runtime's. What its
//! operations wrote is fetched when they are done, and then checked like any other.

use crate::batch::timed::{Batch, Moment, Taken, Undisturbed, bracket};
use crate::batch::{Memory, MessageBatch, MessageSet, RING};
use crate::clock::{Clock, warm_probe};
use crate::surroundings::OthersTime;
use base::model::{Direction, RawSample, Settling};
use contract::{Placed, Ran, Turn};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Together {
    threads: usize,
    /// Waits here sleep: whoever probes has the core to itself.
    parked: Barrier,
    begun: AtomicUsize,
    done: AtomicUsize,
}

/// What is run in one piece while others are still being timed: an eighth of a batch, so that a
/// thread notices soon that all are done.
const PIECES: u32 = 8;

impl Together {
    pub fn new(threads: usize) -> Self {
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, parked: Barrier::new(threads), begun, done }
    }

    pub fn meet(&self) {
        self.parked.wait();
    }

    /// Independent instructions per core cycle, read by one thread after the other while the rest
    /// sleep: siblings that measure as well would else be taken for strangers that disturb.
    fn probe(&self, clock: &Clock, thread: usize) -> f64 {
        let mut probe = 0.0;
        for turn in 0..self.threads {
            if turn == thread {
                // The first reading after a sleep meets cold code and a clock that still rises.
                for _ in 0..2 {
                    probe = warm_probe(clock, clock.cycles_per_tick());
                }
            }
            self.meet();
        }
        probe
    }

    /// Counts the caller in and waits, awake, until all are: they begin within some cycles of each
    /// other.
    fn all(&self, counter: &AtomicUsize) {
        counter.fetch_add(1, Ordering::SeqCst);
        while counter.load(Ordering::SeqCst) < self.threads {
            std::hint::spin_loop();
        }
    }
}

/// Times one batch of `ops` operations in one of the threads that meet. `warm_up` runs untimed
/// operations and makes the batch ready; it is called when all threads are awake.
pub fn sample_together<B: Batch>(
    clock: &Clock,
    together: &Together,
    process: u32,
    thread: usize,
    ops: u32,
    batch: &mut B,
    warm_up: impl FnOnce(&mut B),
) -> Taken {
    if thread == 0 {
        clock.wait_until_quiet();
    }
    together.meet();
    let probe_before = together.probe(clock, thread);
    let quiet = Undisturbed::begin();
    warm_up(batch);
    together.all(&together.begun);
    let clock_before = clock.cycles_per_tick();
    let begin = clock.begin();
    let mut codes = batch.run(ops);
    let end = clock.end();
    let met = quiet.end();
    together.done.fetch_add(1, Ordering::SeqCst);
    // The others are to be timed under the same load to their end.
    let piece = (ops / PIECES).max(1);
    while together.done.load(Ordering::SeqCst) < together.threads {
        if batch.most() < u32::MAX {
            batch.prepare(piece);
        }
        codes |= batch.run(piece);
    }
    let clock_after = clock.cycles_per_tick();
    let probe_after = together.probe(clock, thread);
    let sample = RawSample {
        process,
        thread: thread as u32,
        ops,
        ticks: clock.net(begin, end),
        clock_before,
        clock_after,
        probe_before,
        probe_after,
        waited_us: if thread == 0 { clock.take_waited_us() } else { 0 },
        ..met.noted()
    };
    Taken { sample, codes }
}

impl Clock {
    /// Runs a part; its ticks, the clock's own cost taken off.
    #[inline(always)]
    pub fn part<R>(&self, run: impl FnOnce() -> R) -> (R, u64) {
        let begin = self.begin();
        let result = run();
        let end = self.end();
        (result, self.net(begin, end))
    }
}

/// Runs parts between the probes, behind what makes the core ready for them again (as in a sample of a batch). The sample's
/// operations and ticks are the caller's to fill in: it alone knows which parts belong together.
pub fn around_parts<S: ?Sized, R, E>(
    clock: &Clock,
    process: u32,
    subject: &mut S,
    ready: impl FnOnce(&mut S) -> Result<(), E>,
    run: impl FnOnce(&mut S) -> Result<R, E>,
) -> Result<(R, RawSample), E> {
    let quiet = Undisturbed::begin();
    let probe_before = warm_probe(clock, clock.cycles_per_tick());
    ready(subject)?;
    let clock_before = clock.cycles_per_tick();
    let result = run(subject)?;
    let clock_after = clock.cycles_per_tick();
    let probe_after = warm_probe(clock, clock_after);
    let sample = RawSample {
        process,
        clock_before,
        clock_after,
        probe_before,
        probe_after,
        waited_us: clock.take_waited_us(),
        ..quiet.end().noted()
    };
    Ok((result, sample))
}

#[derive(Debug)]
pub struct Evictor(Vec<u8>);

impl Evictor {
    /// As many bytes as are to be filled: twice a cache leaves nothing else in it, whatever its way of
    /// choosing what goes.
    pub fn new(bytes: usize) -> Self {
        Self(vec![1; bytes])
    }

    pub fn evict(&mut self) {
        const LINE: usize = 64;
        for line in self.0.chunks_mut(LINE) {
            line[0] = line[0].wrapping_add(1);
        }
        std::hint::black_box(&mut self.0);
    }
}

/// What is known of the runtime's end.
#[derive(Debug, Default)]
pub(crate) struct Away {
    pub(crate) poison: Option<u8>,
    /// Operations of this algorithm and direction that the process ran before.
    ran_before: u64,
}

/// Shortest that code which is compiled while it runs is run before its first sample, in nanoseconds of what batches take:
/// HotSpot's last compiler comes by when its first one's code has run for some tens of milliseconds, with long messages
/// for up to 300.
const FIRST_NS: f64 = 300e6;
/// The same with one more size: by then some collections have shown what garbage costs.
const NEXT_NS: f64 = 100e6;
/// Longest, in nanoseconds of processor time, compiling included: with an algorithm that is new to the process, ...
const LONGEST_FIRST_NS: f64 = 1e9;
/// ... and with one more size.
const LONGEST_NS: f64 = 300e6;
/// Time of a sample in which neither this process nor the runtime's had the CPU: more is another program's.
const OTHERS_NS: f64 = 10_000.0;
/// The same as a share of the batch.
const OTHERS_SHARE: f64 = 0.02;
/// Nanoseconds of one of the batches that must agree, ...
const STRETCH_NS: f64 = 3e6;
/// ... of which so many in a row, ...
const STRETCHES: usize = 12;
/// ... but for one in which garbage is collected, ...
const APART: usize = 1;
/// ... take no longer than the shortest by more than this: more would take code of the first compiler, which the last one's
/// work interrupts again and again, for settled.
const AGREE: f64 = 0.05;

impl MessageBatch<'_> {
    pub(crate) fn place_remotely(&mut self, set: &MessageSet<'_>) {
        let (places, fresh) = (self.kept(u32::MAX), self.counts());
        if let Some(remote) = self.session.remote() {
            let MessageSet { size, inputs, aad, expected, .. } = *set;
            let placed = Placed { size, inputs, places, aad, fresh, expected };
            self.away.ran_before = remote.place(&placed);
        }
    }

    /// Runs operations there, and does with the nonces here what was done with them there.
    pub(crate) fn turn(&mut self, ops: u32) -> Ran {
        let algorithm = self.session.algorithm();
        let (nonce_len, tag_len) = (algorithm.nonce_len, algorithm.tag_len);
        let slots = &self.descriptors.ring.0;
        let nonces: Vec<u8> = slots.iter().flat_map(|s| &s.nonce[..nonce_len]).copied().collect();
        let tags: Vec<u8> = self.tags.iter().flat_map(|tag| &tag[..tag_len]).copied().collect();
        let (at, poison) = (self.at, self.away.poison.take());
        let turn = Turn { at, ops, poison, nonces: &nonces, tags: &tags };
        let ran = self.session.remote().map(|remote| remote.run(&turn)).unwrap_or_default();
        if self.counts() {
            for i in 0..RING {
                let uses = (ops as usize + RING - 1 - i) / RING;
                self.descriptors.ring.0[(at + i) % RING].raise_nonce((uses * RING) as u64);
            }
        }
        self.at = (at + ops as usize) % RING;
        ran
    }

    fn cpu_ns(&mut self) -> f64 {
        self.session.remote().map_or(0.0, |remote| remote.cpu_ns())
    }

    pub(crate) fn run_remotely(&mut self, ops: u32) -> i32 {
        let ran = self.turn(ops);
        self.fetch();
        ran.codes
    }

    /// Fetches what was written last to each place.
    fn fetch(&mut self) {
        let Some(remote) = self.session.remote() else { return };
        let written = remote.written();
        let (algorithm, direction) = (self.session.algorithm(), self.session.direction());
        let output_len = if direction == Direction::Digest { 0 } else { self.size };
        let tag_len = if direction == Direction::Decrypt { 0 } else { algorithm.tag_len };
        let kept = self.kept(u32::MAX);
        if written.len() != kept * (output_len + tag_len) {
            // No right output has another length: what was there before stays and is found.
            return;
        }
        let Memory::Ring(output, places) = &mut self.memory else { return };
        for (place, bytes) in written.chunks_exact((output_len + tag_len).max(1)).enumerate() {
            let (out, tag) = bytes.split_at(output_len);
            output[places[place]..][..output_len].copy_from_slice(out);
            if tag_len > 0 {
                let sharing = self.tags.iter_mut().skip(place).step_by(kept);
                sharing.for_each(|own| own[..tag_len].copy_from_slice(tag));
            }
        }
    }

    /// A sample by the language's clock, between the probes of this process, which is on the same CPU.
    pub(crate) fn sample_remotely(
        &mut self,
        clock: &Clock,
        process: u32,
        ops: u32,
        ready: &mut dyn FnMut(&mut Self, Moment),
    ) -> Taken {
        // In the other process, whose switches between two turns would count as another program's.
        ready(self, Moment::BehindProbe);
        let (mut ran, mut wall) = (Ran::default(), Duration::ZERO);
        let (cpu, own) = (self.cpu_ns(), OthersTime::now());
        let begun = Instant::now();
        let mut taken = bracket(clock, process, ops, self, &mut |_, _| {}, |batch| {
            let begun = Instant::now();
            ran = batch.turn(ops);
            wall = begun.elapsed();
            ran.codes
        });
        let all = begun.elapsed().as_nanos() as f64;
        let (own, _) = OthersTime::now().since(own);
        let others = all - own.as_nanos() as f64 - (self.cpu_ns() - cpu);
        if others > OTHERS_NS.max(OTHERS_SHARE * ran.ns) {
            // Nobody counts the switches of the runtime's threads; that another program ran shows in the time.
            taken.sample.switches += 1;
        }
        // Both clocks saw the same stretch of time, which gives the rate between them.
        let ticks_per_ns = taken.sample.ticks as f64 / (wall.as_nanos() as f64).max(1.0);
        taken.sample.ticks = ((ran.ns + ran.collecting_ns) * ticks_per_ns).round() as u64;
        self.fetch();
        taken
    }

    pub(crate) fn run_alone_remotely(
        &mut self,
        clock: &Clock,
        ops: u32,
        ticks: &mut Vec<u64>,
    ) -> i32 {
        let ticks_per_ns = clock.rough_ticks_per_ns();
        (0..ops).fold(0, |codes, _| {
            let ran = self.turn(1);
            ticks.push((ran.ns * ticks_per_ns) as u64);
            codes | ran.codes
        })
    }

    /// Runs until what a compiler that watches would change has changed: batches in a row agree.
    pub(crate) fn settle_remotely(&mut self) -> Settling {
        let is_new = self.away.ran_before == 0;
        let (least, most) =
            if is_new { (FIRST_NS, LONGEST_FIRST_NS) } else { (NEXT_NS, LONGEST_NS) };
        let (begun, mut total, mut ops) = (self.cpu_ns(), 0.0, 1_u32);
        let mut stretches: Vec<f64> = Vec::new();
        let first_ns = self.turn(1).ns;
        while self.cpu_ns() - begun < most {
            let ns = self.turn(ops).ns;
            total += ns;
            if ns >= STRETCH_NS / 2.0 {
                stretches.push(ns / f64::from(ops));
            }
            if total >= least && agree(&stretches) {
                break;
            }
            let fitting = STRETCH_NS * f64::from(ops) / ns.max(1.0);
            ops = (fitting as u32).clamp(1, ops.saturating_mul(4));
        }
        let us = ((self.cpu_ns() - begun) / 1e3) as u32;
        Settling {
            first_ns,
            ns_per_op: stretches.pop().into_iter().collect(),
            us,
            ..Settling::default()
        }
    }

    /// Bytes that operations allocate, where a runtime runs them and tells, and which share of their time collecting
    /// these will take.
    pub fn allocated(&mut self, ops: u32) -> Option<(f64, f64)> {
        let ran = self.turn(ops);
        Some((ran.allocated?, ran.collecting_ns / (ran.ns + ran.collecting_ns).max(1.0)))
    }

    pub fn spent(&mut self, ops: u32) -> Duration {
        if self.session.is_remote() {
            return Duration::from_nanos(self.turn(ops).ns as u64);
        }
        let begun = Instant::now();
        self.run(ops);
        begun.elapsed()
    }

    /// Nanoseconds that the runtime says operations take, and processor time that it needs beyond these for them and for
    /// giving what they wrote: for working out the one and telling the other, and for whatever it has put off.
    pub fn claimed_and_aside(&mut self, ops: u32) -> (f64, f64) {
        let mut aside = |ops: u32| {
            let before = self.cpu_ns();
            let claimed = self.turn(ops).ns;
            self.fetch();
            (claimed, self.cpu_ns() - before - claimed)
        };
        let idle = aside(0).1;
        let (claimed, busy) = aside(ops);
        (claimed, busy - idle)
    }
}

fn agree(stretches: &[f64]) -> bool {
    let Some(last) = stretches.len().checked_sub(STRETCHES).map(|from| &stretches[from..]) else {
        return false;
    };
    let least = last.iter().copied().fold(f64::MAX, f64::min);
    last.iter().filter(|ns| **ns > least * (1.0 + AGREE)).count() <= APART
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    /// Counts its operations; a stand-in for a batch.
    struct Counting<'a> {
        ran: u32,
        /// How many threads are within a batch.
        running: &'a AtomicU32,
        alone: &'a AtomicU32,
    }

    impl Batch for Counting<'_> {
        fn prepare(&mut self, _ops: u32) {}

        fn most(&self) -> u32 {
            u32::MAX
        }

        fn run(&mut self, ops: u32) -> i32 {
            self.running.fetch_add(1, Ordering::SeqCst);
            if ops == 1000 && self.running.load(Ordering::SeqCst) < 2 {
                // The timed batch waits for the other thread, which must come: it runs as well.
                while self.running.load(Ordering::SeqCst) < 2 {
                    std::thread::yield_now();
                }
            } else if ops != 1000 {
                self.alone.fetch_add(1, Ordering::SeqCst);
            }
            self.ran += ops;
            std::thread::yield_now();
            4
        }

        fn run_alone(&mut self, _: &Clock, ops: u32, _: &mut Vec<u64>) -> i32 {
            self.run(ops)
        }
    }

    #[test]
    fn every_thread_is_timed_while_the_others_run() {
        let clock = Clock::calibrate();
        let (together, running, alone) = (Together::new(2), AtomicU32::new(0), AtomicU32::new(0));
        let taken: Vec<(Taken, u32)> = std::thread::scope(|scope| {
            let (clock, together, running, alone) = (&clock, &together, &running, &alone);
            let lane = move |thread| {
                let mut batch = Counting { ran: 0, running, alone };
                let taken = sample_together(clock, together, 7, thread, 1000, &mut batch, |_| {});
                (taken, batch.ran)
            };
            let lanes: Vec<_> = (0..2).map(|thread| scope.spawn(move || lane(thread))).collect();
            lanes.into_iter().map(|lane| lane.join().unwrap()).collect()
        });
        for (i, (taken, ran)) in taken.iter().enumerate() {
            assert_eq!((taken.sample.process, taken.sample.thread), (7, i as u32));
            assert_eq!((taken.sample.ops, taken.codes), (1000, 4));
            // What it ran beyond its batch, it ran in eighths while the other was being timed.
            assert_eq!((ran - 1000) % 125, 0);
        }
    }

    #[test]
    fn a_part_is_as_long_as_what_runs_in_it() {
        let clock = Clock::calibrate();
        let from = clock.anchor();
        let (answer, ticks) = clock.part(|| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            42
        });
        let rate = from.ticks_per_second(clock.anchor());
        assert_eq!(answer, 42);
        assert!(ticks as f64 / rate >= 0.002, "{ticks}");
    }

    #[test]
    fn what_happens_around_parts_is_noted_and_ticks_are_left_to_the_caller() {
        let clock = Clock::calibrate();
        let mut ran = Vec::new();
        let ready = |ran: &mut Vec<_>| {
            ran.push("ready");
            Ok::<_, ()>(())
        };
        let timed = around_parts(&clock, 3, &mut ran, ready, |ran| {
            ran.push("timed");
            std::thread::sleep(Duration::from_millis(1));
            Ok(())
        });
        let ((), sample) = timed.unwrap();
        assert_eq!(ran, ["ready", "timed"]);
        assert_eq!((sample.process, sample.ops, sample.ticks), (3, 0, 0));
        assert!(sample.voluntary >= 1 && sample.switches >= sample.voluntary);
    }

    #[test]
    fn every_line_is_written() {
        let mut evictor = Evictor::new(1 << 12);
        evictor.evict();
        assert_eq!(evictor.0.iter().filter(|b| **b == 2).count(), 64);
    }

    #[test]
    fn code_has_settled_when_the_last_batches_in_a_row_agree() {
        let beside = |odd: &[f64]| [odd, &[100.0; STRETCHES][odd.len()..]].concat();
        for (stretches, expected) in [
            (vec![100.0; STRETCHES - 1], false),
            ([vec![900.0], beside(&[])].concat(), true),
            (beside(&[900.0, 104.0]), true),
            (beside(&[900.0, 106.0]), false),
        ] {
            assert_eq!(agree(&stretches), expected, "{stretches:?}");
        }
    }
}
