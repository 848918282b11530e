//! What an operation costs beyond its bytes: key set-up, latency, threads, the fitted line.

use crate::LibraryId;
use base::model::{Direction, Footprint, Model, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a library was given a new key in the model `rekey`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Rekeying {
    /// Its context was used again.
    Reused,
    /// It has no such call, or its adapter does not make it: the algorithm was opened anew for each
    /// message and closed after it.
    Reopened,
}

/// What setting a new key costs: the model `rekey` less the model `message` at the same size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KeySetup {
    /// Nanoseconds; within the noise of two measurements, so that it can be a little below zero.
    pub ns: f64,
    /// Core cycles.
    pub cycles: Option<f64>,
}

/// Latency of single operations, each timed alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Half of the operations took no longer, in nanoseconds.
    pub p50: f64,
    /// 99 in 100 took no longer; null below 100 operations.
    pub p99: Option<f64>,
    /// 999 in 1000 took no longer; null below 1000 operations.
    pub p99_9: Option<f64>,
    /// Operations that count.
    pub operations: u64,
    /// Operations that were timed while the thread was switched out or moved; they do not count.
    pub disturbed: u64,
    /// Step of the clock in nanoseconds: no figure is finer.
    pub resolution_ns: f64,
    /// How many operations took how many ticks, the clock's own cost taken off, ascending.
    pub ticks: Vec<(u64, u64)>,
}

/// What one of several threads reached while all of them ran.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadShare {
    /// CPU that it was pinned to.
    pub cpu: u32,
    /// Nanoseconds per operation in this thread.
    pub ns_per_op: f64,
    /// Core cycles per operation in this thread.
    pub cycles_per_op: Option<f64>,
    /// Megabytes (10^6 bytes) of plaintext per second in this thread.
    pub mb_per_s: Option<f64>,
}

/// The line time = a + b·size over the sizes of cases that differ in nothing else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// Which build.
    pub library: LibraryId,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    /// Sizes that the line was fitted to, ascending.
    pub sizes: Vec<usize>,
    /// a: nanoseconds per message, whatever its size.
    pub ns_per_message: f64,
    /// b: nanoseconds per byte.
    pub ns_per_byte: f64,
    /// a in core cycles.
    pub cycles_per_message: Option<f64>,
    /// b in core cycles.
    pub cycles_per_byte: Option<f64>,
    /// Largest distance of a measured time from the line, as a fraction of the time.
    pub residual: f64,
    /// a / b: the size in bytes at which half of the peak speed is reached; null where the line
    /// gives none.
    pub half_speed_bytes: Option<f64>,
    /// Whether the measured times lie on a line, within 10 %. Where they do not, the numbers of this
    /// entry describe no size well.
    pub linear: bool,
}

/// Single operations of one visit, each timed alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latencies {
    /// How many operations took how many ticks, ascending.
    pub ticks: Vec<(u64, u64)>,
    /// Operations that were timed while the thread was switched out or moved.
    pub disturbed: u64,
}
