//! The record of page stores encrypted page by page: its types, what is worked out of
//! samples, nonces and probes, and how it is shown. Pure: no I/O, no clock. `docs/PAGES.md` is the long
//! form.

mod cells;
mod nonces;
mod reading;
mod render;
pub mod scheme;
pub mod store;

use crate::{Host, Library, Samples, State, Stopped, Tool};
use base::model::{Direction, Tier};
pub use cells::{
    CellKey, CellSamples, Scale, cell, from_record, into_record, judged, set_over_none,
};
pub use nonces::{NonceRow, NonceVerdict, Nonces, RepeatedNonce, Seen, nonces};
pub use reading::{from_json, of, read, to_json};
pub use render::{markdown, table};
use schemars::JsonSchema;
use scheme::{Effect, Expected, OnReuse, Probe, Protection, Recipe, expected};
use serde::{Deserialize, Serialize};

/// The committed record: two libraries, three schemes, one of them refused in one library.
#[cfg(test)]
pub(crate) fn sample() -> PagesRecord {
    from_json(include_str!("../../tests/at-rest.json"), "sample").expect("a test reads it")
}

// The run's types.

/// Version of the documents that `pages` wrote before records had their kinds.
pub const FORMAT_VERSION: &str = "1.0";
/// What tells this record from that of a survey.
pub const KIND: &str = "pages";

/// One run over a page store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PagesRecord {
    /// `pages`
    pub kind: String,
    /// Version of the format.
    pub format_version: String,
    /// What wrote the record.
    pub tool: Tool,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// The machine.
    pub host: Host,
    /// The store.
    pub store: PageStore,
    /// The real system whose way was taken; null: good practice.
    pub profile: Option<ProfileFacts>,
    /// Which CPU instructions the libraries saw.
    pub tier: Tier,
    /// The seed of keys, of the nonces of verification, and of orders.
    pub seed: u64,
    /// The libraries.
    pub libraries: Vec<Library>,
    /// The schemes.
    pub schemes: Vec<SchemeFacts>,
    /// What came of every library and scheme when the whole store went through it and back.
    pub verified: Vec<Verified>,
    /// What was noticed of stored pages that were changed.
    pub probes: Vec<Probed>,
    /// Whether nonces made of places and versions come twice.
    pub nonces: Nonces,
    /// How time was taken; null where none was.
    pub timing: Option<Timing>,
    /// What was timed.
    pub cells: Vec<Cell>,
}

/// A page store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PageStore {
    /// `postgres`, `sqlite`, `image` or `synthetic`.
    pub kind: String,
    /// Name of the directory or file, without the path to it.
    pub name: String,
    /// Bytes of a page.
    pub page_size: usize,
    /// Whole pages.
    pub pages: u64,
    /// Files with pages.
    pub files: u64,
    /// Files without pages, or with a rest beside their pages.
    pub left_out: u64,
    /// Pages of zeros.
    pub zero_pages: u64,
    /// Pages with LSN 0 that are not all zeros.
    pub without_lsn: u64,
    /// Bytes in holes between line pointers and tuples.
    pub hole_bytes: u64,
    /// Whether each page has a checksum of the store's own; null where there is no such thing.
    pub checksums: Option<bool>,
    /// SHA-256 over all pages before the run, in hexadecimal; names and lengths of the files included.
    pub sha256_before: String,
    /// The same after the run: the store was only read.
    pub sha256_after: String,
    /// What the store's own files state.
    pub facts: Vec<String>,
    /// Earlier or later states of the same store, for nonces alone.
    pub snapshots: Vec<Snapshot>,
}

/// Another state of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// Name of the directory or file.
    pub name: String,
    /// Whole pages.
    pub pages: u64,
    /// As [`PageStore::sha256_before`].
    pub sha256: String,
}

/// A real system's way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileFacts {
    /// `--as`
    pub name: String,
    /// What it is.
    pub title: String,
    /// What differs here.
    pub differs: String,
    /// Where its facts are written.
    pub source: String,
    /// Year and month of reading.
    pub read: String,
}

/// A scheme.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SchemeFacts {
    /// Everything that decides which bytes a page becomes.
    pub recipe: Recipe,
    /// Bytes that a page costs beside itself.
    pub extra_bytes: usize,
    /// Against whom it protects.
    pub protection: Protection,
    /// What a nonce that comes twice under one key gives away.
    pub on_nonce_reuse: OnReuse,
}

/// What came of a library and a scheme when the whole store went through it and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verified {
    /// Index into `libraries`.
    pub library: usize,
    /// The scheme's name.
    pub scheme: String,
    /// `measured`: verified, and timed where time was taken.
    pub state: State,
    /// Why it is anything else.
    pub reason: Option<String>,
    /// What ended the run before it was verified; absent where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Pages that were encrypted and came back as they were.
    pub pages: u64,
    /// Libraries that made the very same bytes of all pages, this one included.
    pub agreeing: u64,
    /// XXH3-128 over the digests of all parts of the store; null where it was not verified.
    pub digest: Option<String>,
    /// Whose code made the sum; null where the scheme has none.
    pub sum_by: Option<String>,
}

/// What a library and a scheme noticed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Probed {
    /// Index into `libraries`.
    pub library: usize,
    /// The scheme's name.
    pub scheme: String,
    /// Whether every accident was noticed.
    pub against_accidents: bool,
    /// Whether everything was noticed but an old page in its own place.
    pub against_adversaries: bool,
    /// Whether an old page in its own place was noticed.
    pub against_rollback: bool,
    /// Whether every probe came out as expected.
    pub as_expected: bool,
    /// Each kind of probe.
    pub rows: Vec<ProbeRow>,
}

/// One kind of probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRow {
    /// What was seen.
    #[serde(flatten)]
    pub counts: ProbeCounts,
    /// What was expected.
    pub expected: Expected,
    /// Whether it was so; null where nothing could be tried.
    pub as_expected: Option<bool>,
}

/// How time was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timing {
    /// Processes of each library that were timed, at most.
    pub rounds: u32,
    /// Seconds that it took.
    pub seconds: f64,
    /// Pages of each scheme and direction in a visit in memory.
    pub pages_per_visit: usize,
    /// Bytes of store pages that visits chose from.
    pub window_bytes: u64,
    /// Where ticks come from.
    pub clock: String,
    /// Where nonces came from.
    pub random_source: String,
    /// The medium file's file system, as the kernel names it; null where there was none.
    pub scratch: Option<String>,
    /// Independent instructions per core cycle of the quiet core, as far as the run saw one.
    pub quiet_throughput: f64,
    /// Half the interval's width at which sampling of a cell ends, as a fraction; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
}

/// Where pages come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Medium {
    /// Memory, one page after the other; out of the near caches.
    Sequential,
    /// Memory, pages at random; out of the near caches.
    Random,
    /// A file in the page cache, pages at random.
    Cache,
    /// A file past the page cache, pages at random, one at a time.
    Direct,
    /// The end of a log, each unit forced to the disk.
    Log,
}

/// How keys are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, JsonSchema, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Keying {
    /// A context with its key for all pages.
    Reused,
    /// A new key for each page.
    PerPage,
}

/// One library, scheme, medium, way with keys, direction and number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Index into `libraries`.
    pub library: usize,
    /// The scheme's name.
    pub scheme: String,
    /// Medium.
    pub medium: Medium,
    /// Way with keys.
    pub keying: Keying,
    /// Direction: a page is encrypted and written, or read and decrypted.
    pub direction: Direction,
    /// Threads at once.
    pub threads: u32,
    /// `measured`, `unsupported`, `refused`, `failed`.
    pub state: State,
    /// Why there is no number.
    pub reason: Option<String>,
    /// Processes that count.
    pub rounds: u32,
    /// Samples that were disturbed; they count only where the others are too few for a number.
    pub disturbed_rounds: u32,
    /// Pages in all samples that count.
    pub pages: u64,
    /// Nanoseconds of the scheme's own work on a page: nonce, cipher, sum.
    pub crypto_ns: Option<NsRange>,
    /// Its tails over all pages.
    pub crypto_tails: Option<Tails>,
    /// Nanoseconds of reading or writing a page; null in memory.
    pub io_ns: Option<NsRange>,
    /// Its tails over all pages.
    pub io_tails: Option<Tails>,
    /// Nanoseconds more than `none` in the same library, process and medium; null for `none` itself.
    pub over_none_ns: Option<NsRange>,
    /// Pages per second of all threads together, reading or writing included.
    pub pages_per_s: Option<f64>,
    /// Core-seconds of the scheme's own work on 2^30 bytes.
    pub core_seconds_per_gib: Option<f64>,
    /// Why no more samples were taken; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// Samples of the scheme's own work, as in a survey's record; absent in records of earlier versions.
    #[serde(default, skip_serializing_if = "Samples::is_empty")]
    pub raw: Samples,
    /// Ticks of reading or writing in each of these samples; absent in memory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw_io_ticks: Vec<u64>,
}

/// A median over processes with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NsRange {
    /// Median of the processes' medians.
    pub median: f64,
    /// Lower end of the interval that holds the true one with 95 % at least; null with fewer than six
    /// processes.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// Quantiles over single pages, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tails {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Slowest.
    pub max: f64,
}

impl Medium {
    /// All.
    pub const ALL: [Self; 5] =
        [Self::Sequential, Self::Random, Self::Cache, Self::Direct, Self::Log];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a file is read or written.
    #[must_use]
    pub fn has_io(self) -> bool {
        !matches!(self, Self::Sequential | Self::Random)
    }
}

impl Keying {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a record says of a scheme.
#[must_use]
pub fn scheme_facts(recipe: &Recipe) -> SchemeFacts {
    SchemeFacts {
        recipe: recipe.clone(),
        extra_bytes: recipe.extra_bytes(),
        protection: recipe.protection(),
        on_nonce_reuse: recipe.on_reuse(),
    }
}

/// What an unnoticed change did, for readers.
pub(crate) fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::None => "nothing",
        Effect::OneBit => "one bit",
        Effect::OneBlock => "one block",
        Effect::BlockAndBit => "a block and a bit",
        Effect::OtherPage => "the other page",
        Effect::OldPage => "the old page",
        Effect::Mixed => "a mix of both",
        Effect::HalfZero => "zeros in half",
        Effect::Zeros => "zeros",
        Effect::AsMeant => "as meant",
        Effect::Garbage => "garbage",
    }
}

/// Whether there is no number because the time was over or somebody ended the run.
fn is_left_out(state: State, stopped: Option<Stopped>) -> bool {
    let is_cut = |why| matches!(why, Stopped::Budget | Stopped::Interrupted);
    state == State::Failed && stopped.is_some_and(is_cut)
}

impl Verified {
    /// Whether it was not verified because the time was over or somebody ended the run.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        is_left_out(self.state, self.stopped)
    }
}

impl Cell {
    /// Whether it has no number because the time was over or somebody ended the run.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        is_left_out(self.state, self.stopped)
    }
}

// Probes held against what was expected.

/// What came of one kind of probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeCounts {
    /// Which kind.
    pub probe: Probe,
    /// How many pages were changed and read.
    pub tried: u64,
    /// How many of them were noticed.
    pub noticed: u64,
    /// What became of the plaintext of the others, and how often.
    pub effects: Vec<(Effect, u64)>,
}

impl ProbeCounts {
    /// One more that was not noticed.
    pub fn add(&mut self, effect: Effect) {
        match self.effects.iter_mut().find(|(e, _)| *e == effect) {
            Some((_, count)) => *count += 1,
            None => self.effects.push((effect, 1)),
        }
    }

    fn fits(&self, expected: Expected) -> Option<bool> {
        if expected == Expected::NotApplicable {
            return Some(self.tried == 0);
        }
        if self.tried == 0 {
            return None;
        }
        Some(match expected {
            Expected::Unnoticed(effect) => {
                self.noticed == 0 && self.effects.iter().all(|(e, _)| *e == effect)
            }
            _ => self.noticed == self.tried,
        })
    }
}

/// What a scheme noticed in a library, as verdicts.
#[must_use]
pub fn judge(library: usize, recipe: &Recipe, counts: Vec<ProbeCounts>) -> Probed {
    let noticed = |of: &dyn Fn(Probe) -> bool| {
        counts.iter().filter(|c| of(c.probe)).all(|c| c.noticed == c.tried)
    };
    let (accidents, adversaries, rollback) = (
        noticed(&|p| p.is_accident()),
        noticed(&|p| p != Probe::Replay),
        noticed(&|p| p == Probe::Replay),
    );
    let row = |counts: ProbeCounts| {
        let expected = expected(recipe, counts.probe);
        ProbeRow { as_expected: counts.fits(expected), expected, counts }
    };
    let rows: Vec<ProbeRow> = counts.into_iter().map(row).collect();
    Probed {
        library,
        scheme: recipe.scheme.clone(),
        against_accidents: accidents,
        against_adversaries: adversaries,
        against_rollback: rollback,
        as_expected: rows.iter().all(|r| r.as_expected != Some(false)),
        rows,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::good_practice;

    fn recipe(name: &str) -> Recipe {
        good_practice().into_iter().find(|r| r.scheme == name).unwrap()
    }

    /// What a scheme does that does what is expected.
    fn expected_counts(recipe: &Recipe) -> Vec<ProbeCounts> {
        let count = |probe| {
            let empty = ProbeCounts { probe, tried: 200, noticed: 0, effects: Vec::new() };
            match expected(recipe, probe) {
                Expected::NotApplicable => ProbeCounts { tried: 0, ..empty },
                Expected::Noticed => ProbeCounts { noticed: 200, ..empty },
                Expected::Unnoticed(effect) => {
                    ProbeCounts { effects: vec![(effect, 200)], ..empty }
                }
            }
        };
        Probe::ALL.iter().copied().map(count).collect()
    }

    #[test]
    fn verdicts_are_for_accidents_adversaries_and_old_pages_apart() {
        let verdict = |name: &str| {
            let recipe = recipe(name);
            let p = judge(0, &recipe, expected_counts(&recipe));
            assert!(p.as_expected, "{name}");
            (p.against_accidents, p.against_adversaries, p.against_rollback)
        };
        assert_eq!(verdict("none"), (false, false, false));
        assert_eq!(verdict("aes-256-xts"), (false, false, false));
        assert_eq!(verdict("aes-256-xts+xxh3-64"), (true, false, false));
        assert_eq!(verdict("aes-256-gcm"), (true, true, false));
    }

    #[test]
    fn one_probe_that_comes_out_otherwise_is_seen() {
        let gcm = recipe("aes-256-gcm");
        let mut counts = expected_counts(&gcm);
        counts[0].noticed = 199;
        counts[0].add(Effect::OneBit);
        let p = judge(0, &gcm, counts);
        assert!(!p.as_expected && !p.against_accidents);
        assert_eq!(p.rows[0].as_expected, Some(false));
        let xts = recipe("aes-256-xts");
        let mut counts = expected_counts(&xts);
        counts[0].effects = vec![(Effect::OneBlock, 199), (Effect::Garbage, 1)];
        assert!(!judge(0, &xts, counts).as_expected);
    }

    #[test]
    fn what_could_not_be_tried_is_neither_right_nor_wrong() {
        let gcm = recipe("aes-256-gcm");
        let mut counts = expected_counts(&gcm);
        let other = counts.iter_mut().find(|c| c.probe == Probe::OtherFile).unwrap();
        (other.tried, other.noticed) = (0, 0);
        let p = judge(0, &gcm, counts);
        assert!(p.as_expected);
        assert!(p.rows.iter().any(|r| r.as_expected.is_none()));
    }
}
