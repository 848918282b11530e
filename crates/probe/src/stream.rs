//! The `stream` model: nonce set once outside the clock, then repeated updates over one buffer,
//! in place, as `openssl speed -evp` does.

use crate::arch;
use crate::arena::Arena;
use crate::clock::Clock;
use crate::messages::Stepped;
use crate::sample::{Pace, Taken, bracket, calibrate_ops};
use crate::stacks::Stacks;
use contract::{Outcome, Session};
use step::{Stepper, Unavailable};

/// A buffer placed in memory, ready to run.
pub struct StreamBatch<'a> {
    session: &'a mut Session,
    buffer: &'a mut [u8],
    stacks: &'a mut Stacks,
    roll: u64,
    initial: &'a [u8],
    nonce: &'a [u8],
}

impl<'a> StreamBatch<'a> {
    /// Places a buffer with its first content in the arena. `roll` picks the placement.
    ///
    /// # Panics
    /// When the session does not work in place or the nonce does not fit: the caller's mistake.
    pub fn place(
        session: &'a mut Session,
        arena: &'a mut Arena,
        initial: &'a [u8],
        nonce: &'a [u8],
        roll: u64,
    ) -> Self {
        assert!(session.in_place() && session.has_stream(), "a stream in place");
        let (buffer, _, stacks) = arena.place(roll, (initial.len(), 0));
        Self { session, buffer, stacks, roll, initial, nonce }
    }

    /// Puts buffer and stream back to their beginning.
    pub fn restart(&mut self) -> Outcome {
        self.buffer.copy_from_slice(self.initial);
        self.session.start(self.nonce)
    }

    /// How many operations fill a sample.
    pub fn calibrate(&mut self, clock: &Clock, ticks_per_ns: f64, pace: Pace) -> u32 {
        self.restart();
        calibrate_ops(clock, ticks_per_ns, pace, |ops| {
            self.run(ops);
        })
    }

    /// Runs operations outside any clock; returns the bits of their return codes.
    pub fn run(&mut self, ops: u32) -> i32 {
        self.loop_over(ops)
    }

    /// Times one batch of `ops` operations.
    pub fn sample(&mut self, clock: &Clock, process: u32, ops: u32) -> Taken {
        bracket(clock, process, ops, || self.loop_over(ops))
    }

    #[inline(always)]
    fn loop_over(&mut self, ops: u32) -> i32 {
        let table = self.session.raw();
        let call = table.update.expect("the model `stream` is offered");
        let run = arch::update_loop(call as *const () as usize);
        let (state, buffer, len) = (table.state, self.buffer.as_mut_ptr(), self.buffer.len());
        self.stacks.spread(self.roll, ops, |ops| {
            // SAFETY: `Session::new`'s contract holds for the table; input and output are the same
            // buffer, which `place` checked that the session allows.
            unsafe { run(call, state, buffer, len, ops) }
        })
    }

    /// Single-steps the next operation. Returns its return code with what it executed.
    ///
    /// # Errors
    /// When it cannot be stepped here.
    pub fn step(&mut self, stepper: &mut Stepper, most_steps: u64) -> Result<Stepped, Unavailable> {
        let table = self.session.raw();
        let call = table.update.expect("the model `stream` is offered");
        let buffer = self.buffer.as_mut_ptr() as usize;
        let arguments = [table.state as usize, buffer, buffer, self.buffer.len()];
        self.stacks.once(|| {
            // SAFETY: `Session::new`'s contract holds for the function and its arguments; input and
            // output are the same buffer, which `place` checked that the session allows.
            unsafe { stepper.call(call as *const (), arguments, most_steps) }
        })
    }

    /// What the operations since [`StreamBatch::restart`] have left.
    #[must_use]
    pub fn buffer(&self) -> &[u8] {
        self.buffer
    }
}
