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

/// AEADs make the key of the tag and take in associated data with the first update, and some libraries fill a store of key
/// stream with the second.
const FIRST_UPDATES: u32 = 2;

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

    /// Runs updates untimed, and then begins anew. What a library does once for each nonce, with the first updates, is no
    /// update's cost: these are made here.
    pub fn warm_up(&mut self, ops: u32) {
        // An outcome other than done shows in the buffer, which is checked.
        self.restart();
        self.run(ops);
        self.restart();
        self.run(FIRST_UPDATES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use contract::raw;
    use std::ffi::c_void;

    /// Calls since the nonce was set.
    unsafe extern "C" fn start(state: *mut c_void, _: *const u8) -> i32 {
        // SAFETY: the test's own counter.
        unsafe { *state.cast::<u8>() = 0 };
        raw::OK
    }

    /// Writes which call since the nonce it is.
    unsafe extern "C" fn update(
        state: *mut c_void,
        _: *const u8,
        output: *mut u8,
        len: usize,
    ) -> i32 {
        // SAFETY: the test's own counter, and a buffer of `len` bytes.
        unsafe {
            let count = &mut *state.cast::<u8>();
            *count += 1;
            std::ptr::write_bytes(output, *count, len);
        }
        raw::OK
    }

    #[test]
    fn the_first_updates_after_a_nonce_are_made_before_those_that_are_timed() {
        let mut count = 0_u8;
        let table = raw::Session {
            state: (&raw mut count).cast(),
            flags: raw::IN_PLACE,
            start: Some(start),
            update: Some(update),
            ..raw::Session::empty()
        };
        let ctr = base::model::Algorithm::find("aes-128-ctr").unwrap();
        // SAFETY: both functions keep the interface's rules, and `count` outlives the session.
        let mut session = unsafe { Session::new(table, ctr, base::model::Direction::Encrypt) };
        let mut arena = Arena::new();
        let mut batch = StreamBatch::place(&mut session, &mut arena, &[0; 64], &[0; 16], 0);
        batch.warm_up(9);
        assert_eq!((batch.updates(), batch.buffer()[0]), (FIRST_UPDATES, FIRST_UPDATES as u8));
        batch.run(3);
        assert_eq!(
            (batch.updates(), batch.buffer()[0]),
            (FIRST_UPDATES + 3, FIRST_UPDATES as u8 + 3)
        );
    }
}
