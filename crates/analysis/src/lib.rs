//! Samples into estimates and intervals. Pure: no I/O, no clock, no randomness, no unsafe code.
#![forbid(unsafe_code)]

mod order;
mod summary;
mod trimmed;

pub use order::{median, quantile};
pub use summary::{MIN_PER_PROCESS, MIN_PROCESSES, Summary, summarise};
pub use trimmed::Estimate;
