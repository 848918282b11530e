//! The file of a calibration: what connections and requests cost servers of this machine, with and without
//! TLS; and costs as weighted sums of its points, so that a figure that stands in two terms counts once.
//!
//! The file of a calibration: what connections and requests cost servers of this machine, with and
//! without TLS. The load model takes every term from here. Units are in the names.

use crate::load::negotiate::Picked;
use crate::load::spec::{Http, Regime, Role, Unit, Work};
use record::tls::{Certificate, Stack};
use record::{Host, State, printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Version of the format: the second number rises with additions, the first with anything else.
pub const CALIBRATION_VERSION: &str = "1.1";

/// One calibration: all points of one server, one stack and one machine, measured in interleaved rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// [`CALIBRATION_VERSION`].
    pub format_version: String,
    /// `tls-calibration`.
    pub kind: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// How long it took.
    pub seconds: f64,
    /// What was typed.
    pub command: Vec<String>,
    /// The machine.
    pub host: Host,
    /// The real server; null where there was none, and then its plain costs are those of the minimal one.
    pub server: Option<RealServer>,
    /// The stack under the minimal server.
    pub stack: Stack,
    /// CPU of all servers, and nothing else of ours.
    pub server_cpu: u32,
    /// CPU of the client.
    pub client_cpu: u32,
    /// What CPU time is counted, and how, in words.
    pub span: String,
    /// The core clock in GHz that all CPU times are told at: each was counted at the clock that the core had then. Null where
    /// that cannot be known, and in files from before it was: then times are as they were counted.
    #[serde(default)]
    pub core_ghz: Option<f64>,
    /// The share of the core's throughput that was the servers', median over visits: 1 where nobody else was busy on its other
    /// hardware thread. All CPU times are told at this, by what they lose with it in this run. Null as above.
    #[serde(default)]
    pub core_share: Option<f64>,
    /// What was measured.
    pub points: Vec<Point>,
    /// Memory of open connections.
    pub memory: Vec<MemoryPoint>,
    /// Which groups the real server picked, whose configuration names none; empty in files from before it was asked.
    #[serde(default)]
    pub picked: Vec<Picked>,
    /// Bytes of the chains that the servers sent, with the message's own header.
    #[serde(default)]
    pub chains: Vec<ChainBytes>,
}

/// A chain on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainBytes {
    /// Whose.
    pub certificate: Certificate,
    /// Bytes of the Certificate message.
    pub bytes: u32,
}

/// The real server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RealServer {
    /// `nginx`.
    pub name: String,
    /// As it says itself.
    pub version: String,
    /// The executable.
    pub path: String,
    /// Its TLS library, as it says itself.
    pub tls_library: Option<String>,
    /// The configuration that it ran with.
    pub configuration: String,
}

/// What was served: everything that changes the cost beside the role and the regime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Served {
    /// The handshake.
    pub work: Work,
    /// Version of HTTP.
    pub http: Http,
    /// Bytes of a request on the wire, before encryption.
    pub request_bytes: u32,
    /// Bytes of a response's body.
    pub response_bytes: u64,
    /// Whether the server may use `sendfile`; always false with TLS.
    pub sendfile: bool,
    /// Most bytes of data in a record; null without TLS.
    pub record_bytes: Option<u32>,
    /// Whether the library sees the CPU's AES instructions.
    pub aes_hardware: bool,
}

/// One point: CPU time of the server's process, user and system, by the scheduler's exact counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Which server.
    pub role: Role,
    /// How close connections followed one another.
    pub regime: Regime,
    /// What the CPU time is divided by.
    pub unit: Unit,
    /// What was served.
    pub served: Served,
    /// What became of it; only `measured` points count.
    pub state: State,
    /// Why not measured.
    pub reason: Option<String>,
    /// Server CPU per unit in µs, one figure a round: CPU time of the round divided by its units. Rounds of
    /// all points stand in the same order, so that differences can be taken round by round; null where the
    /// round is missing.
    pub rounds_cpu_us: Vec<Option<f64>>,
    /// What was counted, over all rounds.
    pub counted: Counted,
}

/// What was counted at both ends, not what was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counted {
    /// Connections.
    pub connections: u64,
    /// Of these, resumed ones.
    pub resumed: u64,
    /// Requests.
    pub requests: u64,
    /// Connections and requests that failed.
    pub errors: u64,
    /// Context switches of the server.
    pub context_switches: Option<u64>,
}

/// Memory that an open, idle connection holds in the server's process; the kernel's part is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryPoint {
    /// Which server.
    pub role: Role,
    /// The handshake.
    pub work: Work,
    /// Growth of the process's resident memory for each connection.
    pub bytes_per_connection: f64,
    /// Connections that were open at the time.
    pub connections: u64,
}

/// Why a text is no calibration: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{origin}' is no calibration of tls load: {why}")]
pub struct CalibrationError {
    origin: String,
    why: String,
}

/// Most points: a hundred times what a calibration of all regimes has.
const MOST_POINTS: usize = 100_000;
/// Beyond any CPU time of a unit, in µs: eleven days.
const MOST_US: f64 = 1e12;
/// Beyond any connection's memory, in bytes.
const MOST_BYTES: f64 = 1e15;

impl Calibration {
    /// Reads what `tls calibrate` wrote; `origin` names it in errors.
    ///
    /// # Errors
    /// [`CalibrationError`], one line: another kind of file, another format, or figures that no run has.
    pub fn parse(text: &str, origin: &str) -> Result<Self, CalibrationError> {
        let wrong = |why: &str| CalibrationError { origin: printable(origin), why: printable(why) };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let head: Head = serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?;
        match head.kind.as_deref() {
            Some("tls-calibration") => {}
            Some(other) => return Err(wrong(&format!("it says '{other}'"))),
            None => return Err(wrong("it does not say what it is")),
        }
        let version = head.format_version.unwrap_or_default();
        if version.split('.').next() != CALIBRATION_VERSION.split('.').next() {
            let why = format!("its format is {version}, this program reads {CALIBRATION_VERSION}");
            return Err(wrong(&why));
        }
        let read: Self = serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?;
        read.impossible().map_or(Ok(()), |why| Err(wrong(&why)))?;
        Ok(read)
    }

    /// What the types cannot rule out.
    fn impossible(&self) -> Option<String> {
        if self.points.len() > MOST_POINTS {
            return Some(format!("it has {} points", self.points.len()));
        }
        let times = || self.points.iter().flat_map(|p| p.rounds_cpu_us.iter().flatten());
        if let Some(us) = times().find(|us| !(0.0..=MOST_US).contains(*us)) {
            return Some(format!("a CPU time of {us:e} µs, which no run has"));
        }
        let memory = || self.memory.iter().map(|m| m.bytes_per_connection);
        memory()
            .find(|bytes| !(-MOST_BYTES..=MOST_BYTES).contains(bytes))
            .map(|bytes| format!("{bytes:e} bytes a connection, which no run has"))
    }
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    format_version: Option<String>,
}

impl Point {
    /// Median over rounds, in µs; `None` where it was not measured.
    #[must_use]
    pub fn median_us(&self) -> Option<f64> {
        let is_measured = self.state == State::Measured;
        let mut rounds: Vec<f64> = self.rounds_cpu_us.iter().flatten().copied().collect();
        base::analysis::median(&mut rounds).filter(|_| is_measured)
    }

    /// Distance between the dearest and the cheapest round, as a fraction of the median: its noise.
    #[must_use]
    pub fn spread(&self) -> Option<f64> {
        let median = self.median_us().filter(|m| *m > 0.0)?;
        let rounds = || self.rounds_cpu_us.iter().flatten().copied();
        let high = rounds().fold(f64::NEG_INFINITY, f64::max);
        Some((high - rounds().fold(f64::INFINITY, f64::min)) / median)
    }
}

// Costs as weighted sums of measured figures.
//
// A price is never a number alone: it is a sum of points with weights. So a figure that stands in two terms
// counts once in the sum's interval, and what two configurations have in common cancels when they are compared.

/// A figure with the range that it was seen in. The unit is in the name of the field that holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// From the medians over rounds.
    pub value: f64,
    /// The least of any round.
    pub low: f64,
    /// The most of any round.
    pub high: f64,
}

impl Interval {
    /// The same in another unit, or of another number of things.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let Self { value, low, high } = self;
        let (low, high) = if factor < 0.0 { (high, low) } else { (low, high) };
        Self { value: value * factor, low: low * factor, high: high * factor }
    }

    /// Whether zero lies within.
    #[must_use]
    pub fn holds_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// Σ weight · figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Form(BTreeMap<usize, f64>);

impl Form {
    pub(crate) fn of(figure: usize) -> Self {
        Self(BTreeMap::from([(figure, 1.0)]))
    }

    pub(crate) fn plus(&self, other: &Self, times: f64) -> Self {
        let mut sum = self.clone();
        for (figure, weight) in &other.0 {
            *sum.0.entry(*figure).or_default() += weight * times;
        }
        // What cancels must not widen the interval.
        sum.0.retain(|_, weight| weight.abs() > 1e-12);
        sum
    }

    pub(crate) fn times(&self, factor: f64) -> Self {
        Self::default().plus(self, factor)
    }
}

/// One measured figure in µs.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    seen: Interval,
    rounds: Vec<Option<f64>>,
}

/// All figures: the calibration's points by their index, then those of other documents.
#[derive(Clone, Debug)]
pub(crate) struct Figures(Vec<Figure>);

impl Figures {
    pub(crate) fn of(calibration: &Calibration) -> Self {
        let figure = |p: &Point| {
            let rounds = || p.rounds_cpu_us.iter().flatten().copied();
            let value = p.median_us().unwrap_or(0.0);
            let low = rounds().fold(f64::INFINITY, f64::min);
            let high = rounds().fold(f64::NEG_INFINITY, f64::max);
            Figure { seen: Interval { value, low, high }, rounds: p.rounds_cpu_us.clone() }
        };
        Self(calibration.points.iter().map(figure).collect())
    }

    /// Adds a figure of another document.
    pub(crate) fn push(&mut self, us: Interval) -> Form {
        self.0.push(Figure { seen: us, rounds: Vec::new() });
        Form::of(self.0.len() - 1)
    }

    /// The sum, from medians; its range from the same sum in each round. Figures without rounds add the
    /// squares of their distances.
    pub(crate) fn eval(&self, form: &Form) -> Interval {
        let value: f64 = form.0.iter().map(|(f, w)| w * self.0[*f].seen.value).sum();
        let (in_rounds, alone): (Vec<_>, Vec<_>) =
            form.0.iter().partition(|(f, _)| !self.0[**f].rounds.is_empty());
        let (mut below, mut above) = self.in_rounds(&in_rounds);
        for (figure, weight) in &alone {
            let (down, up) = self.distances(**figure, **weight);
            (below, above) = (below.hypot(down), above.hypot(up));
        }
        Interval { value, low: value - below, high: value + above }
    }

    /// How far rounds lie below and above the medians' sum.
    fn in_rounds(&self, terms: &[(&usize, &f64)]) -> (f64, f64) {
        let centre: f64 = terms.iter().map(|(f, w)| *w * self.0[**f].seen.value).sum();
        let rounds = terms.iter().map(|(f, _)| self.0[**f].rounds.len()).max().unwrap_or(0);
        let of_round = |round: usize| -> Option<f64> {
            terms
                .iter()
                .map(|(f, w)| Some(*w * self.0[**f].rounds.get(round).copied().flatten()?))
                .sum()
        };
        let sums: Vec<f64> = (0..rounds).filter_map(of_round).collect();
        if sums.len() >= 2 {
            let low = sums.iter().copied().fold(centre, f64::min);
            let high = sums.iter().copied().fold(centre, f64::max);
            return (centre - low, high - centre);
        }
        // No two rounds that have all of them: as if they were independent.
        terms.iter().fold((0.0, 0.0), |(below, above), (f, w)| {
            let (down, up) = self.distances(**f, **w);
            (f64::hypot(below, down), f64::hypot(above, up))
        })
    }

    fn distances(&self, figure: usize, weight: f64) -> (f64, f64) {
        let Interval { value, low, high } = self.0[figure].seen;
        let (below, above) = ((value - low).max(0.0), (high - value).max(0.0));
        let (below, above) = if weight < 0.0 { (above, below) } else { (below, above) };
        (below * weight.abs(), above * weight.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::sample::calibration;

    #[test]
    fn what_was_written_is_read_again_and_nothing_else_is() {
        let text = serde_json::to_string(&calibration()).unwrap();
        assert_eq!(Calibration::parse(&text, "x").unwrap(), calibration());
        let why = |text: &str| Calibration::parse(text, "x.json").unwrap_err().to_string();
        assert!(why("{}").contains("does not say what it is"), "{}", why("{}"));
        let other = text.replace("\"tls-calibration\"", r#""tls-\u001b[31m""#);
        assert!(why(&other).contains("it says 'tls-") && !why(&other).contains('\u{1b}'));
        let newer = text.replace("\"format_version\":\"1.1\"", "\"format_version\":\"2.0\"");
        assert!(why(&newer).contains("its format is 2.0"), "{}", why(&newer));
    }

    #[test]
    fn figures_that_no_run_has_are_refused() {
        let why = |change: fn(&mut Calibration)| {
            let mut changed = calibration();
            change(&mut changed);
            let text = serde_json::to_string(&changed).unwrap();
            Calibration::parse(&text, "x").unwrap_err().to_string()
        };
        assert!(why(|c| c.points[0].rounds_cpu_us[0] = Some(-1.0)).contains("which no run has"));
        assert!(why(|c| c.points[0].rounds_cpu_us[0] = Some(1e300)).contains("1e300 µs"));
        assert!(why(|c| c.memory[0].bytes_per_connection = 1e300).contains("bytes a connection"));
    }

    fn figures() -> Figures {
        let figure = |rounds: [f64; 3]| Figure {
            seen: Interval { value: rounds[1], low: rounds[0], high: rounds[2] },
            rounds: rounds.map(Some).to_vec(),
        };
        Figures(vec![figure([10.0, 12.0, 15.0]), figure([100.0, 102.0, 105.0])])
    }

    #[test]
    fn what_drifts_together_cancels_in_a_difference() {
        let difference = Form::of(1).plus(&Form::of(0), -1.0);
        assert_eq!(figures().eval(&difference), Interval { value: 90.0, low: 90.0, high: 90.0 });
        let sum = figures().eval(&Form::of(1).plus(&Form::of(0), 1.0));
        assert_eq!(sum, Interval { value: 114.0, low: 110.0, high: 120.0 });
    }

    #[test]
    fn what_is_taken_away_again_leaves_nothing_behind() {
        let none = Form::of(0).plus(&Form::of(0), -1.0);
        assert_eq!(none, Form::default());
        assert_eq!(figures().eval(&none), Interval::default());
    }

    #[test]
    fn figures_of_other_documents_add_their_distances_squared() {
        let mut figures = figures();
        let a = figures.push(Interval { value: 10.0, low: 7.0, high: 14.0 });
        let b = figures.push(Interval { value: 20.0, low: 16.0, high: 23.0 });
        let sum = figures.eval(&a.plus(&b, 1.0));
        assert_eq!(sum, Interval { value: 30.0, low: 25.0, high: 35.0 });
        let difference = figures.eval(&a.plus(&b, -1.0));
        assert!((difference.low - (-10.0 - 18.0_f64.sqrt())).abs() < 1e-9, "{difference:?}");
    }
}
