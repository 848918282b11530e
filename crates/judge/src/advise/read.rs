//! Advice that was written as JSON, read again: by the page that shows it.

use crate::advise::answer::{Advice, Outcome};
use crate::advise::cost::Price;
use crate::claims::expression::Interval;
use record::printable;
use serde::Deserialize;

/// What tells advice from records.
pub(crate) const KIND: &str = "advice";
/// Version of the format, `major.minor`; minor versions only add optional fields.
pub(crate) const FORMAT_VERSION: &str = "1.1";

/// Most entries of each list: ten times what there are.
const MOST: usize = 1000;
/// Beyond any time or speed, and so small that what is computed from it stays finite.
const MOST_RATE: f64 = 1e18;

/// Advice, and what it says it was made from.
#[derive(Clone, Debug, Deserialize)]
pub struct Advised {
    /// The advice.
    #[serde(flatten)]
    pub advice: Advice,
    /// What it was made from, in words: `record run.json`.
    pub record: String,
}

/// Why a text is no advice: one line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{origin}' is not ciphermark advice: {why}")]
pub struct AdviceError {
    origin: String,
    why: String,
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    format_version: Option<String>,
}

/// Whether a text looks like advice.
#[must_use]
pub fn is_advice(text: &str) -> bool {
    let head: Result<Head, _> = serde_json::from_str(unmarked(text));
    head.is_ok_and(|h| h.kind.as_deref() == Some(KIND))
}

/// Reads what `advise --format json` wrote; `origin` names it in errors.
///
/// # Errors
/// [`AdviceError`], one line.
pub fn from_json(text: &str, origin: &str) -> Result<Advised, AdviceError> {
    let wrong = |why: String| AdviceError { origin: origin.to_owned(), why: printable(&why) };
    let text = unmarked(text);
    let head: Head = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    if head.kind.as_deref() != Some(KIND) {
        return Err(wrong("it is of another kind".to_owned()));
    }
    let version = head.format_version.unwrap_or_default();
    if version.split('.').next() != FORMAT_VERSION.split('.').next() {
        return Err(wrong(format!("its format is {version}, this program reads {FORMAT_VERSION}")));
    }
    let advised: Advised = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    contradiction(&advised.advice).map_err(wrong)?;
    Ok(advised)
}

/// Editors on some systems put a mark at the beginning of what they save.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// What the types cannot rule out.
fn contradiction(advice: &Advice) -> Result<(), String> {
    let lists = [
        ("terms", advice.terms.len()),
        ("fitting", advice.fitting.len()),
        ("rejected", advice.rejected.len()),
        ("changes", advice.changes.len()),
        ("rules", advice.rules.len()),
    ];
    if let Some((name, count)) = lists.into_iter().find(|(_, count)| *count > MOST) {
        return Err(format!("`{name}` has {count} entries"));
    }
    let unknown = advice.rejected.iter().find(|r| !advice.rules.contains_key(&r.rule));
    if let Some(rejected) = unknown {
        return Err(format!("the rule '{}' is not among `rules`", rejected.rule));
    }
    for one in &advice.fitting {
        interval("fitting.ns", one.ns)?;
        rate("fitting.times", one.times)?;
        if one.others.len() > MOST {
            return Err(format!("`fitting.others` has {} entries", one.others.len()));
        }
        for other in &one.others {
            interval("fitting.others.ns", other.ns)?;
        }
    }
    if let Outcome::Choice(choice) = &advice.outcome {
        price(&choice.price)?;
        if choice.key.longer.len() > MOST {
            return Err(format!("`key.longer` has {} entries", choice.key.longer.len()));
        }
        rate("write_core_seconds_per_gib", choice.write_core_seconds_per_gib)?;
        rate("read_core_seconds_per_gib", choice.read_core_seconds_per_gib)?;
        rate("write_mb_per_s", choice.write_mb_per_s)?;
        rate("read_mb_per_s", choice.read_mb_per_s)?;
    }
    Ok(())
}

fn price(price: &Price) -> Result<(), String> {
    interval("write_ns", price.write_ns)?;
    interval("read_ns", price.read_ns)?;
    for one in &price.in_store {
        rate("in_store.scheme_ns", one.scheme_ns)?;
        rate("in_store.io_ns", one.io_ns)?;
        rate("in_store.share", one.share)?;
    }
    Ok(())
}

fn interval(name: &str, interval: Interval) -> Result<(), String> {
    rate(name, interval.median)?;
    let out = |end: f64| !(-MOST_RATE..=MOST_RATE).contains(&end);
    if out(interval.low) || out(interval.high) {
        return Err(format!("the interval of `{name}` is beyond any run's"));
    }
    Ok(())
}

fn rate(name: &str, rate: f64) -> Result<(), String> {
    if (0.0..=MOST_RATE).contains(&rate) {
        return Ok(());
    }
    Err(format!("`{name}` is {rate:e}, which no run has"))
}
