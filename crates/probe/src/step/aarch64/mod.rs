//! Stepping by a debugger of our own: a process that was set aside before this one gave up its power steps it
//! (ptrace(2), `PTRACE_SINGLESTEP`), because AArch64 lets no process step itself (`MDSCR_EL1` belongs to the kernel).

pub(crate) mod decode;
mod exclusive;
mod fixed;
mod helper;
mod recorder;
mod shared;
mod tracee;

use crate::step::{Trace, Unavailable};
use helper::Helper;
use std::arch::asm;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub use helper::prepare;
pub use recorder::Recorder;

/// One at a time in a process.
static STEPPING: Mutex<()> = Mutex::new(());

/// `BRK` where a call begins, and where it has returned: numbers that nobody else uses.
const BEGIN: u32 = brk(0x5e01);
const STOP: u32 = brk(0x5e02);
/// Where a block that cannot be stepped ends.
const PAUSE: u32 = brk(0x5e03);

const fn brk(number: u32) -> u32 {
    0xd420_0000 | number << 5
}

/// The way to the process that steps this one.
#[derive(Debug)]
pub struct Stepper {
    helper: &'static Helper,
}

impl Stepper {
    /// Finds the process that [`prepare`] has set aside.
    ///
    /// # Errors
    /// Why there is none.
    pub fn new() -> Result<Self, Unavailable> {
        helper::get().map(|helper| Self { helper }).map_err(Unavailable)
    }

    /// Calls `function` with up to four arguments of the C calling convention, single-stepped from
    /// its first instruction to its return, and returns what it returned. After `most_steps` steps
    /// it runs on unseen.
    ///
    /// # Errors
    /// [`Unavailable`] when this process cannot be stepped. The function has not run.
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
        self.helper.attach(most_steps).map_err(Unavailable)?;
        // SAFETY: the caller's contract for `function`. The other process is attached.
        let returned = unsafe { stepped_call(function, arguments) };
        Ok((returned, self.helper.trace()))
    }
}

/// A call between two breakpoints, past both of which the other process moves this one.
///
/// # Safety
/// The other process is attached to this one; for the rest as [`Stepper::call`].
unsafe fn stepped_call(function: *const (), arguments: [usize; 4]) -> i32 {
    let [first, second, third, fourth] = arguments;
    let returned: u64;
    // SAFETY: the caller's contract.
    unsafe {
        asm!(
            "brk #0x5e01",
            "blr x9",
            "brk #0x5e02",
            inlateout("x9") function => _,
            inlateout("x0") first => returned,
            inlateout("x1") second => _,
            inlateout("x2") third => _,
            inlateout("x3") fourth => _,
            clobber_abi("C"),
        );
    }
    returned as i32
}

#[cfg(test)]
mod tests;
