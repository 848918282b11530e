//! Recording: a call is stepped by the process that was set aside, which writes the registers before each step to a tape
//! of this process.

use super::helper::{self, Helper};
use super::{STEPPING, stepped_call};
use crate::step::{End, Tape, Unavailable};
use std::sync::{MutexGuard, PoisonError};

/// Steps calls and writes their registers to tapes.
///
/// What would differ from process to process by itself has a fixed outcome while a call is recorded: the counter, the
/// processor's and the kernel's random numbers, the process's number. A loop of exclusive loads and stores is one step.
#[derive(Debug)]
pub struct Recorder {
    helper: &'static Helper,
    /// The number that a forked process that records is told for its own.
    process: u32,
}

impl Recorder {
    /// Finds the process that [`super::prepare`] has set aside.
    ///
    /// # Errors
    /// Why there is none.
    pub fn new() -> Result<Self, Unavailable> {
        let process = std::process::id();
        helper::get().map(|helper| Self { helper, process }).map_err(Unavailable)
    }

    /// Calls `function` and adds its steps to the tape; what it returned. Where the tape or `most_steps` ends,
    /// it runs on unseen.
    ///
    /// # Errors
    /// [`Unavailable`] when this process cannot be stepped. The function has not run.
    pub fn record(
        &mut self,
        tape: &mut Tape,
        most_steps: usize,
        mut function: impl FnMut() -> i32,
    ) -> Result<(i32, End), Unavailable> {
        let _alone: MutexGuard<'_, ()> = STEPPING.lock().unwrap_or_else(PoisonError::into_inner);
        let (to, room) = tape.next();
        let most = most_steps.min(room) as u64;
        self.helper.attach_recording(most, to as u64, self.process).map_err(Unavailable)?;
        let mut function: &mut dyn FnMut() -> i32 = &mut function;
        let arguments = [(&raw mut function) as usize, 0, 0, 0];
        // SAFETY: `called` takes the pointer, which outlives the call, and lets no panic out; the other process is
        // attached, and writes no further than the tape's room.
        let returned = unsafe { stepped_call(called as *const (), arguments) };
        let (steps, end) = self.helper.recorded();
        tape.add(steps as usize, end);
        Ok((returned, end))
    }
}

/// A panic ends the process here: none may unwind through the stepped call.
extern "C" fn called(function: *mut &mut dyn FnMut() -> i32) -> i32 {
    // SAFETY: `record` passes a valid pointer.
    (unsafe { &mut *function })()
}
