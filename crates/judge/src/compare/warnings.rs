//! What a reader must keep in mind when two sides are compared.

use crate::compare::comparison::{Case, Side};
use crate::compare::costs::Unit;
use base::model::Tier;
use record::{Cpu, Library, LibraryId, LoadedFile, Record, differing_circumstances};
use std::collections::BTreeSet;

/// The part of clean samples below which a run was disturbed enough to say so.
const QUIET: f64 = 0.8;

/// Whether both ran on the same kind of core, as far as a processor tells.
pub(crate) fn same_core(base: &Record, new: &Record) -> bool {
    let identity =
        |cpu: &Cpu| (cpu.name.clone(), cpu.vendor.clone(), [cpu.family, cpu.model, cpu.stepping]);
    identity(&base.host.cpu) == identity(&new.host.cpu)
}

pub(crate) fn of(
    base: &Side<'_>,
    new: &Side<'_>,
    unit: Unit,
    cases: &[Case],
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
    if !same_core(b, n) {
        warnings.push(format!(
            "the processors differ ({} and {}): compared by time, and it is machines that are compared",
            core(&b.host.cpu),
            core(&n.host.cpu)
        ));
    } else if unit == Unit::Nanoseconds && !cases.is_empty() {
        warnings.push(
            "core cycles are not known on both sides: compared by time, in which every \
                       change of the clock shows"
                .to_owned(),
        );
    }
    let mut differ = |what: &str, b: &str, n: &str| {
        if b != n {
            warnings.push(format!("{what} differs: {} and {}", said(b), said(n)));
        }
    };
    differ("ciphermark's version", &b.tool.version, &n.tool.version);
    differ("the record's format", &b.format_version, &n.format_version);
    differ("the kernel", &b.host.kernel.release, &n.host.kernel.release);
    if let (Some(b), Some(n)) = (&b.host.c_library, &n.host.c_library) {
        differ("the C library", b, n);
    }
    let microcode = |r: &Record| r.host.cpu.microcode.clone().unwrap_or_default();
    differ("the microcode", &microcode(b), &microcode(n));
    let hypervisor = |r: &Record| r.host.hypervisor.clone().unwrap_or_default();
    differ("the hypervisor", &hypervisor(b), &hypervisor(n));
    let machine = |r: &Record| r.host.machine.clone().unwrap_or_default();
    differ("the machine", &machine(b), &machine(n));
    differ("the clock", &b.host.clock.source, &n.host.clock.source);
    differ("the tiers", &tiers(base), &tiers(new));
    let circumstances = differing_circumstances(&b.host.circumstances, &n.host.circumstances);
    let of_circumstance = |[name, b, n]: &[String; 3]| {
        let set = |text: &String| if text.is_empty() { "not set".to_owned() } else { text.clone() };
        format!("{name} decides which code runs, and differs: {} and {}", set(b), set(n))
    };
    warnings.extend(circumstances.iter().map(of_circumstance));
    let rows = base.rows.iter().chain(&new.rows);
    let machines: BTreeSet<Tier> = rows.map(|m| m.tier).filter(|t| t.is_machine()).collect();
    warnings.extend(machines.into_iter().map(|tier| format!("tier {}", tier.in_words())));
    warnings.extend([base, new].into_iter().filter_map(noisy));
    if circumstances.is_empty() {
        let same: Vec<&LibraryId> = pairs
            .iter()
            .filter(|(old, id)| !old.id.is_empty() && b.has_same_build(old, n, id))
            .map(|(old, _)| old)
            .collect();
        warnings.extend(same_build(&same, b.started == n.started));
    }
    warnings
        .extend(pairs.iter().filter_map(|(old, id)| changed_below(libraries([b, n], [old, id])?)));
    warnings
}

fn core(cpu: &Cpu) -> String {
    format!("{} family {} model {} stepping {}", cpu.name, cpu.family, cpu.model, cpu.stepping)
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

/// Two records that are to compare two builds, and have only one.
fn same_build(same: &[&LibraryId], one_run: bool) -> Option<String> {
    let first = same.first().filter(|_| !one_run)?;
    let others = same.len() - 1;
    let more = if others > 0 { format!(" and {others} more") } else { String::new() };
    Some(format!(
        "{}@{}{more}: the same build on both sides, so differences are the runs' own",
        first.name, first.version
    ))
}

fn libraries<'a>(records: [&'a Record; 2], ids: [&LibraryId; 2]) -> Option<[&'a Library; 2]> {
    let of = |i: usize| records[i].libraries.iter().find(|l| l.identity() == *ids[i]);
    Some([of(0)?, of(1)?])
}

/// The library's own file is the same and others that it maps are not: nobody sees that by its name or version.
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
        "{}@{}: its own file is the same, and another build all the same, by what it loads: {}",
        new.name,
        new.version,
        files.join(", ")
    ))
}
