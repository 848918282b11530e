//! Stepping by the trap flag (Intel SDM volume 3B, section 18.3.1.4): while it is set, the CPU
//! traps after each instruction and the kernel delivers SIGTRAP.

mod call;
pub(crate) mod decode;
mod fixed;
mod handler;
mod recorder;
mod rows;
mod table;
mod vdso;

pub use recorder::Recorder;

use crate::step::{Trace, Unavailable};
use handler::{Log, Sink};
use rows::Rows;
use std::sync::{Mutex, MutexGuard, PoisonError};
use table::Table;

/// Bytes of the handler's stack: the signal frame with the widest registers known (AMX: 11 KiB,
/// `AT_MINSIGSTKSZ`), and room.
const STACK_BYTES: usize = 64 << 10;

/// One at a time in a process: the handler finds its log by a global pointer.
static STEPPING: Mutex<()> = Mutex::new(());

/// Nothing has to be set aside: a process steps itself.
pub fn prepare() {}

/// Memory for stepping calls, used again for each.
#[derive(Debug)]
pub struct Stepper {
    log: Box<Log>,
    stack: Box<[u8]>,
}

impl Stepper {
    /// Sets the memory aside.
    ///
    /// # Errors
    /// Never on x86-64.
    pub fn new() -> Result<Self, Unavailable> {
        let stack = vec![0; STACK_BYTES].into_boxed_slice();
        let sink = Sink::Counts { table: Table::new(), rows: Rows::new() };
        Ok(Self { log: Box::new(Log::new(sink)), stack })
    }

    /// Calls `function` with up to four arguments of the C calling convention, single-stepped from
    /// its first instruction to its return, and returns what it returned. After `most_steps` steps
    /// it runs on unseen.
    ///
    /// # Errors
    /// [`Unavailable`] when the signal cannot be handled or the trap flag has no effect. The
    /// function may have run.
    ///
    /// # Safety
    /// `function` must be a C function of at most four integer or pointer arguments that returns an
    /// `int`, these must be arguments that it can be called with, and no panic may unwind out of it.
    pub unsafe fn call(
        &mut self,
        function: *const (),
        arguments: [usize; 4],
        most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        let _alone: MutexGuard<'_, ()> = STEPPING.lock().unwrap_or_else(PoisonError::into_inner);
        self.log.begin(most_steps);
        let handling = handler::Handling::begin(&mut self.stack)?;
        // SAFETY: this function's contract; the handler is in place and finds the log, which
        // outlives the call and which nothing else touches meanwhile.
        let returned = unsafe { call::stepped(function, arguments, &raw mut *self.log) };
        drop(handling);
        let visits = self.log.visits();
        let end = self.log.finished.ok_or_else(Unavailable::no_effect)?;
        Ok((returned, Trace { visits, steps: self.log.steps, end }))
    }
}

#[cfg(test)]
mod tests;
