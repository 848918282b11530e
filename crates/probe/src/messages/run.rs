//! The timed loop over a batch.

use super::{Memory, MessageBatch, RING};
use crate::arch;
use crate::batch::Batch;
use crate::clock::Clock;
use crate::ring::Slot;
use crate::sample::{Taken, bracket};
use base::model::Settling;

impl Batch for MessageBatch<'_> {
    fn prepare(&mut self, ops: u32) {
        let poison = self.poison_byte();
        if let Memory::Walk(places) = &mut self.memory {
            places.prepare(&self.control.walk, ops as usize, poison);
        }
    }

    fn most(&self) -> u32 {
        match &self.memory {
            // In place a message is overwritten, and can be taken once; what was used is in the
            // caches.
            Memory::Walk(places) if places.in_place() || places.is_cold() => places.round(),
            _ => u32::MAX,
        }
    }

    fn together(&self) -> u32 {
        if self.flight.is_some() { self.kept(u32::MAX) as u32 } else { 1 }
    }

    fn run(&mut self, ops: u32) -> i32 {
        if self.session.is_remote() {
            return self.run_remotely(ops);
        }
        let together = self.together();
        self.loop_over(ops, together, |step, ops| step(ops))
    }

    fn warm(&mut self, ops: u32) {
        if self.session.is_remote() {
            self.turn(ops);
        } else {
            self.run(ops);
        }
    }

    fn settle_compiled(&mut self) -> Option<Settling> {
        let compiles = self.session.remote().is_some_and(|remote| remote.compiles());
        compiles.then(|| self.settle_remotely())
    }

    fn time(&mut self, clock: &Clock, ticks_per_ns: f64, ops: u32) -> f64 {
        if self.session.is_remote() {
            return self.turn(ops).ns;
        }
        let begin = clock.begin();
        self.run(ops);
        clock.net(begin, clock.end()) as f64 / ticks_per_ns
    }

    fn sample(&mut self, clock: &Clock, process: u32, ops: u32) -> Taken {
        if self.session.is_remote() {
            return self.sample_remotely(clock, process, ops);
        }
        bracket(clock, process, ops, || self.run(ops))
    }

    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        if self.session.is_remote() {
            return self.run_alone_remotely(clock, ops, ticks);
        }
        self.loop_over(ops, 1, |step, ops| {
            (0..ops).fold(0, |codes, _| {
                let begin = clock.begin();
                let code = step(1);
                let end = clock.end();
                ticks.push(clock.net(begin, end));
                codes | code
            })
        })
    }
}

impl MessageBatch<'_> {
    /// Runs `part` on each of the stacks, which is given what runs operations. Of messages that are in
    /// flight, so many at once.
    #[inline(always)]
    fn loop_over(
        &mut self,
        ops: u32,
        together: u32,
        mut part: impl FnMut(&mut dyn FnMut(u32) -> i32, u32) -> i32,
    ) -> i32 {
        let Self { stacks, control, descriptors, at, roll, flight, .. } = self;
        let first = (&raw mut **descriptors).cast::<Slot>();
        let simple = control.rekey.is_none() && !control.walk.is_walked();
        let (state, call, expected) = (control.state, control.call, control.expected);
        let plain = arch::message_loop(call as *const () as usize, control.fresh);
        let controlled = if simple { None } else { Some(arch::control_loop(control)) };
        let oldest = *at;
        let mut step = |ops: u32| {
            let from = *at;
            *at = (from + ops as usize) % RING;
            // SAFETY: `from` is below `RING`, the number of descriptors.
            let slot = unsafe { first.add(from) };
            match controlled {
                // SAFETY: `Session::new`'s contract holds for the table; the slots are a whole
                // ring, aligned to its size, and point at the placed set, whose lengths were
                // checked against the algorithm.
                None => unsafe { plain(call, state, slot.cast(), ops, expected) },
                Some(run) => {
                    control.at = slot.cast();
                    // SAFETY: as above; each descriptor's key lies `TO_KEY` behind it, and the walk's
                    // places are memory that the batch has borrowed.
                    unsafe { run(&raw mut *control, ops) }
                }
            }
        };
        let Some(flight) = flight else {
            return stacks.spread(*roll, ops, |ops| part(&mut step, ops));
        };
        // SAFETY: the ring that `step` runs on, of which it writes no nonce itself, and the session's own
        // functions; nothing is in flight yet.
        let mut rounds = unsafe { flight.rounds((first, oldest), together, &mut step) };
        let codes = stacks.spread(*roll, ops, |ops| part(&mut |ops| rounds.hand_over(ops), ops));
        codes | rounds.drain()
    }
}
