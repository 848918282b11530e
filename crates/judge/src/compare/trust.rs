//! Whether a record's figures can be believed: each is calculated again from the record's own samples, and the record is
//! held against what its core can do, against its plan, and against other records. What this cannot see is in docs/FLEET.md.

mod counts;
mod derived;
mod executed;
mod figures;
mod known;
mod limits;
mod manifest;
mod peers;
#[cfg(test)]
mod tests;
mod whole;

pub use known::{Kin, Known, KnownCase, samples_digest};
pub use manifest::Manifest;

use record::{Measurement, Record};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What kind of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// A figure is not what its samples give.
    Recomputed,
    /// A figure without samples.
    SamplesMissing,
    /// Counts of samples, processes or calls are not those of the samples.
    Counts,
    /// A sample counts although it was disturbed, or does not although nothing disturbed it.
    Marks,
    /// A figure that follows from others does not.
    Derived,
    /// Cases or samples that the run had are missing.
    Truncated,
    /// Faster than the record's own limits allow.
    ImpossibleSpeed,
    /// A time of day or a duration that cannot be.
    ImpossibleTime,
    /// Instruction counts contradict each other, or those of another record of the same build.
    Instructions,
    /// Another record has the same samples.
    Replayed,
    /// Two cases have the same samples.
    Copied,
    /// Not the seed that the collector gave, or older than that.
    NotFresh,
    /// The machine is not what it is called.
    Relabelled,
    /// Far from what other records of the same CPU and build say.
    UnlikePeers,
}

impl Code {
    /// In files: `recomputed`, `impossible-speed`, …
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A reason not to believe a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Doubt {
    /// What kind.
    pub code: Code,
    /// Which measurement of the record; `None` of the record as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub case: Option<usize>,
    /// One plain sentence.
    pub sentence: String,
}

/// What the collector knows beside the record. What is `None` is not checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told<'a> {
    /// The time of day, RFC 3339: nothing was measured after it.
    pub now: Option<&'a str>,
    /// The machine type that the record is said to be of.
    pub machine_type: Option<&'a str>,
    /// What the collector gave for this one run.
    pub given: Option<Given<'a>>,
}

/// What makes a record fresh.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The seed of the run (`run --seed`), drawn at random.
    pub seed: u64,
    /// When it was given, RFC 3339: the run began later.
    pub at: Option<&'a str>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// Why the record is not to be believed; of each code the first few and a count.
    pub doubts: Vec<Doubt>,
    /// What could not be checked, because the record's format or the run does not have it: no doubt.
    pub unchecked: Vec<String>,
}

/// Judges a record. `peers` are records to hold it against: a few of the same CPU, a few of the same machine type.
#[must_use]
pub fn judge(record: &Record, told: &Told<'_>, peers: &[Known]) -> Judgement {
    let mut findings = Findings::default();
    figures::check(record, &mut findings);
    counts::check(record, &mut findings);
    derived::check(record, &mut findings);
    limits::check(record, &mut findings);
    executed::check(record, &mut findings);
    whole::check(record, told, &mut findings);
    peers::check(record, told, peers, &mut findings);
    findings.judgement()
}

/// The doubts of [`judge`].
#[must_use]
pub fn doubts(record: &Record, told: &Told<'_>, peers: &[Known]) -> Vec<Doubt> {
    judge(record, told, peers).doubts
}

/// Most doubts of one code that are told one by one.
const MOST: usize = 5;

/// What is being found.
#[derive(Default)]
struct Findings {
    doubts: Vec<Doubt>,
    counts: BTreeMap<Code, usize>,
    unchecked: BTreeSet<String>,
}

impl Findings {
    /// Of the record as a whole.
    fn doubt(&mut self, code: Code, sentence: String) {
        self.add(code, None, || sentence);
    }

    /// Of one case; `what` follows the case's name.
    fn of_case(
        &mut self,
        code: Code,
        (at, m): (usize, &Measurement),
        what: impl FnOnce() -> String,
    ) {
        self.add(code, Some(at), || format!("{}: {}", named(m), what()));
    }

    fn add(&mut self, code: Code, case: Option<usize>, sentence: impl FnOnce() -> String) {
        let count = self.counts.entry(code).or_insert(0);
        *count += 1;
        if *count <= MOST {
            self.doubts.push(Doubt { code, case, sentence: text_of(sentence()) });
        }
    }

    fn unchecked(&mut self, what: &str) {
        self.unchecked.insert(what.to_owned());
    }

    fn judgement(mut self) -> Judgement {
        for (code, count) in &self.counts {
            if *count > MOST {
                let sentence = format!("{code}: {} more", count - MOST);
                self.doubts.push(Doubt { code: *code, case: None, sentence });
            }
        }
        Judgement { doubts: self.doubts, unchecked: self.unchecked.into_iter().collect() }
    }
}

/// A record is a stranger's: its names may hold anything.
fn text_of(sentence: String) -> String {
    base::text::one_line(&sentence)
}

/// How sentences call a case.
fn named(m: &Measurement) -> String {
    let Measurement { library, algorithm, direction, model, size, tier, .. } = m;
    let at = if *size == 0 { String::new() } else { format!(" {size} B") };
    let setting = if m.setting.is_empty() { String::new() } else { format!(" {}", m.setting) };
    format!(
        "{} {} {algorithm} {direction} {model}{at}{setting} {tier}",
        library.name, library.version
    )
}

/// Whether two figures are one, but for rounding by this fraction.
fn is_close(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within * a.abs().max(b.abs())
}

/// Whether the record is of `pages`, whose samples are judged by the medium.
fn is_of_pages(record: &Record) -> bool {
    record.kind() == Some("pages")
}
