//! The record as a whole; what its types cannot rule out, though what reads it relies on it; and how it looks
//! as JSON: readable at the top, one line where it would otherwise explode, and without the user's name in its
//! paths where it is made to be shared.

use crate::{
    Disturbances, Estimate, Executed, Fit, Host, Latencies, Latency, Leaks, LibraryId, Measurement,
    Noise, Rekeying, State,
};
use base::model::{Brought, Direction, Disturbance, MOST_OF_LIBRARY, RawSample};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::ser::{CompactFormatter, Formatter};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Version of the format, `major.minor`. A reader takes every minor version of its own major
/// version: minor versions only add optional fields; a major version may change or remove any.
pub const FORMAT_VERSION: &str = "1.6";

/// Which format runs of TLS and of pages from before [`FORMAT_VERSION`] 1.4 are read as: they kept no samples.
pub const WITHOUT_SAMPLES: &str = "1.3";

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Version of the format, `major.minor`.
    pub format_version: String,
    /// What wrote the record.
    pub tool: Tool,
    /// When the run began, RFC 3339, UTC.
    pub started: String,
    /// Seconds from the first to the last sample.
    pub measuring_seconds: f64,
    /// The machine.
    pub host: Host,
    /// The libraries that were loaded, or that could not be.
    pub libraries: Vec<Library>,
    /// What was asked for.
    pub plan: Plan,
    /// What disturbed the run; absent in records of format 1.1 and earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// What this core can do at best, per algorithm. Empty in records of the formats
    /// 1.0 and 1.1.
    pub limits: Limits,
    /// What the operations executed, for each library, algorithm, direction, model and tier that
    /// was measured; empty where it was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executed: Vec<Executed>,
    /// What depends on secrets (since 1.5), for each library, algorithm and tier that was judged; empty where it
    /// was not asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaks: Vec<Leaks>,
    /// Every case, whatever became of it.
    pub measurements: Vec<Measurement>,
    /// The fitted lines (since 1.2), one for each set of at least three measured cases that differ in
    /// their size only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<Fit>,
    /// What only a run of its kind has (since 1.4), `kind` among it; absent in surveys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
}

impl Record {
    /// Where, when, how and with which libraries it measured: all but what belongs to cases.
    #[must_use]
    pub fn circumstances(&self) -> Self {
        Self {
            format_version: self.format_version.clone(),
            tool: self.tool.clone(),
            started: self.started.clone(),
            measuring_seconds: self.measuring_seconds,
            host: self.host.clone(),
            libraries: self.libraries.clone(),
            plan: self.plan.clone(),
            noise: self.noise.clone(),
            ..Self::default()
        }
    }

    /// `tls-handshakes`, `tls-records`, `tls-primitives` or `pages`; none of a survey.
    pub fn kind(&self) -> Option<&str> {
        self.details.as_ref()?.get("kind")?.as_str()
    }

    /// The gravest verdict on the measurement's build, algorithm and tier; none where it was not judged.
    pub fn leaks_of(&self, m: &Measurement) -> Option<&Leaks> {
        let own = self.leaks.iter().filter(|l| l.is_of(&m.library, &m.algorithm, m.tier));
        own.max_by_key(|l| l.verdict)
    }
}

/// What wrote the record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `ciphermark`
    pub name: String,
    /// Its version.
    pub version: String,
    /// The command line.
    pub command: Vec<String>,
}

impl Tool {
    pub fn here(command: Vec<String>) -> Self {
        let (name, version) = ("ciphermark".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Self { name, version, command }
    }
}

/// One build of a crypto library.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Library {
    /// Name as in `--library`.
    pub name: String,
    /// Version as the loaded library itself reports it; empty when it could not be loaded.
    pub version: String,
    /// Path of the shared object, links resolved.
    pub path: String,
    /// `build-id:…` (ELF note) or `sha256:…` (content) of the file; behind a plus sign a hash of all files that it maps.
    pub id: String,
    /// How it was built, one fact a line, as far as it says so.
    pub build: Vec<String>,
    /// Why it could not be loaded; null when it could.
    pub error: Option<String>,
    /// Instruction sets for ciphers in the library's code, by the names of the kernel's CPU flags
    /// (`aes`, `vaes`, `pclmulqdq`, `vpclmulqdq`, `gfni`); null where that cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Vec<String>>,
    /// The files that its code is in: its own, dependencies, providers, what a runtime has loaded; not the C and C++
    /// run-time libraries. Null in records from before they were part of `id`; its own is missing in some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<LoadedFile>>,
    /// What runs inside the clock, for each algorithm and direction of the plan that it offers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// How each tier of the plan but `native` was applied, or why it could not be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<AppliedTier>,
    /// What its worker processes gave up before and after they loaded it (since 1.3); null where no code
    /// of a file was loaded: the kernel's own ciphers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confinement: Option<Confinement>,
    /// When algorithms of it were verified that an earlier run on this machine has verified, the earliest of them; null
    /// where this run has verified all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<String>,
    /// Algorithms that its adapter brings, which ciphermark does not know: they are checked against the adapter's own
    /// vectors only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brings: Vec<Brought>,
}

/// Makes known what the libraries of a record bring, so that its rows are shown as what they are where the libraries
/// are not. What cannot be is a name like any that this program does not know. Rows get names with definitions: another
/// record may bring the same name for something else.
pub(crate) fn bring(record: &mut Record) {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for library in &record.libraries {
        for brought in library.brings.iter().take(MOST_OF_LIBRARY) {
            let _ = brought.bring_from_record(&library.id);
            let name = || brought.name_in_records(&library.id);
            names.entry(brought.name.clone()).or_insert_with(name);
        }
    }
    if names.is_empty() {
        return;
    }
    let rename = |name: &mut String| {
        if let Some(defined) = names.get(name) {
            name.clone_from(defined);
        }
    };
    record.plan.algorithms.iter_mut().for_each(rename);
    record.plan.cases.iter_mut().for_each(|c| rename(&mut c.algorithm));
    record.measurements.iter_mut().for_each(|m| rename(&mut m.algorithm));
    record.fits.iter_mut().for_each(|f| rename(&mut f.algorithm));
    record.executed.iter_mut().for_each(|e| rename(&mut e.algorithm));
    record.leaks.iter_mut().for_each(|l| rename(&mut l.algorithm));
    let calls = record.libraries.iter_mut().flat_map(|l| &mut l.calls);
    calls.for_each(|c| rename(&mut c.algorithm));
}

impl Record {
    /// Whether one of this record's libraries and one of another's are the same build. Records from before ids covered
    /// all files that a library maps have its own file's alone, which then decides.
    pub fn has_same_build(&self, own: &LibraryId, other: &Self, theirs: &LibraryId) -> bool {
        let covers_all = |record: &Self, id: &LibraryId| {
            let mut of_build =
                record.libraries.iter().filter(|l| l.path == id.path && l.id == id.id);
            of_build.any(|l| l.objects.is_some())
        };
        let whole = covers_all(self, own) && covers_all(other, theirs);
        own.id == theirs.id || !whole && own.own_file() == theirs.own_file()
    }
}

impl Library {
    pub fn identity(&self) -> LibraryId {
        LibraryId {
            name: self.name.clone(),
            version: self.version.clone(),
            path: self.path.clone(),
            id: self.id.clone(),
        }
    }
}

/// A file that a library maps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadedFile {
    /// Where it was.
    pub path: String,
    /// `sha256:…` of its content.
    pub id: String,
}

/// What a worker process gave up, so that a library's code can do less with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Confinement {
    /// What is in force.
    pub in_force: Vec<Restriction>,
    /// What is not, each with the reason: the kernel has it not, or does not allow it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Restriction>,
    /// Why less was wanted; null where everything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched_off: Option<String>,
    /// System calls that the library tried and was denied, while it was loaded and each of its algorithms
    /// opened once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<String>,
}

/// One kind of power that is given up, or could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Restriction {
    /// `descriptors`, `limits`, `no-new-privileges`, `capabilities`, `landlock`, `seccomp`; `speed` where
    /// confinement makes code slower.
    pub name: String,
    /// What of it, or why not.
    pub detail: String,
}

/// How a tier was applied to a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AppliedTier {
    /// The tier.
    pub tier: base::model::Tier,
    /// `cpuid-fault`, `cpuid-rewrite` or `library-switch`, on aarch64 `hwcap-mask`; null when it was not applied.
    pub mechanism: Option<String>,
    /// CPUID instructions (aarch64: places that ask what the CPU has) in the code of the library and of what it loads,
    /// but for the C and C++ run-time libraries; null where they were not looked for.
    pub cpuid_instructions: Option<u64>,
    /// CPUID instructions (aarch64: reads of ID registers) that were answered with the tier's features while the library was loaded
    /// and each of its algorithms opened once; null with a library's own switch, which answers none.
    pub cpuid_answered: Option<u64>,
    /// What proved the mask in the worker: how many answers of CPUID were asked through the same
    /// mechanism and found without what the tier takes away; or what the switch was set to.
    pub proof: Option<String>,
    /// Why it was not applied; or what is to be known of it.
    pub reason: Option<String>,
}

/// What one operation of the model `message` calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Call {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// The library's functions, in order, as the adapter says; null when it does not.
    pub functions: Option<String>,
    /// Whether the library's interface copies every message.
    pub copies: bool,
    /// Whether the library's interface allocates memory for every message.
    pub allocates: bool,
    /// How it is given a new key in the model `rekey` (since 1.2); absent where there is no key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rekeying: Option<Rekeying>,
    /// The library's functions that set a new key, as the adapter says (since 1.2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rekey_functions: Option<String>,
    /// The most messages in work at once (since 1.3); absent where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<u32>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Name of the suite, or null when flags named everything.
    pub suite: Option<String>,
    /// Algorithms.
    pub algorithms: Vec<String>,
    /// Sizes in bytes.
    pub sizes: Vec<usize>,
    /// Models.
    pub models: Vec<base::model::Model>,
    /// Directions of ciphers.
    pub directions: Vec<base::model::Direction>,
    /// Tiers.
    pub tiers: Vec<base::model::Tier>,
    /// Working sets (since 1.2).
    #[serde(default = "hot")]
    pub footprints: Vec<base::model::Footprint>,
    /// Numbers of threads measuring at once (since 1.2).
    #[serde(default = "one_thread")]
    pub threads: Vec<u32>,
    /// Whether the output is written over the input (since 1.2).
    #[serde(default = "apart")]
    pub in_place: Vec<bool>,
    /// Whether single operations are timed as well (since 1.2).
    #[serde(default)]
    pub latency: bool,
    /// Half-width of the interval, as a fraction of the median, at which a case is done.
    pub precision: f64,
    /// Most seconds of measuring.
    pub budget_seconds: f64,
    /// Seed of every random choice of the run: order of cases, keys, messages.
    pub seed: u64,
    /// What of all these is measured, where that is not every combination (since 1.6).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<PlannedCase>,
}

/// A combination that is measured.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCase {
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: base::model::Direction,
    /// What one operation is.
    pub model: base::model::Model,
    /// Bytes of plaintext in one operation.
    pub size: usize,
    /// What operations walk through.
    #[serde(default, skip_serializing_if = "base::model::Footprint::is_hot")]
    pub footprint: base::model::Footprint,
    /// Which CPU instructions the library may see; absent: each tier that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<base::model::Tier>,
    /// Which libraries, a glob of names or `name@version`; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libraries: Option<String>,
}

fn hot() -> Vec<base::model::Footprint> {
    vec![base::model::Footprint::Hot]
}

fn one_thread() -> Vec<u32> {
    vec![1]
}

fn apart() -> Vec<bool> {
    vec![false]
}

/// What this core can do at best.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// What was measured of the core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<base::analysis::bound::Core>,
    /// What each algorithm of the plan costs at least.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<base::analysis::bound::Floor>,
    /// Why nothing was measured, when nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

pub fn schema() -> schemars::Schema {
    let mut schema = schemars::schema_for!(Record);
    schema.insert("title".to_owned(), "ciphermark record".into());
    schema.insert("description".to_owned(), format!("Record format {FORMAT_VERSION}.").into());
    schema
}

/// The largest count: what a double holds exactly, and so few that sums of all counts of a record stay
/// far below 2^64.
const MOST: u64 = 1 << 53;

/// Bytes of an operation, measured here or elsewhere: `openssl speed` counts them in an `int`.
const SIZES: std::ops::RangeInclusive<usize> = 1..=i32::MAX as usize;

/// What contradicts itself or cannot be, on one line: what [`crate::from_json`] refuses.
pub fn contradiction(record: &Record) -> Result<(), String> {
    for (i, m) in record.measurements.iter().enumerate() {
        of_measurement(m).map_err(|why| format!("measurements[{i}]: {why}"))?;
    }
    record.noise.as_ref().map_or(Ok(()), of_noise).map_err(|why| format!("noise: {why}"))
}

fn of_measurement(m: &Measurement) -> Result<(), String> {
    if !m.raw.is_rectangular() {
        return Err("the arrays in `raw` differ in length".to_owned());
    }
    let has = |has: bool| if has { "has" } else { "lacks" };
    let (state, number, imported) = (m.state, m.ns_per_op.is_some(), m.imported.is_some());
    if state.has_number() != number {
        return Err(format!("the state is '{}' but it {} `ns_per_op`", state.name(), has(number)));
    }
    if (state == State::Imported) != imported {
        return Err(format!("the state is '{}' but it {} `imported`", state.name(), has(imported)));
    }
    if state == State::Imported && !m.checks.is_empty() {
        return Err("the state is 'imported' but it claims `checks`".to_owned());
    }
    estimate("ns_per_op", m.ns_per_op)?;
    estimate("cycles_per_op", m.cycles_per_op)?;
    rate("ns_per_byte", m.ns_per_byte)?;
    rate("mb_per_s", m.mb_per_s)?;
    rate("cycles_per_byte", m.cycles_per_byte)?;
    counts(m)
}

/// Nothing takes less than no time.
fn estimate(name: &str, estimate: Option<Estimate>) -> Result<(), String> {
    match estimate {
        Some(e) if e.median < 0.0 => Err(format!("`{name}` is below zero")),
        Some(e) if e.high > MOST_RATE || e.low < -MOST_RATE => {
            Err(format!("`{name}` is more than any run has"))
        }
        Some(e) if e.low > e.median || e.median > e.high => {
            Err(format!("the median of `{name}` is outside its interval"))
        }
        _ => Ok(()),
    }
}

/// Beyond any speed or slowness, and so small that what is computed from it stays finite.
pub(crate) const MOST_RATE: f64 = 1e18;

pub(crate) fn rate(name: &str, rate: Option<f64>) -> Result<(), String> {
    match rate {
        Some(rate) if !(0.0..=MOST_RATE).contains(&rate) => {
            Err(format!("`{name}` is {rate:e}, which no run has"))
        }
        _ => Ok(()),
    }
}

fn counts(m: &Measurement) -> Result<(), String> {
    // A handshake has no size.
    let has_none = m.size == 0 && !m.model.has_bytes();
    if !has_none && !SIZES.contains(&m.size) {
        return Err(format!("`size` is {}: an operation has 1 to {} bytes", m.size, SIZES.end()));
    }
    at_most("samples", m.samples)?;
    at_most("samples_disturbed", m.samples_disturbed)?;
    at_most("evidence.outputs_checked", m.evidence.outputs_checked)?;
    at_most("evidence.calls_succeeded", m.evidence.calls_succeeded)?;
    m.checks.iter().try_for_each(|check| at_most("checks", check.count))?;
    m.raw.ticks.iter().try_for_each(|ticks| at_most("raw.ticks", *ticks))?;
    m.latency_ns.as_ref().map_or(Ok(()), of_latency)?;
    of_disturbances(&m.disturbed)
}

fn of_latency(latency: &Latency) -> Result<(), String> {
    let Latency { operations, disturbed, ticks, .. } = latency;
    at_most("latency_ns.operations", *operations)?;
    at_most("latency_ns.disturbed", *disturbed)?;
    let both = ticks.iter().flat_map(|(length, operations)| [*length, *operations]);
    both.into_iter().try_for_each(|n| at_most("latency_ns.ticks", n))
}

fn of_noise(noise: &Noise) -> Result<(), String> {
    at_most("samples", noise.samples)?;
    at_most("clean", noise.clean)?;
    of_disturbances(&noise.disturbed)
}

fn of_disturbances(d: &Disturbances) -> Result<(), String> {
    let all = Disturbance::ALL.into_iter().map(|why| d.of(why));
    all.chain([d.total()]).try_for_each(|n| at_most("disturbed", n))
}

pub(crate) fn at_most(what: &str, count: u64) -> Result<(), String> {
    if count <= MOST { Ok(()) } else { Err(format!("`{what}` is {count}, more than can be")) }
}

/// Why a sample cannot be one; `None` of one that can. Rates are of a core's clock over the clock's
/// ticks, and of instructions over cycles: nothing built or planned is a thousandth of the bound.
pub fn impossible_sample(sample: &RawSample) -> Option<String> {
    const MOST_RATE: f64 = 1e6;
    let RawSample { process, ops, ticks, clock_before, clock_after, .. } = *sample;
    let rates = [clock_before, clock_after, sample.probe_before, sample.probe_after];
    if ops == 0 {
        return Some("a sample without an operation".to_owned());
    }
    if ticks > MOST || process == u32::MAX {
        return Some("a sample with a number that is too large".to_owned());
    }
    let possible = rates.iter().all(|rate| (0.0..=MOST_RATE).contains(rate));
    (!possible).then(|| "a sample with an impossible clock or probe reading".to_owned())
}

/// Why timings of single operations cannot be such; `None` of those that can.
pub fn impossible_latencies(latencies: &Latencies) -> Option<String> {
    let both = latencies.ticks.iter().flat_map(|(ticks, operations)| [*ticks, *operations]);
    let too_large = both.chain([latencies.disturbed]).any(|n| n > MOST);
    too_large.then(|| "single operations with a number that is too large".to_owned())
}

/// Levels that are broken into lines: the record itself and the parts of each of its fields.
/// Everything below stands on one line, so a measurement with its raw samples is one line, which
/// tools that work by lines (diff, grep, a version control system) can handle.
const BROKEN_LEVELS: usize = 2;

/// The record as JSON, ending with a line break.
pub fn to_json(record: &Record) -> String {
    let mut bytes = Vec::new();
    let mut writer = serde_json::Serializer::with_formatter(&mut bytes, Shallow::default());
    record.serialize(&mut writer).expect("a record is plain data and always serialises");
    bytes.push(b'\n');
    String::from_utf8(bytes).expect("serde_json writes UTF-8")
}

/// Indents the outer levels and writes the inner ones compactly.
#[derive(Default)]
struct Shallow {
    depth: usize,
    /// Whether something was written since the last opening bracket.
    filled: bool,
}

impl Shallow {
    fn open(&mut self) {
        self.depth += 1;
        self.filled = false;
    }

    fn close<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let broken = self.depth <= BROKEN_LEVELS && self.filled;
        self.depth -= 1;
        self.filled = true;
        if broken { self.line_break(writer) } else { Ok(()) }
    }

    fn separate<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        self.filled = true;
        if self.depth <= BROKEN_LEVELS { self.line_break(writer) } else { Ok(()) }
    }

    fn line_break<W: ?Sized + io::Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b"  "))
    }
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        CompactFormatter.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer)?;
        CompactFormatter.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open();
        CompactFormatter.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer)?;
        CompactFormatter.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        let separator: &[u8] = if self.depth <= BROKEN_LEVELS { b": " } else { b":" };
        writer.write_all(separator)
    }
}

// Files below the home directory are `~/…` in what is made to be shared: the user's name is in their paths.

/// What was measured, with `~` in each text for the home directory. Everything else stays.
///
/// # Panics
/// Never with the types of a record: what they write is read again as the same.
pub fn shared<T: Serialize + DeserializeOwned>(whole: T) -> T {
    let plain = "a record is plain data and comes back as it was";
    let json = serde_json::to_string(&whole).expect(plain);
    let shown = shown(&json);
    if shown == json { whole } else { serde_json::from_str(&shown).expect(plain) }
}

/// A text with `~` for the home directory.
pub fn shown(text: &str) -> String {
    homes().iter().fold(text.to_owned(), |text, home| without(&text, home))
}

/// The file that a path of a record names on this machine.
pub fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

fn home() -> Option<PathBuf> {
    let home = PathBuf::from(std::env::var_os("HOME")?);
    (home.is_absolute() && home.parent().is_some()).then_some(home)
}

/// By its name, and by the one that it has where all links are followed, as libraries' paths are.
fn homes() -> Vec<String> {
    let Some(home) = home() else { return Vec::new() };
    let real = home.canonicalize().ok().filter(|real| *real != home && real.parent().is_some());
    let text = |path: &Path| path.to_str().map(|p| p.trim_end_matches('/').to_owned());
    [real.as_deref(), Some(&home)].into_iter().flatten().filter_map(text).collect()
}

/// Replaces a directory where it stands alone or begins a path, also behind an option's letters (`-I/home/me`).
fn without(text: &str, home: &str) -> String {
    let is_of_name = |c: char| c.is_alphanumeric() || "_-.~+".contains(c);
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(at) = rest.find(home) {
        let (before, from) = rest.split_at(at);
        let after = &from[home.len()..];
        shown.push_str(before);
        let word = shown.rsplit(|c: char| !is_of_name(c)).next().unwrap_or_default();
        let ends = !after.starts_with(is_of_name);
        let begins = word.is_empty() || word.starts_with('-');
        shown.push_str(if begins && ends { "~" } else { home });
        rest = after;
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn why(change: impl FnOnce(&mut Record)) -> String {
        let mut record = sample::record();
        change(&mut record);
        contradiction(&record).unwrap_err()
    }

    #[test]
    fn two_records_that_bring_one_name_for_two_functions_have_two_names_in_any_order() {
        let of = |digit: &str| {
            let mut record = sample::record();
            let brought = Brought {
                name: "of-two-houses".to_owned(),
                family: "houses".to_owned(),
                kind: base::model::Kind::Mac,
                key_bytes: 16,
                nonce_bytes: 0,
                tag_bytes: 16,
                size_multiple: 1,
                size_least: 0,
                vectors: 1,
                sha256: Some(digit.repeat(64)),
            };
            record.plan.algorithms = vec![brought.name.clone()];
            record.measurements.iter_mut().for_each(|m| m.algorithm.clone_from(&brought.name));
            record.libraries[0].brings = vec![brought];
            crate::to_json(&record)
        };
        let name = |text: &str| {
            let read = crate::from_json(text, "r").unwrap();
            let name = read.measurements[0].algorithm.clone();
            assert!(base::model::Algorithm::find(&name).unwrap().is_brought());
            assert_eq!(read.plan.algorithms, [name.as_str()]);
            // What is written again is read as the same.
            let again = crate::from_json(&crate::to_json(&read), "r").unwrap();
            assert_eq!(again.measurements[0].algorithm, name);
            name
        };
        let (one, other) = (of("1"), of("2"));
        let found = [&one, &other, &other, &one].map(|text| name(text));
        assert_eq!(found[0], "of-two-houses~1111111111");
        assert_eq!(found[1], "of-two-houses~2222222222");
        assert_eq!((&found[0], &found[1]), (&found[3], &found[2]));
    }

    #[test]
    fn counts_that_no_sum_can_hold_and_times_below_zero_are_refused() {
        assert_eq!(contradiction(&sample::record()), Ok(()));
        let samples = why(|r| r.measurements[0].samples = u64::MAX);
        assert_eq!(samples, "measurements[0]: `samples` is 18446744073709551615, more than can be");
        let disturbed = why(|r| r.measurements[1].disturbed.stolen = u64::MAX / 2);
        assert!(disturbed.starts_with("measurements[1]: `disturbed` is"), "{disturbed}");
        let together = why(|r| {
            r.measurements[1].disturbed.stolen = MOST;
            r.measurements[1].disturbed.switched = 1;
        });
        assert!(together.starts_with("measurements[1]: `disturbed` is"), "{together}");
        let empty = why(|r| r.measurements[0].size = 0);
        assert_eq!(empty, "measurements[0]: `size` is 0: an operation has 1 to 2147483647 bytes");
        let below = why(|r| {
            let estimate = Estimate { median: -1.0, low: -2.0, high: 3.0 };
            r.measurements[0].ns_per_op = Some(estimate);
        });
        assert_eq!(below, "measurements[0]: `ns_per_op` is below zero");
        let rate = why(|r| r.measurements[0].mb_per_s = Some(-1e308));
        assert_eq!(rate, "measurements[0]: `mb_per_s` is -1e308, which no run has");
        let endless = why(|r| {
            let estimate = Estimate { median: 1.0, low: 1.0, high: 1e300 };
            r.measurements[0].cycles_per_op = Some(estimate);
        });
        assert_eq!(endless, "measurements[0]: `cycles_per_op` is more than any run has");
        let outside = why(|r| {
            let estimate = Estimate { median: 1.0, low: 2.0, high: 3.0 };
            r.measurements[0].ns_per_op = Some(estimate);
        });
        assert!(outside.contains("is outside its interval"), "{outside}");
    }

    #[test]
    fn samples_that_no_clock_gives_are_named() {
        let good = base::model::fixtures::sample(0, 5, 1.5);
        assert_eq!(impossible_sample(&good), None);
        for bad in [
            RawSample { ops: 0, ..good },
            RawSample { ticks: u64::MAX, ..good },
            RawSample { process: u32::MAX, ..good },
            RawSample { clock_after: -1.0, ..good },
            RawSample { probe_before: f64::NAN, ..good },
            RawSample { clock_before: 1e300, ..good },
        ] {
            assert!(impossible_sample(&bad).is_some(), "{bad:?}");
        }
        let latencies = |ticks| Latencies { ticks, disturbed: 0 };
        assert_eq!(impossible_latencies(&latencies(vec![(20, 1000)])), None);
        assert!(impossible_latencies(&latencies(vec![(20, u64::MAX)])).is_some());
    }

    #[test]
    fn the_layout_is_the_committed_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample.json");
        let text = to_json(&sample::record());
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            text == committed,
            "tests/sample.json is laid out otherwise; `BLESS=1 cargo test -p ciphermark-record --lib` writes it anew"
        );
    }

    #[test]
    fn raw_samples_take_few_bytes_each() {
        let mut record = sample::record();
        record.measurements.truncate(1);
        let bytes = |samples: u32| {
            let mut record = record.clone();
            record.measurements[0].raw = sample::samples(samples);
            to_json(&record).len()
        };
        // Unrounded readings take about twice as much, a pretty printer four times.
        let each = (bytes(1000) - bytes(0)) / 1000;
        assert!(each <= 55, "{each} bytes for one sample");
    }

    #[test]
    fn the_home_directory_is_a_tilde_wherever_a_path_begins_with_it_and_nowhere_else() {
        for (text, shown) in [
            ("/home/me", "~"),
            ("/home/me/lib/libx.so", "~/lib/libx.so"),
            ("mine=/home/me/libx.so:/home/me/b", "mine=~/libx.so:~/b"),
            ("cc -I/home/me/include '/home/me/a b.c'", "cc -I~/include '~/a b.c'"),
            ("[\"/home/me\",\"/home/me/x\"]", "[\"~\",\"~/x\"]"),
            ("/home/mel/libx.so", "/home/mel/libx.so"),
            ("/home/me.old/libx.so", "/home/me.old/libx.so"),
            ("/mnt/home/me/libx.so", "/mnt/home/me/libx.so"),
            ("/home/mé", "/home/mé"),
            ("", ""),
        ] {
            assert_eq!(without(text, "/home/me"), shown);
        }
    }

    #[test]
    fn a_path_of_a_record_is_below_the_home_directory_of_whoever_reads_it() {
        let home = home().expect("the tests run with a home directory");
        assert_eq!(expanded("~/lib/libx.so"), home.join("lib/libx.so"));
        assert_eq!(expanded(&shown(home.join("a").to_str().unwrap())), home.join("a"));
        for path in ["/usr/lib/libx.so", "~me/libx.so", "a/~/b", ""] {
            assert_eq!(expanded(path), Path::new(path));
        }
    }

    #[test]
    fn a_record_is_shared_without_the_home_directory_in_any_of_its_texts() {
        let home = home().unwrap().to_str().unwrap().to_owned();
        let mut record = crate::sample::record();
        record.tool.command = vec!["ciphermark".to_owned(), format!("x={home}/libx.so")];
        record.libraries[0].path = format!("{home}/libx.so");
        record.libraries[0].build = vec![format!("compiler: cc -I{home}/include")];
        let json = super::to_json(&shared(record.clone()));
        assert!(!json.contains(&home) && json.contains("\"~/libx.so\""), "{home}");
        record.tool.command.clear();
        record.libraries[0] = crate::sample::record().libraries.swap_remove(0);
        assert_eq!(shared(record.clone()), record);
    }
}
