//! Work between messages: what a program does from one call into a library to the next. It goes through code and data of
//! its own and asks the kernel for the next message. The library's code, tables and branches are then no longer where a
//! loop would have them.
//!
//! The same work before each message, in every library and on every machine. How much: more than the first level of caches
//! and branch predictors holds (32 to 128 KiB of code, 32 to 128 of data, some thousand branches), and less than a
//! second-level cache of a current core (512 KiB and more). A program that does less in between leaves the library warm,
//! which the model `message` is for.

use crate::arch::RING;
use crate::batch::MessageBatch;
use crate::batch::timed::{Batch as _, Moment, Taken, bracket, go_through_branches};
use crate::clock::Clock;
use rustix::event::epoll;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use std::mem::MaybeUninit;

/// Groups of eight branches, of some hundred bytes of code: 4,096 branches in about 50 KiB.
const BRANCHES: usize = 512;
/// Bytes of data that are gone through.
const DATA: usize = 256 << 10;
const LINE: usize = 64;
/// From one line that is touched to the next, modulo all: odd, so that each is met once, and far enough for no prefetcher
/// to foresee it.
const STRIDE: usize = 1_571;
/// Bytes that a pipe holds where nobody asks for more (pipe(7)).
const PIPE: usize = 64 << 10;

#[derive(Debug)]
pub struct Work {
    epoll: OwnedFd,
    from: OwnedFd,
    into: OwnedFd,
    data: Vec<u8>,
    received: Vec<u8>,
    line: usize,
    branches: u64,
}

impl Work {
    /// A pipe to wait at, and data. What branches do follows from `seed`.
    pub fn new(seed: u64) -> Result<Self, Errno> {
        // One that holds less than it should must not block.
        let (from, into) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &from, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        let (data, received) = (vec![1; DATA], vec![0; PIPE]);
        Ok(Self { epoll, from, into, data, received, line: 0, branches: seed | 1 })
    }

    /// Does it. The message passes through the kernel, so that it lies in the caches as one that was just received; of
    /// messages that no cache is to hold, one that was there before.
    fn before(&mut self, message: &[u8]) {
        self.branches = go_through_branches::<BRANCHES>(self.branches);
        self.walk();
        for part in message.chunks(PIPE) {
            self.pass(part);
        }
    }

    fn walk(&mut self) {
        let mut sum = 0_u8;
        for _ in 0..DATA / LINE {
            self.line = (self.line + STRIDE) % (DATA / LINE);
            let byte = &mut self.data[self.line * LINE];
            sum = sum.wrapping_add(*byte);
            *byte = sum;
        }
        std::hint::black_box(sum);
    }

    /// Writes to the pipe, waits, reads. What a short pipe does not take is not passed.
    fn pass(&mut self, part: &[u8]) {
        let Ok(mut left) = rustix::io::write(&self.into, part) else { return };
        let mut events = [const { MaybeUninit::<epoll::Event>::uninit() }];
        // It is there: nothing is waited for.
        let _ = epoll::wait(&self.epoll, &mut events, None);
        while left > 0 {
            match rustix::io::read(&self.from, &mut self.received) {
                Ok(bytes @ 1..) => left = left.saturating_sub(bytes),
                _ => return,
            }
        }
    }
}

/// Operations of a sample: each place twice.
const OPERATIONS: u32 = 2 * RING as u32;
/// Nanoseconds that the operations of a sample take at the most together, where one does not take longer.
const LONGEST_NS: f64 = 2e6;
/// Of so many operations the slowest is left out: as of a watched program's calls, which disturbances meet, too.
const SLOWEST_OF: u32 = 20;

impl<'a> MessageBatch<'a> {
    /// From now on each operation comes after work, and is timed alone.
    pub fn after(&mut self, work: Option<&'a mut Work>) {
        self.work = work;
    }

    pub(crate) fn is_after_work(&self) -> bool {
        self.work.is_some()
    }
}

impl MessageBatch<'_> {
    /// Runs operations, each after work; `each` is given what runs one.
    pub(crate) fn run_after_work(
        &mut self,
        ops: u32,
        mut each: impl FnMut(&mut dyn FnMut(u32) -> i32) -> i32,
    ) -> i32 {
        let Some(work) = self.work.take() else { return 0 };
        let (inputs, mut at) = (self.inputs(), self.at);
        let codes = self.loop_over(ops, 1, |step, ops| {
            (0..ops).fold(0, |codes, _| {
                work.before(inputs[at]);
                at = (at + 1) % RING;
                codes | each(step)
            })
        });
        self.work = Some(work);
        codes
    }

    /// The same, timed: adds the ticks of each operation to a list.
    pub(crate) fn time_after_work(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        self.run_after_work(ops, |step| {
            let begin = clock.begin();
            let code = step(1);
            let end = clock.end();
            ticks.push(clock.net(begin, end));
            code
        })
    }

    /// A sample: the mean of the operations without the slowest, as many times as there are.
    pub(crate) fn sample_after_work(
        &mut self,
        clock: &Clock,
        process: u32,
        ops: u32,
        ready: &mut dyn FnMut(&mut Self, Moment),
    ) -> Taken {
        let mut ticks = Vec::with_capacity(ops as usize);
        let mut taken = bracket(clock, process, ops, self, ready, |batch| {
            batch.time_after_work(clock, ops, &mut ticks)
        });
        taken.sample.ticks = without_the_slowest(&mut ticks);
        taken
    }

    pub(crate) fn operations_after_work(&mut self, clock: &Clock, ticks_per_ns: f64) -> u32 {
        const TRIED: u32 = 4;
        self.prepare(TRIED);
        let op_ns = self.time(clock, ticks_per_ns, TRIED) / f64::from(TRIED);
        let fit = (LONGEST_NS / op_ns.max(1.0)) as u32;
        let ops = if fit >= OPERATIONS { OPERATIONS } else { (fit / TRIED * TRIED).max(1) };
        ops.min(self.most())
    }
}

fn without_the_slowest(ticks: &mut [u64]) -> u64 {
    let all = ticks.len();
    ticks.sort_unstable();
    let kept = all - if all > 1 { all.div_ceil(SLOWEST_OF as usize) } else { 0 };
    let sum: u64 = ticks[..kept].iter().sum();
    (sum as f64 * all as f64 / kept.max(1) as f64).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_operations_are_left_out_and_the_others_stand_for_them() {
        let mut ticks: Vec<u64> = (0..32).map(|i| if i < 2 { 1_000_000 } else { 100 }).collect();
        assert_eq!(without_the_slowest(&mut ticks), 3200);
        assert_eq!(without_the_slowest(&mut [7]), 7, "one alone is no slowest");
    }

    #[test]
    fn each_line_is_met_once_in_a_walk_and_the_message_passes_whole() {
        let mut work = Work::new(1).unwrap();
        work.walk();
        assert_eq!(work.line, 0, "it comes back after as many steps as there are lines");
        let changed = work.data.chunks(LINE).filter(|line| line[0] != 1).count();
        assert!(changed > DATA / LINE * 9 / 10, "{changed}");
        let message: Vec<u8> = (0..100_000_u32).map(|i| i as u8).collect();
        work.before(&message);
        let last = &message[message.len() / PIPE * PIPE..];
        assert_eq!(work.received[..last.len()], *last);
    }
}
