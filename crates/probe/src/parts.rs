//! Operations whose time is made of parts: two ends of a connection take turns, and each one's calls
//! are timed alone.

use crate::clock::Clock;
use crate::sample::{Undisturbed, warm_probe};
use base::model::RawSample;

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
