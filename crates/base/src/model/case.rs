//! Cases: one row of a plan and of a record.

use crate::model::{Direction, Model, Tier};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The working set that the operations walk through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Footprint {
    /// The same few buffers again and again.
    #[default]
    Hot,
    /// Buffers that fill the first-level cache.
    L1,
    /// Buffers that fill the second-level cache.
    L2,
    /// Buffers that fill the third-level cache.
    L3,
    /// Buffers that no cache holds.
    Memory,
}

impl Footprint {
    /// Every footprint, the smallest first.
    pub const ALL: &'static [Self] = &[Self::Hot, Self::L1, Self::L2, Self::L3, Self::Memory];

    /// The name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether it is the usual one.
    #[must_use]
    pub fn is_hot(&self) -> bool {
        *self == Self::Hot
    }
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
    /// Whether the output is written over the input.
    #[serde(default)]
    pub in_place: bool,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { algorithm, direction, model, size, tier, .. } = self;
        write!(f, "{algorithm} {direction} {model} {size} B {tier}")
    }
}
