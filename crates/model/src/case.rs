//! Cases: one row of a plan and of a record.

use crate::{Direction, Model, Tier};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The working set that the operations walk through.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Footprint {
    /// The same few buffers again and again: as warm as the message size allows.
    Hot,
}

/// One row: what is measured, in which library.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Case {
    /// Index of the library in the run's list of libraries.
    pub library: usize,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Which CPU instructions the library may see.
    pub tier: Tier,
    /// Threads measuring at once.
    pub threads: u32,
    /// Working set.
    pub footprint: Footprint,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, direction, model, size, tier, .. } = self;
        write!(f, "{algorithm} {direction} {model} {size} B {tier}")
    }
}
