//! Verdicts: what a verification tries, what it ends with, and the words for where two byte strings differ.

use base::model::Direction;
use contract::OpenError;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fmt;
use std::time::Duration;

/// A check that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name, one of [`crate::CHECK_NAMES`].
    pub name: &'static str,
    /// How many single comparisons it made: never 0.
    pub count: u64,
}

/// Everything that could be checked was, and nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The checks, in the order in which they ran. Checks of what the library does not offer
    /// (`in-place`, `stream`) are missing.
    pub checks: Vec<Check>,
    /// SHA-256 over every output and tag of the check `reference`: the same for every library
    /// that computes this algorithm.
    pub digest: [u8; 32],
    /// What was tried beside the fixed inputs.
    pub tried: Tried,
}

/// Why an algorithm of a library is not to be timed. Texts are one line without a full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Finding {
    /// The library does not have the algorithm, or not in both directions.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// A check found something.
    #[error("refused by the check {check}: {why}")]
    Refused {
        /// Name of the check, one of [`crate::CHECK_NAMES`].
        check: &'static str,
        /// Direction, size, and what differed.
        why: String,
    },
    /// The library has the algorithm but could not open it.
    #[error("failed: {0}")]
    Failed(String),
}

/// Why a check ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It found something.
    Refused(String),
    /// A session could not be opened.
    Failed(String),
}

impl Stop {
    /// The finding, under the name of the check that was running.
    pub(crate) fn during(self, check: &'static str) -> Finding {
        match self {
            Self::Refused(why) => Finding::Refused { check, why },
            Self::Failed(why) => Finding::Failed(why),
        }
    }
}

/// The number of comparisons that were made, all of which held.
pub(crate) type Verdict = Result<u64, Stop>;

/// Ends a check with what it found.
pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Refused(why.into()))
}

/// The library's words on an opening that did not succeed.
pub(crate) fn words(error: OpenError) -> String {
    match error {
        OpenError::Unsupported(why) | OpenError::Failed(why) => why,
    }
}

// What a verification tries beside what every one tries, and what it came to.

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
/// The first difference between what a library left and what should be there; `None` when there
/// is none. `part` names what is compared (`the output`, `the tag`), `source` who says so.
pub(crate) fn difference(got: &[u8], want: &[u8], part: &str, source: &str) -> Option<String> {
    if got == want {
        return None;
    }
    let at = got.iter().zip(want).position(|(g, w)| g != w);
    Some(match at {
        Some(at) => {
            format!("byte {at} of {part} is {:02x}, {source} has {:02x}", got[at], want[at])
        }
        None => format!("{part} has {} bytes, {source} has {}", got.len(), want.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_named_with_both_bytes() {
        assert_eq!(difference(b"same", b"same", "the tag", "the reference"), None);
        assert_eq!(
            difference(&[1, 2, 3], &[1, 0xa0, 0xff], "the output", "the reference").as_deref(),
            Some("byte 1 of the output is 02, the reference has a0")
        );
        assert_eq!(
            difference(&[1], &[1, 2], "the output", "the vector").as_deref(),
            Some("the output has 1 bytes, the vector has 2")
        );
    }
}
