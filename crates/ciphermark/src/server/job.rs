//! What the hidden processes are told and what they answer, one line of JSON each; and what they give up
//! before a stranger's libssl is loaded.

use crate::server::Trouble;
use host::confine::{Confined, Needs, Sockets};
use judge::load::{Http, Picked};
use record::tls::{Case, Negotiated};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

/// The files of the library that a process loads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libraries {
    /// libssl.
    pub ssl: PathBuf,
    /// libcrypto, which it must be bound to.
    pub crypto: PathBuf,
}

/// What the minimal server is to offer: a port for each, in this order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimalPlan {
    /// Its libssl.
    pub libraries: Libraries,
    /// None is plain HTTP.
    pub ports: Vec<Option<MinimalTls>>,
}

/// What the minimal server answers when it listens, or why it does not.
pub type Listening = Result<Listens, String>;

/// The ports at which the minimal server listens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listens {
    /// As many as were asked for; the stack's words where it does not offer a case.
    pub ports: Vec<Result<u16, String>>,
}

/// What a client process is for. It is confined to this before it loads a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientPlan {
    /// Its libssl.
    pub libraries: Libraries,
    /// The servers' ports of 127.0.0.1.
    pub ports: Vec<u16>,
    /// Whether somebody chose the library: where no kernel holds it to the ports, it is not loaded.
    pub chosen: bool,
}

/// A port of the minimal server with TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MinimalTls {
    /// What is to be negotiated.
    pub case: Case,
    /// Tickets after a full handshake of TLS 1.3; none as the stack does it.
    pub tickets: Option<u8>,
    /// Most bytes of data in a record.
    pub record_bytes: u32,
}

/// Requests that the client has open at once in a connection of HTTP/2.
pub const STREAMS: usize = 8;

/// How a connection is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// Requests are answered, then the client closes it.
    Answered,
    /// The server refuses the client's first message: it has no suite in common with it.
    Refused,
    /// The client does not trust the server's chain, and ends it after the server's flight.
    Abandoned,
}

/// What a client is to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Port of 127.0.0.1.
    pub port: u16,
    /// What is to be negotiated; none for plain HTTP. A kind that resumes says how those resume that do.
    pub tls: Option<Case>,
    /// The protocol above it.
    pub http: Http,
    /// Share of the connections that resume, 0 to 1.
    pub resumed: f64,
    /// How connections end.
    pub ends: Ends,
    /// Bytes of a request with its headers.
    pub request_bytes: u32,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// Whether connections are made before the word to go and stay open until after the end: then only
    /// requests are counted, and each burst of `responses` takes the place of a connection.
    pub held: bool,
    /// Connections at once.
    pub at_once: u32,
    /// Microseconds between the end of a connection and the beginning of the next.
    pub pause_us: u64,
    /// Connections in all.
    pub connections: u64,
    /// Seconds of all slices together after which no more are begun.
    pub seconds: f64,
    /// Lists of groups, by colons. Before all else a client offers each once, with a key share of its first group, and
    /// leaves the choice to the server.
    pub offers: Vec<String>,
    /// Seconds after which the client pauses until the next word, so that the servers' CPU can be looked at:
    /// a slice. Each thread does something in each.
    pub slice_seconds: f64,
}

/// What a client has done between a word to go and its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Connections that were made and ended as they were to; of held ones their bursts.
    pub connections: u64,
    /// Of these, those that both resumed a session and were to.
    pub resumed: u64,
    /// Requests that were answered.
    pub requests: u64,
    /// Bytes of the responses' bodies.
    pub bytes: u64,
    /// From the first connection to the end of the last, without what lies between slices.
    pub seconds: f64,
    /// Requests that took 30 ms or longer: what a delayed acknowledgement costs, not a processor.
    pub stalls: u64,
    /// What a full connection negotiated, as the wire and the client say.
    pub full: Option<Negotiated>,
    /// The same of a resumed one.
    pub by_session: Option<Negotiated>,
    /// What the server picked, for each of the job's offers.
    pub picked: Vec<Picked>,
}

impl Told {
    /// What two slices did together; what was negotiated stays.
    pub fn add(&mut self, other: &Self) {
        self.connections += other.connections;
        self.resumed += other.resumed;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.seconds += other.seconds;
        self.stalls += other.stalls;
    }
}

/// What a client answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Sessions are there, caches are warm: it waits for the word.
    Ready,
    /// What one slice did: it waits for the word.
    Slice(Told),
    /// It is done; what all slices did together.
    Done(Told),
    /// It cannot, in one line.
    Failed(String),
}

/// What the process answers through. Standard output becomes standard error, so that what a library prints is no answer.
pub(crate) fn take_standard_output() -> std::io::Result<File> {
    let answers: OwnedFd = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    host::confine::close_inherited(answers.as_fd());
    Ok(File::from(answers))
}

/// Gives up everything but computing, reading the libraries and these sockets. The process has one thread.
pub(crate) fn close_behind(
    libraries: &Libraries,
    sockets: Sockets<'_>,
) -> Result<Confined, Trouble> {
    // A library may block the gentler signal.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| Trouble::of("prctl", e))?;
    let mut files: Vec<PathBuf> = vec![libraries.crypto.clone()];
    for path in [&libraries.ssl, &libraries.crypto] {
        host::check_elf(path).map_err(|why| Trouble(format!("'{}' {why}", path.display())))?;
    }
    files.extend(host::configuration_files());
    let needs = Needs { library: &libraries.ssl, files: &files, copies: &[], sockets };
    host::confine::before_loading(&needs).map_err(Trouble)
}

/// Whether the library has reached for other programs or processes so far.
pub(crate) fn is_peaceful() -> Result<(), String> {
    host::confine::hostile_so_far().map_or(Ok(()), Err)
}
