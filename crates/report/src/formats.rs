//! Formats for programs: JSON and JSON Lines, and those of Bencher, github-action-benchmark and LNT.
//!
//! Formats for programs: JSON and JSON Lines. Text in them is data and stays as it is.

use record::{Executed, Leaks, Measurement, Record, State};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The record with the selected measurements only.
pub(crate) fn as_json(record: &Record, selection: &[&Measurement]) -> String {
    // Everything but the measurements, which may be large and are replaced, and what follows them.
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
        leaks: _,
        measurements: _,
        fits,
        details,
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
        leaks: leaks_of(record, selection),
        measurements: selection.iter().copied().cloned().collect(),
        fits: fits.clone(),
        details: details.clone(),
    })
}

/// What the selected measurements executed.
fn executed_by(executed: &[Executed], selection: &[&Measurement]) -> Vec<Executed> {
    executed.iter().filter(|e| selection.iter().any(|m| e.is_of(m))).cloned().collect()
}

/// The verdicts on the selected measurements; of everything, those too that no measurement belongs to.
fn leaks_of(record: &Record, selection: &[&Measurement]) -> Vec<Leaks> {
    if selection.len() == record.measurements.len() {
        return record.leaks.clone();
    }
    let kept = |l: &&Leaks| selection.iter().any(|m| l.is_of(&m.library, &m.algorithm, m.tier));
    record.leaks.iter().filter(kept).cloned().collect()
}

/// One object a line: a measurement with the record's version and time, so that lines of several
/// records can stand in one file.
pub(crate) fn as_json_lines(record: &Record, selection: &[&Measurement]) -> String {
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

// Measurements in the formats of programs that keep histories: Bencher, github-action-benchmark and LNT.

/// What a measurement is called there: one name for each case and library, whatever its version.
fn name(m: &Measurement) -> String {
    let mut words = vec![m.library.name.clone(), m.algorithm.clone(), m.direction.to_string()];
    words.extend((m.size > 0).then(|| m.size.to_string()));
    words.extend([m.model.to_string(), m.tier.to_string()]);
    words.extend((m.threads > 1).then(|| format!("{} threads", m.threads)));
    words.extend((!m.footprint.is_hot()).then(|| m.footprint.to_string()));
    words.extend(m.in_place.then(|| "in place".to_owned()));
    words.extend((!m.setting.is_empty()).then(|| m.setting.clone()));
    words.join(" ")
}

/// The measured rows under names of their own: a library of which there are several builds has its version in them.
fn named<'a>(rows: &[&'a Measurement]) -> Vec<(String, &'a Measurement)> {
    let measured: Vec<&Measurement> = rows
        .iter()
        .copied()
        .filter(|m| m.state == State::Measured && m.ns_per_op.is_some())
        .collect();
    let several = |m: &Measurement| {
        measured.iter().any(|o| o.library.name == m.library.name && o.library != m.library)
    };
    let with_version = |m: &Measurement| {
        name(m).replacen(&m.library.name, &format!("{}@{}", m.library.name, m.library.version), 1)
    };
    measured.iter().map(|m| (if several(m) { with_version(m) } else { name(m) }, *m)).collect()
}

fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("plain data always serialises") + "\n"
}

/// Bencher Metric Format: `latency` in nanoseconds with its interval, `throughput` in operations a second.
#[must_use]
pub fn bencher(rows: &[&Measurement]) -> String {
    let measures = |m: &Measurement| {
        let e = m.ns_per_op?;
        Some(json!({
            "latency": { "value": e.median, "lower_value": e.low, "upper_value": e.high },
            "throughput": { "value": 1e9 / e.median, "lower_value": 1e9 / e.high, "upper_value": 1e9 / e.low },
        }))
    };
    let all: Map<String, Value> =
        named(rows).into_iter().filter_map(|(name, m)| Some((name, measures(m)?))).collect();
    text(&Value::Object(all))
}

/// What github-action-benchmark reads as `customSmallerIsBetter`.
#[must_use]
pub fn github_action(rows: &[&Measurement]) -> String {
    let entry = |(name, m): (String, &Measurement)| {
        let e = m.ns_per_op?;
        let half = (e.high - e.low) / 2.0;
        let extra = format!("{}@{} {}", m.library.name, m.library.version, m.library.id);
        Some(
            json!({ "name": name, "unit": "ns/op", "value": e.median, "range": format!("± {half:.3}"), "extra": extra }),
        )
    };
    text(&named(rows).into_iter().filter_map(entry).collect())
}

/// LNT's report, format version 2: seconds of an operation, one test a case.
#[must_use]
pub fn lnt(record: &Record, rows: &[&Measurement]) -> String {
    let test = |(name, m): (String, &Measurement)| {
        let seconds = m.ns_per_op?.median * 1e-9;
        Some(
            json!({ "name": format!("ciphermark.{}", name.replace('.', "_")), "execution_time": [seconds] }),
        )
    };
    let tests: Vec<Value> = named(rows).into_iter().filter_map(test).collect();
    let cpu = &record.host.cpu;
    let time = record.started.trim_end_matches('Z').split('.').next().unwrap_or_default();
    text(&json!({
        "format_version": "2",
        "machine": { "name": cpu.name, "kernel": record.host.kernel.release, "microcode": cpu.microcode },
        "run": { "start_time": time, "end_time": time, "ciphermark": record.tool.version },
        "tests": tests,
    }))
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
        assert_eq!(as_json(&record, &selection(&record)), record::to_json(&record));
        let part = record::from_json(&as_json(&record, &selection(&record)[..2]), "part").unwrap();
        assert_eq!(part.measurements, record.measurements[..2]);
        assert_eq!(part.host, record.host);
    }

    #[test]
    fn verdicts_go_with_the_rows_that_they_are_of_and_stand_alone_where_there_are_none() {
        let record = Record { leaks: sample::leaks(), ..sample::record() };
        let read = |text: &str| record::from_json(text, "part").unwrap().leaks;
        let of_openssl: Vec<&Measurement> =
            record.measurements.iter().filter(|m| m.library.name == "openssl").collect();
        let part = read(&as_json(&record, &of_openssl));
        assert_eq!(part, record.leaks[..3], "at the tier that was measured");
        assert_eq!(read(&as_json(&record, &selection(&record))), record.leaks);
        let alone = Record { measurements: Vec::new(), ..record.clone() };
        assert_eq!(read(&as_json(&alone, &[])), record.leaks);
    }

    #[test]
    fn each_json_line_is_a_whole_measurement() {
        let record = sample::record();
        let text = as_json_lines(&record, &selection(&record));
        assert_eq!(text.lines().count(), record.measurements.len());
        for (line, m) in text.lines().zip(&record.measurements) {
            assert_eq!(&serde_json::from_str::<Measurement>(line).unwrap(), m);
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["format_version"], record::FORMAT_VERSION);
        }
    }

    fn read(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_measured_case_is_there_once_under_a_name_of_its_own() {
        let record = sample::record();
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        let measured = rows.iter().filter(|m| m.state == State::Measured).count();
        assert!(measured > 2);
        let of_bencher = read(&bencher(&rows));
        assert_eq!(of_bencher.as_object().unwrap().len(), measured);
        assert_eq!(read(&github_action(&rows)).as_array().unwrap().len(), measured);
        assert_eq!(read(&lnt(&record, &rows))["tests"].as_array().unwrap().len(), measured);
    }

    #[test]
    fn figures_are_the_records_in_the_units_of_each_format() {
        let record = sample::record();
        let m = record.measurements.iter().find(|m| m.state == State::Measured).unwrap();
        let ns = m.ns_per_op.unwrap();
        let of_bencher = read(&bencher(&[m]));
        let measures = of_bencher.as_object().unwrap().values().next().unwrap();
        assert_eq!(measures["latency"]["value"], ns.median);
        assert_eq!(measures["throughput"]["lower_value"], 1e9 / ns.high);
        assert_eq!(read(&github_action(&[m]))[0]["value"], ns.median);
        let of_lnt = read(&lnt(&record, &[m]));
        assert_eq!(of_lnt["tests"][0]["execution_time"][0], ns.median * 1e-9);
        assert_eq!(of_lnt["format_version"], "2");
    }
}
