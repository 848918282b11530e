//! What a run reports while it goes on.

use std::time::Duration;

/// What a run reports while it goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event<'a> {
    /// So many pairs of library and algorithm of so many are verified.
    Verifying {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// So many operations of so many are stepped.
    Stepping {
        /// Done.
        done: usize,
        /// In all.
        of: usize,
    },
    /// Looking at what could be chosen.
    Screening(Progress),
    /// Sampling.
    Sampling(Progress),
    /// Something for the user to know at once, in one line: what was measured cannot be kept, or can
    /// be again.
    Remark(&'a str),
}

/// How far sampling is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Cases that have ended.
    pub ended: usize,
    /// Cases in all.
    pub cases: usize,
    /// The part of the work that is done, as far as it can be foreseen.
    pub fraction: f64,
    /// Time that is left, likewise.
    pub left: Duration,
}
