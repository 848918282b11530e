//! What scheduler and worker say of themselves and of the library.

use super::is_default;
use super::pages;
use base::model::{Direction, Model, Tier};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Load a library.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub protocol: u32,
    /// The shared object.
    pub path: PathBuf,
    /// Name to give the library instead of its own.
    pub name: Option<String>,
    /// Version that the library gave itself in an earlier process, which it must give again; null asks for
    /// nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Instructions that the library may see.
    pub tier: Tier,
    /// CPU to stay on; null leaves it to the kernel.
    pub cpu: Option<u32>,
    /// Number of this process among those of its library; goes into every sample.
    pub process: u32,
    /// Seed of the run: keys, nonces and messages come from it.
    pub seed: u64,
    /// Ticks in a nanosecond, where the scheduler knows; null has the worker measure it.
    pub ticks_per_ns: Option<f64>,
    /// What each reply's line is to begin with, and a space: a library that writes to the protocol's pipe does
    /// not know it. Null: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What the scheduler has prepared for tiers other than `native`: the files to load; null has
    /// the worker prepare it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<host::tier::Plan>,
    /// Files for jobs with pages; null where there are to be none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<pages::PageFiles>,
}

/// The library is loaded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ready {
    /// Name.
    pub name: String,
    /// Version as the library itself reports it.
    pub version: String,
    /// How it was built, one fact a line.
    pub build: Vec<String>,
    /// Where ticks come from.
    pub clock: String,
    /// Why not the time-stamp counter.
    pub clock_reason: Option<String>,
    /// Smallest step of the clock, in ticks.
    pub step_ticks: u64,
    /// Ticks of an empty timed region.
    pub overhead_ticks: u64,
    /// Core cycles that a multiplication of the chain takes, by a second chain; null where core cycles are
    /// not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiplication_cycles: Option<f64>,
    /// Why core cycles are not known, where the architecture has a chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cycles_reason: Option<String>,
    /// How the tier was applied; null at `native`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<record::AppliedTier>,
    /// Whether the kernel keeps other programs off the core's other hardware threads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub core_alone: bool,
    /// Why its sessions cannot be used in several threads at once; null where they can.
    #[serde(default, skip_serializing_if = "is_default")]
    pub one_thread_only: Option<String>,
    /// What the process gave up before it loaded the library and after.
    #[serde(default, skip_serializing_if = "is_default")]
    pub confinement: Option<record::Confinement>,
    /// Of a TLS stack: the files whose code came into the process with it. A library's come with its offers.
    #[serde(default, skip_serializing_if = "is_default")]
    pub objects: Vec<PathBuf>,
}

/// What a library offers of one algorithm in one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// Models that are offered.
    pub models: Vec<Model>,
    /// Why none or not all of them are.
    pub reason: Option<String>,
    /// Whether the library has it and reported an error on opening it.
    pub failed: bool,
    /// The library's functions that the model `message` calls, in order, as the adapter says.
    pub functions: Option<String>,
    /// Whether the library's interface copies every message.
    pub copies: bool,
    /// Whether the library's interface allocates memory for every message.
    pub allocates: bool,
    /// How it is given a new key; null where there is none.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rekeying: Option<record::Rekeying>,
    /// The library's functions that set a new key, as the adapter says.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rekey_functions: Option<String>,
    /// Whether the output may be written over the input.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_place: bool,
    /// The most messages in work at once, where that is more than one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_flight: Option<u32>,
}
