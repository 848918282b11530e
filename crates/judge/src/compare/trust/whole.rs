//! The record as a whole: times, freshness, and whether all of the run is there.

use super::{Code, Findings, Told, is_close};
use base::analysis::median;
use base::model::{Algorithm, Direction, Model};
use jiff::{SignedDuration, Timestamp};
use record::{Measurement, Plan, Record, State};
use std::collections::{BTreeMap, BTreeSet};

/// Clocks of machines that are not kept by NTP are off by minutes.
const CLOCKS: SignedDuration = SignedDuration::from_mins(5);
/// Samples on one CPU cannot take longer than the run, but for how exactly its length is known.
const OF_RUN: f64 = 1.02;

/// Which samples of contended cases count for it is not written down.
const OF_CLOCK: f64 = 0.02;

pub(super) fn check(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    times(record, told, findings);
    clock(record, findings);
    fresh(record, told, findings);
    let figures = record.measurements.iter().any(|m| m.state != State::Imported);
    if figures {
        samples(record, findings);
    }
    let imported = record.measurements.iter().any(|m| m.state == State::Imported);
    match record.kind() {
        None if figures && !imported => cases(record, findings),
        None => {}
        Some("pages") => pages(record, findings),
        Some(_) => parts(record, findings),
    }
}

fn times(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    let Record { started, measuring_seconds, .. } = record;
    let mut impossible = |what: String| findings.doubt(Code::ImpossibleTime, what);
    let Ok(began) = started.parse::<Timestamp>() else {
        return impossible(format!("it began at '{started}', which is no time of day"));
    };
    let length = SignedDuration::try_from_secs_f64(*measuring_seconds);
    let Some(length) = length.ok().filter(|length| !length.is_negative()) else {
        return impossible(format!("it took {measuring_seconds} s: it ended before it began"));
    };
    let now = told.now.and_then(|now| now.parse::<Timestamp>().ok());
    let ended = began.saturating_add(length).unwrap_or(began);
    if let Some(now) = now.filter(|now| ended.duration_since(*now) > CLOCKS) {
        impossible(format!(
            "it began at {started} and took {measuring_seconds:.0} s, and it is {now} now"
        ));
    }
    let rate = record.host.clock.ticks_per_second;
    // Not as whole numbers: a stranger's may add up to more than those hold.
    let ticks = record.measurements.iter().flat_map(|m| &m.raw.ticks).map(|ticks| *ticks as f64);
    let sampled = ticks.sum::<f64>() / rate;
    let cpus: BTreeSet<u32> = record.measurements.iter().flat_map(cpus).collect();
    let most = measuring_seconds * cpus.len().max(1) as f64 * OF_RUN;
    // Older runs of pages do not say how long they took.
    if *measuring_seconds > 0.0 && (sampled > most || sampled.is_nan()) {
        let cpus = cpus.len();
        impossible(format!(
            "its samples take {sampled:.2} s, and it measured for {measuring_seconds:.2} s on {cpus} CPUs"
        ));
    }
}

/// The core's clock as the samples that count have it, against what the record says of it.
fn clock(record: &Record, findings: &mut Findings) {
    let Some(stated) = record.host.clock.core_ghz_median.filter(|_| record.kind().is_none()) else {
        return;
    };
    let quiet = record.measurements.iter().filter(|m| !m.contended && m.threads == 1);
    let clocks = quiet.flat_map(|m| m.raw.iter()).filter(|(s, counts)| *counts && s.clock() > 0.0);
    let ticks = record.host.clock.ticks_per_second;
    let mut ghz: Vec<f64> = clocks.map(|(s, _)| s.clock() * ticks / 1e9).collect();
    if let Some(found) = median(&mut ghz).filter(|found| !is_close(*found, stated, OF_CLOCK)) {
        findings.doubt(
            Code::Recomputed,
            format!("its core ran at {stated:.3} GHz, and its samples and ticks give {found:.3}"),
        );
    }
}

fn cpus(m: &Measurement) -> Vec<u32> {
    if m.raw.cpu.is_empty() { vec![0] } else { m.raw.cpu.clone() }
}

fn fresh(record: &Record, told: &Told<'_>, findings: &mut Findings) {
    let Some(given) = told.given else { return };
    let seed = record.plan.seed;
    if seed != given.seed {
        let what = format!("its seed is {seed}, and {} was given for this run", given.seed);
        return findings.doubt(Code::NotFresh, what);
    }
    let times =
        given.at.and_then(|at| Some((at.parse::<Timestamp>().ok()?, record.started.parse().ok()?)));
    if let Some((at, began)) =
        times.filter(|(at, began): &(_, Timestamp)| at.duration_since(*began) > CLOCKS)
    {
        findings
            .doubt(Code::NotFresh, format!("it began at {began}, and its seed was given at {at}"));
    }
}

/// Every sample of the run is in a case; only cases without a number may have lost theirs.
fn samples(record: &Record, findings: &mut Findings) {
    let Some(noise) = record.noise.as_ref().filter(|noise| noise.samples > 0) else {
        return findings.unchecked("whether samples are missing: the record does not count them");
    };
    // Both ends of a case of TLS have the same samples.
    let ends = if record.kind().is_some() { 2 } else { 1 };
    let all = record.measurements.iter().map(|m| m.raw.len() as u64).sum::<u64>() / ends;
    if all == 0 && record.kind().is_some() {
        return;
    }
    let may_lack =
        |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && m.raw.is_empty();
    let lacks = all < noise.samples && !record.measurements.iter().any(may_lack);
    if all > noise.samples || lacks {
        let what = format!("the run took {} samples, and its cases have {all}", noise.samples);
        findings.doubt(Code::Truncated, what);
    }
}

/// A survey has every case of its plan in every library.
fn cases(record: &Record, findings: &mut Findings) {
    // What only judged secrets has no cases.
    if record.measurements.is_empty() && !record.leaks.is_empty() {
        return;
    }
    let mut found: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for m in &record.measurements {
        *found.entry((&m.library.path, &m.library.id, &m.algorithm)).or_default() += 1;
    }
    let mut libraries: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    record.libraries.iter().for_each(|l| *libraries.entry((&l.path, &l.id)).or_default() += 1);
    for ((path, id), times) in libraries {
        for algorithm in &record.plan.algorithms {
            let Some(planned) = planned(&record.plan, algorithm) else { continue };
            let has = found.get(&(path, id, algorithm.as_str())).copied().unwrap_or(0);
            if has != planned.saturating_mul(times) {
                let planned = planned.saturating_mul(times);
                findings.doubt(
                    Code::Truncated,
                    format!("{algorithm} in '{path}' has {has} cases, and the plan has {planned}"),
                );
            }
        }
    }
}

/// Cases of an algorithm in one library; `None` of what only some libraries list.
fn planned(plan: &Plan, algorithm: &str) -> Option<usize> {
    let algorithm = Algorithm::find(algorithm).ok().filter(|a| a.encrypts())?;
    let own = Direction::of(algorithm.kind);
    let directions = own.iter().filter(|d| plan.directions.contains(d)).count();
    let places = |model: &Model| if *model == Model::Stream { 1 } else { plan.in_place.len() };
    let kinds: usize = plan.models.iter().map(places).sum();
    let lists = [plan.tiers.len(), plan.threads.len(), plan.footprints.len(), plan.sizes.len()];
    Some(lists.into_iter().fold(directions.saturating_mul(kinds), usize::saturating_mul))
}

/// Of a run of TLS each case has two parts, and the plan names its algorithms.
fn parts(record: &Record, findings: &mut Findings) {
    let named: BTreeSet<&str> = record.measurements.iter().map(|m| m.algorithm.as_str()).collect();
    let missing = record.plan.algorithms.iter().find(|name| !named.contains(name.as_str()));
    if let Some(name) = missing {
        findings.doubt(Code::Truncated, format!("{name} is in the plan, and no case has it"));
    }
    if !record.measurements.len().is_multiple_of(2) {
        findings.doubt(Code::Truncated, "a case has one of its two parts only".to_owned());
    }
}

/// A scheme of one library in a run over pages.
type Pair = (u64, String);

/// Every scheme that came back whole is timed in the same ways, where its library is timed: without a cipher it is not.
fn pages(record: &Record, findings: &mut Findings) {
    let of = |details: &serde_json::Value, scheme: &str| -> Option<Pair> {
        Some((details["library"].as_u64()?, scheme.to_owned()))
    };
    let mut ways: BTreeMap<Pair, BTreeSet<String>> = BTreeMap::new();
    for m in &record.measurements {
        let Some(details) = &m.details else { continue };
        let way = format!("{} {} of {} threads", m.direction, details["medium"], m.threads);
        if let Some(pair) = of(details, &m.algorithm) {
            ways.entry(pair).or_default().insert(way);
        }
    }
    let all: BTreeSet<String> = ways.values().flatten().cloned().collect();
    let verified = record.details.as_ref().and_then(|details| details["verified"].as_array());
    let whole = verified.into_iter().flatten().filter(|row| row["state"] == "measured");
    for (library, scheme) in whole.filter_map(|row| of(row, row["scheme"].as_str()?)) {
        let is_timed = ways.keys().any(|(timed, _)| *timed == library);
        let own = ways.get(&(library, scheme.clone()));
        let lacks = all.iter().find(|way| own.is_none_or(|own| !own.contains(*way)));
        if let Some(way) = lacks.filter(|_| is_timed) {
            let what =
                format!("{scheme} of library {library} has no case of {way}, and others have");
            findings.doubt(Code::Truncated, what);
        }
    }
}
