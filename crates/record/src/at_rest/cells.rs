//! The cells of a run over a page store: samples into figures, and cells as the measurements of a record.

use crate::at_rest::{Cell, KIND, Keying, Medium, NsRange, PagesRecord, Tails};
use crate::{
    Evidence, FORMAT_VERSION, Latencies, Limits, Measurement, Plan, Record, Samples, State, Stopped,
};
use base::analysis::{
    Estimate, Estimator, Ticks, costs_by_process, of_visits, summarise, summarise_differences,
    summarise_sparse,
};
use base::model::{Direction, Model, QuietRates, RawSample};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Which cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    /// Index of the library.
    pub library: usize,
    /// Index of the scheme.
    pub scheme: usize,
    /// Medium.
    pub medium: Medium,
    /// Way with keys.
    pub keying: Keying,
    /// Direction.
    pub direction: Direction,
    /// Threads at once.
    pub threads: u32,
}

/// All of a cell.
#[derive(Clone, Debug, Default)]
pub struct CellSamples {
    /// The scheme's own work; those of one visit's threads stand one after the other.
    pub crypto: Vec<RawSample>,
    /// The same with the ticks of reading or writing; none in memory.
    pub io: Vec<RawSample>,
    /// Threads that took them.
    pub threads: u32,
    /// Single pages of the scheme's own work.
    pub latencies: Vec<Latencies>,
    /// Single pages read or written.
    pub io_latencies: Vec<Latencies>,
    /// What it failed with, if it did.
    pub finding: Option<(State, String)>,
    /// Why no more were taken.
    pub stopped: Option<Stopped>,
}

/// What turns ticks into figures.
#[derive(Clone, Debug)]
pub struct Scale {
    /// Ticks in a nanosecond.
    pub ticks_per_ns: f64,
    /// Bytes of a page.
    pub page_size: usize,
    /// What the throughput probe says of each quiet core.
    pub quiet: QuietRates,
}

/// Samples as they are judged: what waits for a disk is interrupted by design, and its core's clock moves meanwhile.
#[must_use]
pub fn judged(visits: &[RawSample], medium: Medium) -> Cow<'_, [RawSample]> {
    if medium.has_io() { all(visits).into() } else { visits.into() }
}

/// All of them, as if nothing had disturbed them.
fn all(visits: &[RawSample]) -> Vec<RawSample> {
    let forgiven = |s: &RawSample| RawSample {
        switches: 0,
        voluntary: 0,
        major_faults: 0,
        migrated: false,
        stolen: false,
        clock_after: s.clock_before,
        probe_before: f64::MAX,
        probe_after: f64::MAX,
        ..*s
    };
    visits.iter().map(forgiven).collect()
}

impl Scale {
    /// The visits that count: the undisturbed ones, or all where they are too few for a number.
    fn counted(&self, samples: &CellSamples, medium: Medium) -> Vec<RawSample> {
        let visits = of_visits(&samples.crypto, samples.threads, &self.quiet);
        let visits = judged(&visits, medium);
        let clean = visits.iter().filter(|s| s.disturbance(self.quiet.of(s.cpu)).is_none());
        let clean: Vec<RawSample> = clean.copied().collect();
        if estimated(&clean).is_some() { clean } else { all(&visits) }
    }

    fn ns(&self, ticks: f64) -> f64 {
        ticks / self.ticks_per_ns
    }

    fn range(&self, (estimate, complete): (Estimate, bool)) -> NsRange {
        let Estimate { median, low, high } = estimate;
        let end = |ticks| complete.then(|| self.ns(ticks));
        NsRange { median: self.ns(median), low: end(low), high: end(high) }
    }

    fn tails(&self, latencies: &[Latencies]) -> Option<Tails> {
        let mut ticks = Ticks::default();
        for (length, pages) in latencies.iter().flat_map(|l| &l.ticks) {
            ticks.add(*length, *pages);
        }
        let max = self.ns(ticks.longest()? as f64);
        // Too few for one to lie above are no slower than the slowest.
        let tail = |fraction| ticks.percentile(fraction).map_or(max, |t| self.ns(t as f64));
        Some(Tails { p50: tail(0.5), p99: tail(0.99), p999: tail(0.999), max })
    }
}

/// The estimate of samples that are clean, whether there are enough processes for its interval, and how many there are.
fn estimated(clean: &[RawSample]) -> Option<((Estimate, bool), usize)> {
    let quiet = QuietRates::default();
    let full = summarise(clean, &quiet);
    let best = full.clone().filter(base::analysis::Summary::is_complete);
    let found = best.or_else(|| summarise_sparse(clean, &quiet)).or(full)?;
    Some(((found.ticks_per_op, found.is_complete()), found.processes))
}

/// The same of one process, which an interrupted run may have.
fn of_one_process(clean: &[RawSample]) -> Option<((Estimate, bool), usize)> {
    let middle =
        Estimator::TrimmedMean.of(&mut costs_by_process(clean, RawSample::ticks_per_op))?;
    Some(((Estimate::exactly(middle), false), 1))
}

/// The figures of a cell.
#[must_use]
pub fn cell(key: &CellKey, scheme: &str, samples: &CellSamples, scale: &Scale) -> Cell {
    let empty = empty(key, scheme, samples);
    if let Some((state, why)) = &samples.finding {
        return Cell { state: *state, reason: Some(why.clone()), ..empty };
    }
    let counted = scale.counted(samples, key.medium);
    let Some((crypto, processes)) = estimated(&counted).or_else(|| of_one_process(&counted)) else {
        let reason = format!("{} samples are too few for a number", samples.crypto.len());
        return Cell { state: State::Failed, reason: Some(reason), ..empty };
    };
    let io = all(&of_visits(&samples.io, samples.threads, &scale.quiet));
    let mean = |samples: &[RawSample]| {
        let sum = |of: fn(&RawSample) -> u64| samples.iter().map(of).sum::<u64>() as f64;
        scale.ns(sum(|s| s.ticks) / sum(|s| u64::from(s.ops)).max(1.0))
    };
    let (crypto_mean, io_mean) = (mean(&counted), mean(&io));
    let threads = u64::from(samples.threads);
    let pages_in_gib = (1_u64 << 30) as f64 / scale.page_size as f64;
    Cell {
        rounds: processes as u32,
        pages: counted.iter().map(|s| u64::from(s.ops)).sum::<u64>() * threads,
        crypto_ns: Some(scale.range(crypto)),
        io_ns: estimated(&io).or_else(|| of_one_process(&io)).map(|(io, _)| scale.range(io)),
        pages_per_s: Some(threads as f64 * 1e9 / (crypto_mean + io_mean).max(1.0)),
        core_seconds_per_gib: Some(crypto_mean * pages_in_gib / 1e9),
        crypto_tails: scale.tails(&samples.latencies),
        io_tails: scale.tails(&samples.io_latencies),
        ..with_raw(empty, samples, scale)
    }
}

fn empty(key: &CellKey, scheme: &str, samples: &CellSamples) -> Cell {
    Cell {
        library: key.library,
        scheme: scheme.to_owned(),
        medium: key.medium,
        keying: key.keying,
        direction: key.direction,
        threads: key.threads,
        state: State::Measured,
        reason: None,
        stopped: samples.stopped,
        rounds: 0,
        disturbed_rounds: 0,
        pages: 0,
        crypto_ns: None,
        crypto_tails: None,
        io_ns: None,
        io_tails: None,
        over_none_ns: None,
        pages_per_s: None,
        core_seconds_per_gib: None,
        raw: Samples::default(),
        raw_io_ticks: Vec::new(),
    }
}

/// The cell with its samples, and how many of them were disturbed.
fn with_raw(mut cell: Cell, samples: &CellSamples, scale: &Scale) -> Cell {
    let lenient = judged(&samples.crypto, cell.medium);
    for (sample, judged) in samples.crypto.iter().zip(lenient.iter()) {
        let clean = judged.disturbance(scale.quiet.of(sample.cpu)).is_none();
        cell.disturbed_rounds += u32::from(!clean);
        cell.raw.push(sample, clean);
    }
    cell.raw_io_ticks = samples.io.iter().map(|s| s.ticks).collect();
    cell
}

/// Sets what each cell costs over `none`, process by process.
pub fn set_over_none(
    cells: &mut [Cell],
    samples: &[(CellKey, CellSamples)],
    none: usize,
    scale: &Scale,
) {
    for (cell, (key, own)) in cells.iter_mut().zip(samples) {
        if key.scheme == none || cell.state != State::Measured {
            continue;
        }
        let base = CellKey { scheme: none, keying: Keying::Reused, ..key.clone() };
        let Some((_, base)) = samples.iter().find(|(k, _)| *k == base) else { continue };
        let [own, base] = [own, base].map(|samples| scale.counted(samples, key.medium));
        cell.over_none_ns = summarise_differences(&own, &base).map(|found| scale.range(found));
    }
}

// A run over a page store as a record and back: each cell is a measurement.

/// What a record has in fields of its own.
const OF_RECORD: [&str; 7] =
    ["kind", "format_version", "tool", "started", "host", "libraries", "seed"];

/// What a measurement has in fields of its own; [`Cell::scheme`] is its algorithm.
const OF_MEASUREMENT: [&str; 6] = ["scheme", "direction", "threads", "state", "reason", "stopped"];

/// Beyond any speed: what a record may have.
const MOST_RATE: f64 = 1e18;

/// The record of a run.
#[must_use]
pub fn into_record(run: &PagesRecord) -> Record {
    let mut details = fields(run);
    details.retain(|name, value| {
        !OF_RECORD.contains(&name.as_str()) && name != "cells" && !value.is_null()
    });
    details.insert("kind".to_owned(), KIND.into());
    Record {
        format_version: FORMAT_VERSION.to_owned(),
        tool: run.tool.clone(),
        started: run.started.clone(),
        measuring_seconds: run.timing.as_ref().map_or(0.0, |t| t.seconds),
        host: run.host.clone(),
        libraries: run.libraries.clone(),
        plan: plan(run),
        noise: None,
        limits: Limits::default(),
        executed: Vec::new(),
        leaks: Vec::new(),
        measurements: run.cells.iter().map(|cell| measurement(run, cell)).collect(),
        fits: Vec::new(),
        details: Some(details.into()),
    }
}

fn fields(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("plain data with fields"),
    }
}

fn plan(run: &PagesRecord) -> Plan {
    let mut threads: Vec<u32> = run.cells.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    Plan {
        algorithms: run.schemes.iter().map(|s| s.recipe.scheme.clone()).collect(),
        sizes: vec![run.store.page_size],
        models: vec![Model::Page],
        directions: vec![Direction::Encrypt, Direction::Decrypt],
        tiers: vec![run.tier],
        threads,
        precision: run.timing.as_ref().and_then(|t| t.precision).unwrap_or_default(),
        seed: run.seed,
        ..Plan::default()
    }
}

fn measurement(run: &PagesRecord, cell: &Cell) -> Measurement {
    let mut details = fields(cell);
    details.retain(|name, value| !OF_MEASUREMENT.contains(&name.as_str()) && !value.is_null());
    let library = run.libraries.get(cell.library).map(crate::Library::identity);
    let library = library.unwrap_or_else(|| crate::Library::default().identity());
    let ns = cell.crypto_ns.map(|ns| Estimate {
        median: ns.median,
        low: ns.low.unwrap_or(ns.median),
        high: ns.high.unwrap_or(ns.median),
    });
    let clean = cell.raw.clean.iter().filter(|counts| **counts).count();
    let bytes = run.store.page_size as f64;
    let speed = |ns: Estimate| bytes / ns.median * 1e3 * f64::from(cell.threads.max(1));
    let clock = run.timing.as_ref().map(|t| t.clock.clone()).unwrap_or_default();
    Measurement {
        direction: cell.direction,
        model: Model::Page,
        model_version: Model::Page.version(),
        size: run.store.page_size,
        tier: run.tier,
        threads: cell.threads,
        setting: format!("{} {}", cell.medium.name(), cell.keying.name()),
        reason: cell.reason.clone(),
        stopped: cell.stopped,
        ns_per_op: ns,
        ns_per_byte: ns.map(|ns| ns.median / bytes),
        mb_per_s: ns.map(speed).filter(|speed| *speed <= MOST_RATE),
        samples: if cell.raw.is_empty() { cell.rounds.into() } else { clean as u64 },
        processes: cell.rounds,
        samples_disturbed: cell.disturbed_rounds.into(),
        evidence: Evidence { clock, calls_succeeded: cell.pages, ..Evidence::default() },
        details: Some(details.into()),
        raw: cell.raw.clone(),
        ..Measurement::blank(library, &cell.scheme, cell.state)
    }
}

/// The run that a record is of.
///
/// # Errors
/// What it lacks, in one line.
pub fn from_record(record: &Record) -> Result<PagesRecord, String> {
    if record.kind() != Some(KIND) {
        return Err("it is no run of `ciphermark pages`".to_owned());
    }
    let Some(Value::Object(mut run)) = record.details.clone() else {
        return Err("its details are no object".to_owned());
    };
    let read = |(at, m): (usize, &Measurement)| {
        cell_of(m).map_err(|why| format!("measurements[{at}]: {why}"))
    };
    let cells: Result<Vec<Value>, String> =
        record.measurements.iter().enumerate().map(read).collect();
    let Value::Object(own) = json!({
        "kind": KIND,
        "format_version": crate::at_rest::FORMAT_VERSION,
        "tool": record.tool,
        "started": record.started,
        "host": record.host,
        "libraries": record.libraries,
        "seed": record.plan.seed,
        "cells": cells?,
    }) else {
        unreachable!("an object")
    };
    run.extend(own);
    serde_json::from_value(run.into()).map_err(|e| format!("details: {e}"))
}

fn cell_of(m: &Measurement) -> Result<Value, String> {
    let Some(Value::Object(mut cell)) = m.details.clone() else {
        return Err("it has no `details`".to_owned());
    };
    let Value::Object(own) = json!({
        "scheme": m.algorithm,
        "direction": m.direction,
        "threads": m.threads,
        "state": m.state,
        "reason": m.reason,
        "stopped": m.stopped,
    }) else {
        unreachable!("an object")
    };
    cell.extend(own);
    if !m.raw.is_empty() {
        cell.insert("raw".to_owned(), json!(m.raw));
    }
    Ok(cell.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(scheme: usize, medium: Medium) -> CellKey {
        let (keying, direction) = (Keying::Reused, Direction::Encrypt);
        CellKey { library: 0, scheme, medium, keying, direction, threads: 1 }
    }

    fn scale() -> Scale {
        Scale { ticks_per_ns: 2.0, page_size: 8192, quiet: QuietRates::of_one(0, 5.0) }
    }

    /// Two samples of ten pages in each process.
    fn samples(ns: &[u64]) -> CellSamples {
        let of_process = |(process, ns): (usize, &u64)| {
            let sample = RawSample {
                process: process as u32,
                ops: 10,
                ticks: 20 * ns,
                clock_before: 1.5,
                clock_after: 1.5,
                probe_before: 5.0,
                probe_after: 5.0,
                ..RawSample::default()
            };
            [sample; 2]
        };
        let latency = Latencies { ticks: vec![(2 * ns[0], 19), (2 * ns[0] + 60, 1)], disturbed: 0 };
        CellSamples {
            crypto: ns.iter().enumerate().flat_map(of_process).collect(),
            latencies: vec![latency],
            threads: 1,
            ..CellSamples::default()
        }
    }

    #[test]
    fn figures_of_a_cell_come_from_its_processes() {
        let of = |ns: &[u64]| cell(&key(1, Medium::Random), "x", &samples(ns), &scale());
        let c = of(&[1000; 6]);
        let ns = c.crypto_ns.unwrap();
        assert_eq!(ns.median, 1000.0);
        assert!(ns.low.unwrap() > 997.0 && ns.high.unwrap() < 1003.0, "{ns:?}");
        assert_eq!((c.rounds, c.pages, c.disturbed_rounds, c.raw.len()), (6, 120, 0, 12));
        assert!((c.pages_per_s.unwrap() - 1e6).abs() < 1.0);
        assert!((c.core_seconds_per_gib.unwrap() - 0.131_072).abs() < 1e-9);
        let tails = c.crypto_tails.unwrap();
        assert_eq!((tails.p50, tails.p99, tails.max), (1000.0, 1030.0, 1030.0));
        assert!(c.io_ns.is_none() && c.raw_io_ticks.is_empty());
        let few = of(&[5, 1, 4, 2, 3]);
        assert_eq!((few.crypto_ns.unwrap().median, few.crypto_ns.unwrap().low), (3.0, None));
        let one = of(&[7]);
        assert_eq!((one.crypto_ns.unwrap().median, one.rounds), (7.0, 1), "interrupted");
    }

    #[test]
    fn disturbed_samples_count_only_where_there_are_too_few_others() {
        let mut disturbed = samples(&[1000, 1000, 9000]);
        disturbed.crypto[4].switches = 1;
        disturbed.crypto[5].stolen = true;
        let c = cell(&key(1, Medium::Random), "x", &disturbed, &scale());
        assert_eq!((c.rounds, c.disturbed_rounds, c.pages), (2, 2, 40));
        disturbed.crypto[2].probe_after = 3.0;
        let c = cell(&key(1, Medium::Random), "x", &disturbed, &scale());
        assert_eq!((c.rounds, c.disturbed_rounds, c.pages), (3, 3, 60));
        assert_eq!(c.raw.clean, [true, true, false, true, false, false]);
        let c = cell(&key(1, Medium::Log), "x", &disturbed, &scale());
        assert_eq!((c.rounds, c.disturbed_rounds), (3, 0), "what waits for a disk is interrupted");
    }

    #[test]
    fn reading_and_writing_stand_beside() {
        let mut both = samples(&[1000; 6]);
        both.io = both.crypto.iter().map(|s| RawSample { ticks: 3 * s.ticks, ..*s }).collect();
        let c = cell(&key(1, Medium::Cache), "x", &both, &scale());
        assert_eq!(c.io_ns.unwrap().median, 3000.0);
        assert_eq!((c.raw_io_ticks[0], c.raw.ticks[0]), (60_000, 20_000));
        assert!((c.pages_per_s.unwrap() - 250_000.0).abs() < 1.0);
    }

    #[test]
    fn the_cost_over_none_is_taken_process_by_process() {
        let none = key(0, Medium::Random);
        let own = key(1, Medium::Random);
        let samples = vec![(none, samples(&[100, 300])), (own, samples(&[1100, 1300]))];
        let mut cells: Vec<Cell> = samples.iter().map(|(k, s)| cell(k, "x", s, &scale())).collect();
        set_over_none(&mut cells, &samples, 0, &scale());
        assert_eq!(cells[1].over_none_ns.unwrap().median, 1000.0);
        assert!(cells[0].over_none_ns.is_none());
    }

    #[test]
    fn a_cell_without_samples_says_so() {
        let empty = CellSamples { threads: 1, ..CellSamples::default() };
        let c = cell(&key(1, Medium::Log), "x", &empty, &scale());
        assert_eq!(c.state, State::Failed);
        let refused = CellSamples { finding: Some((State::Refused, "no".into())), ..empty };
        let c = cell(&key(1, Medium::Log), "x", &refused, &scale());
        assert_eq!(c.reason.as_deref(), Some("no"));
    }
}
