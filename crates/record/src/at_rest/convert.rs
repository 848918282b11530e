//! A run over a page store as a record and back: each cell is a measurement.

use crate::at_rest::format::{Cell, KIND, PagesRecord};
use crate::{Estimate, Evidence, FORMAT_VERSION, Limits, Measurement, Plan, Record};
use base::model::{Direction, Model};
use serde::Serialize;
use serde_json::{Map, Value, json};

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
        cell(m).map_err(|why| format!("measurements[{at}]: {why}"))
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

fn cell(m: &Measurement) -> Result<Value, String> {
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
