//! The file of a calibration: what connections and requests cost servers of this machine, with and without
//! TLS; costs as weighted sums of its points, so that a figure that stands in two terms counts once. And the
//! file of a validation: what the model said of a real server's CPU, and what was measured then.

use crate::load::negotiate::Picked;
use crate::load::spec::{Http, Regime, Role, Spec, Unit, Work};
use base::analysis::median;
use record::tls::{Case, Certificate, Negotiated, Stack};
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

/// Most points: a hundred times what a calibration of all regimes has.
const MOST_POINTS: usize = 100_000;
/// Beyond any CPU time of a unit, in µs: eleven days.
const MOST_US: f64 = 1e12;
/// Beyond any connection's memory, in bytes.
const MOST_BYTES: f64 = 1e15;

impl Calibration {
    /// Reads what `tls calibrate` wrote; `origin` names it in errors.
    pub fn parse(text: &str, origin: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            let (origin, why) = (printable(origin), printable(why));
            format!("'{origin}' is no calibration of tls load: {why}")
        };
        let text = record::unmarked(text);
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
    pub fn median_us(&self) -> Option<f64> {
        let is_measured = self.state == State::Measured;
        let mut rounds: Vec<f64> = self.rounds_cpu_us.iter().flatten().copied().collect();
        base::analysis::median(&mut rounds).filter(|_| is_measured)
    }

    /// Distance between the dearest and the cheapest round, as a fraction of the median: its noise.
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
    pub fn times(self, factor: f64) -> Self {
        let Self { value, low, high } = self;
        let (low, high) = if factor < 0.0 { (high, low) } else { (low, high) };
        Self { value: value * factor, low: low * factor, high: high * factor }
    }

    pub fn holds_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

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

/// Version of the format: the second number rises with additions, the first with anything else.
pub const VALIDATION_VERSION: &str = "1.1";

/// Largest error of a point that passes, as a fraction of what was measured; a point whose own noise is
/// larger says nothing, unless its error is larger still.
pub const TOLERANCE: f64 = 0.15;
/// Largest median error of all points.
pub const MEDIAN_TOLERANCE: f64 = 0.08;
/// The share of the conclusive points that must pass, and of all points, noisy ones too, whose error must be within
/// [`TOLERANCE`]: noise hides no error.
pub const PASSING_SHARE: f64 = 0.9;
/// Largest response that the model is held to, in bytes.
pub const LARGEST_JUDGED: u64 = 102_400;

/// All parts that were measured so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// [`VALIDATION_VERSION`].
    pub format_version: String,
    /// `tls-validation`.
    pub kind: String,
    /// In what the points are held to the prediction: [`TOLERANCE`].
    pub tolerance: f64,
    /// The parts, each measured in one go with a calibration of its own.
    pub parts: Vec<ValidatedPart>,
    /// What it comes to.
    pub summary: Summary,
}

impl Validation {
    /// With verdicts by the rules of this program: those of a file may be older.
    pub fn judged_anew(mut self) -> Self {
        VALIDATION_VERSION.clone_into(&mut self.format_version);
        for row in self.parts.iter_mut().flat_map(|part| &mut part.rows) {
            if let Some(error) = row.error.filter(|_| row.verdict.counts()) {
                let noise = row.noise.zip(row.predicted_noise).map(|(a, b)| a.max(b));
                let largest = row.responses.iter().copied().max().unwrap_or(0);
                row.verdict = judge(error, noise, false, largest);
            }
        }
        self.summary = Summary::of(self.parts.iter().flat_map(|part| &part.rows));
        self
    }
}

/// Points that were measured in one go, in interleaved rounds with what they are predicted from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidatedPart {
    /// Its name.
    pub name: String,
    /// What it was predicted from; measured in the same rounds.
    pub calibration: Calibration,
    /// Rounds.
    pub rounds: u32,
    /// Seed of the order of visits.
    pub seed: u64,
    /// SHA-256 of the real server's configuration, ports and directory left out.
    pub configuration_id: String,
    /// The points.
    pub rows: Vec<ValidatedRow>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValidatedRow {
    /// What it is called.
    pub name: String,
    /// How close connections followed one another.
    pub regime: Regime,
    /// What was negotiated; of points where some connections resume, by those.
    pub case: Case,
    /// Version of HTTP.
    pub http: Http,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// What the prediction was made of: with the counted share of resumed connections.
    pub spec: Spec,
    /// What became of it.
    pub state: State,
    /// Why not measured, or not predicted.
    pub reason: Option<String>,
    /// What a full connection negotiated, by the wire and the client.
    pub full: Option<Negotiated>,
    /// The same of a resumed one.
    pub by_session: Option<Negotiated>,
    /// Server CPU per connection, with all of its requests, in µs: one figure a round.
    pub rounds_cpu_us: Vec<Option<f64>>,
    /// Median over rounds, and the interval of the median.
    pub measured_cpu_us: Option<Interval>,
    /// What the model says, from medians, and what it says of the cheapest and dearest rounds.
    pub predicted_cpu_us: Option<Interval>,
    /// (predicted - measured) / measured.
    pub error: Option<f64>,
    /// Half the width of the measured interval, as a fraction of the median; null with fewer than three rounds, which
    /// tell nothing of it.
    pub noise: Option<f64>,
    /// Half the width of the predicted interval, as a fraction of the prediction: the noise of what it is
    /// calculated from.
    pub predicted_noise: Option<f64>,
    /// What was counted, over all rounds.
    pub counted: Counted,
    /// Requests that took 30 ms or longer.
    pub stalls: u64,
    /// Share of the wall time in which the server's CPU worked for it.
    pub busy_share: Option<f64>,
    /// Time that the server was ready and others had its CPU, as a share of its CPU time.
    pub waited_share: Option<f64>,
    /// The verdict.
    pub verdict: Judgement,
}

record::named! {
    /// What a point says of the model.
    Judgement {
        /// Within the tolerance.
        Pass = "pass",
        /// Beyond it, and beyond its own noise and that of what it is predicted from.
        Fail = "fail",
        /// One of these is larger than the tolerance, or not known.
        Inconclusive = "inconclusive",
        /// The model was calibrated with it: it says nothing.
        Calibration = "calibration",
        /// Responses beyond what the model is held to.
        Apart = "apart",
        /// Not measured or not predicted.
        None = "none",
    }
}

impl Judgement {
    /// Whether the point says anything of the model, however little.
    fn counts(self) -> bool {
        matches!(self, Self::Pass | Self::Fail | Self::Inconclusive)
    }
}

/// What the points come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Points that passed.
    pub passed: u32,
    /// Points that failed.
    pub failed: u32,
    /// Points whose noise is too large.
    pub inconclusive: u32,
    /// Points that were calibrated with.
    pub calibration: u32,
    /// Points with larger responses.
    pub apart: u32,
    /// Points that were not measured or not predicted.
    pub none: u32,
    /// Of the inconclusive, those whose error exceeds the tolerance, though not the noise.
    #[serde(default)]
    pub inconclusive_beyond: u32,
    /// Passed, of those that passed or failed; null without any.
    pub passing_share: Option<f64>,
    /// Share of those that passed, failed or were inconclusive, whose error is within the tolerance.
    #[serde(default)]
    pub within_share: Option<f64>,
    /// Median of the errors' sizes, of those that passed, failed or were inconclusive.
    pub median_error: Option<f64>,
    /// Median of the errors with their signs.
    pub median_signed_error: Option<f64>,
    /// The error farthest from zero, with its sign.
    pub worst_error: Option<f64>,
}

impl Summary {
    pub fn of<'a>(rows: impl Iterator<Item = &'a ValidatedRow>) -> Self {
        let mut sum = Self::default();
        let mut errors = Vec::new();
        for row in rows {
            *match row.verdict {
                Judgement::Pass => &mut sum.passed,
                Judgement::Fail => &mut sum.failed,
                Judgement::Inconclusive => &mut sum.inconclusive,
                Judgement::Calibration => &mut sum.calibration,
                Judgement::Apart => &mut sum.apart,
                Judgement::None => &mut sum.none,
            } += 1;
            errors.extend(row.error.filter(|_| row.verdict.counts()));
            let is_beyond = row.error.is_some_and(|error| error.abs() > TOLERANCE);
            sum.inconclusive_beyond +=
                u32::from(row.verdict == Judgement::Inconclusive && is_beyond);
        }
        let share = |of: usize, all: usize| (all > 0).then(|| of as f64 / all as f64);
        let (passed, failed) = (sum.passed as usize, sum.failed as usize);
        sum.passing_share = share(passed, passed + failed);
        let within = errors.iter().filter(|error| error.abs() <= TOLERANCE).count();
        sum.within_share = share(within, errors.len());
        sum.worst_error = errors.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        sum.median_error = median(&mut errors.iter().map(|e| e.abs()).collect::<Vec<_>>());
        sum.median_signed_error = median(&mut errors);
        sum
    }

    /// Whether the model is as good as it is said to be; none where nothing was judged.
    pub fn holds(&self) -> Option<bool> {
        let (passing, error) = self.passing_share.zip(self.median_error)?;
        let within = self.within_share.unwrap_or(passing);
        Some(passing.min(within) >= PASSING_SHARE && error <= MEDIAN_TOLERANCE)
    }
}

/// Median, and the narrowest interval of order statistics that holds the true median nine times in ten; with
/// fewer than five figures all that was seen (H. A. David, H. N. Nagaraja, "Order Statistics", 3rd edition, 7.1).
pub fn of_rounds(rounds: &[Option<f64>]) -> Option<Interval> {
    let mut seen: Vec<f64> = rounds.iter().flatten().copied().collect();
    let value = median(&mut seen)?;
    let mut within = Interval { value, low: *seen.first()?, high: *seen.last()? };
    let count = seen.len();
    for cut in 1..count / 2 {
        if coverage(count, cut) < 0.9 {
            break;
        }
        (within.low, within.high) = (seen[cut], seen[count - 1 - cut]);
    }
    Some(within)
}

/// How surely the median lies between the figures that are left when `cut` are taken off at each end: as many
/// throws of a coin of `count`, more than `cut` of either side.
fn coverage(count: usize, cut: usize) -> f64 {
    let mut outside = 0.0;
    let mut ways = 0.5_f64.powi(count as i32);
    for heads in 0..=cut {
        outside += ways;
        ways *= (count - heads) as f64 / (heads + 1) as f64;
    }
    1.0 - 2.0 * outside
}

/// Rounds that it takes to know anything of a point's noise.
const FEWEST_ROUNDS: usize = 3;

/// Half an interval's width as a fraction of its value; none where there were too few rounds for one.
pub fn noise_of(interval: Interval, rounds: usize) -> Option<f64> {
    (rounds >= FEWEST_ROUNDS).then(|| (interval.high - interval.low) / 2.0 / interval.value)
}

/// The verdict of a row that was measured and predicted; `noise` is the larger of both sides', none where it is
/// not known. The error comes first: one that no noise explains is a failure, however noisy the point.
pub fn judge(
    error: f64,
    noise: Option<f64>,
    is_calibration: bool,
    largest_response: u64,
) -> Judgement {
    if is_calibration {
        Judgement::Calibration
    } else if largest_response > LARGEST_JUDGED {
        Judgement::Apart
    } else if noise.is_some_and(|noise| error.abs() > noise.max(TOLERANCE)) {
        Judgement::Fail
    } else if noise.is_none_or(|noise| noise > TOLERANCE) {
        Judgement::Inconclusive
    } else {
        Judgement::Pass
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
        let none = Form::of(0).plus(&Form::of(0), -1.0);
        assert_eq!((figures().eval(&none), none), (Interval::default(), Form::default()));
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

    #[test]
    fn a_point_is_judged_by_its_error_and_its_noise_and_a_calibrated_one_never_counts() {
        for (error, noise, is_calibrated, bytes, judgement) in [
            (0.01, Some(0.16), false, 1024, Judgement::Inconclusive),
            (0.2, Some(0.21), false, 1024, Judgement::Inconclusive),
            (0.01, Some(0.01), true, 1024, Judgement::Calibration),
            (0.01, Some(0.01), false, 1 << 20, Judgement::Apart),
            (-0.15, Some(0.01), false, LARGEST_JUDGED, Judgement::Pass),
            (-0.151, Some(0.01), false, 1024, Judgement::Fail),
            // No noise explains such an error: the point that was called inconclusive at 51 %.
            (0.513, Some(0.204), false, 1024, Judgement::Fail),
            (-0.431, Some(0.263), false, 1024, Judgement::Fail),
            // Too few rounds tell nothing of noise, and so nothing at all.
            (0.9, None, false, 1024, Judgement::Inconclusive),
            (0.0, None, false, 1024, Judgement::Inconclusive),
        ] {
            let found = judge(error, noise, is_calibrated, bytes);
            assert_eq!(found, judgement, "{error} {noise:?} {is_calibrated} {bytes}");
        }
        let interval = Interval { value: 100.0, low: 90.0, high: 110.0 };
        assert_eq!([2, 3].map(|rounds| noise_of(interval, rounds)), [None, Some(0.1)]);
    }

    /// A row is in the sum by its verdict and its error.
    #[test]
    fn an_error_that_noise_excuses_still_counts_against_the_model() {
        let row = |verdict, error| ValidatedRow { verdict, error: Some(error), ..row() };
        let mut rows = vec![row(Judgement::Pass, 0.01); 9];
        rows.push(row(Judgement::Calibration, 0.5));
        rows.push(row(Judgement::Apart, 0.5));
        let sum = Summary::of(rows.iter());
        assert_eq!((sum.within_share, sum.holds()), (Some(1.0), Some(true)));
        rows.push(row(Judgement::Inconclusive, 0.1));
        assert_eq!(Summary::of(rows.iter()).holds(), Some(true));
        rows.extend([row(Judgement::Inconclusive, -0.4), row(Judgement::Inconclusive, 0.4)]);
        let sum = Summary::of(rows.iter());
        assert_eq!((sum.passing_share, sum.inconclusive_beyond), (Some(1.0), 2));
        assert_eq!((sum.within_share, sum.worst_error), (Some(10.0 / 12.0), Some(0.4)));
        assert_eq!(sum.holds(), Some(false));
    }

    fn row() -> ValidatedRow {
        ValidatedRow {
            name: String::new(),
            regime: Regime::Low,
            case: crate::load::sample::base(),
            http: Http::Http1,
            responses: vec![1024],
            spec: Spec::default(),
            state: State::Measured,
            reason: None,
            full: None,
            by_session: None,
            rounds_cpu_us: Vec::new(),
            measured_cpu_us: None,
            predicted_cpu_us: None,
            error: None,
            noise: None,
            predicted_noise: None,
            counted: Counted::default(),
            stalls: 0,
            busy_share: None,
            waited_share: None,
            verdict: Judgement::None,
        }
    }

    /// Coverages of the order statistics' intervals are tabled: five figures cover 93.75 %, eight without the
    /// outermost 92.97 %.
    #[test]
    fn the_interval_of_a_median_is_that_of_order_statistics() {
        assert!((coverage(5, 0) - 0.9375).abs() < 1e-12);
        assert!((coverage(8, 1) - 0.9297).abs() < 1e-4);
        let of =
            |n: u32| of_rounds(&(1..=n).map(|x| Some(f64::from(x))).collect::<Vec<_>>()).unwrap();
        let bounds = |i: Interval| (i.low, i.value, i.high);
        assert_eq!(bounds(of(5)), (1.0, 3.0, 5.0));
        assert_eq!(bounds(of(8)), (2.0, 4.5, 7.0));
        assert_eq!(bounds(of(1)), (1.0, 1.0, 1.0));
        assert_eq!(of_rounds(&[None, None]), None);
        assert_eq!(bounds(of_rounds(&[None, Some(2.0)]).unwrap()), (2.0, 2.0, 2.0));
    }
}
