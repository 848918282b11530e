//! Samples into estimates and intervals. Pure: no I/O, no clock, no randomness, no unsafe code.

pub mod bound;
mod comparison;
mod estimate;
mod pattern;
#[cfg(test)]
mod simulation;

pub use comparison::{
    ALPHA, BETWEEN_RUNS, BETWEEN_RUNS_BEFORE, BETWEEN_RUNS_OF_ONE_CASE, Difference, FALSE_VERDICTS,
    FAMILY_ALPHA, Group, LOOKS, Look, Ratio, Standing, Verdict, geometric_mean, holm, last_look,
    ratio_of_pairs, surely_faster, verdict_of_many,
};
pub use estimate::{
    Estimate, Estimator, MIN_PER_PROCESS, MIN_PROCESSES, Summary, Ticks, costs_by_process, median,
    median_rank, of_visits, quantile, quiet_rate, summarise, summarise_differences,
    summarise_sparse, watched_rate,
};
pub use pattern::{
    Line, MIN_SIZES, OfAKind, Period, common_slope, fit_line, period, run_effect, two_kinds,
};
