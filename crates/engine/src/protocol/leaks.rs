//! What of an algorithm's execution depends on its secrets: asked for, and found.

use record::{Leak, SteppedOperation};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Judge what an algorithm's execution depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judging {
    /// Name of the algorithm; of a private key, of its scheme.
    pub algorithm: String,
    /// Keys whose traces are compared, two at least; the first is stepped twice.
    pub secrets: u32,
    /// Bytes of plaintext; where there is none, sizes are chosen that meet every kind of loop.
    pub sizes: Vec<usize>,
    /// Steps that are recorded of one key, all operations together. Of private keys fewer are stepped than asked,
    /// where these are more than three times as many.
    pub most_steps: usize,
    /// A function: both traces around its first difference are printed, not only where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// What depends on a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// Why something was not judged.
    pub reason: Option<String>,
    /// Keys that were compared, where these are fewer than asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secrets: Option<u32>,
    /// What was stepped.
    pub operations: Vec<SteppedOperation>,
    /// The places, by function.
    pub findings: Vec<Leak>,
    /// Files that the instructions are in.
    pub objects: Vec<PathBuf>,
    /// Lines of both traces, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
}
