//! A run over a page store: samples into the figures of its cells, cells as the measurements of a record, the
//! run as JSON, there and back, and what its types cannot rule out.

use crate::at_rest::{Cell, FORMAT_VERSION, KIND, Keying, Medium, NsRange, PagesRecord, Tails};
use crate::format::{MOST_RATE, at_most, rate};
use crate::{Evidence, Latencies, Measurement, Plan, Record, State, Stopped};
use base::analysis::{
    Estimate, Estimator, Ticks, costs_by_process, of_visits, summarise_differences,
};
use base::model::{Direction, Model, QuietRates, RawSample};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CellKey {
    pub library: usize,
    pub scheme: usize,
    pub medium: Medium,
    pub keying: Keying,
    pub direction: Direction,
    pub threads: u32,
}

#[derive(Clone, Debug, Default)]
pub struct CellSamples {
    /// The scheme's own work; those of one visit's threads stand one after the other.
    pub crypto: Vec<RawSample>,
    /// The same with the ticks of reading or writing; none in memory.
    pub io: Vec<RawSample>,
    pub threads: u32,
    /// Single pages of the scheme's own work.
    pub latencies: Vec<Latencies>,
    /// Single pages read or written.
    pub io_latencies: Vec<Latencies>,
    pub finding: Option<(State, String)>,
    /// Why no more were taken.
    pub stopped: Option<Stopped>,
}

/// What turns ticks into figures.
#[derive(Clone, Debug)]
pub struct Scale {
    pub ticks_per_ns: f64,
    pub page_size: usize,
    /// What the throughput probe says of each quiet core.
    pub quiet: QuietRates,
}

/// Samples as they are judged: what waits for a disk is interrupted by design, and its core's clock moves meanwhile.
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
    /// The visits that count: the undisturbed ones, or all where they are too few for a number; and whether disturbed ones
    /// are among them.
    fn counted(&self, samples: &CellSamples, medium: Medium) -> (Vec<RawSample>, bool) {
        let visits = of_visits(&samples.crypto, samples.threads, &self.quiet);
        let visits = judged(&visits, medium);
        let clean = visits.iter().filter(|s| s.disturbance(self.quiet.of(s.cpu)).is_none());
        let clean: Vec<RawSample> = clean.copied().collect();
        let has_disturbed = clean.len() < visits.len();
        if estimated(&clean).is_some() { (clean, false) } else { (all(&visits), has_disturbed) }
    }

    fn ns(&self, ticks: f64) -> f64 {
        ticks / self.ticks_per_ns
    }

    fn range(&self, (estimate, complete): (Estimate, bool)) -> NsRange {
        let Estimate { median, low, high } = estimate;
        let end = |ticks| complete.then(|| self.ns(ticks));
        NsRange { median: self.ns(median), low: end(low), high: end(high) }
    }

    /// Of a time, which an interval of few processes that differ much would have begin below nothing.
    fn time(&self, estimated: (Estimate, bool)) -> NsRange {
        let range = self.range(estimated);
        NsRange { low: range.low.map(|low| low.max(0.0)), ..range }
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
    let (found, _) = Estimator::TrimmedMean.undisturbed(clean, &QuietRates::default())?;
    Some(((found.ticks_per_op, found.is_complete()), found.processes))
}

/// The same of one process, which an interrupted run may have.
fn of_one_process(clean: &[RawSample]) -> Option<((Estimate, bool), usize)> {
    let middle =
        Estimator::TrimmedMean.of(&mut costs_by_process(clean, RawSample::ticks_per_op))?;
    Some(((Estimate::exactly(middle), false), 1))
}

pub fn cell(key: &CellKey, scheme: &str, samples: &CellSamples, scale: &Scale) -> Cell {
    let empty = empty(key, scheme, samples);
    if let Some((state, why)) = &samples.finding {
        return Cell { state: *state, reason: Some(why.clone()), ..empty };
    }
    let (counted, contended) = scale.counted(samples, key.medium);
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
        contended,
        rounds: processes as u32,
        pages: counted.iter().map(|s| u64::from(s.ops)).sum::<u64>() * threads,
        crypto_ns: Some(scale.time(crypto)),
        io_ns: estimated(&io).or_else(|| of_one_process(&io)).map(|(io, _)| scale.time(io)),
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
        stopped: samples.stopped,
        ..Cell::default()
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
        let [own, base] = [own, base].map(|samples| scale.counted(samples, key.medium).0);
        cell.over_none_ns = summarise_differences(&own, &base).map(|found| scale.range(found));
    }
}

// A run over a page store as a record and back: each cell is a measurement.

/// What a record has in fields of its own.
const OF_RECORD: [&str; 7] =
    ["kind", "format_version", "tool", "started", "host", "libraries", "seed"];

/// What a measurement has in fields of its own; [`Cell::scheme`] is its algorithm.
const OF_MEASUREMENT: [&str; 7] =
    ["scheme", "direction", "threads", "state", "reason", "stopped", "contended"];

pub fn into_record(run: &PagesRecord) -> Record {
    let mut details = fields(run);
    details.retain(|name, value| {
        !OF_RECORD.contains(&name.as_str()) && name != "cells" && !value.is_null()
    });
    details.insert("kind".to_owned(), KIND.into());
    Record {
        format_version: crate::FORMAT_VERSION.to_owned(),
        tool: run.tool.clone(),
        started: run.started.clone(),
        measuring_seconds: run.timing.as_ref().map_or(0.0, |t| t.seconds),
        host: run.host.clone(),
        libraries: run.libraries.clone(),
        plan: plan(run),
        measurements: run.cells.iter().map(|cell| measurement(run, cell)).collect(),
        details: Some(details.into()),
        ..Record::default()
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
        contended: cell.contended,
        evidence: Evidence { clock, calls_succeeded: cell.pages, ..Evidence::default() },
        details: Some(details.into()),
        raw: cell.raw.clone(),
        ..Measurement::blank(library, &cell.scheme, cell.state)
    }
}

fn from_record(record: &Record) -> Result<PagesRecord, String> {
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
    // Runs up to 2026-11-30 did not say it.
    let is_busy = m.contended || m.raw.clean.iter().all(|counts| !counts) && !m.raw.is_empty();
    let Value::Object(own) = json!({
        "scheme": m.algorithm,
        "direction": m.direction,
        "threads": m.threads,
        "state": m.state,
        "reason": m.reason,
        "stopped": m.stopped,
        "contended": is_busy,
    }) else {
        unreachable!("an object")
    };
    cell.extend(own);
    if !m.raw.is_empty() {
        cell.insert("raw".to_owned(), json!(m.raw));
    }
    Ok(cell.into())
}

/// The run that a record is of, without contradictions. Its own record, in which some fields follow from others, is
/// read again.
pub fn of(record: &Record) -> Result<PagesRecord, String> {
    let run = from_record(record)?;
    contradiction(&run)?;
    crate::contradiction(&into_record(&run))?;
    Ok(run)
}

/// The record of a document that `pages` wrote before records had their kinds.
pub(crate) fn of_older(document: Value) -> Result<Record, String> {
    let run: PagesRecord = serde_json::from_value(document).map_err(|e| e.to_string())?;
    contradiction(&run)?;
    let run = PagesRecord { format_version: FORMAT_VERSION.to_owned(), ..run };
    let format_version = crate::WITHOUT_SAMPLES.to_owned();
    let record = Record { format_version, ..into_record(&run) };
    crate::contradiction(&record)?;
    of(&record)?;
    Ok(record)
}

pub fn to_json(run: &PagesRecord) -> String {
    crate::to_json(&into_record(run))
}

// What the types of a record of pages cannot rule out, and what shows it or computes with it relies on.

/// Most libraries and most schemes, ten times what a run has: tables have a row for each pair.
const MOST_NAMES: usize = 256;
/// Most numbers of threads: each has a table.
const MOST_THREAD_COUNTS: usize = 16;
/// Bytes that a page can have.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// What contradicts itself or cannot be, on one line.
pub(crate) fn contradiction(record: &PagesRecord) -> Result<(), String> {
    few("libraries", record.libraries.len())?;
    few("schemes", record.schemes.len())?;
    of_store(record)?;
    libraries_are_there(record)?;
    let most = MOST_NAMES * MOST_NAMES;
    if record.probes.len() > most || record.verified.len() > most {
        return Err("it has more pairs of library and scheme than any run".to_owned());
    }
    for (i, probed) in record.probes.iter().enumerate() {
        for row in &probed.rows {
            let counts = &row.counts;
            at_most("tried", counts.tried)?;
            if counts.noticed > counts.tried {
                let (noticed, tried) = (counts.noticed, counts.tried);
                return Err(format!("probes[{i}]: {noticed} of {tried} noticed"));
            }
        }
    }
    for (i, cell) in record.cells.iter().enumerate() {
        of_cell(cell).map_err(|why| format!("cells[{i}]: {why}"))?;
    }
    let mut threads: Vec<u32> = record.cells.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    if threads.len() > MOST_THREAD_COUNTS {
        return Err(format!("cells have {} different numbers of threads", threads.len()));
    }
    let Some(timing) = &record.timing else { return Ok(()) };
    rate("timing.seconds", Some(timing.seconds))?;
    rate("timing.quiet_throughput", Some(timing.quiet_throughput))
}

fn few(what: &str, count: usize) -> Result<(), String> {
    if count <= MOST_NAMES { Ok(()) } else { Err(format!("it has {count} {what}")) }
}

fn of_store(record: &PagesRecord) -> Result<(), String> {
    let store = &record.store;
    if !PAGE_SIZES.contains(&store.page_size) {
        return Err(format!(
            "`store.page_size` is {}: pages have {} to {} bytes",
            store.page_size,
            PAGE_SIZES.start(),
            PAGE_SIZES.end()
        ));
    }
    // Bytes of the store are computed of it.
    at_most("store.pages", store.pages.saturating_mul(store.page_size as u64))?;
    at_most("store.files", store.files)?;
    at_most("nonces.pages", record.nonces.pages)
}

fn libraries_are_there(record: &PagesRecord) -> Result<(), String> {
    let libraries = record.libraries.len();
    let verified = record.verified.iter().map(|v| v.library);
    let probed = record.probes.iter().map(|p| p.library);
    let mut used = verified.chain(probed).chain(record.cells.iter().map(|c| c.library));
    match used.find(|library| *library >= libraries) {
        Some(library) => Err(format!("library {library} of {libraries}")),
        None => Ok(()),
    }
}

fn of_cell(cell: &Cell) -> Result<(), String> {
    let has = |has: bool| if has { "has" } else { "lacks" };
    if cell.state.has_number() != cell.crypto_ns.is_some() {
        return Err(format!(
            "the state is '{}' but it {} `crypto_ns`",
            cell.state.name(),
            has(cell.crypto_ns.is_some())
        ));
    }
    at_most("pages", cell.pages)?;
    let io = cell.raw_io_ticks.len();
    if !cell.raw.is_rectangular() || io != 0 && io != cell.raw.len() {
        return Err("the columns of `raw` have different lengths".to_owned());
    }
    range("crypto_ns", cell.crypto_ns)?;
    range("io_ns", cell.io_ns)?;
    tails("crypto_tails", cell.crypto_tails)?;
    tails("io_tails", cell.io_tails)?;
    rate("pages_per_s", cell.pages_per_s)?;
    rate("core_seconds_per_gib", cell.core_seconds_per_gib)?;
    // Noise can make it cost less than nothing.
    let Some(over) = cell.over_none_ns else { return Ok(()) };
    within("over_none_ns", over, -MOST_RATE)
}

fn range(name: &str, range: Option<NsRange>) -> Result<(), String> {
    range.map_or(Ok(()), |range| within(name, range, 0.0))
}

fn within(name: &str, range: NsRange, least: f64) -> Result<(), String> {
    let NsRange { median, low, high } = range;
    let (low, high) = (low.unwrap_or(median), high.unwrap_or(median));
    if low < least || high > MOST_RATE {
        return Err(format!("`{name}` is {median:e}, which no run has"));
    }
    if low > median || median > high {
        return Err(format!("the median of `{name}` is outside its interval"));
    }
    Ok(())
}

fn tails(name: &str, tails: Option<Tails>) -> Result<(), String> {
    let Some(Tails { p50, p99, p999, max }) = tails else { return Ok(()) };
    [p50, p99, p999, max].into_iter().try_for_each(|ns| rate(name, Some(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::at_rest::sample;
    use base::text::fixtures::says;

    fn from_json(text: &str, origin: &str) -> Result<PagesRecord, crate::RecordError> {
        crate::read_run(text, origin, of)
    }

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
        assert!(!one.contended);
    }

    #[test]
    fn disturbed_samples_count_only_where_there_are_too_few_others() {
        let mut disturbed = samples(&[1000, 1000, 9000]);
        disturbed.crypto[4].switches = 1;
        disturbed.crypto[5].stolen = true;
        let c = cell(&key(1, Medium::Random), "x", &disturbed, &scale());
        assert_eq!((c.rounds, c.disturbed_rounds, c.pages, c.contended), (2, 2, 40, false));
        disturbed.crypto[2].probe_after = 3.0;
        let c = cell(&key(1, Medium::Random), "x", &disturbed, &scale());
        assert_eq!((c.rounds, c.disturbed_rounds, c.pages, c.contended), (3, 3, 60, true));
        assert_eq!(c.own_ns().unwrap().low, 0.0, "a quiet core may be faster");
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
        let wide = (Estimate { median: 10.0, low: -5.0, high: 25.0 }, true);
        assert_eq!(scale().time(wide).low, Some(0.0), "no time is below nothing");
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

    #[test]
    fn a_figure_of_disturbed_samples_is_one_in_records_that_do_not_say_so_too() {
        let mut record = into_record(&sample());
        let sample = samples(&[1000]).crypto[0];
        record.measurements[0].raw.push(&sample, false);
        assert!(of(&record).unwrap().cells[0].contended);
        record.measurements[0].raw.push(&sample, true);
        assert!(!of(&record).unwrap().cells[0].contended);
    }

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let record = into_record(&sample());
        let text = to_json(&sample());
        assert_eq!(crate::from_json(&text, "x").unwrap(), record);
        assert_eq!(from_json(&text, "x").unwrap(), sample());
        let m = &record.measurements[0];
        assert_eq!((m.setting.as_str(), m.size), ("sequential reused", 8192));
    }

    #[test]
    fn a_published_document_of_an_older_version_becomes_a_record_and_loses_nothing() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/pages-2026-11-21-zen4.json.gz");
        let older = crate::load_text(std::path::Path::new(path)).unwrap();
        let run: PagesRecord = serde_json::from_str(&older).unwrap();
        let record = crate::read(&older, "x").unwrap();
        assert_eq!(of(&record).unwrap(), run);
        assert_eq!(from_json(&to_json(&run), "x").unwrap(), run);
    }

    #[test]
    fn what_is_no_record_is_named() {
        let wrong = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
        assert!(wrong("{").contains("'x.json' is not a ciphermark record"));
        assert!(
            wrong(r#"{"kind":"other\u0007","format_version":"1.0"}"#).contains("missing field")
        );
        let older = include_str!("../../tests/at-rest.json");
        let newer = older.replace("\"format_version\": \"1.0\"", "\"format_version\": \"9.0\"");
        assert!(wrong(&newer).contains("format is 9.0"), "{}", wrong(&newer));
        let mut record = sample();
        record.cells[0].library = 99;
        assert!(wrong(&to_json(&record)).contains("library 99"));
    }

    fn why(change: impl FnOnce(&mut PagesRecord)) -> String {
        let mut record = sample();
        change(&mut record);
        contradiction(&record).unwrap_err()
    }

    #[test]
    fn numbers_that_no_run_has_are_named() {
        assert_eq!(contradiction(&sample()), Ok(()));
        assert!(why(|r| r.store.page_size = 0).contains("512 to 65536"));
        assert!(why(|r| r.store.pages = u64::MAX / 2).contains("more than can be"));
        assert_eq!(why(|r| r.cells[0].library = 99), "library 99 of 2");
        let below = why(|r| r.cells[1].pages_per_s = Some(-1.0));
        assert_eq!(below, "cells[1]: `pages_per_s` is -1e0, which no run has");
        let outside = why(|r| {
            r.cells[0].crypto_ns = Some(NsRange { median: 5.0, low: Some(6.0), high: Some(7.0) });
        });
        assert!(outside.ends_with("is outside its interval"), "{outside}");
        says(why(|r| r.cells[0].crypto_ns = None), ["the state is 'measured' but it lacks"]);
        says(why(|r| r.cells[0].state = State::Refused), ["has `crypto_ns`"]);
        assert!(why(|r| r.probes[0].rows[0].counts.noticed = 201).contains("201 of 200 noticed"));
    }

    #[test]
    fn tables_without_end_are_not_made() {
        let many = why(|r| r.libraries = vec![r.libraries[0].clone(); 257]);
        assert_eq!(many, "it has 257 libraries");
        let threads = why(|r| {
            let cell = r.cells[0].clone();
            r.cells.extend((2..40).map(|threads| Cell { threads, ..cell.clone() }));
        });
        says(&threads, ["different numbers of threads"]);
    }
}
