//! The `stream` model: nonce set once outside the clock, then repeated updates over one buffer,
//! in place, as `openssl speed -evp` does.

use crate::arch;
use crate::arena::Arena;
use crate::batch::Batch;
use crate::clock::Clock;
use crate::messages::Stepped;
use crate::stacks::Stacks;
use crate::step::{Stepper, Unavailable};
use contract::{Outcome, Session};

/// A buffer placed in memory, ready to run.
pub struct StreamBatch<'a> {
    session: &'a mut Session,
    buffer: &'a mut [u8],
    stacks: &'a mut Stacks,
    roll: u64,
    initial: &'a [u8],
    nonce: &'a [u8],
    updates: u32,
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
        Self { session, buffer, stacks, roll, initial, nonce, updates: 0 }
    }

    /// Puts buffer and stream back to their beginning.
    pub fn restart(&mut self) -> Outcome {
        self.buffer.copy_from_slice(self.initial);
        self.updates = 0;
        self.session.start(self.nonce)
    }

    /// How many operations there were since [`StreamBatch::restart`].
    #[must_use]
    pub fn updates(&self) -> u32 {
        self.updates
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

impl Batch for StreamBatch<'_> {
    fn prepare(&mut self, _ops: u32) {}

    fn most(&self) -> u32 {
        u32::MAX
    }

    fn run(&mut self, ops: u32) -> i32 {
        self.loop_over(ops, |step, ops| step(ops))
    }

    fn run_alone(&mut self, clock: &Clock, ops: u32, ticks: &mut Vec<u64>) -> i32 {
        self.loop_over(ops, |step, ops| {
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

impl StreamBatch<'_> {
    #[inline(always)]
    fn loop_over(
        &mut self,
        ops: u32,
        mut part: impl FnMut(&mut dyn FnMut(u32) -> i32, u32) -> i32,
    ) -> i32 {
        let table = self.session.raw();
        let call = table.update.expect("the model `stream` is offered");
        let run = arch::update_loop(call as *const () as usize);
        let (state, buffer, len) = (table.state, self.buffer.as_mut_ptr(), self.buffer.len());
        // SAFETY: `Session::new`'s contract holds for the table; input and output are the same
        // buffer, which `place` checked that the session allows.
        let mut step = |ops| unsafe { run(call, state, buffer, len, ops) };
        self.updates += ops;
        self.stacks.spread(self.roll, ops, |ops| part(&mut step, ops))
    }
}
