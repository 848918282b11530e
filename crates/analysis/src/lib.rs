//! Samples into estimates and intervals. Pure: no I/O, no clock, no randomness, no unsafe code.
#![forbid(unsafe_code)]

mod order;
mod summary;

pub use order::{median, median_interval, quantile};
pub use summary::{Estimate, MIN_PER_PROCESS, MIN_PROCESSES, Summary, summarise};
