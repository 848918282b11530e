//! Runs of `ciphermark tls handshake`, `tls records` and `tls primitives`, and their rows. Units are in the names. In a
//! file a run is a record: [`crate::tls::into_record`].

use crate::tls::negotiation::{Negotiated, Unset};
use crate::tls::words::Temperature;
use crate::tls::{Case, Protection, Subject};
use crate::{Disturbances, Estimate, Host, Measurement, Noise, State, Stopped, Tool};
use base::analysis::{MIN_PROCESSES, fit_line};
use base::model::{Direction, Model, Tier};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

crate::named! {
    /// What a run is of.
    RunKind {
        /// `tls handshake`
        Handshakes = "tls-handshakes",
        /// `tls records`
        Records = "tls-records",
        /// `tls primitives`
        Primitives = "tls-primitives",
    }
}

impl RunKind {
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The command of `ciphermark tls` that makes it.
    pub fn command(self) -> &'static str {
        match self {
            Self::Handshakes => "handshake",
            Self::Records => "records",
            Self::Primitives => "primitives",
        }
    }

    pub fn model(self) -> Model {
        match self {
            Self::Handshakes => Model::Handshake,
            Self::Records => Model::Records,
            Self::Primitives => Model::Primitive,
        }
    }

    pub fn parts(self) -> [Direction; 2] {
        match self {
            Self::Handshakes => [Direction::Server, Direction::Client],
            Self::Records => [Direction::Send, Direction::Receive],
            Self::Primitives => [Direction::Whole, Direction::Call],
        }
    }

    /// What lies inside the clock, in words.
    pub fn span(self) -> &'static str {
        match self {
            Self::Handshakes => {
                "making the connection, every call that carries the handshake on, one byte of application data from \
                 the server to the client (so that the client takes the tickets), close_notify, freeing the \
                 connection; contexts, keys and certificates are loaded before"
            }
            Self::Records => {
                "sending: SSL_write of one record into memory; receiving: SSL_read of one record out of it, in \
                 batches of at most 64 KiB and 32 records, over a connection that is open; no socket, no system call"
            }
            Self::Primitives => {
                "whole: from long-lived keys and what is on the wire to the result, as in a handshake: the call's \
                 context is made, set and freed, the other side's public key is read from its bytes, a new key's \
                 bytes are written; call: the library's one call alone, on a context that was made before, as \
                 openssl speed has it"
            }
        }
    }

    /// What a row's field is called that counts its operations.
    fn counted(self) -> &'static str {
        match self {
            Self::Handshakes => "handshakes",
            Self::Records => "records",
            Self::Primitives => "operations",
        }
    }
}

/// One run, with a row for each stack and case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub kind: RunKind,
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
    pub rows: Vec<Row>,
}

impl Run {
    /// What a record costs, and each of its bytes: one for each stack, version and suite; none of what has no sizes.
    pub fn lines(&self) -> Vec<RecordLines> {
        record_lines(&self.rows)
    }
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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

/// One case of one stack: in a record two measurements, one of each part. In JSON its parts' names are fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>", into = "Map<String, Value>")]
pub struct Row {
    /// The stack's label.
    pub stack: String,
    pub subject: Subject,
    /// What lay between two steps; records and primitives are always hot.
    pub temperature: Temperature,
    pub state: State,
    /// Why, when not measured or not precise; in the stack's own words where it has any.
    pub reason: Option<String>,
    /// Why sampling ended.
    pub stopped: Option<Stopped>,
    /// Of both parts; none unless the state is `measured`.
    pub costs: Option<[Cost; 2]>,
    pub samples: u64,
    /// Handshakes, records or operations in them.
    pub operations: u64,
    pub processes: u64,
    /// Samples that do not count, by reason.
    pub disturbed: Disturbances,
    /// Whether contended samples count, because too few quiet ones came: the stack is at least so fast.
    pub contended: bool,
    /// What was negotiated, in every handshake and for every record that counts.
    pub negotiated: Option<Negotiated>,
    /// What the stack's server picks by itself for a client whose key share is of this case's group; none of what is
    /// no full handshake of TLS 1.3, and of stacks whose groups cannot be left unset.
    pub unset: Option<Unset>,
    /// The first handshake of a case in a fresh process.
    pub first: Option<First>,
    /// Bytes of a handshake on the wire.
    pub bytes: Option<Bytes>,
    pub memory: Option<Memory>,
    /// Bytes of a record on the wire beside its data: header, nonce, tag or MAC, padding.
    pub overhead_bytes: Option<u32>,
    /// What stands beside records.
    pub bare: Bare,
    /// What was held to be so of a primitive in each process, and of every timed batch what it left.
    pub checks: Vec<String>,
}

impl Row {
    /// One of which nothing is known yet; struct updates say what is.
    pub fn blank(stack: &str, subject: Subject, temperature: Temperature, state: State) -> Self {
        let algorithm = match subject {
            Subject::Records { protection, .. } => protection.suite.cipher().to_owned(),
            _ => String::new(),
        };
        Self {
            stack: stack.to_owned(),
            subject,
            temperature,
            state,
            reason: None,
            stopped: None,
            costs: None,
            samples: 0,
            operations: 0,
            processes: 0,
            disturbed: Disturbances::default(),
            contended: false,
            negotiated: None,
            unset: None,
            first: None,
            bytes: None,
            memory: None,
            overhead_bytes: None,
            bare: Bare { algorithm, ..Bare::default() },
            checks: Vec::new(),
        }
    }

    pub fn case(&self) -> Option<&Case> {
        match &self.subject {
            Subject::Handshake(case) => Some(case),
            _ => None,
        }
    }

    /// What protects its records, and their size.
    pub fn records(&self) -> Option<(Protection, u32)> {
        match self.subject {
            Subject::Records { protection, size } => Some((protection, size)),
            _ => None,
        }
    }

    /// What the first of its parts costs: the server, sending, the whole operation.
    pub fn cost(&self) -> Option<Cost> {
        self.costs.map(|[first, _]| first)
    }

    /// The worse of both parts' precisions.
    pub fn precision(&self) -> Option<f64> {
        self.costs.map(|[one, other]| one.precision().max(other.precision()))
    }

    pub fn is_left_out(&self) -> bool {
        self.state.is_left_out(self.stopped)
    }

    /// Whether its intervals are of enough processes to be of 95 %.
    pub fn is_complete(&self) -> bool {
        self.processes >= MIN_PROCESSES as u64
    }

    /// What the stack adds to the bare cipher when it sends, in nanoseconds.
    pub fn added_to_sending(&self) -> Option<f64> {
        Some(self.cost()?.median_ns - self.bare.encrypt?.median_ns)
    }

    pub fn added_to_receiving(&self) -> Option<f64> {
        let [_, receive] = self.costs?;
        Some(receive.median_ns - self.bare.decrypt?.median_ns)
    }

    /// What it is called in a record.
    pub(crate) fn named(&self) -> Named {
        let (algorithm, size, setting) = match &self.subject {
            Subject::Handshake(case) => (case.to_string(), None, self.temperature.to_string()),
            Subject::Records { protection: Protection { version, suite }, size } => {
                (format!("{version} {suite}"), Some(*size), String::new())
            }
            Subject::Primitive(of) => {
                (format!("{} {}", of.scheme, of.operation), of.size, String::new())
            }
        };
        Named { algorithm, size: size.unwrap_or_default() as usize, setting }
    }

    /// What no measurement has a field for.
    pub(crate) fn details(&self) -> Map<String, Value> {
        let Self { stack, temperature, negotiated, first, bytes, memory, .. } = self;
        let own = match &self.subject {
            Subject::Handshake(case) => json!({
                "case": case, "temperature": temperature, "negotiated": negotiated, "first": first, "bytes": bytes,
                "memory": memory,
            }),
            Subject::Records { protection, size } => json!({
                "protection": protection, "size": size, "negotiated": negotiated,
                "overhead_bytes": self.overhead_bytes, "bare": self.bare,
            }),
            Subject::Primitive(primitive) => json!({"primitive": primitive, "checks": self.checks}),
        };
        let Value::Object(mut fields) = own else { unreachable!("an object") };
        fields.insert("stack".to_owned(), json!(stack));
        fields.insert(self.subject.kind().counted().to_owned(), json!(self.operations));
        fields.extend(self.unset.map(|unset| ("unset".to_owned(), json!(unset))));
        fields
    }

    /// The row that these details are of, without what its measurements have in fields of their own.
    pub(crate) fn of_details(fields: &mut Map<String, Value>) -> Result<Self, String> {
        let subject = if fields.contains_key("case") {
            Subject::Handshake(take(fields, "case")?)
        } else if fields.contains_key("protection") {
            let (protection, size) = (take(fields, "protection")?, take(fields, "size")?);
            Subject::Records { protection, size }
        } else {
            Subject::Primitive(take(fields, "primitive")?)
        };
        let stack: String = take(fields, "stack")?;
        let temperature = take::<Option<_>>(fields, "temperature")?.unwrap_or(Temperature::Hot);
        let blank = Self::blank(&stack, subject, temperature, State::Failed);
        Ok(Self {
            operations: take(fields, subject.kind().counted())?,
            negotiated: take(fields, "negotiated")?,
            unset: take(fields, "unset")?,
            first: take(fields, "first")?,
            bytes: take(fields, "bytes")?,
            memory: take(fields, "memory")?,
            overhead_bytes: take(fields, "overhead_bytes")?,
            bare: take::<Option<_>>(fields, "bare")?.unwrap_or(blank.bare),
            checks: take::<Option<_>>(fields, "checks")?.unwrap_or_default(),
            ..blank
        })
    }
}

/// A field's value; none is null.
fn take<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Result<T, String> {
    serde_json::from_value(fields.remove(name).unwrap_or_default())
        .map_err(|e| format!("`{name}`: {e}"))
}

impl From<Row> for Map<String, Value> {
    fn from(row: Row) -> Self {
        let Row { state, reason, stopped, samples, processes, disturbed, contended, .. } = &row;
        let mut fields = row.details();
        let common = json!({
            "state": state, "reason": reason, "stopped": stopped, "samples": samples, "processes": processes,
            "disturbed": disturbed, "contended": contended,
        });
        if let Value::Object(common) = common {
            fields.extend(common);
        }
        for (at, part) in row.subject.kind().parts().into_iter().enumerate() {
            let cost = row.costs.map(|both| both[at]);
            fields.insert(part.name().to_owned(), json!(cost));
        }
        fields
    }
}

impl TryFrom<Map<String, Value>> for Row {
    type Error = String;

    fn try_from(mut fields: Map<String, Value>) -> Result<Self, String> {
        let row = Self::of_details(&mut fields)?;
        let [one, other] = row.subject.kind().parts();
        let one: Option<Cost> = take(&mut fields, one.name())?;
        let other: Option<Cost> = take(&mut fields, other.name())?;
        Ok(Self {
            state: take(&mut fields, "state")?,
            reason: take(&mut fields, "reason")?,
            stopped: take(&mut fields, "stopped")?,
            costs: one.zip(other).map(|(one, other)| [one, other]),
            samples: take(&mut fields, "samples")?,
            processes: take(&mut fields, "processes")?,
            disturbed: take(&mut fields, "disturbed")?,
            contended: take(&mut fields, "contended")?,
            ..row
        })
    }
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

impl Bare {
    pub(crate) fn is_contended(&self) -> bool {
        [self.encrypt, self.decrypt].iter().flatten().any(|cost| cost.contended)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BareCost {
    /// Trimmed mean over processes of each one's median.
    pub median_ns: f64,
    /// Lower end of its 95 % interval.
    pub low_ns: f64,
    pub high_ns: f64,
    /// Whether only a busy core was seen: the cipher takes at most so long.
    #[serde(default, skip_serializing_if = "base::model::is_default")]
    pub contended: bool,
}

/// The lines through the sizes of a suite that a quiet core was seen with; null where those are fewer than three.
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
pub fn beside(run: &mut Run, record: Result<&crate::Record, &String>) {
    for row in &mut run.rows {
        let Some(stack) = run.stacks.iter().find(|s| s.label == row.stack) else { continue };
        let size = row.named().size;
        let of_it = |m: &&Measurement| {
            m.library.path == stack.bare_path && m.algorithm == row.bare.algorithm && m.size == size
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
            let Estimate { median, low, high } = ns;
            let contended = m.contended;
            Ok(BareCost { median_ns: median, low_ns: low, high_ns: high, contended })
        }
        (state, _) => {
            Err(m.reason.clone().unwrap_or_else(|| format!("the case is {}", state.name())))
        }
    }
}

/// The lines through each suite's sizes, in the rows' order.
fn record_lines(rows: &[Row]) -> Vec<RecordLines> {
    let mut keys: Vec<(&str, Protection)> = Vec::new();
    for (row, (protection, _)) in rows.iter().filter_map(|row| Some((row, row.records()?))) {
        let key = (row.stack.as_str(), protection);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    // A bound is no point of a line.
    let own = |row: &Row| row.costs.filter(|_| !row.contended);
    let bare = |cost: Option<BareCost>| Some(cost.filter(|c| !c.contended)?.median_ns);
    let lines = keys.into_iter().map(|(stack, protection)| {
        let through = |time: &dyn Fn(&Row) -> Option<f64>| {
            let point = |row: &Row| {
                let (own, size) = row.records()?;
                let is_of_it = row.stack == stack && own == protection;
                is_of_it.then_some((f64::from(size), time(row)?))
            };
            FittedLine::through(&rows.iter().filter_map(point).collect::<Vec<_>>())
        };
        RecordLines {
            stack: stack.to_owned(),
            protection,
            send: through(&|r| own(r).map(|[send, _]| send.median_ns)),
            receive: through(&|r| own(r).map(|[_, receive]| receive.median_ns)),
            bare_encrypt: through(&|r| bare(r.bare.encrypt)),
            bare_decrypt: through(&|r| bare(r.bare.decrypt)),
        }
    });
    lines.collect()
}

/// What a row is called in a record.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The case, in the words of the command line.
    pub(crate) algorithm: String,
    /// Bytes of data; 0 where it has none.
    pub(crate) size: usize,
    /// What else tells it from others.
    pub(crate) setting: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::fixtures::record_row;
    use crate::tls::words::Suite;

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
        for row in &mut rows[..2] {
            row.contended = true;
            row.bare.encrypt.as_mut().unwrap().contended = true;
        }
        let bounds = &record_lines(&rows)[0];
        assert_eq!((bounds.send, bounds.receive, bounds.bare_encrypt), (None, None, None));
        assert!(bounds.bare_decrypt.is_some());
    }

    #[test]
    fn a_bare_cipher_of_a_busy_core_stays_one() {
        let library = crate::Library::default().identity();
        let measured = Measurement {
            ns_per_op: Some(Estimate { median: 2.0, low: 1.0, high: 3.0 }),
            contended: true,
            ..Measurement::blank(library, "aes-128-gcm", State::Measured)
        };
        assert!(bare_cost(&measured).unwrap().contended);
        assert!(!bare_cost(&Measurement { contended: false, ..measured }).unwrap().contended);
    }

    #[test]
    fn what_the_stack_adds_is_the_difference_and_nothing_where_one_is_missing() {
        let mut row = record_row(Suite::Aes128Gcm, 64, Some(400.0));
        assert_eq!(row.added_to_sending(), Some(200.0));
        assert_eq!(row.added_to_receiving(), Some(300.0));
        row.bare.encrypt = None;
        assert_eq!(row.added_to_sending(), None);
    }
}
