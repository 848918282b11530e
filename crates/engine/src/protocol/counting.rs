//! What operations allocate, copy and execute: asked for, and counted.

use super::is_default;
use base::model::{Direction, Model};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Count what a message allocates and copies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metering {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// Bytes of plaintext; sizes that the algorithm does not take are left out.
    pub sizes: Vec<usize>,
}

/// Single-step one operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepping {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
    /// Bytes of plaintext.
    pub size: usize,
    /// Steps after which the operation is left to run on unseen.
    pub most_steps: u64,
}

/// What one operation executed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Steps {
    /// Bytes of plaintext.
    pub size: usize,
    /// Whether it was seen to its end within the steps that were allowed.
    pub complete: bool,
    /// Instructions. One with a repeat prefix is one, however often it repeats.
    pub instructions: u64,
    /// By class and width.
    pub classes: Vec<ClassSteps>,
    /// Of these, instructions that read memory.
    pub memory_reads: u64,
    /// Of these, instructions that write memory.
    pub memory_writes: u64,
    /// By instruction set, for code of the library and of what it brought along.
    pub sets: Vec<SetSteps>,
    /// The same for the C library's and the adapter's own code, which no tier hides anything from.
    pub sets_elsewhere: Vec<SetSteps>,
    /// By function.
    pub functions: Vec<FunctionSteps>,
    /// Files that the instructions are in.
    pub objects: Vec<PathBuf>,
    /// Instructions of one operation by the performance counter.
    pub pmu: Option<f64>,
    /// Why the performance counter said nothing.
    pub pmu_reason: Option<String>,
}

/// Instructions of one class at one width.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSteps {
    /// Name of the class.
    pub class: String,
    /// Bits of the widest vector.
    pub width: Option<u16>,
    /// Instructions.
    pub count: u64,
}

/// Instructions of one set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetSteps {
    /// Its name.
    pub set: String,
    /// Instructions.
    pub count: u64,
    /// One of them, and where it is.
    pub example: String,
}

/// Instructions of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSteps {
    /// Its symbol, where the object has one.
    pub function: Option<String>,
    /// File name of the object.
    pub object: String,
    /// Instructions, without those of functions that it calls.
    pub count: u64,
}

/// What one message of a size allocates and copies through the C library, on average.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costs {
    /// Bytes of plaintext.
    pub size: usize,
    /// Calls that gave memory.
    pub allocations: f64,
    /// Bytes that they were asked for.
    pub allocated_bytes: f64,
    /// Bytes that were copied.
    pub copied_bytes: f64,
    /// Pieces of memory that were not given back.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost: f64,
    /// Bytes of them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lost_bytes: f64,
    /// Of a runtime: which share of the time goes to collecting its garbage.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collecting: f64,
}
