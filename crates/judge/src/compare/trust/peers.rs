//! A record against others: replays, counts of the same build, labels, speeds of the same CPU; and what is
//! kept of a record for that.

use crate::compare::Case;
use crate::compare::trust::{Code, Findings, Told};
use base::analysis::median;
use record::{Cpu, Measurement, Record, Samples, State};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// By how much counts of the same build may differ: where memory comes from is not the same in every process.
const OF_COUNTS: f64 = 0.01;
const COUNTS: f64 = 64.0;
/// Cases that two records have to share before they are compared as a whole.
const LEAST_SHARED: usize = 8;
/// How far the typical case of one CPU and build may lie from its peers', as a factor: hypervisors, microcode and
/// mitigations move cycles by some per cent.
const WHOLE: f64 = 1.25;
/// How far a single case may lie from its peers', beside the record's typical one.
const SINGLE: f64 = 1.4;

pub(crate) fn check_peers(
    record: &Record,
    told: &Told<'_>,
    peers: &[Known],
    findings: &mut Findings,
) {
    names(&record.host.cpu, findings);
    sets(record, findings);
    let own: BTreeMap<u64, (usize, KnownCase)> = record
        .measurements
        .iter()
        .enumerate()
        .filter(|(_, m)| m.state == State::Measured)
        .map(|(at, m)| (case_key(record, m), (at, KnownCase::of(m))))
        .collect();
    copies(record, &own, findings);
    let kin = Kin::of(&record.host.cpu);
    let digest = samples_digest(record);
    // Of another type of machine it would count twice.
    let is_same_run = |peer: &&Known| {
        let type_of = (peer.machine_type.as_deref(), &peer.cpu);
        peer.started == record.started && type_of == (told.machine_type, &kin)
    };
    let others: Vec<&Known> = peers.iter().filter(|peer| !is_same_run(peer)).collect();
    replays(record, digest.as_deref(), &own, &others, findings);
    label(&kin, told, &others, findings);
    counts(record, &others, findings);
    speeds(
        record,
        &own,
        &others.into_iter().filter(|peer| peer.cpu == kin).collect::<Vec<_>>(),
        findings,
    );
}

/// The brand string against the vendor.
fn names(cpu: &Cpu, findings: &mut Findings) {
    let vendor = match cpu.vendor.as_str() {
        "GenuineIntel" => "Intel",
        "AuthenticAMD" => "AMD",
        _ => return,
    };
    let other = if vendor == "AMD" { "Intel" } else { "AMD" };
    if cpu.name.contains(other) && !cpu.name.contains(vendor) {
        let what = format!("its CPU is called '{}', and its vendor is {}", cpu.name, cpu.vendor);
        findings.doubt(Code::Relabelled, what);
    }
}

/// Instructions that were executed or timed, in the kernel's spelling.
const SETS: [(&str, &str); 11] = [
    ("aes", "aes"),
    ("pclmulqdq", "pclmulqdq"),
    ("vaes", "vaes"),
    ("vpclmulqdq", "vpclmulqdq"),
    ("gfni", "gfni"),
    ("sha", "sha_ni"),
    ("avx2", "avx2"),
    ("avx512f", "avx512f"),
    ("avx512vl", "avx512vl"),
    ("pmull", "pmull"),
    ("sve", "sve"),
];

fn sets(record: &Record, findings: &mut Findings) {
    let features = &record.host.cpu.features;
    let mut executed: Vec<&str> =
        record.executed.iter().flat_map(|e| &e.instruction_sets).map(String::as_str).collect();
    let timed = record.limits.core.iter().flat_map(|core| &core.instructions);
    executed.extend(timed.filter_map(|i| match (i.name.as_str(), i.width_bits) {
        ("aesenc", 128) => Some("aes"),
        ("aesenc", _) => Some("vaes"),
        ("pclmulqdq", 128) => Some("pclmulqdq"),
        ("pclmulqdq", _) => Some("vpclmulqdq"),
        ("aese+aesmc", _) => Some("aes"),
        ("pmull.1q", _) => Some("pmull"),
        (name, _) if name.ends_with("-sve") => Some("sve"),
        (_, 512) => Some("avx512f"),
        _ => None,
    }));
    for (set, feature) in SETS {
        if executed.contains(&set) && !features.is_empty() && !features.iter().any(|f| f == feature)
        {
            findings.doubt(
                Code::Relabelled,
                format!(
                    "it executed instructions of {set}, which the CPU that it names does not have"
                ),
            );
        }
    }
}

/// Two cases of the record with the same samples.
fn copies(record: &Record, own: &BTreeMap<u64, (usize, KnownCase)>, findings: &mut Findings) {
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let mut in_order: Vec<&(usize, KnownCase)> = own.values().collect();
    in_order.sort_by_key(|(at, _)| *at);
    for (at, case) in in_order {
        let Some(samples) = case.samples else { continue };
        if let Some(first) = seen.insert(samples, *at) {
            let other = crate::compare::trust::named(&record.measurements[first]);
            findings.of_case(Code::Copied, *at, &record.measurements[*at], || {
                format!("it has the samples of {other}")
            });
        }
    }
}

fn replays(
    record: &Record,
    digest: Option<&str>,
    own: &BTreeMap<u64, (usize, KnownCase)>,
    others: &[&Known],
    findings: &mut Findings,
) {
    for peer in others {
        if digest.is_some() && digest == peer.samples.as_deref() {
            let (began, at) = (&record.started, &peer.started);
            let apart = if began == at {
                format!("which is of {}", peer.machine_type.as_deref().unwrap_or("no named type"))
            } else {
                format!("which began at {at} on '{}'; it says {began}", peer.cpu.name)
            };
            let what = format!("it has the samples of '{}', {apart}", peer.name);
            findings.doubt(Code::Replayed, what);
            continue;
        }
        let theirs: std::collections::BTreeSet<u64> =
            peer.cases.values().filter_map(|case| case.samples).collect();
        let same = own
            .values()
            .filter(|(_, case)| case.samples.is_some_and(|samples| theirs.contains(&samples)));
        let same: Vec<usize> = same.map(|(at, _)| *at).collect();
        if let Some(first) = same.iter().min() {
            findings.of_case(Code::Replayed, *first, &record.measurements[*first], || {
                format!("it and {} more cases have the samples of '{}'", same.len() - 1, peer.name)
            });
        }
    }
}

/// A machine type's records have one CPU.
fn label(kin: &Kin, told: &Told<'_>, others: &[&Known], findings: &mut Findings) {
    let Some(kind) = told.machine_type else { return };
    let mut named = others.iter().filter(|peer| peer.machine_type.as_deref() == Some(kind));
    let Some(first) = named.clone().next() else { return };
    if named.all(|peer| peer.cpu != *kin) {
        findings.doubt(
            Code::Relabelled,
            format!(
                "it is said to be of {kind}, whose CPU is '{}' in '{}'; its own is '{}'",
                first.cpu.name, first.name, kin.name
            ),
        );
    }
}

/// Exact counts of the same build on the same CPU.
fn counts(record: &Record, others: &[&Known], findings: &mut Findings) {
    for counted in counted_instructions(record) {
        let differs = others.iter().find_map(|peer| {
            let theirs = *peer.instructions.get(&counted.key)?;
            let apart = counted.count.abs_diff(theirs) as f64;
            (apart > COUNTS.max(OF_COUNTS * theirs as f64)).then_some((peer, theirs))
        });
        if let Some((peer, theirs)) = differs {
            let record::Executed { library, algorithm, direction, model, tier, .. } =
                counted.executed;
            let (size, count) = (counted.size, counted.count);
            findings.doubt(
                Code::Instructions,
                format!(
                    "{} {} {algorithm} {direction} {model} {size} B {tier} executes {count} instructions, and {theirs} in '{}'",
                    library.name, library.version, peer.name
                ),
            );
        }
    }
}

/// Core cycles against those of the same CPU and build.
fn speeds(
    record: &Record,
    own: &BTreeMap<u64, (usize, KnownCase)>,
    kin: &[&Known],
    findings: &mut Findings,
) {
    let typical = |key: &u64| {
        let theirs = kin.iter().filter_map(|peer| peer.cases.get(key)?.cycles);
        median(&mut theirs.collect::<Vec<f64>>())
    };
    let ratio =
        |(key, (at, case)): (&u64, &(usize, KnownCase))| Some((*at, case.cycles? / typical(key)?));
    let ratios: Vec<(usize, f64)> =
        own.iter().filter_map(ratio).filter(|(_, r)| r.is_finite()).collect();
    let Some(middle) = median(&mut ratios.iter().map(|(_, r)| *r).collect::<Vec<f64>>()) else {
        return;
    };
    let is_far = |ratio: f64, factor: f64| !(1.0 / factor..=factor).contains(&ratio);
    let whole = ratios.len() >= LEAST_SHARED;
    if whole && is_far(middle, WHOLE) {
        findings.doubt(
            Code::UnlikePeers,
            format!(
                "its cases take {middle:.2} times the core cycles that other records of '{}' take",
                record.host.cpu.name
            ),
        );
    }
    let middle = if whole { middle } else { 1.0 };
    for (at, ratio) in ratios {
        if is_far(ratio / middle, SINGLE) {
            findings.of_case(Code::UnlikePeers, at, &record.measurements[at], || {
                format!("it takes {ratio:.2} times the core cycles that other records of its CPU and build take")
            });
        }
    }
}

// What is kept of a record, so that others can be held against it without reading it again.

/// Samples of a case from which on they are its own: two cases of a few samples may be equal by chance.
const LEAST_SAMPLES: usize = 6;

/// What a record is judged by when others come. Some 17 bytes for each measured case, once it is packed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Known {
    pub name: String,
    pub machine_type: Option<String>,
    /// [`samples_digest`].
    pub samples: Option<String>,
    /// When it began, as it says.
    pub started: String,
    pub cpu: Kin,
    /// Each measured case, by the hash of its build and name.
    #[serde(with = "columns")]
    pub cases: BTreeMap<u64, KnownCase>,
    /// Instructions of one operation, by the hash of build, CPU, name and size.
    #[serde(with = "columns")]
    pub instructions: BTreeMap<u64, u64>,
}

/// What two processors of one kind have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kin {
    pub name: String,
    /// Vendor, family, model, stepping.
    pub identity: (String, u32, u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownCase {
    /// Hash of its samples; none of a few.
    pub samples: Option<u64>,
    /// Core cycles of one operation, if undisturbed.
    pub cycles: Option<f64>,
}

/// A map as its keys' distances and a column for each part of its values: an archive keeps one for each case of each
/// record, and this packs to a fifth less than names would.
mod columns {
    use super::KnownCase;

    use serde::de::DeserializeOwned;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use std::collections::BTreeMap;

    pub(crate) trait Row: Copy {
        type Columns: Serialize + DeserializeOwned;
        fn columns(rows: Vec<Self>) -> Self::Columns;
        fn rows(columns: Self::Columns) -> Vec<Self>;
    }

    impl Row for u64 {
        type Columns = Vec<Self>;
        fn columns(rows: Vec<Self>) -> Vec<Self> {
            rows
        }
        fn rows(columns: Vec<Self>) -> Vec<Self> {
            columns
        }
    }

    impl Row for KnownCase {
        type Columns = (Vec<Option<u64>>, Vec<Option<f64>>);
        fn columns(rows: Vec<Self>) -> Self::Columns {
            rows.into_iter().map(|row| (row.samples, row.cycles)).unzip()
        }
        fn rows((samples, cycles): Self::Columns) -> Vec<Self> {
            samples
                .into_iter()
                .zip(cycles)
                .map(|(samples, cycles)| Self { samples, cycles })
                .collect()
        }
    }

    pub(crate) fn serialize<R: Row, S: Serializer>(
        map: &BTreeMap<u64, R>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let distances = map.keys().map(|key| key - std::mem::replace(&mut last, *key));
        (distances.collect::<Vec<_>>(), R::columns(map.values().copied().collect())).serialize(to)
    }

    pub(crate) fn deserialize<'de, R: Row, D: Deserializer<'de>>(
        from: D,
    ) -> Result<BTreeMap<u64, R>, D::Error> {
        let (distances, columns) = <(Vec<u64>, R::Columns)>::deserialize(from)?;
        let mut last = 0_u64;
        let keys = distances.into_iter().map(|distance| {
            last = last.wrapping_add(distance);
            last
        });
        Ok(keys.zip(R::rows(columns)).collect())
    }
}

impl Known {
    pub fn of(name: &str, machine_type: Option<&str>, record: &Record) -> Self {
        let measured = record.measurements.iter().filter(|m| m.state == State::Measured);
        Self {
            name: name.to_owned(),
            machine_type: machine_type.map(ToOwned::to_owned),
            samples: samples_digest(record),
            started: record.started.clone(),
            cpu: Kin::of(&record.host.cpu),
            cases: measured.map(|m| (case_key(record, m), KnownCase::of(m))).collect(),
            instructions: counted_instructions(record)
                .map(|counted| (counted.key, counted.count))
                .collect(),
        }
    }
}

impl Kin {
    pub(crate) fn of(cpu: &Cpu) -> Self {
        let identity = (cpu.vendor.clone(), cpu.family, cpu.model, cpu.stepping);
        Self { name: cpu.name.clone(), identity }
    }
}

impl KnownCase {
    pub(crate) fn of(m: &Measurement) -> Self {
        // Contended or hardly measured cases say little of a CPU.
        let is_good = !m.contended && m.precision.is_some_and(|precision| precision < 0.05);
        let cycles = m.cycles_per_op.filter(|_| is_good && m.threads == 1);
        Self { samples: samples(&m.raw), cycles: cycles.map(|c| rounded(c.median)) }
    }
}

/// To five digits: peers are far apart before they are doubted, and each digit takes room for every case.
fn rounded(cycles: f64) -> f64 {
    format!("{cycles:.4e}").parse().unwrap_or(cycles)
}

/// Of all samples of a record, in hexadecimal; `None` of a record without. Records with the same one are of the same
/// run, whatever else they say.
pub fn samples_digest(record: &Record) -> Option<String> {
    let mut digest = Sha256::new();
    let mut any = false;
    for m in record.measurements.iter().filter(|m| !m.raw.is_empty()) {
        any = true;
        feed(&mut digest, &m.raw);
    }
    any.then(|| hex::encode(digest.finalize()))
}

fn samples(raw: &Samples) -> Option<u64> {
    (raw.len() >= LEAST_SAMPLES).then(|| {
        let mut digest = Sha256::new();
        feed(&mut digest, raw);
        short(digest)
    })
}

/// Ticks and clock readings: what a forger would have to make up.
fn feed(digest: &mut Sha256, raw: &Samples) {
    digest.update((raw.len() as u64).to_le_bytes());
    raw.ticks.iter().for_each(|ticks| digest.update(ticks.to_le_bytes()));
    let clocks = raw.clock_before.iter().chain(&raw.clock_after);
    clocks.for_each(|clock| digest.update(clock.to_le_bytes()));
}

/// 56 bits: two among the millions of cases that are held against each other are equal by chance once in ten million
/// records.
fn short(digest: Sha256) -> u64 {
    let bytes: [u8; 32] = digest.finalize().into();
    u64::from_le_bytes(bytes[..8].try_into().expect("eight of thirty-two bytes")) >> 8
}

fn hash(fields: &impl Serialize) -> u64 {
    let text = serde_json::to_vec(fields).expect("plain data always serialises");
    short(Sha256::new_with_prefix(text))
}

/// Which build and case, under which circumstances.
pub(crate) fn case_key(record: &Record, m: &Measurement) -> u64 {
    let case = hash(&(&m.library.name, &m.library.id, m.model_version, Case::of(m)));
    under_circumstances(case, record)
}

/// The same where nothing is set, as in records that do not say.
fn under_circumstances(key: u64, record: &Record) -> u64 {
    match &record.host.circumstances[..] {
        [] => key,
        set => hash(&(key, set.iter().map(|c| (&c.name, &c.value, &c.sha256)).collect::<Vec<_>>())),
    }
}

pub(crate) struct Counted<'a> {
    pub(crate) key: u64,
    pub(crate) executed: &'a record::Executed,
    pub(crate) size: usize,
    pub(crate) count: u64,
}

pub(crate) fn counted_instructions(record: &Record) -> impl Iterator<Item = Counted<'_>> {
    // Libraries choose their code by the CPU; adapters are the tool's.
    let cpu = (Kin::of(&record.host.cpu), &record.host.cpu.features, &record.tool.version);
    let cpu = under_circumstances(hash(&cpu), record);
    record.executed.iter().flat_map(move |e| {
        let name =
            (cpu, &e.library.name, &e.library.id, &e.algorithm, e.direction, e.model, e.tier);
        let key = hash(&name);
        e.sizes.iter().map(move |at| Counted {
            key: hash(&(key, at.size)),
            executed: e,
            size: at.size,
            count: at.instructions,
        })
    })
}
