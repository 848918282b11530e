//! A record for tests: the committed sample of the format, and what it lacks.

use record::{Imported, KeySetup, Measurement, Record, State};

pub(crate) fn record() -> Record {
    let text = include_str!("../../../record/tests/sample.json");
    let mut record = record::from_json(text, "sample.json").unwrap();
    record.host.cpu.name = "Example CPU".to_owned();
    let first = &mut record.measurements[0];
    first.key_setup = Some(KeySetup { ns: 12.5, cycles: Some(37.5) });
    first.limit_fraction = Some(0.5);
    let mut imported = first.clone();
    imported.state = State::Imported;
    imported.checks.clear();
    imported.imported =
        Some(Imported { source: "elsewhere".to_owned(), machine: Some("theirs".to_owned()) });
    record.measurements.push(imported);
    record
}

pub(crate) fn measurements() -> Vec<Measurement> {
    record().measurements
}
