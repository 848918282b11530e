//! Runs of `ciphermark tls` with everything that the load model needs of them. Units are in the names. In a file
//! a run is a record: [`crate::tls::into_record`].

use crate::tls::case::Case;
use crate::tls::check::{Negotiated, Unset};
use crate::tls::words::Temperature;
use crate::{Disturbances, Estimate, Host, Noise, State, Stopped, Tool};
use serde::{Deserialize, Serialize};

/// What lies inside the clock, in words.
pub const SPAN: &str = "making the connection, every call that carries the handshake on, one byte of \
    application data from the server to the client (so that the client takes the tickets), \
    close_notify, freeing the connection; contexts, keys and certificates are loaded before";

/// A run of handshakes.
pub type Document = Run<Handshake>;

/// One run, with a row for each stack and case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run<R> {
    /// What made it.
    pub tool: Tool,
    /// When it began (RFC 3339).
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// The machine.
    pub host: Host,
    /// What lies inside the clock.
    pub span: String,
    /// What was to be measured.
    pub plan: Plan,
    /// The stacks.
    pub stacks: Vec<Stack>,
    /// How disturbed it was, bare ciphers left out.
    pub noise: Noise,
    /// One for each stack and case.
    pub rows: Vec<R>,
}

/// What was to be measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub budget_seconds: f64,
    /// Seed of the order of visits.
    pub seed: u64,
    /// CPU that all handshakes ran on.
    pub cpu: u32,
}

/// A TLS stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Stack {
    /// `name@version`, with a number behind it where several stacks have the same.
    pub label: String,
    /// Name as in `--library`.
    pub name: String,
    /// Version.
    pub version: String,
    /// The shared object with the protocol.
    pub path: String,
    /// `build-id:…` or `sha256:…` of it.
    pub id: String,
    /// The shared object with the primitives.
    pub crypto_path: String,
    /// `build-id:…` or `sha256:…` of it.
    pub crypto_id: String,
    /// The shared object whose ciphers stand beside the stack's records: the one with the primitives, or, where a
    /// stack keeps them to itself, another build of the same source; empty where there is none.
    #[serde(default)]
    pub bare_path: String,
    /// How it was built, one fact a line.
    pub build: Vec<String>,
}

/// One case of one stack at one temperature. Numbers are null unless the state is `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handshake {
    /// The stack, by its label.
    pub stack: String,
    /// What was asked for.
    pub case: Case,
    /// What lay between two steps.
    pub temperature: Temperature,
    /// What became of it.
    pub state: State,
    /// Why, when not measured; in the stack's own words where it has any.
    pub reason: Option<String>,
    /// What was negotiated, in every handshake that counts.
    pub negotiated: Option<Negotiated>,
    /// What the stack's server picks by itself for a client whose key share is of this case's group; null of what is
    /// no full handshake of TLS 1.3, and of stacks whose groups cannot be left unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset: Option<Unset>,
    /// The server's cost.
    pub server: Option<Cost>,
    /// The client's cost.
    pub client: Option<Cost>,
    /// The first handshake of a case in a fresh process.
    pub first: Option<First>,
    /// Bytes on the wire.
    pub bytes: Option<Bytes>,
    /// Memory of an open connection.
    pub memory: Option<Memory>,
    /// Clean samples.
    pub samples: u64,
    /// Handshakes in them.
    pub handshakes: u64,
    /// Processes that they come from.
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came: the stack is at least so fast.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

/// What a handshake costs one end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Trimmed mean over processes of each one's median: for showing and comparing.
    pub median_ns: f64,
    /// Lower end of its 95 % interval.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// Mean over all clean samples: what CPU per second is a sum of.
    pub mean_ns: f64,
    /// Largest clean sample.
    pub max_ns: f64,
    /// Of the mean, making and freeing the connection.
    pub setup_ns: f64,
    /// Core cycles with their 95 % interval, which sampling is stopped by; null where the core clock is
    /// not known.
    pub cycles: Option<Estimate>,
}

impl Cost {
    /// Half the interval's width, as a fraction: of cycles, the steadier unit, where they are known.
    #[must_use]
    pub fn precision(&self) -> f64 {
        let of_time = (self.high_ns - self.low_ns) / (2.0 * self.median_ns);
        self.cycles.map_or(of_time, |cycles| cycles.precision())
    }
}

/// The first handshake of a case in a process, median over processes: caches of fetched algorithms are
/// empty, RSA has no blinding yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// The server's.
    pub server_ns: f64,
    /// The client's.
    pub client_ns: f64,
}

/// Bytes on the wire, record headers and tickets with them, application data and close_notify not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    /// From the client.
    pub client: u64,
    /// From the server.
    pub server: u64,
}

/// Heap that an open connection holds after its handshake; null where the C library does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The server's end, in bytes.
    pub server: Option<i64>,
    /// The client's end, in bytes.
    pub client: Option<i64>,
}
