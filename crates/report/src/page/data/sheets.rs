//! What is no survey: records of page stores, runs of TLS, and advice. Each stands in the page as it was read.

use crate::page::text::tidy;
use crate::page::{Content, Source};
use judge::advise::Advised;
use record::at_rest::PagesRecord;
use record::tls::TlsFile;
use serde_json::{Value, json};

/// Of every file that is no survey: what the page's scripts show of it.
pub(crate) fn sheets(sources: &[Source<'_>], labels: &[String]) -> Vec<Value> {
    let of = |(source, label): (&Source<'_>, &String)| match source.content {
        Content::Survey(_) => None,
        Content::Pages(record) => Some(pages(record, label)),
        Content::Advice(advised) => Some(advice(advised, label)),
        Content::Tls(file) => Some(tls(file, label)),
    };
    sources.iter().zip(labels).filter_map(of).collect()
}

fn pages(record: &PagesRecord, label: &str) -> Value {
    let mut value = serde_json::to_value(record).expect("plain data");
    // A number of 64 bits, which JavaScript has not.
    value["seed"] = record.seed.to_string().into();
    for library in value["libraries"].as_array_mut().into_iter().flatten() {
        // Long, and shown nowhere.
        library.as_object_mut().map(|fields| fields.remove("calls"));
    }
    json!({"kind": "pages", "label": label, "record": tidy(value)})
}

fn tls(file: &TlsFile, label: &str) -> Value {
    let (what, mut value, seed) = match file {
        TlsFile::Handshakes(d) => ("handshakes", json!(d), d.plan.seed),
        TlsFile::Records(d) => ("records", json!(d), d.plan.seed),
        TlsFile::Primitives(d) => ("primitives", json!(d), d.plan.seed),
    };
    if let TlsFile::Records(d) = file {
        value["lines"] = json!(d.lines());
    }
    // A number of 64 bits, which JavaScript has not.
    value["plan"]["seed"] = seed.to_string().into();
    json!({"kind": "tls", "label": label, "what": what, "run": tidy(value)})
}

fn advice(advised: &Advised, label: &str) -> Value {
    let value = serde_json::to_value(&advised.advice).expect("plain data");
    let record = crate::page::text::clean(&advised.record);
    json!({"kind": "advice", "label": label, "record": record, "advice": tidy(value)})
}
