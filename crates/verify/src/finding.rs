//! What verification ends with.

use crate::scope::Tried;
use contract::OpenError;

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
