//! Recording: a call is stepped, and its registers are written to a tape at each step.

use super::fixed::Fixed;
use super::handler::{Handling, Log, Sink};
use super::{STACK_BYTES, STEPPING, call};
use crate::step::{End, Tape, Unavailable};
use std::sync::{MutexGuard, PoisonError};

/// Steps calls and writes their registers to tapes.
///
/// What would differ from process to process by itself has a fixed outcome while a call is recorded: the time
/// stamp counter, the clock, the processor's and the kernel's random numbers, the process's number.
#[derive(Debug)]
pub struct Recorder {
    log: Box<Log>,
    stack: Box<[u8]>,
}

impl Recorder {
    /// Sets the memory aside. A forked process that records is told the number of the one that made it.
    ///
    /// # Errors
    /// Never on x86-64.
    pub fn new() -> Result<Self, Unavailable> {
        let stack = vec![0; STACK_BYTES].into_boxed_slice();
        let sink = Sink::Tape { next: std::ptr::null_mut(), fixed: Fixed::of_this_process() };
        Ok(Self { log: Box::new(Log::new(sink)), stack })
    }

    /// Calls `function` and adds its steps to the tape; what it returned. Where the tape or `most_steps` ends,
    /// it runs on unseen.
    ///
    /// # Errors
    /// [`Unavailable`] when the signal cannot be handled or the trap flag has no effect. The function may have
    /// run.
    pub fn record(
        &mut self,
        tape: &mut Tape,
        most_steps: usize,
        mut function: impl FnMut() -> i32,
    ) -> Result<(i32, End), Unavailable> {
        let _alone: MutexGuard<'_, ()> = STEPPING.lock().unwrap_or_else(PoisonError::into_inner);
        let (to, room) = tape.next();
        self.log.begin(most_steps.min(room) as u64);
        if let Sink::Tape { next, .. } = &mut self.log.sink {
            *next = to;
        }
        let handling = Handling::begin(&mut self.stack)?;
        let mut function: &mut dyn FnMut() -> i32 = &mut function;
        let arguments = [(&raw mut function) as usize, 0, 0, 0];
        // SAFETY: `called` takes the pointer, which outlives the call, and lets no panic out; the handler is in
        // place and finds the log, which nothing else touches meanwhile; the log writes no further than the
        // tape's room.
        let returned = unsafe { call::stepped(called as *const (), arguments, &raw mut *self.log) };
        drop(handling);
        let end = self.log.finished.ok_or_else(Unavailable::no_effect)?;
        tape.add(self.log.steps as usize, end);
        Ok((returned, end))
    }
}

/// A panic ends the process here: none may unwind through the stepped call.
extern "C" fn called(function: *mut &mut dyn FnMut() -> i32) -> i32 {
    // SAFETY: `record` passes a valid pointer.
    (unsafe { &mut *function })()
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
