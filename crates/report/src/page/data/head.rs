//! What the first paint needs: records, machines, libraries.

use crate::page::text::{clean, tidy};
use crate::page::{Content, Source};
use record::tls::TlsFile;
use record::{Record, State};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Facts of the records, in the order in which they were given.
#[derive(Serialize)]
pub(crate) struct Head {
    /// One entry a record of a survey.
    pub(crate) records: Vec<RecordFacts>,
    /// One entry a file of another kind.
    pub(crate) sheets: Vec<SheetFacts>,
}

/// What the frame says of a file that is no survey.
#[derive(Serialize)]
pub(crate) struct SheetFacts {
    /// What it is called on the page.
    pub(crate) label: String,
    /// `pages`, `tls` or `advice`.
    pub(crate) kind: &'static str,
    /// The same for people.
    pub(crate) words: &'static str,
    /// Name of the processor.
    pub(crate) cpu: String,
    /// The day on which it was measured.
    pub(crate) day: String,
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
    /// Cases by what became of them: measured, unsupported, refused, failed, imported. Without those that there was no time for.
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

/// What each file is called on the page: its name without endings, which no other has.
pub(crate) fn labels(sources: &[Source<'_>]) -> Vec<String> {
    let mut taken = HashSet::new();
    let of = |source: &Source<'_>| {
        let mut label = stem(source.file);
        let mut number = 1;
        while !taken.insert(label.clone()) {
            number += 1;
            label = format!("{} ({number})", stem(source.file));
        }
        label
    };
    sources.iter().map(of).collect()
}

impl Head {
    pub(crate) fn of(sources: &[Source<'_>], labels: &[String]) -> Self {
        let mut head = Self { records: Vec::new(), sheets: Vec::new() };
        for (source, label) in sources.iter().zip(labels) {
            let mut sheet = |kind, words, cpu: &str, started: &str| {
                let (label, cpu, day) = (label.clone(), clean(cpu), day(started));
                head.sheets.push(SheetFacts { label, kind, words, cpu, day });
            };
            match source.content {
                Content::Survey(record) => {
                    head.records.push(survey(record, label.clone(), clean(source.file)));
                }
                Content::Pages(record) => {
                    sheet("pages", "pages of a store", &record.host.cpu.name, &record.started);
                }
                Content::Tls(file) => {
                    let words = match file {
                        TlsFile::Handshakes(_) => "TLS handshakes",
                        TlsFile::Records(_) => "TLS records",
                        TlsFile::Primitives(_) => "under a TLS handshake",
                    };
                    sheet("tls", words, &file.host().cpu.name, file.started());
                }
                Content::Advice(advised) => {
                    let basis = &advised.advice.basis;
                    sheet("advice", "advice", &basis.cpu, &basis.started);
                }
            }
        }
        head
    }

    /// Whether the views of surveys have anything to show.
    pub(crate) fn has_surveys(&self) -> bool {
        !self.records.is_empty()
    }
}

fn survey(r: &Record, label: String, file: String) -> RecordFacts {
    RecordFacts {
        label,
        file,
        cpu: clean(&r.host.cpu.name),
        started: clean(&r.started),
        day: day(&r.started),
        states: STATES
            .map(|s| r.measurements.iter().filter(|m| m.state == s && !m.is_left_out()).count()),
        facts: facts(r),
    }
}

fn day(started: &str) -> String {
    clean(&started.chars().take(10).collect::<String>())
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
        let text = include_str!("../../../../record/tests/sample.json");
        let record = record::from_json(text, "sample").unwrap();
        let pages = include_str!("../../../../record/tests/at-rest.json");
        let pages = record::at_rest::from_json(pages, "sample").unwrap();
        let source = |file| Source { file, content: Content::Survey(&record) };
        let store = Source { file: "a.json", content: Content::Pages(&pages) };
        let sources = [source("a.json"), source("a.json.gz"), source("a\u{202e}.json"), store];
        let head = Head::of(&sources, &labels(&sources));
        let names: Vec<&str> = head.records.iter().map(|r| r.label.as_str()).collect();
        assert_eq!(names, ["a", "a (2)", "a\u{fffd}"]);
        assert_eq!((head.sheets[0].label.as_str(), head.sheets[0].kind), ("a (3)", "pages"));
    }
}
