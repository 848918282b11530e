//! The floor of an algorithm: what the best implementation known to us takes, and what is proven of it.

use crate::model::{Direction, Model, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What bounds an algorithm on a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// AES rounds a cycle.
    #[strum(serialize = "AES units")]
    AesUnits,
    /// Carry-less multiplications a cycle.
    #[strum(serialize = "carry-less multiply")]
    CarrylessMultiply,
    /// Units that several kinds of vector instructions wait for together.
    #[strum(serialize = "shared vector ports")]
    SharedVectorPorts,
    /// Instructions of which each needs the one before.
    #[strum(serialize = "latency chain")]
    LatencyChain,
    /// Integer multiplications a cycle.
    #[strum(serialize = "multiply")]
    Multiply,
    /// Loads and stores a cycle in the first-level cache.
    #[strum(serialize = "load/store")]
    LoadStore,
    /// Bandwidth of memory or of an outer cache.
    #[strum(serialize = "memory")]
    Memory,
}

/// Whom a limit binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every implementation: each has to do this work, and the core does no more of it in a cycle.
    #[strum(serialize = "proven")]
    Proven,
    /// Every implementation that was seen to execute the instructions that the limit counts.
    #[strum(serialize = "if executed")]
    IfExecuted,
    /// The best methods known to us: a better one may be faster.
    #[strum(serialize = "known methods")]
    KnownMethods,
}

/// What an algorithm costs at least on this core, for each byte of a long message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Floor {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Which CPU instructions may be used.
    pub tier: Tier,
    /// Core cycles per byte of a long message in the first-level cache; null where no bound is known.
    pub cycles_per_byte: Option<f64>,
    /// What bounds it.
    pub limited_by: Option<Bound>,
    /// Whom it binds; null where no bound is known, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
    /// Why no bound is known.
    pub reason: Option<String>,
}
