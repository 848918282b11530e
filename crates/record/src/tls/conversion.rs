//! Runs as records and back, and the files that `tls handshake`, `tls records` and `tls primitives` wrote.

use crate::format::MOST_RATE;
use crate::tls::document::{Cost, Named, Plan, RecordLines, Row, Run, RunKind, Stack};
use crate::{
    Estimate, Evidence, FORMAT_VERSION, Library, LibraryId, Measurement, Record, Samples,
    WITHOUT_SAMPLES,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The record of a document that these commands wrote before records had their kinds.
pub(crate) fn of_older(mut document: Value) -> Result<Record, String> {
    let rows = ["handshakes", "records", "primitives"].map(|name| document[name].take());
    let rows = rows.into_iter().find(|rows| !rows.is_null());
    document["rows"] = rows.ok_or("it has no rows")?;
    document["tool"] =
        json!({"name": "ciphermark", "version": "", "command": document["command"].take()});
    let alone = document["noise"]["core_alone"].as_bool() == Some(true);
    document["noise"]["quiet"] = json!([]);
    document["noise"]["shield"] = if alone { "core-scheduling" } else { "none" }.into();
    for row in document["rows"].as_array_mut().into_iter().flatten() {
        for part in RunKind::ALL.iter().flat_map(|kind| kind.parts()) {
            if let Some(cost) = row.get_mut(part.name()) {
                interval_of_cycles(cost);
            }
        }
    }
    let run: Run = serde_json::from_value(document).map_err(|e| e.to_string())?;
    let record = into_record(&run, &[]);
    crate::contradiction(&record)?;
    from_record(&record)?;
    Ok(record)
}

/// Cycles had half their interval's width beside them; before that the time's.
fn interval_of_cycles(cost: &mut Value) {
    let Some(cycles) = cost["cycles"].as_f64() else { return };
    let of_time = || {
        let ns = |name: &str| cost[name].as_f64().unwrap_or_default();
        (ns("high_ns") - ns("low_ns")) / (2.0 * ns("median_ns"))
    };
    let precision = cost["cycles_precision"].as_f64().unwrap_or_else(of_time);
    let half = cycles * precision;
    cost["cycles"] = json!({"median": cycles, "low": cycles - half, "high": cycles + half});
}

// A run as a record and back. A row is two measurements, one of each of its parts, side by side; the details of
// the first hold what both have in common.

/// Most measurements: a hundred times what there are of a matrix in ten stacks.
const MOST_ROWS: usize = 2_000_000;
/// Beyond any time, in nanoseconds.
const MOST_NS: f64 = 1e18;

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

/// What of a cost a measurement has no field for.
#[derive(Serialize, Deserialize)]
struct Rest {
    mean_ns: f64,
    max_ns: f64,
    setup_ns: f64,
}

/// The record of a run, with every sample of each row's parts as far as they are known.
pub fn into_record(run: &Run, raw: &[[Samples; 2]]) -> Record {
    let of_row =
        |(at, row): (usize, &Row)| measurements(run, row, raw.get(at).cloned().unwrap_or_default());
    let details = RunDetails {
        kind: run.kind.name().to_owned(),
        span: run.span.clone(),
        cpu: run.plan.cpu,
        stacks: run.stacks.iter().map(stack_details).collect(),
        lines: run.lines(),
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
        measurements: run.rows.iter().enumerate().flat_map(of_row).collect(),
        details: Some(value(&details)),
        ..Record::default()
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

fn plan(run: &Run) -> crate::Plan {
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
        models: vec![run.kind.model()],
        directions: run.kind.parts().to_vec(),
        tiers: vec![run.plan.tier],
        footprints: vec![base::model::Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        precision: run.plan.precision,
        budget_seconds: run.plan.budget_seconds,
        seed: run.plan.seed,
        ..crate::Plan::default()
    }
}

fn measurements(run: &Run, row: &Row, raw: [Samples; 2]) -> [Measurement; 2] {
    let mut shared = row.details();
    shared.retain(|_, value| !value.is_null());
    let blank = blank(run, row);
    let costs = row.costs.map_or([None, None], |both| both.map(Some));
    let mut at =
        run.kind.parts().into_iter().zip(costs).zip(raw).map(|((direction, cost), raw)| {
            let stack = Map::from_iter([("stack".to_owned(), row.stack.as_str().into())]);
            let details = std::mem::replace(&mut shared, stack);
            with_cost(Measurement { direction, raw, ..blank.clone() }, details, cost)
        });
    [at.next(), at.next()].map(|m| m.expect("there are two parts"))
}

/// What both measurements of a row say.
fn blank(run: &Run, row: &Row) -> Measurement {
    let Named { algorithm, size, setting } = row.named();
    let known = run.stacks.iter().find(|s| s.label == row.stack);
    let library = known.map(|s| library(s).identity()).unwrap_or_else(|| {
        let (name, version) = row.stack.split_once('@').unwrap_or((&row.stack, ""));
        let (name, version) = (name.to_owned(), version.to_owned());
        LibraryId { name, version, path: String::new(), id: String::new() }
    });
    Measurement {
        model: run.kind.model(),
        model_version: run.kind.model().version(),
        tier: run.plan.tier,
        size,
        setting,
        reason: row.reason.clone(),
        stopped: row.stopped,
        samples: row.samples,
        samples_disturbed: row.disturbed.total(),
        processes: u32::try_from(row.processes).unwrap_or(u32::MAX),
        disturbed: row.disturbed,
        contended: row.contended,
        evidence: Evidence { clock: run.host.clock.source.clone(), ..Evidence::default() },
        ..Measurement::blank(library, &algorithm, row.state)
    }
}

fn with_cost(m: Measurement, mut details: Map<String, Value>, cost: Option<Cost>) -> Measurement {
    let Some(cost) = cost else { return Measurement { details: Some(details.into()), ..m } };
    let Cost { median_ns, low_ns, high_ns, mean_ns, max_ns, setup_ns, cycles } = cost;
    details.insert("cost".to_owned(), value(&Rest { mean_ns, max_ns, setup_ns }));
    let mut evidence = Evidence::of_clock(&m.evidence.clock, cycles.is_some());
    // Outside the clock every batch is checked.
    evidence.outputs_checked = m.raw.len() as u64;
    evidence.calls_succeeded = m.raw.ops.iter().map(|ops| u64::from(*ops)).sum();
    let bytes = m.size as f64;
    let of_bytes = |x: f64| (m.model.has_bytes() && x <= MOST_RATE).then_some(x);
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
pub fn from_record(record: &Record) -> Result<Run, String> {
    let Some(details) = record.details.clone() else {
        return Err("it is the record of a survey".to_owned());
    };
    if record.measurements.len() > MOST_ROWS {
        return Err(format!("it has {} measurements", record.measurements.len()));
    }
    let details: RunDetails =
        serde_json::from_value(details).map_err(|e| format!("details: {e}"))?;
    let Some(kind) = RunKind::of_name(&details.kind) else {
        let handshakes = RunKind::Handshakes;
        return Err(format!("it is of the kind '{}', not '{handshakes}'", details.kind));
    };
    if details.stacks.len() != record.libraries.len() {
        return Err("details: not as many stacks as libraries".to_owned());
    }
    let of_row = |(at, both): (usize, &[Measurement])| {
        row(kind, both).map_err(|why| format!("measurements[{}]: {why}", 2 * at))
    };
    let rows: Result<Vec<Row>, String> =
        record.measurements.chunks(2).enumerate().map(of_row).collect();
    let run = Run {
        kind,
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
            tier: record.plan.tiers.first().copied().unwrap_or(base::model::Tier::Native),
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

fn row(kind: RunKind, both: &[Measurement]) -> Result<Row, String> {
    let [first, second] = both else { return Err("its other part is missing".to_owned()) };
    let is_part = |m: &Measurement| m.model == kind.model() && m.state == first.state;
    if [first.direction, second.direction] != kind.parts() || !both.iter().all(is_part) {
        return Err("it and the next are not the parts of one case".to_owned());
    }
    let costs = cost(first)?.zip(cost(second)?);
    let row = Row {
        state: first.state,
        reason: first.reason.clone(),
        stopped: first.stopped,
        costs: costs.map(|(one, other)| [one, other]),
        samples: first.samples,
        processes: first.processes.into(),
        disturbed: first.disturbed,
        contended: first.contended,
        ..Row::of_details(&mut details(first)?)?
    };
    let named = Named {
        algorithm: first.algorithm.clone(),
        size: first.size,
        setting: first.setting.clone(),
    };
    if row.subject.kind() != kind || row.named() != named {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::fixtures::{self, primitive_row};
    use crate::tls::words::{Operation, Scheme};
    use base::text::fixtures::says;

    fn from_json(text: &str, origin: &str) -> Result<Run, crate::RecordError> {
        crate::read_run(text, origin, from_record)
    }

    fn run() -> Run {
        let rows = vec![
            primitive_row("some", Scheme::X25519, Operation::Agree, Some(20.0)),
            primitive_row("some", Scheme::Sha256, Operation::Digest, None),
        ];
        fixtures::run(RunKind::Primitives, &["some"], rows)
    }

    #[test]
    fn what_was_written_is_read_again_and_nothing_else_is() {
        let text = crate::to_json(&into_record(&run(), &[]));
        assert_eq!(from_json(&text, "x").unwrap(), run());
        let why = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
        let slow = text.replace("\"mean_ns\":20000.0", "\"mean_ns\":1e300");
        assert!(why(&slow).contains("which no run has"), "{}", why(&slow));
        let other = text.replace("\"operation\":\"agree\"", "\"operation\":\"generate\"");
        assert!(why(&other).contains("its details are of another case"), "{}", why(&other));
        let half = text.replace("\"direction\":\"call\"", "\"direction\":\"whole\"");
        assert!(why(&half).contains("measurements[0]: it and the next are not"), "{}", why(&half));
        assert!(why("{}").starts_with("'x.json' is not a ciphermark record"), "{}", why("{}"));
    }

    /// Some fields of a run's record follow from others: a record that is read must give one that is read.
    #[test]
    fn a_record_whose_run_could_not_be_written_is_refused() {
        let text = crate::to_json(&into_record(&run(), &[]));
        let why = |change: &dyn Fn(&mut Value)| {
            let mut record: Value = serde_json::from_str(&text).unwrap();
            record["measurements"].as_array_mut().unwrap()[..2].iter_mut().for_each(change);
            crate::from_json(&record.to_string(), "x")
                .map(|_| ())
                .and_then(|()| from_json(&record.to_string(), "x").map(|_| ()))
        };
        assert!(why(&|_| ()).is_ok());
        let imported = why(&|m| {
            m["state"] = "imported".into();
            m["imported"] = json!({"source": "a blog", "machine": null});
        });
        let imported = imported.unwrap_err().to_string();
        says(&imported, ["'imported' but it lacks `imported`"]);
        let most = 1_u64 << 53;
        let disturbed = why(&|m| m["disturbed"] = json!({"stolen": most, "switched": 1}));
        says(disturbed.unwrap_err().to_string(), ["more than can be"]);
        let model = why(&|m| m["model"] = "handshake".into()).unwrap_err().to_string();
        says(&model, ["not the parts of one case"]);
    }

    /// The documents that these commands wrote until format 1.4.
    const OLDER: [&str; 3] = [
        include_str!("../../../testing/samples/handshakes.json"),
        include_str!("../../../testing/samples/records.json"),
        include_str!("../../../testing/samples/primitives.json"),
    ];

    #[test]
    fn documents_of_older_versions_become_records_and_lose_nothing() {
        let published = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../records/tls-handshake-2026-11-22-spr.json.gz"
        );
        let published = crate::load_text(std::path::Path::new(published)).unwrap();
        for older in OLDER.into_iter().chain([&*published]) {
            let record = crate::read(older, "x").unwrap();
            let text = crate::to_json(&record);
            assert_eq!(crate::from_json(&text, "x").unwrap(), record);
            let run = from_record(&record).unwrap();
            assert_eq!(crate::to_json(&into_record(&run, &[])), text);
            assert_eq!(from_json(&format!("\u{feff}{text}"), "x").unwrap(), run);
            assert_eq!(run, from_json(older, "x").unwrap());
        }
        let newer = OLDER[0].replace("\"1.0\"", "\"2.0\"");
        says(from_json(&newer, "x").unwrap_err().to_string(), ["its format is 2.0"]);
    }

    #[test]
    fn each_end_of_a_handshake_is_a_measurement_with_its_own_numbers() {
        let record = crate::read(OLDER[0], "x").unwrap();
        let [server, client] = &record.measurements[..2] else { panic!("a row has two parts") };
        assert_eq!((server.direction.name(), client.direction.name()), ("server", "client"));
        assert_eq!((&server.algorithm, server.setting.as_str()), (&client.algorithm, "hot"));
        assert!(server.ns_per_op.is_some() && server.mb_per_s.is_none());
        let details = server.details.as_ref().unwrap();
        assert!(details.get("case").is_some() && details.get("server").is_none());
        assert!(client.details.as_ref().unwrap().get("case").is_none());
    }
}
