//! Lets one test run the program while no other test does: it needs every CPU.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

static RUNNING: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();

thread_local! {
    /// Whether this test is the one that is alone.
    static ALONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn count() -> MutexGuard<'static, usize> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A program that runs.
pub struct Running(bool);

/// Waits while another test wants to be alone.
pub fn running() -> Running {
    let is_alone = ALONE.get();
    if !is_alone {
        *count() += 1;
    }
    Running(!is_alone)
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.0 {
            *count() -= 1;
            ENDED.notify_all();
        }
    }
}

/// No program but this test's.
pub struct Alone(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, usize>);

/// Waits until no program runs; none starts meanwhile but this test's.
pub fn alone() -> Alone {
    let none = ENDED.wait_while(count(), |running| *running > 0);
    ALONE.set(true);
    Alone(none.unwrap_or_else(PoisonError::into_inner))
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.set(false);
    }
}
