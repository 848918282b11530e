//! How two sides belong together: which library to which, in what they differ beside their records, what only
//! one of them measured, and what a reader must keep in mind. And what is compared exactly: instructions of
//! both sides, counts of which any difference is one, and what depends on secrets on both.

use crate::compare::comparison::{Compared, Side};
use crate::compare::{Case, Unit};
use base::model::{Brought, Direction, Model, Tier};
use record::{
    Executed, Host, Leak, LeakKind, LeakVerdict, Leaks, Library, LibraryId, LoadedFile,
    Measurement, Record, State, differing_circumstances,
};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How libraries find each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// The same build; else the same name and version; else the same name, where one build of that
    /// name is left on either side.
    ByName,
    /// Every library of the base with every one of the new side.
    Every,
}

/// Pairs of libraries, base first.
pub(crate) fn pairs(
    base: &Side<'_>,
    new: &Side<'_>,
    matching: Matching,
) -> Vec<(LibraryId, LibraryId)> {
    let one_run = is_one_run(base.record, new.record);
    let (mut base, mut new) = (libraries(base), libraries(new));
    if matching == Matching::Every {
        let with_all =
            |b: &LibraryId| new.iter().map(|n| (b.clone(), n.clone())).collect::<Vec<_>>();
        // Of two runs a build has two measurements.
        let is_pair = |(b, n): &(LibraryId, LibraryId)| !one_run || b != n;
        return base.iter().flat_map(with_all).filter(is_pair).collect();
    }
    let mut pairs = Vec::new();
    let ways: [fn(&LibraryId, &LibraryId) -> bool; 4] = [
        |a, b| a == b,
        |a, b| (&a.name, &a.version, &a.id) == (&b.name, &b.version, &b.id),
        |a, b| (&a.name, &a.version) == (&b.name, &b.version),
        |a, b| a.name == b.name,
    ];
    for same in ways {
        take(&mut base, &mut new, same, &mut pairs);
    }
    pairs.sort();
    pairs
}

pub(crate) fn is_one_run(base: &Record, new: &Record) -> bool {
    (&base.started, base.plan.seed) == (&new.started, new.plan.seed) && same_core(base, new)
}

/// Those of the rows; where nothing was measured, those that were judged.
fn libraries(side: &Side<'_>) -> BTreeSet<LibraryId> {
    let judged = side.record.leaks.iter().filter(|_| side.record.measurements.is_empty());
    let rows = side.rows.iter().map(|m| &m.library);
    let all: BTreeSet<&LibraryId> = rows.chain(judged.map(|l| &l.library)).collect();
    all.into_iter().cloned().collect()
}

fn take(
    base: &mut BTreeSet<LibraryId>,
    new: &mut BTreeSet<LibraryId>,
    same: fn(&LibraryId, &LibraryId) -> bool,
    pairs: &mut Vec<(LibraryId, LibraryId)>,
) {
    let only = |of: &LibraryId, others: &BTreeSet<LibraryId>| {
        let mut partners = others.iter().filter(|other| same(of, other));
        partners.next().filter(|_| partners.next().is_none()).cloned()
    };
    let found: Vec<(LibraryId, LibraryId)> = base
        .iter()
        .filter_map(|b| Some((b.clone(), only(b, new)?)))
        .filter(|(b, n)| only(n, base).as_ref() == Some(b))
        .collect();
    for (b, n) in found {
        base.remove(&b);
        new.remove(&n);
        pairs.push((b, n));
    }
}

/// In what two sides differ, so that it is no part of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Apart {
    /// Records or libraries only.
    #[default]
    Nothing,
    /// Algorithms: those whose names have the same part belong together.
    Algorithm {
        /// Where the part is in the base's names.
        base: Part,
        new: Part,
    },
    Direction,
    /// Sizes, compared by what a byte costs.
    Size,
    Tier,
}

/// Which part of an algorithm's name a star stands for: what is between so many bytes at the beginning and at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    before: usize,
    after: usize,
}

impl Part {
    /// The star of a glob that has one and nothing else that is special, or the empty end of a name.
    pub fn of(glob: &str) -> Option<Self> {
        let (before, after) = glob.split_once('*').unwrap_or((glob, ""));
        let plain = |text: &str| !text.contains(['*', '?', '[', ']', '{', '}']);
        (plain(before) && plain(after)).then_some(Self { before: before.len(), after: after.len() })
    }

    fn within(self, name: &str) -> &str {
        name.get(self.before..name.len().saturating_sub(self.after)).unwrap_or(name)
    }
}

impl Apart {
    /// What of an algorithm's name is part of a case.
    pub(crate) fn name(self, name: &str, which: Which) -> &str {
        match (self, which) {
            (Self::Algorithm { base, .. }, Which::Base) => base.within(name),
            (Self::Algorithm { new, .. }, Which::New) => new.within(name),
            _ => name,
        }
    }

    /// What of the base's case is another.
    pub(crate) fn of_base(self, m: &Measurement) -> Other {
        let mut other = Other::default();
        match self {
            Self::Nothing => {}
            Self::Algorithm { .. } => other.algorithm = Some(m.algorithm.clone()),
            Self::Direction => other.direction = Some(m.direction),
            Self::Size => other.size = Some(m.size),
            Self::Tier => other.tier = Some(m.tier),
        }
        other
    }

    /// What the cost of an operation is divided by before it is compared.
    pub(crate) fn per(self, m: &Measurement) -> f64 {
        if self == Self::Size { m.size.max(1) as f64 } else { 1.0 }
    }
}

/// What of the base's case is not as in the new side's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Other {
    /// The base's algorithm, where the two sides are two algorithms.
    #[serde(rename = "base_algorithm", skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    #[serde(rename = "base_direction", skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The base's size: the ratio is that of a byte.
    #[serde(rename = "base_size", skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    #[serde(rename = "base_tier", skip_serializing_if = "Option::is_none")]
    pub tier: Option<Tier>,
}

/// The two things that were asked to be compared, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Between {
    /// `algorithm`, `direction`, `library`, `size`, `tier`.
    pub what: &'static str,
    pub base: String,
    pub new: String,
}

// Cases that are not measured on both sides.

/// What became of a case that was refused or failed on one side at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Measured in the base, refused or failed now.
    Broken,
    /// Not offered in the base, or not measured in its time; refused or failed now.
    NewlyRefused,
    /// Refused or failed on both sides.
    StillRefused,
    /// Refused or failed in the base, measured now.
    Mended,
    /// Refused or failed in the base; not offered now, or not measured in the time.
    Withdrawn,
}

impl Change {
    pub fn words(self) -> &'static str {
        match self {
            Self::Broken => "measured in the base, refused or failed now",
            Self::NewlyRefused => "not measured in the base, refused or failed now",
            Self::StillRefused => "refused or failed on both sides",
            Self::Mended => "refused or failed in the base, measured now",
            Self::Withdrawn => "refused or failed in the base, not measured now",
        }
    }
}

/// A case that was refused or failed on one side at least.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StateRow {
    pub base_library: LibraryId,
    pub new_library: LibraryId,
    #[serde(flatten)]
    pub case: Case,
    pub change: Change,
    pub base_state: State,
    pub new_state: State,
    /// Why it was refused or failed: the new side's reason where it was, else the base's.
    pub reason: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Which {
    Base,
    New,
}

/// A measured case without a counterpart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Only {
    pub only_in: Which,
    pub library: LibraryId,
    #[serde(flatten)]
    pub case: Case,
    /// Why the other side has none.
    pub reason: &'static str,
}

/// What the states of both sides make of a case.
pub(crate) enum Met {
    Compared,
    Changed(Change),
    Only(Which),
    /// Offered on neither side.
    Nothing,
}

pub(crate) fn meet(base: &Measurement, new: &Measurement) -> Met {
    use State::{Failed, Imported, Measured, Refused, Unsupported};
    let state = |m: &Measurement| match m.state {
        // A figure from elsewhere is one; that it cannot be judged is said of the case.
        Imported => Measured,
        // What there was no time for says nothing of the library.
        Failed if m.is_left_out() => Unsupported,
        state => state,
    };
    match (state(base), state(new)) {
        (Measured, Measured) => Met::Compared,
        (Measured, Refused | Failed) => Met::Changed(Change::Broken),
        (Unsupported, Refused | Failed) => Met::Changed(Change::NewlyRefused),
        (Refused | Failed, Refused | Failed) => Met::Changed(Change::StillRefused),
        (Refused | Failed, Measured) => Met::Changed(Change::Mended),
        (Refused | Failed, Unsupported) => Met::Changed(Change::Withdrawn),
        (Measured, Unsupported) => Met::Only(Which::Base),
        (Unsupported, Measured) => Met::Only(Which::New),
        (Unsupported, Unsupported) => Met::Nothing,
        (Imported, _) | (_, Imported) => unreachable!("taken for measured above"),
    }
}

pub(crate) fn state_row(
    change: Change,
    case: Case,
    base: &Measurement,
    new: &Measurement,
) -> StateRow {
    let refused =
        |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && !m.is_left_out();
    let source = if refused(new) { new } else { base };
    StateRow {
        base_library: base.library.clone(),
        new_library: new.library.clone(),
        case,
        change,
        base_state: base.state,
        new_state: new.state,
        reason: source.reason.clone(),
    }
}

/// The part of clean samples below which a run was disturbed enough to say so.
const QUIET: f64 = 0.8;

/// Whether both ran on the same kind of core, as far as a processor tells.
pub(crate) fn same_core(base: &Record, new: &Record) -> bool {
    let identity = |record: &Record| (record.host.cpu.kind(), record.host.cpu.vendor.clone());
    identity(base) == identity(new)
}

pub(crate) fn warnings_of(
    base: &Side<'_>,
    new: &Side<'_>,
    unit: Unit,
    cases: &[Compared],
    pairs: &[(LibraryId, LibraryId)],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if !cases.is_empty() && cases.iter().all(|case| case.identical) {
        warnings.push(
            "both sides have the very same samples: this is one measurement held against itself, \
             which says nothing about how well two measurements agree"
                .to_owned(),
        );
    }
    let (b, n) = (base.record, new.record);
    let one_run = b.started == n.started;
    if cases.iter().any(|case| case.same_build && !(one_run && case.identical)) {
        warnings.push(same_build(cases, &differing(b, n), one_run));
    }
    let by_clock = cases.iter().filter(|case| case.clock_decides).count();
    if by_clock > 0 {
        let plural = if by_clock == 1 { "" } else { "s" };
        warnings.push(format!(
            "{by_clock} case{plural} undecided: fewer cycles at a lower clock, and more time, so which is faster \
             depends on the core's clock"
        ));
    }
    if !same_core(b, n) {
        warnings.push(format!(
            "the processors differ ({} and {}): compared by time, and it is machines that are compared",
            b.host.cpu.kind(),
            n.host.cpu.kind()
        ));
    } else if unit == Unit::Nanoseconds && !cases.is_empty() {
        warnings.push(
            "core cycles are not known on both sides: compared by time, in which every \
                       change of the clock shows"
                .to_owned(),
        );
    }
    if let Some([b, n]) = hidden(b, n) {
        warnings.push(format!(
            "the CPU's features differ, and libraries choose their code by them: only in the base {b}; only in the \
             new run {n}"
        ));
    }
    let mut differ = |what: &str, b: &str, n: &str| {
        if b != n {
            warnings.push(format!("{what} differs: {} and {}", said(b), said(n)));
        }
    };
    differ("ciphermark's version", &b.tool.version, &n.tool.version);
    differ("the record's format", &b.format_version, &n.format_version);
    differing_facts(&b.host, &n.host).for_each(|(what, b, n)| differ(what, b, n));
    differ("the clock", &b.host.clock.source, &n.host.clock.source);
    differ("the set of tiers", &tiers(base), &tiers(new));
    let circumstances = differing_circumstances(&b.host.circumstances, &n.host.circumstances);
    let of_circumstance = |[name, b, n]: &[String; 3]| {
        let set = |text: &String| if text.is_empty() { "not set".to_owned() } else { text.clone() };
        format!("{name} decides which code runs, and differs: {} and {}", set(b), set(n))
    };
    warnings.extend(circumstances.iter().map(of_circumstance));
    let is_imported = |m: &&Measurement| m.state == State::Imported;
    if base.rows.iter().chain(&new.rows).any(is_imported) {
        let of = |side: &Side<'_>| -> BTreeSet<String> {
            let rows = side.rows.iter().copied().filter(|m| m.state.has_number());
            rows.map(|m| machine_of(side.record, m)).collect()
        };
        let all: BTreeSet<String> = of(base).union(&of(new)).cloned().collect();
        if all.len() > 1 {
            let names: Vec<String> = all.into_iter().collect();
            warnings
                .push(format!("figures of several machines are compared: {}", names.join("; ")));
        }
    }
    let rows = base.rows.iter().chain(&new.rows);
    let machines: BTreeSet<Tier> = rows.map(|m| m.tier).filter(|t| t.is_machine()).collect();
    warnings.extend(machines.into_iter().map(|tier| format!("tier {}", tier.in_words())));
    warnings.extend([base, new].into_iter().filter_map(noisy));
    warnings.extend(
        pairs.iter().filter_map(|(old, id)| changed_below(libraries_of([b, n], [old, id])?)),
    );
    warnings.extend(brought_otherwise(b, n).into_iter().map(|name| {
        format!(
            "'{name}' is two algorithms: its adapters give it different lengths, kinds, families or vectors"
        )
    }));
    warnings
}

/// The machine that a figure is from: what is imported without a name is of the record's own.
pub(crate) fn machine_of(record: &Record, m: &Measurement) -> String {
    let from = m.imported.as_ref().and_then(|from| from.machine.clone());
    let own = || Some(record.host.cpu.name.clone()).filter(|name| !name.is_empty());
    from.or_else(own).unwrap_or_else(|| "a machine without a name".to_owned())
}

/// Names that adapters bring on both sides, with different meanings.
fn brought_otherwise<'a>(base: &'a Record, new: &'a Record) -> BTreeSet<&'a str> {
    let meanings = |record: &'a Record| {
        let all = record.libraries.iter().flat_map(|library| &library.brings);
        all.map(|brought| (&*brought.name, Brought { vectors: 0, ..brought.clone() }))
    };
    let is_other = |(name, meaning): &(&str, Brought)| {
        meanings(new).any(|(other, of_other)| other == *name && of_other != *meaning)
    };
    meanings(base).filter(is_other).map(|(name, _)| name).collect()
}

fn said(text: &str) -> &str {
    if text.is_empty() { "not known" } else { text }
}

fn tiers(side: &Side<'_>) -> String {
    let tiers: BTreeSet<_> = side.rows.iter().map(|m| m.tier).collect();
    tiers.into_iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

fn noisy(side: &Side<'_>) -> Option<String> {
    let noise = side.record.noise.as_ref().filter(|noise| noise.samples > 0)?;
    let clean = noise.clean as f64 / noise.samples as f64;
    (clean < QUIET)
        .then(|| format!("{}: only {:.0} % of the samples were clean", side.name, clean * 100.0))
}

/// The new run's core clock over the base's, by the case in the middle: what the run shares is none of its cases' own.
pub(crate) fn clock_of_new_run(measured: &[(&Measurement, &Measurement)]) -> f64 {
    let clock = |m: &Measurement| Some(m.cycles_per_op?.median / m.ns_per_op?.median);
    let ratios = measured.iter().filter_map(|(b, n)| Some(clock(n)? / clock(b)?));
    base::analysis::median(&mut ratios.collect::<Vec<_>>()).unwrap_or(1.0)
}

/// What can change a build's speed and is none of its own, where two runs differ in it.
pub(crate) fn differing(base: &Record, new: &Record) -> Vec<String> {
    let (b, n) = (&base.host, &new.host);
    let processor = (!same_core(base, new)).then(|| "the processor".to_owned());
    let processor = processor.or(hidden(base, new).map(|_| "the CPU's features".to_owned()));
    let facts = differing_facts(b, n).map(|(what, ..)| what.to_owned());
    let circumstances = differing_circumstances(&b.circumstances, &n.circumstances);
    let circumstances = circumstances.into_iter().map(|[name, ..]| name);
    processor.into_iter().chain(facts).chain(circumstances).collect()
}

/// Features that say nothing of which code a library chooses: clocks, random numbers, what a hypervisor says of itself.
fn is_aside(feature: &str) -> bool {
    feature.contains("tsc")
        || ["hypervisor", "cpuid", "cpuid_fault", "rdrand", "rdseed", "rng"].contains(&feature)
}

/// Features that one of two processors of the same kind shows and the other hides, as virtual machines do: those of the
/// base, those of the new run.
fn hidden(base: &Record, new: &Record) -> Option<[String; 2]> {
    let of = |record: &Record| -> BTreeSet<String> {
        record.host.cpu.features.iter().filter(|feature| !is_aside(feature)).cloned().collect()
    };
    let (b, n) = (of(base), of(new));
    let only = |one: &BTreeSet<String>, other| -> String {
        let names: Vec<&str> = one.difference(other).map(String::as_str).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let is_known = same_core(base, new) && !b.is_empty() && !n.is_empty();
    (is_known && b != n).then(|| [only(&b, &n), only(&n, &b)])
}

/// What is under the libraries, where it differs: its name, and what it is on either side.
fn differing_facts<'a>(
    base: &'a Host,
    new: &'a Host,
) -> impl Iterator<Item = (&'static str, &'a str, &'a str)> {
    let of = |host: &'a Host| {
        let text = |of: &'a Option<String>| of.as_deref().unwrap_or_default();
        [
            ("the kernel", &*host.kernel.release),
            ("the C library", text(&host.c_library)),
            ("the microcode", text(&host.cpu.microcode)),
            ("the hypervisor", text(&host.hypervisor)),
            ("the machine", text(&host.machine)),
        ]
    };
    // Records from before it was asked for say nothing of a C library.
    let is_known = base.c_library.is_some() && new.c_library.is_some();
    let both = of(base).into_iter().zip(of(new)).map(|((what, b), (_, n))| (what, b, n));
    both.filter(move |(what, b, n)| b != n && (is_known || *what != "the C library"))
}

/// What a verdict is about where there is one build only.
fn same_build(cases: &[Compared], differing: &[String], one_run: bool) -> String {
    let same = cases.iter().filter(|case| case.same_build);
    let builds: BTreeSet<&LibraryId> = same.map(|case| &case.base_library).collect();
    let first = builds.first().map(|id| id.label()).unwrap_or_default();
    let others = builds.len().saturating_sub(1);
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    let why = match (differing, one_run) {
        ([], true) => "so differences are chance".to_owned(),
        ([], false) => "so differences are the runs' own".to_owned(),
        (all, _) => format!("so it is {} that is compared", all.join(", ")),
    };
    format!("{first}{more}: the same build on both sides, {why}")
}

fn libraries_of<'a>(records: [&'a Record; 2], ids: [&LibraryId; 2]) -> Option<[&'a Library; 2]> {
    let of = |i: usize| records[i].libraries.iter().find(|l| l.identity() == *ids[i]);
    Some([of(0)?, of(1)?])
}

/// What stands for the library's own file is the same, and the content of files that it maps is not: nobody sees that by
/// its name or version.
fn changed_below([base, new]: [&Library; 2]) -> Option<String> {
    let own = |library: &Library| library.identity().own_file().to_owned();
    let (before, now) = (base.objects.as_ref()?, new.objects.as_ref()?);
    if own(base) != own(new) || base.id == new.id {
        return None;
    }
    let named = |objects: &[LoadedFile], others: &[LoadedFile]| {
        let only = objects.iter().filter(|object| others.iter().all(|other| other.id != object.id));
        let file = |object: &LoadedFile| object.path.rsplit('/').next().map(ToOwned::to_owned);
        only.filter_map(file).collect::<BTreeSet<String>>()
    };
    let files: Vec<String> = named(before, now).union(&named(now, before)).cloned().collect();
    Some(format!(
        "{}@{}: its build id is the same, and another build all the same, by the content of {}",
        new.name,
        new.version,
        files.join(", ")
    ))
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counts {
    pub per_byte: f64,
    /// For a message, whatever its length.
    pub per_message: f64,
}

/// The reason where a record says nothing of a measured size: it is of an older version.
pub const NOT_COUNTED: &str = "not counted";

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InstructionRow {
    pub base_library: LibraryId,
    pub new_library: LibraryId,
    pub algorithm: String,
    pub direction: Direction,
    pub model: Model,
    /// Tier; of two that are compared, the new one.
    pub tier: Tier,
    /// The base's counts per byte and per message, where there are any.
    pub base: Option<Counts>,
    pub new: Option<Counts>,
    /// By which fraction the instructions for each byte grew; below zero where they fell.
    pub per_byte_growth: Option<f64>,
    /// By which fraction the instructions for each message grew.
    pub per_message_growth: Option<f64>,
    /// Whole operations of the sizes that both sides measured and counted.
    pub sizes: Vec<SizeCounts>,
    /// Sizes that both sides measured and one of them at least did not count.
    pub uncounted: Vec<Uncounted>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeCounts {
    pub size: usize,
    pub base: u64,
    pub new: u64,
    /// By which fraction they grew.
    pub growth: f64,
}

/// A measured size without a count on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Uncounted {
    pub size: usize,
    /// Which side has no count, and why.
    pub reason: String,
    /// Whether the base has one.
    #[serde(skip)]
    pub is_lost: bool,
}

impl InstructionRow {
    /// Whether all counts are what they were.
    pub fn is_equal(&self) -> bool {
        self.is_counted() && self.base == self.new && self.sizes.iter().all(|s| s.base == s.new)
    }

    pub fn is_counted(&self) -> bool {
        self.per_byte_growth.is_some() || !self.sizes.is_empty()
    }

    /// Whether the base was counted and the new side was not: what a byte and a message take, or a measured size.
    pub fn is_lost(&self) -> bool {
        self.base.is_some() && self.new.is_none() || self.uncounted.iter().any(|u| u.is_lost)
    }

    /// The size whose operation grew most.
    pub fn worst_size(&self) -> Option<&SizeCounts> {
        self.sizes.iter().max_by(|a, b| a.growth.total_cmp(&b.growth))
    }

    /// The largest growth of an operation of a measured size; `None` where none was counted.
    pub fn per_operation_growth(&self) -> Option<f64> {
        self.worst_size().map(|s| s.growth)
    }

    /// The largest growth of all: per byte, per message, at any measured size.
    pub fn largest_growth(&self) -> f64 {
        let all = [self.per_byte_growth, self.per_message_growth, self.per_operation_growth()];
        all.into_iter().flatten().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// The growth from one count to another. Lines through few sizes can have next to nothing, or less,
/// for each message; against less than one instruction every change would be a multitude.
fn growth(base: f64, new: f64, least: f64) -> f64 {
    (new - base) / base.max(least)
}

type Key<'a> = (&'a str, Direction, Model, Tier);

/// What a side counted of one algorithm, and the sizes that it measured.
struct OneSide<'a> {
    executed: &'a Executed,
    measured: BTreeSet<usize>,
}

/// One row for each algorithm, direction, model and tier that both sides counted.
pub(crate) fn instruction_rows(
    base: &Side<'_>,
    new: &Side<'_>,
    pairs: &[(LibraryId, LibraryId)],
    tiers_differ: bool,
) -> Vec<InstructionRow> {
    let (base, new) = (counted(base, tiers_differ), counted(new, tiers_differ));
    let mut rows = Vec::new();
    for (base_library, new_library) in pairs {
        let (Some(of_base), Some(of_new)) = (base.get(base_library), new.get(new_library)) else {
            continue;
        };
        for (key, new) in of_new {
            // What neither side can count is no news.
            let any = |side: &OneSide<'_>| {
                counts(side.executed).is_some() || !side.executed.sizes.is_empty()
            };
            let base = of_base.get(key).filter(|base| any(base) || any(new));
            rows.extend(base.map(|base| instruction_row(base, new)));
        }
    }
    rows
}

fn instruction_row(base: &OneSide<'_>, new: &OneSide<'_>) -> InstructionRow {
    let (b, n) = (counts(base.executed), counts(new.executed));
    let both = b.zip(n);
    let (sizes, uncounted) = at_sizes(base, new);
    InstructionRow {
        base_library: base.executed.library.clone(),
        new_library: new.executed.library.clone(),
        algorithm: new.executed.algorithm.clone(),
        direction: new.executed.direction,
        model: new.executed.model,
        tier: new.executed.tier,
        base: b,
        new: n,
        per_byte_growth: both.map(|(b, n)| growth(b.per_byte, n.per_byte, 1e-3)),
        per_message_growth: both.map(|(b, n)| growth(b.per_message, n.per_message, 1.0)),
        sizes,
        uncounted,
    }
}

/// Sizes that both sides measured, with their counts or without.
fn at_sizes(base: &OneSide<'_>, new: &OneSide<'_>) -> (Vec<SizeCounts>, Vec<Uncounted>) {
    let (mut sizes, mut uncounted) = (Vec::new(), Vec::new());
    for size in base.measured.intersection(&new.measured).copied() {
        match (at_size(base.executed, size), at_size(new.executed, size)) {
            (Ok(base), Ok(new)) => {
                let growth = growth(base as f64, new as f64, 1.0);
                sizes.push(SizeCounts { size, base, new, growth });
            }
            (Err(b), Err(n)) if b == n => {
                uncounted.push(Uncounted { size, reason: b, is_lost: false })
            }
            (b, n) => {
                let is_lost = b.is_ok();
                let of = |side: &str, count: Result<u64, String>| {
                    count.err().map(|why| format!("{side}: {why}"))
                };
                let both: Vec<String> = of("base", b).into_iter().chain(of("new", n)).collect();
                uncounted.push(Uncounted { size, reason: both.join("; "), is_lost });
            }
        }
    }
    (sizes, uncounted)
}

fn at_size(executed: &Executed, size: usize) -> Result<u64, String> {
    if let Some(counted) = executed.sizes.iter().find(|s| s.size == size) {
        return Ok(counted.instructions);
    }
    let why = executed.uncounted.iter().find(|u| u.size == size);
    Err(why.map_or_else(|| NOT_COUNTED.to_owned(), |u| u.reason.clone()))
}

fn counts(executed: &Executed) -> Option<Counts> {
    Some(Counts { per_byte: executed.per_byte?, per_message: executed.per_message? })
}

fn counted<'a>(
    side: &Side<'a>,
    tiers_differ: bool,
) -> BTreeMap<&'a LibraryId, BTreeMap<Key<'a>, OneSide<'a>>> {
    let mut selected: BTreeMap<(&LibraryId, Key<'_>), BTreeSet<usize>> = BTreeMap::new();
    for m in &side.rows {
        let key = (m.algorithm.as_str(), m.direction, m.model, m.tier);
        let sizes = selected.entry((&m.library, key)).or_default();
        sizes.extend((m.state == State::Measured).then_some(m.size));
    }
    let mut found: BTreeMap<&LibraryId, BTreeMap<Key<'_>, OneSide<'_>>> = BTreeMap::new();
    for e in &side.record.executed {
        let key = (e.algorithm.as_str(), e.direction, e.model, e.tier);
        if let Some(measured) = selected.remove(&(&e.library, key)) {
            let tier = if tiers_differ { Tier::Native } else { e.tier };
            let one = OneSide { executed: e, measured };
            found.entry(&e.library).or_default().insert((key.0, key.1, key.2, tier), one);
        }
    }
    found
}

/// The verdicts of both sides on one algorithm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeakRow {
    pub base_library: LibraryId,
    pub new_library: LibraryId,
    pub algorithm: String,
    /// Tier; of two that are compared, the new one.
    pub tier: Tier,
    pub base: LeakVerdict,
    /// The new side's verdict; none where it has none at all.
    pub new: Option<LeakVerdict>,
    /// Places that the base does not have, or had by taint only.
    pub appeared: Vec<Leak>,
    /// Places that the new side no longer has, or has by taint only.
    pub gone: Vec<Leak>,
}

impl LeakRow {
    /// Whether a place depends on the secret now that did not: traces differ there. What taint alone says may be a
    /// false alarm.
    pub fn is_worse(&self) -> bool {
        self.appeared.iter().any(|f| f.compared)
    }

    /// Whether the base has a verdict and the new side has not: nobody looked, so nothing can be said of it.
    pub fn is_lost(&self) -> bool {
        self.base != LeakVerdict::NotJudged
            && self.new.is_none_or(|verdict| verdict == LeakVerdict::NotJudged)
    }

    /// Whether both sides say the same.
    pub fn is_equal(&self) -> bool {
        Some(self.base) == self.new && self.appeared.is_empty() && self.gone.is_empty()
    }
}

/// One row for each algorithm and tier that the base judged, but for what two libraries do not have in common.
pub(crate) fn leak_rows(
    base: &Side<'_>,
    new: &Side<'_>,
    pairs: &[(LibraryId, LibraryId)],
    matching: Matching,
    tiers_differ: bool,
) -> Vec<LeakRow> {
    let has = |library: &LibraryId, algorithm: &str| {
        let is_of = |m: &&Measurement| (&m.library, &*m.algorithm) == (library, algorithm);
        new.record.measurements.is_empty() || new.rows.iter().any(is_of)
    };
    let (of_base, of_new) = (judged(base, tiers_differ), judged(new, tiers_differ));
    let mut rows = Vec::new();
    for (base_library, verdicts) in &of_base {
        let partners = pairs.iter().filter(|(b, _)| b == *base_library).map(|(_, n)| n);
        let mut partners: Vec<&LibraryId> = partners.collect();
        if partners.is_empty() && matching == Matching::ByName {
            partners.push(base_library);
        }
        for library in partners {
            for (key, verdict) in verdicts {
                let now = of_new.get(library).and_then(|of_new| of_new.get(key)).copied();
                let row = leak_row(verdict, library, now);
                let is_common = matching == Matching::ByName || has(library, key.0);
                rows.extend((now.is_some() || row.is_lost() && is_common).then_some(row));
            }
        }
    }
    rows
}

fn leak_row(base: &Leaks, library: &LibraryId, new: Option<&Leaks>) -> LeakRow {
    LeakRow {
        base_library: base.library.clone(),
        new_library: library.clone(),
        algorithm: base.algorithm.clone(),
        tier: new.map_or(base.tier, |new| new.tier),
        base: base.verdict,
        new: new.map(|new| new.verdict),
        appeared: new.map(|new| beyond(new, base)).unwrap_or_default(),
        // What nobody looked at is not gone.
        gone: new
            .filter(|new| new.verdict != LeakVerdict::NotJudged)
            .map(|new| beyond(base, new))
            .unwrap_or_default(),
    }
}

/// A place in any build: addresses move, and files are called otherwise.
fn place(f: &Leak) -> (LeakKind, Option<&str>) {
    (f.kind, f.function.as_deref())
}

/// Places of one side that the other does not have as surely.
fn beyond(one: &Leaks, other: &Leaks) -> Vec<Leak> {
    let known = |f: &Leak| {
        other.findings.iter().any(|o| place(o) == place(f) && (o.compared || !f.compared))
    };
    one.findings.iter().filter(|f| !known(f)).cloned().collect()
}

type ByAlgorithm<'a> = BTreeMap<(&'a str, Tier), &'a Leaks>;

/// The verdicts on the side's rows; on all where nothing was measured.
fn judged<'a>(side: &Side<'a>, tiers_differ: bool) -> BTreeMap<&'a LibraryId, ByAlgorithm<'a>> {
    let mut found: BTreeMap<&LibraryId, ByAlgorithm<'_>> = BTreeMap::new();
    let is_row = |l: &Leaks| side.rows.iter().any(|m| l.is_of(&m.library, &m.algorithm, m.tier));
    let all = side.record.measurements.is_empty();
    for l in side.record.leaks.iter().filter(|l| all || is_row(l)) {
        let tier = if tiers_differ { Tier::Native } else { l.tier };
        found.entry(&l.library).or_default().insert((&l.algorithm, tier), l);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Matching, *};
    use crate::compare::{Comparison, Condition, Settings, Side, compare};
    use crate::sample::{case, leaks, library, record};
    use record::{Leak, LeakKind, LeakVerdict, Leaks, Measurement, Record};

    fn matched(base: &[[&str; 3]], new: &[[&str; 3]], matching: Matching) -> Vec<String> {
        let row = |[name, version, id]: &[&str; 3]| Measurement {
            library: library(name, version, id),
            ..case("x", 16, &[1.0; 6])
        };
        let (base, new) = [base, new].map(|ids| record("r", ids.iter().map(row).collect())).into();
        let label = |l: &LibraryId| format!("{}@{}#{}", l.name, l.version, l.id);
        let pairs = pairs(&side(&base), &side(&new), matching).into_iter();
        pairs.map(|(b, n)| format!("{} {}", label(&b), label(&n))).collect()
    }

    fn side(record: &Record) -> Side<'_> {
        Side { record, name: "r".to_owned(), rows: record.measurements.iter().collect() }
    }

    #[test]
    fn the_same_build_goes_first_then_the_version_then_the_name() {
        let base = [["o", "3.0", "a"], ["o", "3.5", "b"], ["g", "1", "c"], ["s", "1", "d"]];
        let new = [["o", "3.0", "a2"], ["o", "4.0", "e"], ["g", "1", "c"], ["t", "1", "d"]];
        assert_eq!(
            matched(&base, &new, Matching::ByName),
            ["g@1#c g@1#c", "o@3.0#a o@3.0#a2", "o@3.5#b o@4.0#e"]
        );
    }

    #[test]
    fn what_could_belong_to_two_belongs_to_none() {
        let base = [["o", "3.0", "a"]];
        let new = [["o", "3.5", "b"], ["o", "4.0", "c"]];
        assert!(matched(&base, &new, Matching::ByName).is_empty());
        assert_eq!(matched(&base, &new, Matching::Every).len(), 2);
        assert_eq!(matched(&new, &new, Matching::Every).len(), 2, "none with itself");
    }

    #[test]
    fn a_star_stands_for_a_part_of_a_name_and_a_name_has_none() {
        let part = |glob: &str, name| Part::of(glob).map(|p| p.within(name));
        assert_eq!(part("aes-128-*", "aes-128-gcm"), Some("gcm"));
        assert_eq!(part("aes-*-gcm", "aes-256-gcm"), Some("256"));
        assert_eq!(part("aes-128-gcm", "aes-128-gcm"), Some(""));
        assert_eq!(part("aes-{128,256}-gcm", "aes-128-gcm"), None);
        assert_eq!(part("*-*", "aes-128-gcm"), None);
    }

    #[test]
    fn a_name_that_two_adapters_bring_with_two_meanings_is_told() {
        let house = |tag_bytes, vectors| base::model::Brought {
            name: "house-aead".to_owned(),
            family: "House".to_owned(),
            kind: base::model::Kind::Aead,
            key_bytes: 16,
            nonce_bytes: 12,
            tag_bytes,
            size_multiple: 1,
            size_least: 0,
            vectors,
            sha256: None,
        };
        let of = |brought| {
            let mut record = record("r", vec![case("house-aead", 16, &[1.0; 6])]);
            record.libraries =
                vec![record::Library { brings: vec![brought], ..record::Library::default() }];
            record
        };
        assert_eq!(brought_otherwise(&of(house(16, 3)), &of(house(16, 9))).len(), 0);
        let other = (of(house(16, 3)), of(house(8, 3)));
        assert_eq!(Vec::from_iter(brought_otherwise(&other.0, &other.1)), ["house-aead"]);
    }

    #[test]
    fn growth_against_next_to_nothing_is_no_multitude() {
        assert!((growth(2.0, 2.01, 1e-3) - 0.005).abs() < 1e-12);
        assert!((growth(-3.0, 2.0, 1.0) - 5.0).abs() < 1e-12);
        assert_eq!(growth(0.0, 0.0, 1.0), 0.0);
    }

    fn place(function: &str, compared: bool) -> Leak {
        record::fixtures::leak(LeakKind::Lookup, function, compared)
    }

    fn with(findings: Vec<Leak>) -> Record {
        let verdict = match findings.iter().map(|f| f.compared).max() {
            Some(true) => LeakVerdict::Depends,
            Some(false) => LeakVerdict::MayDepend,
            None => LeakVerdict::SameTrace,
        };
        let m = case("aes-128-gcm", 16, &[1000.0, 1001.0]);
        let leaks = Leaks { findings, ..leaks(m.library.clone(), &m.algorithm, verdict) };
        Record { leaks: vec![leaks], ..record("a", vec![m]) }
    }

    fn compared(base: &Record, new: &Record) -> Comparison {
        compare(&side(base), &side(new), &Settings::of(Matching::ByName))
    }

    fn fails(c: &Comparison) -> Option<String> {
        "leaks".parse::<Condition>().unwrap().find(c).map(|f| f.what)
    }

    #[test]
    fn a_new_place_fails_and_one_that_is_gone_does_not() {
        let (clean, leaky) = (with(Vec::new()), with(vec![place("f", true)]));
        let c = compared(&clean, &leaky);
        assert_eq!(fails(&c).as_deref(), Some("newly depends on the secret: aes-128-gcm"));
        assert_eq!((c.leaks[0].appeared.len(), c.leaks[0].gone.len()), (1, 0));
        let c = compared(&leaky, &clean);
        assert_eq!((fails(&c), c.leaks[0].gone.len()), (None, 1));
        assert!(compared(&leaky, &leaky).leaks[0].is_equal());
    }

    #[test]
    fn the_same_function_at_another_address_is_no_news_and_another_function_is() {
        let base = with(vec![place("f", true)]);
        let mut moved = place("f", true);
        (moved.address, moved.bytes, moved.object) = (0x2000, Some(128), "libmine.so.2".to_owned());
        assert_eq!(fails(&compared(&base, &with(vec![moved]))), None);
        assert!(fails(&compared(&base, &with(vec![place("f", true), place("g", true)]))).is_some());
    }

    #[test]
    fn what_taint_alone_says_is_shown_and_fails_only_when_traces_differ() {
        let (none, tainted) = (with(Vec::new()), with(vec![place("f", false)]));
        let c = compared(&none, &tainted);
        assert_eq!((fails(&c), c.leaks[0].appeared.len()), (None, 1));
        assert!(fails(&compared(&tainted, &with(vec![place("f", true)]))).is_some());
    }

    #[test]
    fn records_of_verdicts_alone_are_compared_too() {
        let only = |record: Record| Record { measurements: Vec::new(), ..record };
        let c = compared(&only(with(Vec::new())), &only(with(vec![place("f", true)])));
        assert!(fails(&c).is_some());
        assert!(compared(&with(Vec::new()), &only(with(Vec::new()))).leaks[0].is_equal());
    }

    #[test]
    fn what_the_base_judged_and_the_new_side_did_not_fails_and_what_is_judged_for_the_first_time_is_no_row()
     {
        let judged = with(vec![place("f", true)]);
        let unjudged = Record { leaks: Vec::new(), ..with(Vec::new()) };
        assert!(compared(&unjudged, &judged).leaks.is_empty());
        let lost = "judged in the base and not now: aes-128-gcm";
        let c = compared(&judged, &unjudged);
        assert_eq!((c.leaks[0].new, fails(&c).as_deref()), (None, Some(lost)));
        let mut half = with(Vec::new());
        half.leaks[0].verdict = LeakVerdict::NotJudged;
        let c = compared(&judged, &half);
        assert_eq!((c.leaks[0].gone.len(), fails(&c).as_deref()), (0, Some(lost)));
        assert_eq!(fails(&compared(&half, &half)), None);
    }
}
