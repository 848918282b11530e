//! Why there is no number.

use crate::State;
use serde::{Deserialize, Serialize};

/// No number, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `unsupported`, `refused` or `failed`.
    pub state: State,
    /// Why, in one line.
    pub why: String,
}

impl Finding {
    /// A check failed.
    #[must_use]
    pub fn refused(why: impl Into<String>) -> Self {
        Self { state: State::Refused, why: why.into() }
    }

    /// The library does not have it, or the algorithm does not define it.
    #[must_use]
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self { state: State::Unsupported, why: why.into() }
    }

    /// Crash, hang or error.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self { state: State::Failed, why: why.into() }
    }
}
