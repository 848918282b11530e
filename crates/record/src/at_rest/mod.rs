//! The record of page stores encrypted page by page: its types, what is worked out of samples, nonces and
//! probes, and how it is shown. Pure: no I/O, no clock. `docs/PAGES.md` is the long form. Here are the types,
//! verdicts on tampering, and whether nonces that are made of places and versions come twice with different
//! pages, over a sequence of states of a store.

mod render;
mod run;
pub mod scheme;
pub mod store;

use crate::{Host, Library, Samples, State, Stopped, Tool};
use base::analysis::Estimate;
use base::model::{Direction, Tier};
pub use render::{markdown, table};
pub(crate) use run::of_older;
pub use run::{CellKey, CellSamples, Scale, cell, into_record, judged, of, set_over_none, to_json};
use schemars::JsonSchema;
use scheme::{
    Effect, Expected, Field, KeyScope, NonceRule, OnReuse, Position, Probe, Protection, Recipe,
    expected, write_fields,
};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The committed record: two libraries, three schemes, one of them refused in one library.
#[cfg(test)]
pub(crate) fn sample() -> PagesRecord {
    crate::read_run(include_str!("../../tests/at-rest.json"), "sample", of)
        .expect("a test reads it")
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

/// Up to this day the program looked an algorithm up within the clock, at every page.
const PRICED_SINCE: &str = "2026-11-27";

impl PagesRecord {
    /// Why its prices answer nothing; none where they do, or there are none.
    pub fn withdrawn(&self) -> Option<&'static str> {
        let is_old = self.started.as_str() < PRICED_SINCE;
        (is_old && self.cells.iter().any(|c| c.crypto_ns.is_some())).then_some(
            "its prices are withdrawn: up to 2026-11-26 ciphermark looked the algorithm up within the clock, some \
             300 ns a page; `ciphermark pages` measures anew",
        )
    }
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
    /// The first pages, as many as there was time to read; absent where all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<u64>,
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
    /// SHA-256 over all pages that were read before the run, in hexadecimal; names and lengths of their files included.
    pub sha256_before: String,
    /// The same after the run: the store was only read. Empty where an interrupt came before.
    pub sha256_after: String,
    /// What the store's own files state.
    pub facts: Vec<String>,
    /// Earlier or later states of the same store, for nonces alone.
    pub snapshots: Vec<Snapshot>,
}

impl PageStore {
    /// Whether the pages were read again after the run, and are not what they were.
    pub fn has_changed(&self) -> bool {
        !self.sha256_after.is_empty() && self.sha256_before != self.sha256_after
    }
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
    /// Whether every accident was noticed; false where none could be tried, as of the next two.
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
    /// When the oldest figure was taken that comes from the machine's price list; absent where all were taken in this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_list: Option<String>,
}

crate::named! {
    /// Where pages come from and go to.
    #[derive(Default)]
    Medium {
        /// Memory, one page after the other; out of the near caches.
        #[default]
        Sequential = "sequential",
        /// Memory, pages at random; out of the near caches.
        Random = "random",
        /// A file in the page cache, pages at random.
        Cache = "cache",
        /// A file past the page cache, pages at random, one at a time.
        Direct = "direct",
        /// The end of a log, each unit forced to the disk.
        Log = "log",
    }
}

crate::named! {
    /// How keys are used.
    #[derive(Default)]
    Keying {
        /// A context with its key for all pages.
        #[default]
        Reused = "reused",
        /// A new key for each page.
        PerPage = "per-page",
    }
}

/// One library, scheme, medium, way with keys, direction and number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Whether disturbed samples count: the scheme takes no longer than this.
    #[serde(default)]
    pub contended: bool,
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
    /// Whether a file is read or written.
    pub fn has_io(self) -> bool {
        !matches!(self, Self::Sequential | Self::Random)
    }
}

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

impl Verified {
    /// Whether it was not verified because the time was over or somebody ended the run.
    pub fn is_left_out(&self) -> bool {
        self.state.is_left_out(self.stopped)
    }
}

impl Cell {
    /// Nanoseconds of the scheme's own work on a page. Of a busy core nothing bounds them from below; without an interval the
    /// median stands for itself.
    pub fn own_ns(&self) -> Option<Estimate> {
        let NsRange { median, low, high } = self.crypto_ns?;
        let low = if self.contended { 0.0 } else { low.unwrap_or(median) };
        Some(Estimate { median, low, high: high.unwrap_or(median) })
    }

    /// Whether it has no number because the time was over or somebody ended the run.
    pub fn is_left_out(&self) -> bool {
        self.state.is_left_out(self.stopped)
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
pub fn judge(library: usize, recipe: &Recipe, counts: Vec<ProbeCounts>) -> Probed {
    // Where none could be tried, nothing is shown to be noticed.
    let noticed = |of: &dyn Fn(Probe) -> bool| {
        let mut tried = counts.iter().filter(|c| of(c.probe) && c.tried > 0).peekable();
        tried.peek().is_some() && tried.all(|c| c.noticed == c.tried)
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

/// Most pages that are named for each rule.
const NAMED: usize = 20;

/// A page as it was seen in a state of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub snapshot: usize,
    /// Number of the page within it, for its name.
    pub page: usize,
    pub position: Position,
    pub content: u128,
}

/// What was found of all rules and schemes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nonces {
    /// States of the store that were read.
    pub states: usize,
    /// Pages in all of them.
    pub pages: u64,
    /// Ways to make a nonce of a page's place and version.
    pub rules: Vec<NonceRow>,
    /// What that means for each scheme.
    pub schemes: Vec<NonceVerdict>,
}

/// A way to make a nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NonceRow {
    /// A name for it.
    pub rule: String,
    /// What it is made of.
    pub fields: Vec<Field>,
    /// Whether each file has a key, or a mask, of its own.
    pub key_per_file: bool,
    /// Different nonces.
    pub distinct: u64,
    /// Nonces under which one content was seen at several places: no harm, but their equality shows.
    pub repeated_same: u64,
    /// Nonces under which several contents were seen.
    pub repeated_different: u64,
    /// Some of those.
    pub named: Vec<RepeatedNonce>,
}

/// Two different contents under one nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedNonce {
    /// The page, and which state of the store it is in, counted from 0.
    pub page: String,
    /// The other one.
    pub other: String,
}

/// What a scheme's nonces come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NonceVerdict {
    /// The scheme's name.
    pub scheme: String,
    /// `random`, `none`, or the rule's name.
    pub rule: String,
    /// `unique`: no nonce came twice with different pages; `by-design`: it did, and the scheme only
    /// shows which blocks are equal; `broken`: it did, and plaintexts leak; `random`: unique but for
    /// chance; `none`: there is no nonce.
    pub verdict: String,
    /// Chance that any two of the pages of all states, each written once, share a random nonce.
    pub collision: Option<f64>,
    /// `unique` or `repeats`: what nonces of block and LSN alone, and of place and LSN, would have come to
    /// in this store.
    pub from_lsn: String,
}

struct Rule {
    name: &'static str,
    fields: Vec<Field>,
    key_per_file: bool,
}

/// Bytes of the longest nonce with the file before it.
const KEY: usize = 48;

/// Tries the usual rules, and those of the schemes, on every page that was seen. `name` names a page.
pub fn nonces(
    recipes: &[Recipe],
    seen: &[Seen],
    has_versions: bool,
    name: &dyn Fn(&Seen) -> String,
) -> Nonces {
    let rows: Vec<NonceRow> =
        rules(recipes, has_versions).into_iter().map(|rule| row(rule, seen, name)).collect();
    let states = seen.iter().map(|s| s.snapshot + 1).max().unwrap_or(0);
    let verdict = |recipe: &Recipe| verdict(recipe, &rows, seen.len() as u64);
    Nonces {
        states,
        pages: seen.len() as u64,
        schemes: recipes.iter().map(verdict).collect(),
        rules: rows,
    }
}

const PLACE: [Field; 5] =
    [Field::Space24, Field::Database32, Field::Relation32, Field::Fork8, Field::Block32];

fn rules(recipes: &[Recipe], has_versions: bool) -> Vec<Rule> {
    let rule = |name, fields, key_per_file| Rule { name, fields, key_per_file };
    let mut rules = vec![rule("place", PLACE.to_vec(), false)];
    if has_versions {
        rules.push(rule("block-lsn", vec![Field::Block32, Field::Version64], false));
        rules.push(rule("place-lsn", [&PLACE[..], &[Field::Version64]].concat(), false));
    }
    for recipe in recipes {
        if let Some((fields, key_per_file)) = own_fields(recipe)
            && !rules.iter().any(|r| same(&r.fields, &fields) && r.key_per_file == key_per_file)
        {
            rules.push(rule("own", fields, key_per_file));
        }
    }
    rules
}

/// What a scheme makes its nonces of, and whether a file's pages have a key or a mask of their own.
fn own_fields(recipe: &Recipe) -> Option<(Vec<Field>, bool)> {
    let per_file = recipe.key == KeyScope::File;
    match &recipe.nonce {
        NonceRule::Place(f) | NonceRule::Lsn(f) => Some((f.clone(), per_file)),
        NonceRule::MaskedPlace(f) => Some((f.clone(), true)),
        NonceRule::None | NonceRule::Random => None,
    }
}

/// Whether two lists have the same fields, in whatever order.
fn same(a: &[Field], b: &[Field]) -> bool {
    let useful = |list: &[Field]| {
        let mut names: Vec<String> =
            list.iter().filter(|f| **f != Field::Zero).map(|f| format!("{f:?}")).collect();
        names.sort();
        names
    };
    useful(a) == useful(b)
}

fn row(rule: Rule, seen: &[Seen], name: &dyn Fn(&Seen) -> String) -> NonceRow {
    let mut first: HashMap<[u8; KEY], usize> = HashMap::with_capacity(seen.len());
    let mut repeats: HashMap<[u8; KEY], Option<usize>> = HashMap::new();
    for (i, page) in seen.iter().enumerate() {
        let key = key(&rule, &page.position);
        let Some(&before) = first.get(&key) else {
            first.insert(key, i);
            continue;
        };
        let earlier = &seen[before];
        if earlier.content != page.content {
            repeats.entry(key).or_default().get_or_insert(i);
        } else if earlier.position != page.position {
            repeats.entry(key).or_default();
        }
    }
    let mut different: Vec<(usize, usize)> =
        repeats.iter().filter_map(|(key, i)| i.map(|i| (first[key], i))).collect();
    different.sort_unstable();
    let named = different
        .iter()
        .take(NAMED)
        .map(|(a, b)| RepeatedNonce { page: name(&seen[*a]), other: name(&seen[*b]) });
    NonceRow {
        rule: rule.name.to_owned(),
        key_per_file: rule.key_per_file,
        distinct: first.len() as u64,
        repeated_same: (repeats.len() - different.len()) as u64,
        repeated_different: different.len() as u64,
        named: named.collect(),
        fields: rule.fields,
    }
}

fn key(rule: &Rule, at: &Position) -> [u8; KEY] {
    let mut key = [0; KEY];
    if rule.key_per_file {
        let file = [Field::Space24, Field::Database32, Field::Relation32];
        write_fields(&file, at, 4096, &mut key[..11]);
    }
    write_fields(&rule.fields, at, 4096, &mut key[11..]);
    key
}

fn verdict(recipe: &Recipe, rows: &[NonceRow], pages: u64) -> NonceVerdict {
    let repeats =
        |name: &str| rows.iter().find(|r| r.rule == name).map(|r| r.repeated_different > 0);
    let from_lsn = match (repeats("block-lsn"), repeats("place-lsn")) {
        (Some(a), Some(b)) => {
            let word = |r: bool| if r { "repeats" } else { "unique" };
            format!("block and LSN: {}; place and LSN: {}", word(a), word(b))
        }
        _ => "the store has no versions".to_owned(),
    };
    let made = |rule: &str, verdict: &str, collision| NonceVerdict {
        scheme: recipe.scheme.clone(),
        rule: rule.to_owned(),
        verdict: verdict.to_owned(),
        collision,
        from_lsn: from_lsn.clone(),
    };
    match own_fields(recipe) {
        Some((fields, per_file)) => {
            let own = rows.iter().find(|r| same(&r.fields, &fields) && r.key_per_file == per_file);
            let repeated = own.is_some_and(|r| r.repeated_different > 0);
            let verdict = match (repeated, recipe.on_reuse()) {
                (false, _) => "unique",
                (true, OnReuse::EqualitySeen | OnReuse::Nothing) => "by-design",
                (true, _) => "broken",
            };
            made(own.map_or("own", |r| &r.rule), verdict, None)
        }
        None if recipe.nonce == NonceRule::None => made("none", "none", None),
        None => made("random", "random", Some(collision(random_bits(recipe), pages))),
    }
}

/// Random bits of a nonce: of a counter block all but the 16 that count a page's blocks.
fn random_bits(recipe: &Recipe) -> u32 {
    let counter = recipe.algorithm().is_some_and(|a| a.mode == base::model::Mode::Ctr);
    recipe.nonce_bytes() as u32 * 8 - if counter { 16 } else { 0 }
}

/// The birthday bound, q²/2^(bits+1).
fn collision(bits: u32, pages: u64) -> f64 {
    let pages = pages as f64;
    (pages * pages / 2_f64.powi(bits as i32 + 1)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::{good_practice, profile};

    fn recipe(name: &str) -> Recipe {
        good_practice().into_iter().find(|r| r.scheme == name).unwrap()
    }

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

    #[test]
    fn where_no_page_could_be_changed_nothing_is_noticed() {
        for name in ["none", "aes-256-ctr", "aes-256-gcm"] {
            let recipe = recipe(name);
            let mut counts = expected_counts(&recipe);
            counts.iter_mut().for_each(|c| (c.tried, c.noticed) = (0, 0));
            let p = judge(0, &recipe, counts);
            let verdicts = (p.against_accidents, p.against_adversaries, p.against_rollback);
            assert_eq!(verdicts, (false, false, false), "{name}");
        }
    }

    fn seen(snapshot: usize, relation: u32, block: u32, version: u64, content: u128) -> Seen {
        let position = Position { database: 5, relation, block, version, ..Position::default() };
        Seen { snapshot, page: block as usize, position, content }
    }

    fn found(seen: &[Seen], rule: &str) -> NonceRow {
        let all = nonces(&good_practice(), seen, true, &|s| format!("{}@{}", s.page, s.snapshot));
        all.rules.into_iter().find(|r| r.rule == rule).unwrap()
    }

    #[test]
    fn a_page_that_did_not_change_between_states_repeats_nothing() {
        let row = found(&[seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 7)], "place");
        assert_eq!((row.distinct, row.repeated_same, row.repeated_different), (1, 0, 0));
    }

    #[test]
    fn hint_bits_change_a_page_under_its_lsn() {
        let row = found(&[seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 8)], "place-lsn");
        assert_eq!(row.repeated_different, 1);
        assert_eq!((&*row.named[0].page, &*row.named[0].other), ("0@0", "0@1"));
    }

    #[test]
    fn block_and_lsn_repeat_across_relations_within_one_state() {
        let pages = [seen(0, 1, 3, 9, 7), seen(0, 2, 3, 9, 8), seen(0, 3, 3, 9, 7)];
        assert_eq!(found(&pages, "block-lsn").repeated_different, 1);
        assert_eq!(found(&pages, "place-lsn").repeated_different, 0);
        let copies = [seen(0, 1, 3, 9, 7), seen(0, 2, 3, 9, 7)];
        let row = found(&copies, "block-lsn");
        assert_eq!((row.repeated_same, row.repeated_different), (1, 0));
    }

    #[test]
    fn xts_repeats_its_tweaks_by_design_and_random_nonces_have_a_chance() {
        let pages = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 10, 8)];
        let all = nonces(&good_practice(), &pages, true, &|_| String::new());
        let of = |name: &str| all.schemes.iter().find(|s| s.scheme == name).unwrap();
        assert_eq!(of("aes-256-xts").verdict, "by-design");
        assert_eq!(of("none").verdict, "none");
        assert_eq!(of("aes-256-gcm").verdict, "random");
        let chance = of("aes-256-gcm").collision.unwrap();
        assert!((chance - 4.0 / 2_f64.powi(97)).abs() < 1e-40, "{chance}");
    }

    #[test]
    fn nonces_of_the_lsn_are_broken_where_hint_bits_change_a_page() {
        let recipes = crate::at_rest::scheme::with_lsn_nonces();
        let verdict = |pages: &[Seen], name: &str| {
            let all = nonces(&recipes, pages, true, &|_| String::new());
            let of = all.schemes.into_iter().find(|s| s.scheme == name).unwrap();
            (of.rule, of.verdict)
        };
        let word = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let logged = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 10, 8)];
        assert_eq!(verdict(&logged, "aes-256-gcm"), word("block-lsn", "unique"));
        let hints = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 8)];
        assert_eq!(verdict(&hints, "aes-256-gcm"), word("block-lsn", "broken"));
        assert_eq!(verdict(&hints, "aes-256-gcm-siv"), word("block-lsn", "by-design"));
        assert_eq!(verdict(&hints, "aes-256-cbc+hmac-sha256").0, "random");
    }

    #[test]
    fn a_tweak_without_the_fork_meets_itself_in_another_fork() {
        let main = seen(0, 1, 0, 9, 7);
        let map = Seen { position: Position { fork: 1, ..main.position }, content: 8, ..main };
        let edb = profile("edb").unwrap().recipes;
        let all = nonces(&edb, &[main, map], true, &|_| "x".to_owned());
        let own = all.rules.iter().find(|r| r.rule == "own").unwrap();
        assert_eq!(own.repeated_different, 1);
        assert_eq!(all.schemes[0].verdict, "by-design");
    }
}
