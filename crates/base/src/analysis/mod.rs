//! Samples into estimates and intervals. Pure: no I/O, no clock, no randomness, no unsafe code.

pub mod bound;
mod estimate;
mod groups;
mod kinds;
mod latency;
mod line;
mod many;
mod order;
mod pair;
mod period;
#[cfg(test)]
mod properties;
mod quiet;
mod rank_sum;
#[cfg(test)]
mod real_tests;
mod run_effect;
mod signed_rank;
#[cfg(test)]
mod simulated;
mod summary;
mod threads;
mod within;

pub use estimate::{Estimate, Estimator};
pub use groups::{Difference, Group};
pub use kinds::{OfAKind, two_kinds};
pub use latency::Ticks;
pub use line::{Line, MIN_SIZES, fit_line};
pub use many::{
    ALPHA, BETWEEN_RUNS, BETWEEN_RUNS_BEFORE, BETWEEN_RUNS_OF_ONE_CASE, FAMILY_ALPHA, Standing,
    geometric_mean, holm, surely_faster, verdict_of_many,
};
pub use order::{median, median_rank, quantile};
pub use pair::{FALSE_VERDICTS, LOOKS, Look, Ratio, Verdict, last_look, ratio_of_pairs};
pub use period::{Period, period};
pub use quiet::{quiet_rate, watched_rate};
pub use run_effect::run_effect;
pub use summary::{
    MIN_PER_PROCESS, MIN_PROCESSES, Summary, costs_by_process, summarise, summarise_differences,
    summarise_sparse,
};
pub use threads::of_visits;
pub use within::common_slope;
