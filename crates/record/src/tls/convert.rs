//! A run as a record and back. A row is two measurements, one of each of its parts, side by side; the details of
//! the first hold what both have in common.

use crate::tls::document::{Cost, Plan, Run, Stack};
use crate::tls::records::RecordLines;
use crate::tls::row::{Named, Row};
use crate::{
    Disturbances, Estimate, Evidence, FORMAT_VERSION, Library, LibraryId, Limits, Measurement,
    Record, Samples, State, Stopped, WITHOUT_SAMPLES,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most measurements: a hundred times what there are of a matrix in ten stacks.
const MOST_ROWS: usize = 2_000_000;
/// Beyond any time, in nanoseconds.
const MOST_NS: f64 = 1e18;
/// Beyond any speed: what a record may have.
const MOST_RATE: f64 = 1e18;

/// What a record says of the run as a whole beside its own fields.
#[derive(Serialize, Deserialize)]
struct RunDetails {
    kind: String,
    span: String,
    cpu: u32,
    stacks: Vec<StackDetails>,
    /// Written for other readers: they follow from the rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty", skip_deserializing)]
    lines: Vec<RecordLines>,
}

/// What a library of the record is as a stack.
#[derive(Serialize, Deserialize)]
struct StackDetails {
    label: String,
    crypto_path: String,
    crypto_id: String,
    bare_path: String,
}

/// What rows of every kind have, and a measurement in fields of its own.
#[derive(Serialize, Deserialize)]
struct Common {
    state: State,
    reason: Option<String>,
    samples: u64,
    processes: u64,
    disturbed: Disturbances,
    contended: bool,
    stopped: Option<Stopped>,
}

/// What of a cost a measurement has no field for.
#[derive(Serialize, Deserialize)]
struct Rest {
    mean_ns: f64,
    max_ns: f64,
    setup_ns: f64,
}

/// The record of a run, with every sample of each row's parts as far as they are known.
#[must_use]
pub fn into_record<R: Row>(run: &Run<R>, raw: &[[Samples; 2]]) -> Record {
    let of_row =
        |(at, row): (usize, &R)| measurements(run, row, raw.get(at).cloned().unwrap_or_default());
    let details = RunDetails {
        kind: R::KIND.to_owned(),
        span: run.span.clone(),
        cpu: run.plan.cpu,
        stacks: run.stacks.iter().map(stack_details).collect(),
        lines: R::lines(&run.rows),
    };
    // An older run kept none, and is of an older format.
    let keeps_samples = !raw.is_empty() || run.rows.is_empty();
    let format_version = if keeps_samples { FORMAT_VERSION } else { WITHOUT_SAMPLES };
    Record {
        format_version: format_version.to_owned(),
        tool: run.tool.clone(),
        started: run.started.clone(),
        measuring_seconds: run.seconds,
        host: run.host.clone(),
        libraries: run.stacks.iter().map(library).collect(),
        plan: plan(run),
        noise: Some(run.noise.clone()),
        limits: Limits::default(),
        executed: Vec::new(),
        leaks: Vec::new(),
        measurements: run.rows.iter().enumerate().flat_map(of_row).collect(),
        fits: Vec::new(),
        details: Some(value(&details)),
    }
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("plain data always serialises")
}

fn stack_details(stack: &Stack) -> StackDetails {
    StackDetails {
        label: stack.label.clone(),
        crypto_path: stack.crypto_path.clone(),
        crypto_id: stack.crypto_id.clone(),
        bare_path: stack.bare_path.clone(),
    }
}

fn library(stack: &Stack) -> Library {
    Library {
        name: stack.name.clone(),
        version: stack.version.clone(),
        path: stack.path.clone(),
        id: stack.id.clone(),
        build: stack.build.clone(),
        ..Library::default()
    }
}

fn plan<R: Row>(run: &Run<R>) -> crate::Plan {
    let (mut algorithms, mut sizes) = (Vec::new(), Vec::new());
    for Named { algorithm, size, .. } in run.rows.iter().map(Row::named) {
        if !algorithms.contains(&algorithm) {
            algorithms.push(algorithm);
        }
        if !sizes.contains(&size) && size > 0 {
            sizes.push(size);
        }
    }
    crate::Plan {
        algorithms,
        sizes,
        models: vec![R::MODEL],
        directions: R::PARTS.to_vec(),
        tiers: vec![base::model::Tier::Native],
        footprints: vec![base::model::Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        precision: run.plan.precision,
        budget_seconds: run.plan.budget_seconds,
        seed: run.plan.seed,
        ..crate::Plan::default()
    }
}

/// The measurements of a row's parts.
fn measurements<R: Row>(run: &Run<R>, row: &R, raw: [Samples; 2]) -> [Measurement; 2] {
    let Value::Object(mut fields) = value(row) else { unreachable!("a row is a structure") };
    let common: Common = part(&fields).expect("every row has these");
    let Value::Object(own) = value(&common) else { unreachable!("a structure") };
    fields.retain(|name, value| !own.contains_key(name) && !value.is_null());
    let stack = fields.get("stack").and_then(Value::as_str).unwrap_or_default().to_owned();
    let costs = R::PARTS.map(|part| fields.remove(part.name()));
    let blank = blank(run, row, &stack, &common);
    let mut shared = fields;
    let mut at = R::PARTS.into_iter().zip(costs).zip(raw).map(|((direction, cost), raw)| {
        let details = std::mem::replace(&mut shared, just_stack(&stack));
        let cost = cost.map(|c| serde_json::from_value(c).expect("it was just written"));
        with_cost::<R>(Measurement { direction, raw, ..blank.clone() }, details, cost)
    });
    [at.next(), at.next()].map(|m| m.expect("there are two parts"))
}

fn just_stack(stack: &str) -> Map<String, Value> {
    Map::from_iter([("stack".to_owned(), stack.into())])
}

fn part<T: DeserializeOwned>(fields: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields.clone())).map_err(|e| e.to_string())
}

/// What both measurements of a row say.
fn blank<R: Row>(run: &Run<R>, row: &R, label: &str, common: &Common) -> Measurement {
    let named = row.named();
    let known = run.stacks.iter().find(|s| s.label == label);
    let library = known.map(|s| library(s).identity()).unwrap_or_else(|| {
        let (name, version) = label.split_once('@').unwrap_or((label, ""));
        let (name, version) = (name.to_owned(), version.to_owned());
        LibraryId { name, version, path: String::new(), id: String::new() }
    });
    Measurement {
        model: R::MODEL,
        model_version: R::MODEL.version(),
        size: named.size,
        setting: named.setting,
        reason: common.reason.clone(),
        stopped: common.stopped,
        samples: common.samples,
        samples_disturbed: common.disturbed.total(),
        processes: u32::try_from(common.processes).unwrap_or(u32::MAX),
        disturbed: common.disturbed,
        contended: common.contended,
        evidence: Evidence { clock: run.host.clock.source.clone(), ..Evidence::default() },
        ..Measurement::blank(library, &named.algorithm, common.state)
    }
}

fn with_cost<R: Row>(
    m: Measurement,
    mut details: Map<String, Value>,
    cost: Option<Cost>,
) -> Measurement {
    let Some(cost) = cost else { return Measurement { details: Some(details.into()), ..m } };
    let Cost { median_ns, low_ns, high_ns, mean_ns, max_ns, setup_ns, cycles } = cost;
    details.insert("cost".to_owned(), value(&Rest { mean_ns, max_ns, setup_ns }));
    let mut evidence = Evidence::of_clock(&m.evidence.clock, cycles.is_some());
    // Outside the clock every batch is checked.
    evidence.outputs_checked = m.raw.len() as u64;
    evidence.calls_succeeded = m.raw.ops.iter().map(|ops| u64::from(*ops)).sum();
    let bytes = m.size as f64;
    let of_bytes = |x: f64| (R::MODEL.has_bytes() && x <= MOST_RATE).then_some(x);
    Measurement {
        ns_per_op: Some(Estimate { median: median_ns, low: low_ns, high: high_ns }),
        cycles_per_op: cycles,
        ns_per_byte: of_bytes(median_ns / bytes),
        mb_per_s: of_bytes(bytes / median_ns * 1e3),
        cycles_per_byte: cycles.and_then(|c| of_bytes(c.median / bytes)),
        precision: Some(cost.precision()).filter(|p| p.is_finite()),
        evidence,
        details: Some(details.into()),
        ..m
    }
}

/// The run that a record is of. Its own record, in which some fields follow from others, is read again.
///
/// # Errors
/// What it lacks or contradicts, in one line.
pub fn from_record<R: Row>(record: &Record) -> Result<Run<R>, String> {
    let Some(details) = record.details.clone() else {
        return Err("it is the record of a survey".to_owned());
    };
    if record.measurements.len() > MOST_ROWS {
        return Err(format!("it has {} measurements", record.measurements.len()));
    }
    let details: RunDetails =
        serde_json::from_value(details).map_err(|e| format!("details: {e}"))?;
    if details.kind != R::KIND {
        return Err(format!("it is of the kind '{}', not '{}'", details.kind, R::KIND));
    }
    if details.stacks.len() != record.libraries.len() {
        return Err("details: not as many stacks as libraries".to_owned());
    }
    let of_row = |(at, both): (usize, &[Measurement])| {
        row(both).map_err(|why| format!("measurements[{}]: {why}", 2 * at))
    };
    let rows: Result<Vec<R>, String> =
        record.measurements.chunks(2).enumerate().map(of_row).collect();
    let run = Run {
        tool: record.tool.clone(),
        started: record.started.clone(),
        seconds: record.measuring_seconds,
        host: record.host.clone(),
        span: details.span,
        plan: Plan {
            precision: record.plan.precision,
            budget_seconds: record.plan.budget_seconds,
            seed: record.plan.seed,
            cpu: details.cpu,
        },
        stacks: record.libraries.iter().zip(details.stacks).map(stack).collect(),
        noise: record.noise.clone().unwrap_or_default(),
        rows: rows?,
    };
    crate::contradiction(&into_record(&run, &[]))?;
    Ok(run)
}

fn stack((library, details): (&Library, StackDetails)) -> Stack {
    Stack {
        label: details.label,
        name: library.name.clone(),
        version: library.version.clone(),
        path: library.path.clone(),
        id: library.id.clone(),
        crypto_path: details.crypto_path,
        crypto_id: details.crypto_id,
        bare_path: details.bare_path,
        build: library.build.clone(),
    }
}

/// The row of its parts' measurements.
fn row<R: Row>(both: &[Measurement]) -> Result<R, String> {
    let [first, second] = both else { return Err("its other part is missing".to_owned()) };
    let is_part = |m: &Measurement| m.model == R::MODEL && m.state == first.state;
    if [first.direction, second.direction] != R::PARTS || !both.iter().all(is_part) {
        return Err("it and the next are not the parts of one case".to_owned());
    }
    let common = Common {
        state: first.state,
        reason: first.reason.clone(),
        samples: first.samples,
        processes: first.processes.into(),
        disturbed: first.disturbed,
        contended: first.contended,
        stopped: first.stopped,
    };
    let mut fields = details(first)?;
    for m in both {
        fields.insert(m.direction.name().to_owned(), value(&cost(m)?));
    }
    if let Value::Object(common) = value(&common) {
        fields.extend(common);
    }
    let row: R = part(&fields)?;
    let named = Named {
        algorithm: first.algorithm.clone(),
        size: first.size,
        setting: first.setting.clone(),
    };
    if row.named() != named {
        return Err("its details are of another case".to_owned());
    }
    Ok(row)
}

fn details(m: &Measurement) -> Result<Map<String, Value>, String> {
    match &m.details {
        Some(Value::Object(fields)) => Ok(fields.clone()),
        _ => Err("it has no `details`".to_owned()),
    }
}

fn cost(m: &Measurement) -> Result<Option<Cost>, String> {
    let Some(ns) = m.ns_per_op else { return Ok(None) };
    let rest = details(m)?.remove("cost").unwrap_or_default();
    let Rest { mean_ns, max_ns, setup_ns } =
        serde_json::from_value(rest).map_err(|e| format!("details.cost: {e}"))?;
    if let Some(ns) = [mean_ns, max_ns, setup_ns].iter().find(|ns| ns.abs() > MOST_NS) {
        return Err(format!("a time of {ns:e} ns, which no run has"));
    }
    Ok(Some(Cost {
        median_ns: ns.median,
        low_ns: ns.low,
        high_ns: ns.high,
        mean_ns,
        max_ns,
        setup_ns,
        cycles: m.cycles_per_op,
    }))
}
