//! Why there is no number.

use crate::{State, Stopped};
use serde::{Deserialize, Serialize};

/// No number, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// `unsupported`, `refused` or `failed`.
    pub state: State,
    /// Why, in one line.
    pub why: String,
    /// What ended the run before it was its turn; none where it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Nanoseconds that an operation takes at the least, where a look at it showed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least_ns: Option<u64>,
}

impl Finding {
    /// A check failed.
    #[must_use]
    pub fn refused(why: impl Into<String>) -> Self {
        Self::of(State::Refused, why)
    }

    /// The library does not have it, or the algorithm does not define it.
    #[must_use]
    pub fn unsupported(why: impl Into<String>) -> Self {
        Self::of(State::Unsupported, why)
    }

    /// Crash, hang or error.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self::of(State::Failed, why)
    }

    /// The run ended before it was done to it, as in "verified".
    #[must_use]
    pub fn left_out(stopped: Stopped, done: &str) -> Self {
        let why = match stopped {
            Stopped::Interrupted => format!("interrupted before it was {done}"),
            _ => format!("the budget was over before it was {done}"),
        };
        Self { stopped: Some(stopped), ..Self::failed(why) }
    }

    /// A look showed that it, or the same at a larger size, takes too long to be measured.
    #[must_use]
    pub fn screened(at_least_ns: Option<u64>) -> Self {
        let why = match at_least_ns {
            Some(ns) => {
                format!("not measured: a look at it showed that it takes {ns} ns at the least")
            }
            None => "not measured, after a look at all that was asked".to_owned(),
        };
        Self { stopped: Some(Stopped::Screened), at_least_ns, ..Self::failed(why) }
    }

    /// Found in this state.
    #[must_use]
    pub fn of(state: State, why: impl Into<String>) -> Self {
        Self { state, why: why.into(), stopped: None, at_least_ns: None }
    }
}
