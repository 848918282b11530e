//! The file of a validation: what the model said of a real server's CPU, and what was measured then.

use crate::load::calibration::{Calibration, Counted, Interval};
use crate::load::spec::{Http, Regime, Spec};
use base::analysis::median;
use record::State;
use record::tls::{Case, Negotiated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    #[must_use]
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
    /// Of rows.
    #[must_use]
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
    #[must_use]
    pub fn holds(&self) -> Option<bool> {
        let (passing, error) = self.passing_share.zip(self.median_error)?;
        let within = self.within_share.unwrap_or(passing);
        Some(passing.min(within) >= PASSING_SHARE && error <= MEDIAN_TOLERANCE)
    }
}

/// Median, and the narrowest interval of order statistics that holds the true median nine times in ten; with
/// fewer than five figures all that was seen (H. A. David, H. N. Nagaraja, "Order Statistics", 3rd edition, 7.1).
#[must_use]
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
#[must_use]
pub fn noise_of(interval: Interval, rounds: usize) -> Option<f64> {
    (rounds >= FEWEST_ROUNDS).then(|| (interval.high - interval.low) / 2.0 / interval.value)
}

/// The verdict of a row that was measured and predicted; `noise` is the larger of both sides', none where it is
/// not known. The error comes first: one that no noise explains is a failure, however noisy the point.
#[must_use]
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

    #[test]
    fn a_noisy_point_is_never_a_pass_and_a_calibrated_one_never_counts() {
        assert_eq!(judge(0.01, Some(0.16), false, 1024), Judgement::Inconclusive);
        assert_eq!(judge(0.2, Some(0.21), false, 1024), Judgement::Inconclusive);
        assert_eq!(judge(0.01, Some(0.01), true, 1024), Judgement::Calibration);
        assert_eq!(judge(0.01, Some(0.01), false, 1 << 20), Judgement::Apart);
        assert_eq!(judge(-0.15, Some(0.01), false, LARGEST_JUDGED), Judgement::Pass);
        assert_eq!(judge(-0.151, Some(0.01), false, 1024), Judgement::Fail);
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

    /// The point that was called inconclusive at 51 %.
    #[test]
    fn an_error_that_no_noise_explains_fails_however_noisy_the_point() {
        assert_eq!(judge(0.513, Some(0.204), false, 1024), Judgement::Fail);
        assert_eq!(judge(-0.431, Some(0.263), false, 1024), Judgement::Fail);
        assert_eq!(judge(0.9, None, false, 1024), Judgement::Inconclusive);
    }

    #[test]
    fn too_few_rounds_tell_nothing_of_noise_and_so_nothing_at_all() {
        let interval = Interval { value: 100.0, low: 90.0, high: 110.0 };
        assert_eq!(noise_of(interval, 2), None);
        assert_eq!(noise_of(interval, 3), Some(0.1));
        assert_eq!(judge(0.0, None, false, 1024), Judgement::Inconclusive);
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
