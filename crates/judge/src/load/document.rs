//! The file of `ciphermark tls load`. Units are in the names; `docs/tls-load.schema.json` is its schema.

use crate::load::form::Interval;
use crate::load::negotiate::Agreement;
use crate::load::spec::Spec;
use crate::load::words::Regime;
use record::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const LOAD_VERSION: &str = "1.0";

/// What a server's CPU does, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Load {
    /// [`LOAD_VERSION`].
    pub format_version: String,
    /// `tls-load`.
    pub kind: String,
    /// What was asked for.
    pub spec: Spec,
    /// What it was calculated from.
    pub calibrated: Calibrated,
    /// The regime of the terms.
    pub regime: Regime,
    /// What each class of clients negotiates.
    pub negotiated: Vec<ClientOutcome>,
    /// The terms, whose sum is the total.
    pub terms: Vec<Term>,
    /// The terms by part.
    pub parts: Vec<PartSum>,
    /// CPU time in µs per second of wall time; 10,000 are one percent of a core.
    pub cpu_us_per_s: Interval,
    /// The same as a percentage of one core.
    pub cpu_percent: Interval,
    /// The same server and clients in each regime that is calibrated.
    pub regimes: Vec<RegimeSum>,
    /// Memory of open connections; null where none was measured.
    pub memory: Option<OpenConnections>,
    /// What other configurations would save, the most first; empty unless asked for.
    pub alternatives: Vec<Alternative>,
    /// What must be known to read these figures.
    pub remarks: Vec<String>,
}

/// What a load was calculated from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Calibrated {
    /// When the calibration began.
    pub started: String,
    /// The CPU.
    pub cpu: String,
    /// The real server whose plain costs are in it; null where the minimal server stands in.
    pub server: Option<String>,
    /// The stack.
    pub stack: String,
}

/// What a class of clients negotiates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientOutcome {
    /// The class.
    pub class: String,
    /// Its share of the connections.
    pub share: f64,
    /// What comes of it.
    pub agreement: Agreement,
    /// Share of its connections that resume.
    pub resumed_share: f64,
}

named! {
    /// What CPU time is spent on.
    Part {
        /// Agreeing on a secret.
        KeyExchange = "key exchange",
        /// The server's signature, and verifying the client's.
        Signature = "signature",
        /// The rest of the handshake, or all of it where it is not told apart.
        Handshake = "handshake",
        /// The cipher of the records.
        Bulk = "bulk",
        /// The HMAC of suites with CBC; AEAD suites have none.
        Hash = "hash",
        /// System calls, kernel, HTTP, the TLS library around the cipher.
        Stack = "stack",
    }
}

named! {
    /// Where a term's figure comes from.
    Source {
        /// A point of the calibration, or the difference of two.
        Calibrated = "calibrated",
        /// Put together from differences of measured points.
        Composed = "composed",
        /// Another document of this tool: records or primitives.
        Document = "document",
        /// What is left of a measured whole when measured parts are taken away.
        Rest = "rest",
        /// Another figure stands in, as the note says.
        StandIn = "stand-in",
    }
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Term {
    /// What it belongs to.
    pub part: Part,
    /// What it is.
    pub name: String,
    /// How often a second.
    pub per_s: f64,
    /// What each costs, in µs.
    pub each_cpu_us: Interval,
    /// Both multiplied.
    pub cpu_us_per_s: Interval,
    /// Its share of the total; all shares come to 1, or to 0 without load.
    pub share: f64,
    /// Where the figure comes from.
    pub source: Source,
    /// What to know of it.
    pub note: Option<String>,
}

/// The sum of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartSum {
    /// The part.
    pub part: Part,
    /// CPU time in µs per second.
    pub cpu_us_per_s: Interval,
    /// Its share of the total.
    pub share: f64,
}

/// The same load in one regime.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RegimeSum {
    /// The regime.
    pub regime: Regime,
    /// CPU time in µs per second.
    pub cpu_us_per_s: Interval,
    /// CPU time in µs for each connection that succeeds, its requests and everything else in the sum with it; null
    /// without connections.
    pub cpu_us_per_connection: Option<Interval>,
    /// Connections per second that would fill one core, everything else in proportion; null without load.
    pub most_connections_per_s: Option<Interval>,
}

/// Memory of connections that are open at a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpenConnections {
    /// Open at a time: rate times lifetime.
    pub connections: f64,
    /// Bytes of each, in the server's process.
    pub bytes_per_connection: f64,
    /// Of these, what TLS adds.
    pub tls_bytes_per_connection: f64,
    /// All of them, in bytes.
    pub bytes: f64,
    /// As many as the specification's memory holds; null where it names none.
    pub most_open: Option<f64>,
}

/// Another configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Alternative {
    /// What is changed.
    pub change: String,
    /// What it would cost then, in µs per second; null where it cannot be priced.
    pub cpu_us_per_s: Option<Interval>,
    /// What that saves; below zero where it costs more.
    pub saves_us_per_s: Option<Interval>,
    /// The saving as a share of the present total.
    pub saves_share: Option<f64>,
    /// What it assumes, or why it cannot be priced.
    pub note: Option<String>,
}
