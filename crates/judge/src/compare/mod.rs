//! Measurements held against each other: two records, two libraries or tiers of one (`compare`), and the best
//! answer to a question (`rank`). Here: what a case is, what an operation of it costs, and what can be asked.
//! Pure: no I/O, no clock; the statistics are those of `base::analysis`, the rendering that of `report`.

mod answer;
mod comparison;
mod cost;
mod missing;
mod ranking;
mod sides;
pub mod trust;

pub(crate) use answer::SYSTEM;
pub use answer::{
    Answer, Asked, Best, Family, Newer, REFERENCE_SIZE, Row, Standing as SystemStanding, is_system,
    system,
};
use base::analysis::Group;
use base::model::{Algorithm, Direction, Footprint, Integrity, Kind, Model, NameGlob, Tier};
pub use comparison::{
    ByPairs, Compared, Comparison, Condition, Confirmation, Facts, Found, OTHER_MODEL, RunEffect,
    Settings, Side, Sought, Summary, Tally, Told, compare, compare_with,
};
pub use missing::Missing;
pub use ranking::{Absent, Ranked, Ranking, Secret, Standing, Terms, rank};
use record::{Measurement, Record, State};
use serde::Serialize;
pub use sides::{
    Apart, Between, Change, Counts, InstructionRow, LeakRow, Matching, NOT_COUNTED, Only, Other,
    Part, SizeCounts, StateRow, Uncounted, Which,
};
use std::collections::BTreeSet;

// What can be asked of a record.

/// Which algorithms take part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Class {
    /// Tampering is noticed.
    Authenticated,
    /// Encryption that does not notice tampering.
    Unauthenticated,
    /// A cipher joined with a checksum or a MAC.
    Composite,
    /// Digests and checksums.
    Digest,
    /// Message authentication codes.
    Mac,
}

impl Class {
    fn has(self, a: &Algorithm) -> bool {
        match self {
            // A wrapped key is no message.
            Self::Authenticated => {
                a.encrypts() && a.integrity() == Integrity::Tamper && !a.wraps_keys()
            }
            Self::Unauthenticated => a.encrypts() && a.integrity() != Integrity::Tamper,
            Self::Composite => a.composite.is_some(),
            Self::Digest => a.kind == Kind::Digest,
            Self::Mac => a.kind == Kind::Mac,
        }
    }
}

/// What is least in the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// Time of one operation.
    #[default]
    Time,
    /// Instructions of one operation.
    Instructions,
}

/// Of what there is a best one each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, clap::ValueEnum, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Per {
    /// Library.
    Library,
    /// Algorithm.
    Algorithm,
    /// Family of algorithms.
    Family,
    /// Size.
    Size,
    /// Tier.
    Tier,
}

/// A question: the record decides what is left open.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Which algorithms take part; without it, all that encrypt.
    pub class: Option<Class>,
    pub by: By,
    pub direction: Option<Direction>,
    /// Bytes of plaintext.
    pub size: Option<usize>,
    pub tier: Option<Tier>,
    pub per: Option<Per>,
    /// Bits of the key: of an XTS cipher's one key of two, of a composite's cipher's.
    pub key_bits: Option<usize>,
    pub model: Option<Model>,
    pub threads: Option<u32>,
    pub footprint: Option<Footprint>,
    /// Whether the output is written over the input.
    pub in_place: Option<bool>,
    /// What else tells cases apart: a temperature of TLS, a page's medium and way with keys.
    pub setting: Option<String>,
    /// Whether only cases take part whose traces were the same for all secrets.
    pub same_trace: bool,
    /// Whether what depends on a secret is ranked, too.
    pub leaking: bool,
    pub algorithms: Vec<NameGlob>,
    /// Libraries by glob over name or `name@version`; any of them.
    pub libraries: Vec<NameGlob>,
}

impl Question {
    /// What people ask first.
    pub fn usual(record: &Record) -> Vec<Self> {
        let measured = || record.measurements.iter().filter(|m| m.state == State::Measured);
        if record.kind().is_some() {
            let directions: BTreeSet<Direction> = measured().map(|m| m.direction).collect();
            let of = |direction| Self {
                direction: Some(direction),
                per: Some(Per::Algorithm),
                ..Self::default()
            };
            return directions.into_iter().map(of).collect();
        }
        if measured().next().is_none() {
            // Figures from elsewhere: all there are, in each direction.
            let directions: BTreeSet<Direction> =
                record.measurements.iter().map(|m| m.direction).collect();
            let all = || vec![NameGlob::parse("*").expect("a star is a glob")];
            let of = |direction| Self {
                direction: Some(direction),
                algorithms: all(),
                ..Self::default()
            };
            return directions.into_iter().map(of).collect();
        }
        let smallest = measured().map(|m| m.size).min();
        let fastest = Self { class: Some(Class::Authenticated), ..Self::default() };
        vec![
            fastest.clone(),
            Self { direction: Some(Direction::Decrypt), ..fastest.clone() },
            Self { size: smallest, ..fastest.clone() },
            Self { key_bits: Some(256), ..fastest.clone() },
            Self { class: Some(Class::Unauthenticated), ..fastest.clone() },
            Self { tier: Some(Tier::Noaes), ..fastest.clone() },
            Self { by: By::Instructions, ..fastest.clone() },
            Self { per: Some(Per::Library), ..fastest },
        ]
    }

    /// Whether a case can take part, by what the question names; what it leaves open is decided by all cases that can.
    pub fn may_take(&self, m: &Measurement) -> bool {
        let is = |wanted: Option<usize>, is: usize| wanted.is_none_or(|wanted| wanted == is);
        self.takes_case(m)
            && (is(self.size, m.size) || m.size == 0)
            && self.direction.is_none_or(|d| d == m.direction)
            && self.tier.is_none_or(|t| t == m.tier)
            && self.model.is_none_or(|model| model == m.model)
    }

    /// Whether a measured case takes part: of a survey by its algorithm. Others have none that classes and
    /// lengths of keys could be said of.
    pub(crate) fn takes_case(&self, m: &Measurement) -> bool {
        if m.model.is_of_survey() {
            return self.takes(&m.algorithm);
        }
        let named = || self.algorithms.iter().any(|g| g.matches(&m.algorithm));
        (self.class, self.key_bits) == (None, None) && (self.algorithms.is_empty() || named())
    }

    /// Whether an algorithm takes part. One that this program does not know does so only where its
    /// name was asked for.
    pub fn takes(&self, algorithm: &str) -> bool {
        let named = self.algorithms.iter().any(|g| g.matches(algorithm));
        if !self.algorithms.is_empty() && !named {
            return false;
        }
        let Ok(known) = Algorithm::find(algorithm) else { return named };
        let of_class = match self.class {
            Some(class) => class.has(known),
            None => named || known.encrypts(),
        };
        of_class && self.key_bits.is_none_or(|bits| key_bits(known) == Some(bits))
    }
}

/// The key length that the name says: of two keys one, of a composite the cipher's.
fn key_bits(a: &Algorithm) -> Option<usize> {
    let word = a.name.split(['-', '+']).find_map(|word| {
        let digits = word.trim_end_matches('l').split('x').next().unwrap_or(word);
        digits.parse::<usize>().ok().filter(|bits| (64..=512).contains(bits))
    });
    word.or_else(|| (a.key_len > 0 && a.composite.is_none()).then_some(a.key_len * 8))
}

// What a case is beside its library.

/// A case without its library: what two cases must have in common to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Case {
    pub algorithm: String,
    pub direction: Direction,
    pub model: Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// Which CPU instructions the library may see; of two tiers that are compared, the new one.
    pub tier: Tier,
    pub threads: u32,
    pub footprint: Footprint,
    /// Whether the output is written over the input.
    pub in_place: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
}

impl Case {
    pub fn of(m: &Measurement) -> Self {
        Self {
            algorithm: m.algorithm.clone(),
            direction: m.direction,
            model: m.model,
            size: m.size,
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            setting: m.setting.clone(),
        }
    }

    /// Model and tier, and what else is not as usual, in words.
    pub fn circumstances(&self) -> Vec<String> {
        let mut words = vec![self.model.to_string(), self.tier.to_string()];
        words.extend((self.threads > 1).then(|| format!("{} threads", self.threads)));
        words.extend((!self.footprint.is_hot()).then(|| self.footprint.to_string()));
        words.extend(self.in_place.then(|| "in place".to_owned()));
        words.extend((!self.setting.is_empty()).then(|| self.setting.clone()));
        words
    }
}

/// What is not an authenticated cipher of its own says so.
pub(crate) fn label(m: &Measurement) -> Option<String> {
    match Algorithm::find(&m.algorithm) {
        Ok(a) => {
            let composite = a.composite.is_some().then_some("composite");
            let words: Vec<&str> = composite.into_iter().chain(a.warning_label()).collect();
            (!words.is_empty()).then(|| words.join(", "))
        }
        Err(_) => m.warning.clone(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Core cycles: the steadier unit, and one of the same core only.
    Cycles,
    Nanoseconds,
}

impl Unit {
    /// In short: `cycles`, `ns`.
    pub fn short(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Nanoseconds => "ns",
        }
    }

    pub(crate) fn of(self, m: &Measurement) -> Option<record::Estimate> {
        match self {
            Self::Cycles => m.cycles_per_op,
            Self::Nanoseconds => m.ns_per_op,
        }
    }
}

/// The costs of one operation of a measured case, to be held against another's; `None` where samples of fewer
/// than two processes count.
pub(crate) fn group(record: &Record, m: &Measurement, unit: Unit) -> Option<Group> {
    Group::of(&costs(record, m, unit)?)
}

/// The same, one a process.
pub(crate) fn costs(record: &Record, m: &Measurement, unit: Unit) -> Option<Vec<f64>> {
    match unit {
        Unit::Cycles => m.cycles_by_process(),
        Unit::Nanoseconds => m.ns_by_process(record),
    }
}

/// Instructions of one operation: as counted at this size, else by the line through the counts.
pub fn instructions_of(record: &Record, m: &Measurement) -> Option<f64> {
    let counted = record.executed.iter().find(|e| e.is_of(m));
    let at_size = counted.and_then(|e| e.sizes.iter().find(|s| s.size == m.size));
    let by_line = || Some(m.instructions_per_message? + m.instructions_per_byte? * m.size as f64);
    at_size.map(|s| s.instructions as f64).or_else(by_line)
}

// Families of algorithms: what differs in its key length or its lanes only.
/// The algorithm's name without key length, segments and lanes: `aes-gcm` of `aes-256-gcm`,
/// `aegis` of `aegis-128x4`, `aes-ctr+xxh3` of `aes-128-ctr+xxh3`. A name without them is its own
/// family.
pub fn family(algorithm: &str) -> String {
    if algorithm.starts_with("aegis-") {
        return "aegis".to_owned();
    }
    let is_key_length = |word: &&str| matches!(*word, "128" | "192" | "256");
    let (cipher, check) = match algorithm.split_once('+') {
        Some((cipher, check)) => (cipher, Some(check)),
        None => (algorithm, None),
    };
    let words: Vec<&str> = cipher.split('-').filter(|word| !is_key_length(word)).collect();
    let cipher = words.join("-");
    check.map_or(cipher.clone(), |check| format!("{cipher}+{check}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_takes_the_algorithms_of_its_class_key_length_and_name() {
        let class = |class| Question { class: Some(class), ..Question::default() };
        let bits = |bits| Question { key_bits: Some(bits), ..Question::default() };
        let named = NameGlob::parse("never*").unwrap();
        for (question, taken, others) in [
            (
                class(Class::Authenticated),
                // A MAC notices tampering.
                "aes-128-gcm aegis-256x4 aes-256-cbc+hmac-sha256",
                "aes-256-ctr+xxh3 aes-128-ctr sha256 aes-128-kw",
            ),
            (class(Class::Unauthenticated), "aes-128-ctr", "aes-128-gcm sha256"),
            (class(Class::Composite), "aes-256-ctr+xxh3", "aes-128-gcm"),
            (class(Class::Digest), "sha256", "aes-128-gcm"),
            (Question::default(), "aes-128-ctr aes-128-gcm", "sha256 memcpy never-heard-of"),
            (
                Question { algorithms: vec![named], ..Question::default() },
                "never-heard-of",
                "aes-128-gcm",
            ),
            (
                bits(256),
                "aes-256-gcm aes-256-xts chacha20-poly1305 aegis-256x4 aes-256-ctr+xxh3",
                "aes-128-gcm aegis-128l aegis-128x2 aes-128-xts",
            ),
            (bits(128), "aes-128-gcm aegis-128l aegis-128x2 aes-128-xts", "aes-256-gcm"),
        ] {
            for (names, expected) in [(taken, true), (others, false)] {
                for name in names.split(' ') {
                    assert_eq!(question.takes(name), expected, "{name}: {question:?}");
                }
            }
        }
    }

    #[test]
    fn key_lengths_and_lanes_are_not_part_of_a_family() {
        for (algorithm, of) in [
            ("aes-256-gcm", "aes-gcm"),
            ("aes-128-gcm-siv", "aes-gcm-siv"),
            ("aegis-256x4", "aegis"),
            ("aes-128-xts+xxh3-onepass", "aes-xts+xxh3-onepass"),
            ("aes-256-cbc+hmac-sha256", "aes-cbc+hmac-sha256"),
            ("chacha20-poly1305", "chacha20-poly1305"),
            ("sha256", "sha256"),
        ] {
            assert_eq!(family(algorithm), of);
        }
    }
}
