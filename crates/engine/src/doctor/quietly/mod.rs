//! A program of somebody else's, let run only while nobody else is busy on its core.
//!
//! A benchmark that counts operations in a second of its CPU time cannot tell which part of that second
//! another tenant had the core's other hardware thread. Here it is stopped, the core is looked at, and it goes on for a few
//! milliseconds when the core is quiet (docs/METHOD.md, Other programs in quiet moments).
mod counter;
mod kept;
mod prober;
mod report;
mod run;

pub use kept::{SUBCOMMAND, die_with, kept, serve};
pub use prober::{Prober, Seen};
pub use report::Quietly;
pub use run::{Patience, run};

/// Why it did not come about, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GateError(pub String);

impl GateError {
    fn of(what: &str, why: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {why}"))
    }
}
