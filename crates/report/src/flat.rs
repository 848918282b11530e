//! Formats for programs: JSON and JSON Lines. Text in them is data and stays as it is.

use record::{Executed, Leaks, Measurement, Record};
use serde::Serialize;

/// The record with the selected measurements only.
pub(crate) fn json(record: &Record, selection: &[&Measurement]) -> String {
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
    fn verdicts_go_with_the_rows_that_they_are_of_and_stand_alone_where_there_are_none() {
        let record = Record { leaks: sample::leaks(), ..sample::record() };
        let read = |text: &str| record::from_json(text, "part").unwrap().leaks;
        let of_openssl: Vec<&Measurement> =
            record.measurements.iter().filter(|m| m.library.name == "openssl").collect();
        let part = read(&json(&record, &of_openssl));
        assert_eq!(part, record.leaks[..3], "at the tier that was measured");
        assert_eq!(read(&json(&record, &selection(&record))), record.leaks);
        let alone = Record { measurements: Vec::new(), ..record.clone() };
        assert_eq!(read(&json(&alone, &[])), record.leaks);
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
}
