//! Runs of `ciphermark tls handshake`, `tls records` and `tls primitives`: their rows, and what rows of every
//! kind have in common. Units are in the names. In a file a run is a record: [`crate::tls::into_record`].

use crate::tls::negotiation::{Negotiated, Unset};
use crate::tls::words::{Primitive, Temperature};
use crate::tls::{Case, Protection, Subject};
use crate::{Disturbances, Estimate, Host, Measurement, Noise, State, Stopped, Tool};
use base::analysis::fit_line;
use base::model::{Direction, Model, Tier};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What lies inside the clock, in words.
pub const SPAN: &str = "making the connection, every call that carries the handshake on, one byte of \
    application data from the server to the client (so that the client takes the tickets), \
    close_notify, freeing the connection; contexts, keys and certificates are loaded before";

pub type Document = Run<Handshake>;

/// One run, with a row for each stack and case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run<R> {
    pub tool: Tool,
    /// When it began (RFC 3339).
    pub started: String,
    pub seconds: f64,
    pub host: Host,
    /// What lies inside the clock.
    pub span: String,
    pub plan: Plan,
    pub stacks: Vec<Stack>,
    /// How disturbed it was, bare ciphers left out.
    pub noise: Noise,
    pub rows: Vec<R>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Half the width of the interval at which the sampling of a hot case ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub budget_seconds: f64,
    pub seed: u64,
    pub cpu: u32,
    /// Which CPU instructions the stacks could see.
    #[serde(default = "native")]
    pub tier: Tier,
}

fn native() -> Tier {
    Tier::Native
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
    pub stack: String,
    pub case: Case,
    /// What lay between two steps.
    pub temperature: Temperature,
    pub state: State,
    /// Why, when not measured; in the stack's own words where it has any.
    pub reason: Option<String>,
    /// What was negotiated, in every handshake that counts.
    pub negotiated: Option<Negotiated>,
    /// What the stack's server picks by itself for a client whose key share is of this case's group; null of what is
    /// no full handshake of TLS 1.3, and of stacks whose groups cannot be left unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unset: Option<Unset>,
    pub server: Option<Cost>,
    pub client: Option<Cost>,
    /// The first handshake of a case in a fresh process.
    pub first: Option<First>,
    /// Bytes on the wire.
    pub bytes: Option<Bytes>,
    pub memory: Option<Memory>,
    pub samples: u64,
    pub handshakes: u64,
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came: the stack is at least so fast.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Trimmed mean over processes of each one's median: for showing and comparing.
    pub median_ns: f64,
    /// Lower end of its 95 % interval.
    pub low_ns: f64,
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
    pub fn precision(&self) -> f64 {
        let of_time = (self.high_ns - self.low_ns) / (2.0 * self.median_ns);
        self.cycles.map_or(of_time, |cycles| cycles.precision())
    }
}

/// The first handshake of a case in a process, median over processes: caches of fetched algorithms are
/// empty, RSA has no blinding yet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct First {
    pub server_ns: f64,
    pub client_ns: f64,
}

/// Bytes on the wire, record headers and tickets with them, application data and close_notify not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bytes {
    pub client: u64,
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

/// What lies inside the clock, in words.
pub const RECORDS_SPAN: &str = "sending: SSL_write of one record into memory; receiving: SSL_read of one \
    record out of it, in batches of at most 64 KiB and 32 records, over a connection that is open; no \
    socket, no system call";

pub type RecordsDocument = Run<RecordRow>;

impl RecordsDocument {
    /// What a record costs, and each of its bytes: one for each stack, version and suite.
    pub fn lines(&self) -> Vec<RecordLines> {
        record_lines(&self.rows)
    }
}

/// Records of one size. Numbers are null unless the state is `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordRow {
    pub stack: String,
    pub protection: Protection,
    /// Bytes of data in a record.
    pub size: u32,
    pub state: State,
    /// Why, when not measured or not precise.
    pub reason: Option<String>,
    pub negotiated: Option<Negotiated>,
    /// Bytes of a record on the wire beside its data: header, nonce, tag or MAC, padding.
    pub overhead_bytes: Option<u32>,
    pub send: Option<Cost>,
    pub receive: Option<Cost>,
    pub bare: Bare,
    pub samples: u64,
    pub records: u64,
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

/// The suite's cipher in the library under the stack, called directly: the model `message`, with all its
/// checks. Of suites with CBC the cipher without the HMAC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bare {
    pub algorithm: String,
    /// A message of the record's size, encrypted.
    pub encrypt: Option<BareCost>,
    /// The same, decrypted.
    pub decrypt: Option<BareCost>,
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BareCost {
    /// Trimmed mean over processes of each one's median.
    pub median_ns: f64,
    /// Lower end of its 95 % interval.
    pub low_ns: f64,
    pub high_ns: f64,
}

impl RecordRow {
    /// What the stack adds to the bare cipher when it sends, in nanoseconds.
    pub fn added_to_sending(&self) -> Option<f64> {
        Some(self.send?.median_ns - self.bare.encrypt?.median_ns)
    }

    /// The same when it receives.
    pub fn added_to_receiving(&self) -> Option<f64> {
        Some(self.receive?.median_ns - self.bare.decrypt?.median_ns)
    }
}

/// The lines through the sizes of a suite; null where fewer than three sizes were measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordLines {
    pub stack: String,
    pub protection: Protection,
    pub send: Option<FittedLine>,
    pub receive: Option<FittedLine>,
    pub bare_encrypt: Option<FittedLine>,
    pub bare_decrypt: Option<FittedLine>,
}

/// Time = fixed + per byte · size, with the least sum of squared relative distances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedLine {
    /// Of a record without data.
    pub fixed_ns: f64,
    pub ns_per_byte: f64,
    /// Largest distance of a size from the line, as a fraction of its time. Above 0.1 the line describes no
    /// size well.
    pub residual: f64,
}

impl FittedLine {
    fn through(points: &[(f64, f64)]) -> Option<Self> {
        let line = fit_line(points)?;
        Some(Self { fixed_ns: line.intercept, ns_per_byte: line.slope, residual: line.residual })
    }

    /// Whether the line describes the sizes.
    pub fn is_linear(&self) -> bool {
        self.residual <= 0.1
    }
}

/// Puts the bare ciphers of a record of the same run beside the records, or why there is none.
pub fn beside(document: &mut RecordsDocument, record: Result<&crate::Record, &String>) {
    let stacks = &document.stacks;
    for row in &mut document.rows {
        let Some(stack) = stacks.iter().find(|s| s.label == row.stack) else { continue };
        let of_it = |m: &&Measurement| {
            m.library.path == stack.bare_path
                && m.algorithm == row.bare.algorithm
                && m.size == row.size as usize
        };
        let cost = |direction: Direction| {
            if stack.bare_path.is_empty() {
                return Err("no library with the stack's primitives was found".to_owned());
            }
            let all = &record.map_err(Clone::clone)?.measurements;
            let found = all.iter().filter(of_it).find(|m| m.direction == direction);
            found.ok_or("it was not measured".to_owned()).and_then(bare_cost)
        };
        let costs = [cost(Direction::Encrypt), cost(Direction::Decrypt)];
        row.bare.reason = costs.iter().find_map(|c| c.as_ref().err().cloned());
        [row.bare.encrypt, row.bare.decrypt] = costs.map(Result::ok);
    }
}

fn bare_cost(m: &Measurement) -> Result<BareCost, String> {
    match (m.state, m.ns_per_op) {
        (State::Measured, Some(ns)) => {
            Ok(BareCost { median_ns: ns.median, low_ns: ns.low, high_ns: ns.high })
        }
        (state, _) => {
            Err(m.reason.clone().unwrap_or_else(|| format!("the case is {}", state.name())))
        }
    }
}

/// The lines through each suite's sizes, in the rows' order.
pub fn record_lines(rows: &[RecordRow]) -> Vec<RecordLines> {
    let mut keys: Vec<(&str, Protection)> = Vec::new();
    for row in rows {
        let key = (row.stack.as_str(), row.protection);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let lines = keys.into_iter().map(|(stack, protection)| {
        let of_it = || rows.iter().filter(move |r| r.stack == stack && r.protection == protection);
        let through = |time: &dyn Fn(&RecordRow) -> Option<f64>| {
            let points: Vec<_> =
                of_it().filter_map(|row| Some((f64::from(row.size), time(row)?))).collect();
            FittedLine::through(&points)
        };
        RecordLines {
            stack: stack.to_owned(),
            protection,
            send: through(&|r| r.send.map(|c| c.median_ns)),
            receive: through(&|r| r.receive.map(|c| c.median_ns)),
            bare_encrypt: through(&|r| r.bare.encrypt.map(|c| c.median_ns)),
            bare_decrypt: through(&|r| r.bare.decrypt.map(|c| c.median_ns)),
        }
    });
    lines.collect()
}

/// What lies inside the clock, in words.
pub const PRIMITIVES_SPAN: &str = "whole: from long-lived keys and what is on the wire to the result, as \
    in a handshake: the call's context is made, set and freed, the other side's public key is read from \
    its bytes, a new key's bytes are written; call: the library's one call alone, on a context that was \
    made before, as openssl speed has it";

pub type PrimitivesDocument = Run<PrimitiveRow>;

/// One operation of one stack. Numbers are null unless the state is `measured`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrimitiveRow {
    pub stack: String,
    pub primitive: Primitive,
    pub state: State,
    /// Why, when not measured or not precise; in the library's own words where it has any.
    pub reason: Option<String>,
    /// What was held to be so in each process, and of every timed batch what it left; empty unless
    /// measured.
    #[serde(default)]
    pub checks: Vec<String>,
    pub whole: Option<Cost>,
    pub call: Option<Cost>,
    pub samples: u64,
    pub operations: u64,
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came.
    pub contended: bool,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
}

/// What a row is called in a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// The case, in the words of the command line.
    pub algorithm: String,
    /// Bytes of data; 0 where it has none.
    pub size: usize,
    /// What else tells it from others.
    pub setting: String,
}

/// A row of a run: its costs are fields with the names of its parts.
pub trait Row: Serialize + DeserializeOwned + Clone {
    const KIND: &'static str;
    /// The command of `ciphermark tls` that makes it.
    const COMMAND: &'static str;
    const MODEL: Model;
    const PARTS: [Direction; 2];

    fn named(&self) -> Named;

    /// Its state, and why no more samples of it were taken.
    fn ended(&self) -> (State, Option<Stopped>);

    fn stack(&self) -> &str;

    fn subject(&self) -> (Subject, Temperature);

    /// What its two parts cost, where that was measured.
    fn costs(&self) -> Option<[Cost; 2]>;

    /// Processes that its costs come from.
    fn processes(&self) -> u64;

    /// Whether its core was busy at every sample, so that the stack is at least so fast.
    fn is_contended(&self) -> bool;

    /// Whether there is no number because the time was over, somebody ended the run, or others were shown to be
    /// faster.
    fn is_left_out(&self) -> bool {
        let is_cut =
            |why| matches!(why, Stopped::Budget | Stopped::Interrupted | Stopped::Screened);
        matches!(self.ended(), (State::Failed, Some(why)) if is_cut(why))
    }

    /// The lines through the sizes of rows, where they have sizes.
    fn lines(_: &[Self]) -> Vec<RecordLines>
    where
        Self: Sized,
    {
        Vec::new()
    }
}

/// What rows of every kind have in fields of the same names.
macro_rules! common {
    () => {
        fn ended(&self) -> (State, Option<Stopped>) {
            (self.state, self.stopped)
        }

        fn stack(&self) -> &str {
            &self.stack
        }

        fn processes(&self) -> u64 {
            self.processes
        }

        fn is_contended(&self) -> bool {
            self.contended
        }
    };
}

impl Row for Handshake {
    const KIND: &'static str = "tls-handshakes";
    const COMMAND: &'static str = "handshake";
    const MODEL: Model = Model::Handshake;
    const PARTS: [Direction; 2] = [Direction::Server, Direction::Client];

    common!();

    fn subject(&self) -> (Subject, Temperature) {
        (Subject::Handshake(self.case), self.temperature)
    }

    fn costs(&self) -> Option<[Cost; 2]> {
        Some([self.server?, self.client?])
    }

    fn named(&self) -> Named {
        let (algorithm, setting) = (self.case.to_string(), self.temperature.to_string());
        Named { algorithm, size: 0, setting }
    }
}

impl Row for RecordRow {
    const KIND: &'static str = "tls-records";
    const COMMAND: &'static str = "records";
    const MODEL: Model = Model::Records;
    const PARTS: [Direction; 2] = [Direction::Send, Direction::Receive];

    common!();

    fn subject(&self) -> (Subject, Temperature) {
        (Subject::Records { protection: self.protection, size: self.size }, Temperature::Hot)
    }

    fn costs(&self) -> Option<[Cost; 2]> {
        Some([self.send?, self.receive?])
    }

    fn named(&self) -> Named {
        let algorithm = format!("{} {}", self.protection.version, self.protection.suite);
        Named { algorithm, size: self.size as usize, setting: String::new() }
    }

    fn lines(rows: &[Self]) -> Vec<RecordLines> {
        record_lines(rows)
    }
}

impl Row for PrimitiveRow {
    const KIND: &'static str = "tls-primitives";
    const COMMAND: &'static str = "primitives";
    const MODEL: Model = Model::Primitive;
    const PARTS: [Direction; 2] = [Direction::Whole, Direction::Call];

    common!();

    fn subject(&self) -> (Subject, Temperature) {
        (Subject::Primitive(self.primitive), Temperature::Hot)
    }

    fn costs(&self) -> Option<[Cost; 2]> {
        Some([self.whole?, self.call?])
    }

    fn named(&self) -> Named {
        let algorithm = format!("{} {}", self.primitive.scheme, self.primitive.operation);
        let size = self.primitive.size.unwrap_or_default() as usize;
        Named { algorithm, size, setting: String::new() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::tls::fixtures::cost;
    use crate::tls::words::{Operation, Scheme, Suite, Version};

    pub(crate) fn record_row(suite: Suite, size: u32, ns: Option<f64>) -> RecordRow {
        let bare = |ns: f64| BareCost { median_ns: ns, low_ns: ns, high_ns: ns };
        RecordRow {
            stack: "some@1.0".to_owned(),
            protection: Protection { version: Version::Tls13, suite },
            size,
            state: if ns.is_some() { State::Measured } else { State::Unsupported },
            reason: ns.is_none().then(|| "NO_CIPHER|MATCH\u{1b}[31m".to_owned()),
            negotiated: None,
            overhead_bytes: ns.map(|_| 22),
            send: ns.map(cost),
            receive: ns.map(|ns| cost(ns * 1.25)),
            bare: Bare {
                algorithm: suite.cipher().to_owned(),
                encrypt: ns.map(|ns| bare(ns / 2.0)),
                decrypt: ns.map(|ns| bare(ns / 2.0)),
                reason: None,
            },
            samples: 30,
            records: 3000,
            processes: 6,
            disturbed: Disturbances::default(),
            contended: false,
            stopped: None,
        }
    }

    #[test]
    fn a_line_goes_through_each_suites_own_sizes() {
        let time = |size: u32| Some(400.0 + 0.25 * f64::from(size));
        let mut rows: Vec<_> = [64, 1024, 4096, 16384]
            .map(|size| record_row(Suite::Aes128Gcm, size, time(size)))
            .to_vec();
        rows.push(record_row(Suite::Aes256Gcm, 64, None));
        let lines = record_lines(&rows);
        assert_eq!(lines.len(), 2);
        let send = lines[0].send.unwrap();
        assert!((send.fixed_ns - 400.0).abs() < 1e-6 && (send.ns_per_byte - 0.25).abs() < 1e-9);
        assert!((lines[0].receive.unwrap().fixed_ns - 500.0).abs() < 1e-6 && send.is_linear());
        assert!((lines[0].bare_encrypt.unwrap().fixed_ns - 200.0).abs() < 1e-6);
        assert_eq!(lines[1].send, None);
    }

    #[test]
    fn what_the_stack_adds_is_the_difference_and_nothing_where_one_is_missing() {
        let mut row = record_row(Suite::Aes128Gcm, 64, Some(400.0));
        assert_eq!(row.added_to_sending(), Some(200.0));
        assert_eq!(row.added_to_receiving(), Some(300.0));
        row.bare.encrypt = None;
        assert_eq!(row.added_to_sending(), None);
    }

    pub(crate) fn primitive_row(
        stack: &str,
        scheme: Scheme,
        operation: Operation,
        us: Option<f64>,
    ) -> PrimitiveRow {
        let size = (operation == Operation::Digest).then_some(1400);
        PrimitiveRow {
            stack: stack.to_owned(),
            primitive: Primitive { scheme, operation, size },
            state: if us.is_some() { State::Measured } else { State::Unsupported },
            reason: us.is_none().then(|| "no|such\u{1b}[31m".to_owned()),
            checks: if us.is_some() { vec!["known answer".to_owned()] } else { Vec::new() },
            whole: us.map(|us| cost(us * 1000.0)),
            call: us.map(|us| cost(us * 900.0)),
            samples: 30,
            operations: 300,
            processes: 6,
            disturbed: Disturbances::default(),
            contended: false,
            stopped: None,
        }
    }
}
