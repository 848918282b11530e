//! A record against others: replays, counts of the same build, labels, speeds of the same CPU.

use super::known::{self, Kin, Known, KnownCase};
use super::{Code, Findings, Told};
use base::analysis::median;
use record::{Cpu, Measurement, Record, State};
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

pub(super) fn check(record: &Record, told: &Told<'_>, peers: &[Known], findings: &mut Findings) {
    names(&record.host.cpu, findings);
    sets(record, findings);
    let own: BTreeMap<u64, (usize, KnownCase)> = record
        .measurements
        .iter()
        .enumerate()
        .filter(|(_, m)| m.state == State::Measured)
        .map(|(at, m)| (known::case(record, m), (at, KnownCase::of(m))))
        .collect();
    copies(record, &own, findings);
    let kin = Kin::of(&record.host.cpu);
    let digest = known::samples_digest(record);
    let is_same_run = |peer: &&Known| peer.started == record.started && peer.cpu == kin;
    let others: Vec<&Known> = peers.iter().filter(|peer| !is_same_run(peer)).collect();
    replays((record, digest.as_deref()), &own, &others, findings);
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
            let other = super::named(&record.measurements[first]);
            findings.of_case(Code::Copied, (*at, &record.measurements[*at]), || {
                format!("it has the samples of {other}")
            });
        }
    }
}

fn replays(
    (record, digest): (&Record, Option<&str>),
    own: &BTreeMap<u64, (usize, KnownCase)>,
    others: &[&Known],
    findings: &mut Findings,
) {
    for peer in others {
        if digest.is_some() && digest == peer.samples.as_deref() {
            let (began, at) = (&record.started, &peer.started);
            findings.doubt(
                Code::Replayed,
                format!(
                    "it has the samples of '{}', which began at {at} on '{}'; it says {began}",
                    peer.name, peer.cpu.name
                ),
            );
            continue;
        }
        let theirs: std::collections::BTreeSet<u64> =
            peer.cases.values().filter_map(|case| case.samples).collect();
        let same = own
            .values()
            .filter(|(_, case)| case.samples.is_some_and(|samples| theirs.contains(&samples)));
        let same: Vec<usize> = same.map(|(at, _)| *at).collect();
        if let Some(first) = same.iter().min() {
            let case: (usize, &Measurement) = (*first, &record.measurements[*first]);
            findings.of_case(Code::Replayed, case, || {
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
    for counted in known::instructions(record) {
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
            findings.of_case(Code::UnlikePeers, (at, &record.measurements[at]), || {
                format!("it takes {ratio:.2} times the core cycles that other records of its CPU and build take")
            });
        }
    }
}
