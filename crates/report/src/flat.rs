//! Formats for programs: JSON, JSON Lines, CSV. Text in them is data and stays as it is.

use record::{Estimate, Evidence, Executed, LibraryId, Measurement, Record};
use serde::Serialize;

/// The record with the selected measurements only.
pub(crate) fn json(record: &Record, selection: &[&Measurement]) -> String {
    let measurements = selection.iter().copied().cloned().collect();
    // Everything but the measurements, which may be large and are replaced.
    let Record {
        format_version,
        tool,
        started,
        measuring_seconds,
        host,
        libraries,
        plan,
        noise,
        limits,
        executed,
        measurements: _,
        fits,
    } = record;
    record::to_json(&Record {
        format_version: format_version.clone(),
        tool: tool.clone(),
        started: started.clone(),
        measuring_seconds: *measuring_seconds,
        host: host.clone(),
        libraries: libraries.clone(),
        plan: plan.clone(),
        noise: noise.clone(),
        limits: limits.clone(),
        executed: executed_by(executed, selection),
        measurements,
        fits: fits.clone(),
    })
}

/// What the selected measurements executed.
fn executed_by(executed: &[Executed], selection: &[&Measurement]) -> Vec<Executed> {
    executed.iter().filter(|e| selection.iter().any(|m| e.is_of(m))).cloned().collect()
}

/// One object a line: a measurement with the record's version and time, so that lines of several
/// records can stand in one file.
pub(crate) fn jsonl(record: &Record, selection: &[&Measurement]) -> String {
    #[derive(Serialize)]
    struct Line<'a> {
        format_version: &'a str,
        started: &'a str,
        #[serde(flatten)]
        measurement: &'a Measurement,
    }
    let mut out = String::new();
    for measurement in selection {
        let (format_version, started) = (&record.format_version, &record.started);
        let line = Line { format_version, started, measurement };
        out += &serde_json::to_string(&line).expect("plain data always serialises");
        out.push('\n');
    }
    out
}

/// One row a measurement, every field but the raw samples.
pub(crate) fn csv(selection: &[&Measurement]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS).expect("writing into memory");
    for m in selection {
        writer.write_record(row(m)).expect("every row has as many fields as the header");
    }
    let bytes = writer.into_inner().expect("writing into memory");
    String::from_utf8(bytes).expect("fields are text")
}

/// Nested fields are joined by an underscore; `docs/FORMAT.md` has the list.
const COLUMNS: [&str; 48] = [
    "library_name",
    "library_version",
    "library_path",
    "library_id",
    "algorithm",
    "direction",
    "model",
    "model_version",
    "size",
    "tier",
    "threads",
    "footprint",
    "state",
    "reason",
    "warning",
    "ns_per_op_median",
    "ns_per_op_low",
    "ns_per_op_high",
    "cycles_per_op_median",
    "cycles_per_op_low",
    "cycles_per_op_high",
    "ns_per_byte",
    "mb_per_s",
    "cycles_per_byte",
    "instructions_per_byte",
    "limit_fraction",
    "precision",
    "stopped",
    "samples",
    "samples_disturbed",
    "processes",
    "checks",
    "evidence_clock",
    "evidence_cycles",
    "evidence_outputs_checked",
    "evidence_calls_succeeded",
    "limit_cycles_per_op",
    "limited_by",
    "in_place",
    "key_setup_ns",
    "key_setup_cycles",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_p99_9",
    "latency_ns_operations",
    "contended",
    "instructions_per_message",
    "evidence_instructions",
];

/// One row, in the order of [`COLUMNS`]. Takes the measurement apart so that a new field cannot
/// be forgotten.
fn row(m: &Measurement) -> [String; COLUMNS.len()] {
    let Measurement {
        library,
        algorithm,
        direction,
        model,
        model_version,
        size,
        tier,
        threads,
        footprint,
        in_place,
        state,
        reason,
        warning,
        ns_per_op,
        cycles_per_op,
        ns_per_byte,
        mb_per_s,
        cycles_per_byte,
        instructions_per_byte,
        instructions_per_message,
        limit_fraction,
        limit_cycles_per_op,
        limited_by,
        per_thread: _,
        key_setup,
        latency_ns,
        precision,
        stopped,
        samples,
        samples_disturbed,
        processes,
        // By reason only in JSON: a column for each would say 0 nearly everywhere.
        disturbed: _,
        contended,
        checks,
        evidence,
        raw: _,
    } = m;
    let LibraryId { name, version, path, id } = library;
    let Evidence { clock, cycles, outputs_checked, calls_succeeded, instructions } = evidence;
    let [ns, ns_low, ns_high] = estimate(*ns_per_op);
    let [cycles_median, cycles_low, cycles_high] = estimate(*cycles_per_op);
    let latency =
        |part: fn(&record::Latency) -> Option<f64>| number(latency_ns.as_ref().and_then(part));
    let checks: Vec<String> = checks.iter().map(|c| format!("{}:{}", c.name, c.count)).collect();
    [
        name.clone(),
        version.clone(),
        path.clone(),
        id.clone(),
        algorithm.clone(),
        direction.to_string(),
        model.to_string(),
        model_version.to_string(),
        size.to_string(),
        tier.to_string(),
        threads.to_string(),
        word(footprint),
        state.name().to_owned(),
        reason.clone().unwrap_or_default(),
        warning.clone().unwrap_or_default(),
        ns,
        ns_low,
        ns_high,
        cycles_median,
        cycles_low,
        cycles_high,
        number(*ns_per_byte),
        number(*mb_per_s),
        number(*cycles_per_byte),
        number(*instructions_per_byte),
        number(*limit_fraction),
        number(*precision),
        stopped.as_ref().map(word).unwrap_or_default(),
        samples.to_string(),
        samples_disturbed.to_string(),
        processes.to_string(),
        checks.join(";"),
        clock.clone(),
        cycles.clone(),
        outputs_checked.to_string(),
        calls_succeeded.to_string(),
        number(*limit_cycles_per_op),
        limited_by.as_ref().map(word).unwrap_or_default(),
        in_place.to_string(),
        number(key_setup.map(|k| k.ns)),
        number(key_setup.and_then(|k| k.cycles)),
        latency(|l| Some(l.p50)),
        latency(|l| l.p99),
        latency(|l| l.p99_9),
        latency(|l| Some(l.operations as f64)),
        contended.to_string(),
        number(*instructions_per_message),
        instructions.clone().unwrap_or_default(),
    ]
}

fn estimate(estimate: Option<Estimate>) -> [String; 3] {
    let part = |part: fn(Estimate) -> f64| number(estimate.map(part));
    [part(|e| e.median), part(|e| e.low), part(|e| e.high)]
}

/// Empty where there is none: null in the record.
fn number(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

/// The word that stands for a value in records.
fn word<T: Serialize>(value: &T) -> String {
    let value = serde_json::to_value(value).expect("plain data always serialises");
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn selection(record: &Record) -> Vec<&Measurement> {
        record.measurements.iter().collect()
    }

    #[test]
    fn json_of_everything_is_the_record_and_of_a_part_a_smaller_record() {
        let record = sample::record();
        assert_eq!(json(&record, &selection(&record)), record::to_json(&record));
        let part = record::from_json(&json(&record, &selection(&record)[..2]), "part").unwrap();
        assert_eq!(part.measurements, record.measurements[..2]);
        assert_eq!(part.host, record.host);
    }

    #[test]
    fn each_json_line_is_a_whole_measurement() {
        let record = sample::record();
        let text = jsonl(&record, &selection(&record));
        assert_eq!(text.lines().count(), record.measurements.len());
        for (line, m) in text.lines().zip(&record.measurements) {
            assert_eq!(&serde_json::from_str::<Measurement>(line).unwrap(), m);
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["format_version"], record::FORMAT_VERSION);
        }
    }

    #[test]
    fn each_csv_column_holds_the_field_that_it_is_named_after() {
        let record = sample::record();
        let m = &record.measurements[0];
        let value = serde_json::to_value(m).unwrap();
        for (column, found) in COLUMNS.iter().zip(row(m)).filter(|(c, _)| **c != "checks") {
            let nested =
                ["library", "ns_per_op", "cycles_per_op", "key_setup", "latency_ns", "evidence"];
            let split =
                |n: &'static str| column.strip_prefix(n)?.strip_prefix('_').map(|rest| (n, rest));
            let expected = match nested.into_iter().find_map(split) {
                Some((parent, rest)) => &value[parent][rest],
                None => &value[*column],
            };
            let expected = match expected {
                serde_json::Value::String(text) => text.clone(),
                serde_json::Value::Null => String::new(),
                serde_json::Value::Bool(b) => b.to_string(),
                serde_json::Value::Number(n) => n.as_f64().unwrap().to_string(),
                other => panic!("{column} is {other}"),
            };
            assert_eq!(found, expected, "{column}");
        }
    }

    #[test]
    fn every_csv_column_is_listed_in_the_documentation() {
        let page = include_str!("../../../docs/FORMAT.md");
        let page = page.split_once("## CSV").unwrap().1;
        let listed: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
        let listed: Vec<&str> = listed.into_iter().filter(|w| COLUMNS.contains(w)).collect();
        assert_eq!(listed, COLUMNS);
    }

    #[test]
    fn csv_survives_commas_quotes_and_line_breaks_in_reasons() {
        let mut record = sample::record();
        record.measurements.truncate(1);
        record.measurements[0].reason = Some("a \"b\",\nc".to_owned());
        let text = csv(&selection(&record));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(&rows[0][13], "a \"b\",\nc");
        assert_eq!(csv(&[]).lines().count(), 1);
    }
}
