//! The question turned round: CPU use has risen; which rates and parameters explain it, and which cannot?

use crate::load::changes::{Change, improvements, worsenings};
use crate::load::document::Calibrated;
use crate::load::form::{Form, Interval};
use crate::load::formula::sum;
use crate::load::inputs::{Inputs, OwnCode, Prices};
use crate::load::load::{calibrated, regime_of, whole};
use crate::load::logs::{Evidence, all_evidence};
use crate::load::spec::{Spec, SpecError};
use crate::load::why_rates::{bytes_and_requests, handshakes};
use crate::load::words::Regime;
use record::named;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of the format.
pub const WHY_VERSION: &str = "1.0";

/// What was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// CPU use before, in percent of one core, lowest and highest.
    pub from_percent: (f64, f64),
    /// CPU use after.
    pub to_percent: (f64, f64),
    /// How many times slower the observed server's core is than the calibrated one, lowest and highest.
    pub slower: (f64, f64),
    /// What is known of the server.
    pub spec: Option<Spec>,
    /// Whether the specification is that of the server before the rise; else it is that after it.
    pub spec_is_before: bool,
    /// Most that its clients receive, in Mbit per second, where it is known.
    pub most_mbit_per_s: Option<f64>,
}

/// The answer. Units are in the names; `docs/tls-why.schema.json` is its schema.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Why {
    /// [`WHY_VERSION`].
    pub format_version: String,
    /// `tls-why`.
    pub kind: String,
    /// The rise, in percent of one core.
    pub rise_percent: Interval,
    /// The same in µs of CPU per second, of the observed core.
    pub rise_cpu_us_per_s: Interval,
    /// How many times slower the observed core is taken to be.
    pub slower: Interval,
    /// What the costs come from.
    pub calibrated: Calibrated,
    /// The regime of the costs.
    pub regime: Regime,
    /// What of each kind, alone, would make the rise.
    pub rates: Vec<Rate>,
    /// What each change of the given configuration makes of it; empty without a specification.
    pub changes: Vec<Explained>,
    /// What decides between the explanations that are left.
    pub evidence: Vec<Evidence>,
    /// What can be said and what cannot.
    pub verdict: String,
    /// What must be known to read these figures.
    pub remarks: Vec<String>,
}

named! {
    /// What a candidate makes of the rise.
    Verdict {
        /// It makes the rise, within the intervals.
        Fits = "fits",
        /// It would make more: it explains the rise where it concerns a part of the connections only.
        More = "more than enough",
        /// At this rate it does, and nothing that is known speaks against the rate.
        Possible = "possible",
        /// It makes a part of it.
        Part = "a part",
        /// It makes less than a fiftieth of it, or needs more than there is.
        Cannot = "cannot",
    }
}

named! {
    /// What is counted.
    Amount {
        /// Handshakes.
        Handshakes = "handshakes",
        /// Connections.
        Connections = "connections",
        /// Requests.
        Requests = "requests",
        /// Bytes of responses.
        Bytes = "bytes",
    }
}

/// How much of something alone would make the rise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// Of what.
    pub what: String,
    /// What is counted.
    pub counted: Amount,
    /// What each costs the observed core, in µs.
    pub each_cpu_us: Interval,
    /// As many a second make the rise; null where each costs nothing that could be measured.
    pub needed_per_s: Option<Interval>,
    /// What that means.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Log variables and looks that decide.
    pub decided_by: Vec<String>,
}

/// What a change of configuration makes of the rise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The change.
    pub change: String,
    /// What it makes, in µs per second of the observed core.
    pub rise_cpu_us_per_s: Interval,
    /// Its share of the observed rise.
    pub share: f64,
    /// What that means.
    pub verdict: Verdict,
    /// Log variables and looks that decide.
    pub decided_by: Vec<String>,
}

/// What a rise is compared with.
pub(crate) struct Asked<'a> {
    pub(crate) rise: Interval,
    pub(crate) slower: Interval,
    pub(crate) prices: &'a Prices,
    pub(crate) regime: Regime,
    pub(crate) spec: Option<&'a Spec>,
    pub(crate) most_bytes_per_s: Option<f64>,
}

/// Answers.
///
/// # Errors
/// A rise that is none, and what is wrong with the specification.
pub fn why(question: &Question, inputs: &Inputs<'_>) -> Result<Why, SpecError> {
    let rise_percent = rise(question)?;
    let prices = Prices::of(inputs);
    let usual = Spec::default();
    let spec = question.spec.as_ref();
    if let Some(spec) = spec {
        spec.check()?;
    }
    let asked = Asked {
        rise: rise_percent.times(1e4),
        slower: around(question.slower),
        prices: &prices,
        regime: regime_of(spec.unwrap_or(&usual), &prices)?,
        spec,
        most_bytes_per_s: most_bytes(question),
    };
    let mut rates = handshakes(&asked);
    rates.extend(bytes_and_requests(&asked));
    rates.sort_by_key(|r| r.verdict);
    let changes = match spec {
        Some(spec) => explained(spec, question.spec_is_before, &asked)?,
        None => Vec::new(),
    };
    let verdict = verdict(&rates, &changes, spec.is_some());
    Ok(Why {
        format_version: WHY_VERSION.to_owned(),
        kind: "tls-why".to_owned(),
        rise_percent,
        rise_cpu_us_per_s: asked.rise,
        slower: asked.slower,
        calibrated: calibrated(inputs),
        regime: asked.regime,
        rates,
        changes,
        evidence: all_evidence(),
        verdict,
        remarks: remarks(question, &asked).into_iter().chain(whole(inputs)).collect(),
    })
}

fn around((low, high): (f64, f64)) -> Interval {
    Interval { value: f64::midpoint(low, high), low, high }
}

fn rise(question: &Question) -> Result<Interval, SpecError> {
    let (from, to) = (around(question.from_percent), around(question.to_percent));
    let rise = Interval {
        value: to.value - from.value,
        low: to.low - from.high,
        high: to.high - from.low,
    };
    if rise.low > 0.0 {
        return Ok(rise);
    }
    let (from, to) = (from.value, to.value);
    Err(SpecError(format!("from {from} % to {to} % of a core is no rise that is certain")))
}

/// What is known of the bytes: the specification's own, or what was said.
fn most_bytes(question: &Question) -> Option<f64> {
    let said = question.most_mbit_per_s.map(|mbit| mbit * 1e6 / 8.0);
    let of_spec = question.spec.as_ref().map(|s| {
        let mean: f64 = s.traffic.responses.iter().map(|r| r.bytes as f64 * r.share).sum();
        s.traffic.connections_per_s * s.traffic.requests_per_connection * mean
    });
    said.or(of_spec)
}

impl Asked<'_> {
    /// A price on the observed core.
    pub(crate) fn cost(&self, form: &Form) -> Interval {
        let here = self.prices.figures.eval(form);
        let ends = [
            here.low * self.slower.low,
            here.low * self.slower.high,
            here.high * self.slower.low,
            here.high * self.slower.high,
        ];
        Interval {
            value: here.value * self.slower.value,
            low: ends.iter().copied().fold(f64::INFINITY, f64::min),
            high: ends.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// How many make the rise; none where the price cannot be told from nothing.
    pub(crate) fn needed(&self, each: Interval) -> Option<Interval> {
        (each.low > 0.0).then(|| Interval {
            value: self.rise.value / each.value,
            low: self.rise.low / each.high,
            high: self.rise.high / each.low,
        })
    }
}

fn explained(spec: &Spec, is_before: bool, asked: &Asked<'_>) -> Result<Vec<Explained>, SpecError> {
    let base = sum(spec, asked.prices, asked.regime)?.total();
    let changes = if is_before { worsenings(spec) } else { improvements(spec) };
    let one = |change: Change| {
        // What has no price explains nothing that could be shown; the rates above have it.
        let other = sum(&change.spec, asked.prices, asked.regime).ok()?.total();
        let rise = if is_before { other.plus(&base, -1.0) } else { base.plus(&other, -1.0) };
        let rise = asked.cost(&rise);
        let text = if is_before { change.text } else { format!("before: {}", change.text) };
        Some(Explained {
            change: text,
            rise_cpu_us_per_s: rise,
            share: rise.value / asked.rise.value,
            verdict: of_rise(rise, asked.rise),
            decided_by: change.evidence.iter().map(|e| (*e).to_owned()).collect(),
        })
    };
    let mut all: Vec<_> = changes.into_iter().filter_map(one).collect();
    all.sort_by(|a, b| {
        let off = |e: &Explained| (e.share.max(1e-9).ln()).abs();
        a.verdict.cmp(&b.verdict).then(off(a).total_cmp(&off(b)))
    });
    Ok(all)
}

/// What a predicted rise makes of the observed one.
fn of_rise(predicted: Interval, observed: Interval) -> Verdict {
    if predicted.high < observed.high * 0.02 || predicted.value <= 0.0 {
        Verdict::Cannot
    } else if predicted.low <= observed.high && predicted.high >= observed.low {
        Verdict::Fits
    } else if predicted.low > observed.high {
        Verdict::More
    } else {
        Verdict::Part
    }
}

fn verdict(rates: &[Rate], changes: &[Explained], has_spec: bool) -> String {
    let is_open = |v: Verdict| matches!(v, Verdict::Fits | Verdict::More | Verdict::Possible);
    let by_rates = rates.iter().filter(|r| is_open(r.verdict)).count();
    let by_changes = changes.iter().filter(|c| is_open(c.verdict)).count();
    let open = if has_spec { by_changes } else { by_rates };
    match open {
        0 => "nothing that is priced here explains it alone: look for work that is not TLS"
            .to_owned(),
        1 => "one explanation is left of those that are priced; the log decides whether it is that"
            .to_owned(),
        n => format!(
            "cannot decide from CPU % alone: {n} explanations are left, and the log variables tell them apart"
        ),
    }
}

fn remarks(question: &Question, asked: &Asked<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if question.slower == (1.0, 1.0) {
        remarks.push(
            "the observed core is taken to be as fast as the calibrated one; --slower says how much slower it is".to_owned(),
        );
    }
    if asked.spec.is_none() {
        remarks.push(
            "rates of the server are not known: --spec with them excludes what needs more than there is".to_owned(),
        );
    }
    if asked.prices.own_code(asked.regime, true).is_some_and(|own| own.stands_in) {
        remarks.push(OwnCode::LACKS_RESUMED.to_owned());
    }
    remarks
}

#[cfg(test)]
mod tests;
