//! The floor of an algorithm: what the best implementation known to us takes, and what is proven of it.

use model::{Direction, Model, Tier};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What bounds an algorithm on a core.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// AES rounds a cycle.
    AesUnits,
    /// Carry-less multiplications a cycle.
    CarrylessMultiply,
    /// Units that several kinds of vector instructions wait for together.
    SharedVectorPorts,
    /// Instructions of which each needs the one before.
    LatencyChain,
    /// Integer multiplications a cycle.
    Multiply,
    /// Loads and stores a cycle in the first-level cache.
    LoadStore,
    /// Bandwidth of memory or of an outer cache.
    Memory,
}

impl Bound {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AesUnits => "AES units",
            Self::CarrylessMultiply => "carry-less multiply",
            Self::SharedVectorPorts => "shared vector ports",
            Self::LatencyChain => "latency chain",
            Self::Multiply => "multiply",
            Self::LoadStore => "load/store",
            Self::Memory => "memory",
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Whom a limit binds.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Every implementation: each has to do this work, and the core does no more of it in a cycle.
    Proven,
    /// Every implementation that was seen to execute the instructions that the limit counts.
    IfExecuted,
    /// The best methods known to us: a better one may be faster.
    KnownMethods,
}

impl Basis {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proven => "proven",
            Self::IfExecuted => "if executed",
            Self::KnownMethods => "known methods",
        }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
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
