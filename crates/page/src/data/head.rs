//! What the first paint needs: records, machines, libraries.

use crate::Source;
use crate::text::{clean, tidy};
use record::{Record, State};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Facts of the records, in the order in which they were given.
#[derive(Serialize)]
pub(crate) struct Head {
    /// One entry a record.
    pub(crate) records: Vec<RecordFacts>,
}

/// Facts of one record.
#[derive(Serialize)]
pub(crate) struct RecordFacts {
    /// What it is called on the page: its file's name without endings, which no other has.
    pub(crate) label: String,
    /// Its file's name.
    pub(crate) file: String,
    /// Name of the processor.
    pub(crate) cpu: String,
    /// When the run began.
    pub(crate) started: String,
    /// The day of it.
    pub(crate) day: String,
    /// Cases by what became of them: measured, unsupported, refused, failed, imported.
    pub(crate) states: [usize; 5],
    /// Everything else, as in the record.
    facts: Value,
}

impl RecordFacts {
    /// Whether any case was refused.
    pub(crate) fn has_refused(&self) -> bool {
        self.states[2] > 0
    }

    /// Whether any figure comes from elsewhere.
    pub(crate) fn has_imported(&self) -> bool {
        self.states[4] > 0
    }

    /// Whether any case failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.states[3] > 0
    }
}

const STATES: [State; 5] =
    [State::Measured, State::Unsupported, State::Refused, State::Failed, State::Imported];

impl Head {
    pub(crate) fn of(sources: &[Source<'_>]) -> Self {
        let mut taken = HashSet::new();
        let records = sources.iter().map(|source| {
            let mut label = stem(source.file);
            let mut number = 1;
            while !taken.insert(label.clone()) {
                number += 1;
                label = format!("{} ({number})", stem(source.file));
            }
            let r = source.record;
            RecordFacts {
                label,
                file: clean(source.file),
                cpu: clean(&r.host.cpu.name),
                started: clean(&r.started),
                day: clean(&r.started.chars().take(10).collect::<String>()),
                states: STATES.map(|s| r.measurements.iter().filter(|m| m.state == s).count()),
                facts: facts(r),
            }
        });
        Self { records: records.collect() }
    }
}

/// `run.json.gz` as `run`.
fn stem(file: &str) -> String {
    let stem = file.strip_suffix(".gz").unwrap_or(file);
    clean(stem.strip_suffix(".json").unwrap_or(stem))
}

fn facts(r: &Record) -> Value {
    let mut libraries = serde_json::to_value(&r.libraries).expect("plain data");
    for library in libraries.as_array_mut().into_iter().flatten() {
        // Long, and told where a case is looked at.
        library.as_object_mut().map(|fields| fields.remove("calls"));
    }
    let value = json!({
        "format_version": r.format_version,
        "tool": r.tool,
        "measuring_seconds": r.measuring_seconds,
        "host": r.host,
        "libraries": libraries,
        "plan": r.plan,
        // A number of 64 bits, which JavaScript has not.
        "seed": r.plan.seed.to_string(),
        "noise": r.noise,
        "core": r.limits.core,
        "limits_reason": r.limits.reason,
    });
    tidy(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_one_name_are_told_apart() {
        let text = include_str!("../../../record/tests/sample.json");
        let record = record::from_json(text, "sample").unwrap();
        let source = |file| Source { file, record: &record };
        let head = Head::of(&[source("a.json"), source("a.json.gz"), source("a\u{202e}.json")]);
        let labels: Vec<&str> = head.records.iter().map(|r| r.label.as_str()).collect();
        assert_eq!(labels, ["a", "a (2)", "a\u{fffd}"]);
    }
}
