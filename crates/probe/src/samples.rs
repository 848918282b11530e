//! Samples that are not of one batch alone: of several threads at once, and of operations whose time is made
//! of parts, as where two ends of a connection take turns.
//!
//! Samples of several threads at once: every thread's batch is timed while all the others run.

use crate::batch::timed::{Batch, Taken, Undisturbed};
use crate::clock::{Clock, warm_probe};
use base::model::RawSample;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the threads of one visit meet.
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
    /// A meeting of so many threads, for one sample of each.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, parked: Barrier::new(threads), begun, done }
    }

    /// Sleeps until all have come.
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
    (process, thread): (u32, usize),
    ops: u32,
    batch: &mut B,
    warm_up: impl FnOnce(&mut B),
) -> Taken {
    if thread == 0 {
        clock.wait_until_quiet();
    }
    together.meet();
    let probe_before = together.probe(clock, thread);
    warm_up(batch);
    together.all(&together.begun);
    let quiet = Undisturbed::begin();
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

/// Runs parts between the probes. The sample's operations and ticks are the caller's to fill in: it
/// alone knows which parts belong together.
pub fn around_parts<R>(clock: &Clock, process: u32, run: impl FnOnce() -> R) -> (R, RawSample) {
    let quiet = Undisturbed::begin();
    let clock_before = clock.cycles_per_tick();
    let probe_before = warm_probe(clock, clock_before);
    let result = run();
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
    (result, sample)
}

/// Memory to fill a core's own caches with.
#[derive(Debug)]
pub struct Evictor(Vec<u8>);

impl Evictor {
    /// As many bytes as are to be filled: twice a cache leaves nothing else in it, whatever its way of
    /// choosing what goes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(vec![1; bytes])
    }

    /// Writes to every line.
    pub fn evict(&mut self) {
        const LINE: usize = 64;
        for line in self.0.chunks_mut(LINE) {
            line[0] = line[0].wrapping_add(1);
        }
        std::hint::black_box(&mut self.0);
    }
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
                let taken = sample_together(clock, together, (7, thread), 1000, &mut batch, |_| {});
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
        let ((), sample) =
            around_parts(&clock, 3, || std::thread::sleep(std::time::Duration::from_millis(1)));
        assert_eq!((sample.process, sample.ops, sample.ticks), (3, 0, 0));
        assert!(sample.voluntary >= 1 && sample.switches >= sample.voluntary);
    }

    #[test]
    fn every_line_is_written() {
        let mut evictor = Evictor::new(1 << 12);
        evictor.evict();
        assert_eq!(evictor.0.iter().filter(|b| **b == 2).count(), 64);
    }
}
