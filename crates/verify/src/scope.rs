//! What a verification tries beside what every one tries, and what it came to.

use base::model::Direction;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::time::Duration;

/// What is tried beside the fixed inputs, which are the same in every verification.
pub struct Scope<'a> {
    /// Sizes, messages and the order of calls are drawn from it.
    pub seed: u64,
    /// Message sizes to check, in bytes. Those that an algorithm does not define are left out.
    pub sizes: &'a [usize],
    /// CPU time that the calling thread has spent. It bounds what slow libraries are asked for; the crate has
    /// no clock of its own.
    pub spent: &'a dyn Fn() -> Duration,
}

impl Scope<'_> {
    /// No sizes but a few drawn ones, and hundreds of repeated calls: for tests of other things.
    pub const BRIEF: Scope<'static> = Scope { seed: 0, sizes: &[], spent: &impatient };
}

/// A clock that moves by 20 ms whenever it is looked at, so that what is bounded by time ends alike everywhere.
fn impatient() -> Duration {
    thread_local!(static LOOKS: Cell<u64> = const { Cell::new(0) });
    Duration::from_millis(20 * LOOKS.replace(LOOKS.get() + 1))
}

impl fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("seed", &self.seed)
            .field("sizes", &self.sizes)
            .finish_non_exhaustive()
    }
}

/// What was tried beside the fixed inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// Sizes that were asked for and checked, in bytes.
    pub asked: Vec<usize>,
    /// Sizes that were drawn and checked, in bytes.
    pub drawn: Vec<usize>,
    /// Sizes, asked for or drawn, that the library's interface does not take, in bytes.
    pub not_taken: Vec<usize>,
    /// Repeated calls, by direction.
    pub repeated: Vec<Repeated>,
}

/// Calls of one session, each compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// Direction.
    pub direction: Direction,
    /// Calls made.
    pub calls: u64,
    /// How many of these were forgeries, all rejected.
    pub forgeries: u64,
    /// Whether time ended them before all that are wanted were made.
    pub cut_short: bool,
}
