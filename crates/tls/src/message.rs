//! What the scheduler asks a worker that holds a TLS stack, and what it answers.

use crate::check::Negotiated;
use crate::sample::HandshakeSample;
use crate::subject::Subject;
use crate::words::Temperature;
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

/// From the scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Take samples. Answer: [`Answer::Visited`].
    Visits(Vec<Visit>),
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
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// What came of each visit, in order.
    Visited(Vec<Visited>),
}

/// What came of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Visited {
    /// Samples whose every handshake was the one that was asked for.
    Taken {
        /// The samples.
        samples: Vec<HandshakeSample>,
        /// What goes with the subject; with a process's first visit of it.
        facts: Option<Box<Found>>,
    },
    /// No number, and why.
    Finding(NoNumber),
}

impl Visited {
    /// The samples; none where there is no number.
    #[must_use]
    pub fn samples(&self) -> &[HandshakeSample] {
        match self {
            Self::Taken { samples, .. } => samples,
            Self::Finding(_) => &[],
        }
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoNumber {
    /// `unsupported`, `refused` or `failed`.
    pub state: record::State,
    /// Why, in one line.
    pub why: String,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::suite::Suite;
    use crate::words::{Certificate, Exchange, Kind, Version};

    /// `docs/PROTOCOL.md` shows this very line.
    #[test]
    fn messages_are_lines_that_a_person_can_type() {
        let case = Case {
            version: Version::Tls13,
            exchange: Exchange::X25519,
            certificate: Certificate::P256,
            kind: Kind::Full,
            client_auth: false,
            suite: Suite::Aes128Gcm,
        };
        let subject = Subject::Handshake(case);
        let visit = Visit { subject, temperature: Temperature::Hot, samples: 4, ops: None };
        let line = serde_json::to_string(&Ask::Visits(vec![visit])).unwrap();
        assert_eq!(
            line,
            r#"{"visits":[{"subject":{"handshake":{"version":"1.3","exchange":"x25519","certificate":"p256","kind":"full","client_auth":false,"suite":"aes-128-gcm"}},"temperature":"hot","samples":4,"ops":null}]}"#
        );
        let back: Ask = serde_json::from_str(&line).unwrap();
        assert_eq!(back, Ask::Visits(vec![visit]));
    }
}
