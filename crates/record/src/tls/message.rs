//! What the scheduler asks a worker that holds a TLS stack, and what it answers.

use crate::tls::check::{Negotiated, Unset};
use crate::tls::subject::Subject;
use crate::tls::words::Temperature;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Load a stack.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackHello {
    /// The shared object with the protocol (`libssl`).
    pub path: PathBuf,
    /// The one with the primitives (`libcrypto`), where that is another file.
    pub crypto: Option<PathBuf>,
    /// CPU to stay on; null leaves it to the kernel.
    pub cpu: Option<u32>,
    /// Number of this process among those of its stack; goes into every sample.
    pub process: u32,
    /// Ticks in a nanosecond, where the scheduler knows; null has the worker measure it.
    pub ticks_per_ns: Option<f64>,
    /// What each reply's line is to begin with, and a space; null: nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// Take samples of one case, or of records of one size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// What is to be sampled.
    pub subject: Subject,
    /// What lies between two steps of a handshake; records are always hot.
    pub temperature: Temperature,
    /// Samples to take.
    pub samples: u32,
    /// Handshakes in a sample; null lets the worker find how many fill one, as it does with records.
    pub ops: Option<u32>,
    /// Microseconds for which the subject runs untimed before the first sample, at least.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settle_us: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(us: &u32) -> bool {
    *us == 0
}

/// What a process found before its first sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// Of a case of handshakes.
    Handshake(Facts),
    /// Of records.
    Records(RecordFacts),
    /// Of a primitive.
    Primitive(PrimitiveFacts),
}

/// What a process found of a primitive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveFacts {
    /// What is held to be so.
    pub checks: Vec<String>,
}

/// What a process found of records of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordFacts {
    /// What their connection negotiated.
    pub negotiated: Negotiated,
    /// Bytes of a record on the wire beside its data.
    pub overhead_bytes: u32,
}

/// What a process found of a case before its first sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// What was negotiated.
    pub negotiated: Negotiated,
    /// What the server picks by itself; null where that was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset: Option<Unset>,
    /// The server's first handshake of the case in this process, in ticks.
    pub first_server_ticks: u64,
    /// The client's.
    pub first_client_ticks: u64,
    /// Whether it was the first handshake of the process altogether.
    pub first_of_process: bool,
    /// Bytes that the client sends.
    pub client_bytes: u64,
    /// Bytes that the server sends, its tickets with them.
    pub server_bytes: u64,
    /// Bytes of heap that the server holds for an open connection; null where the C library does not say.
    pub server_memory: Option<i64>,
    /// Bytes that the client holds.
    pub client_memory: Option<i64>,
}
