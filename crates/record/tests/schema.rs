//! The schema in `docs/` is the one that the types give, and it tells records from what is none.
#![allow(clippy::unwrap_used)] // helpers of tests are outside `#[test]` functions
use ciphermark_record as record;
use serde_json::Value;
use std::path::PathBuf;

fn committed() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/record.schema.json")
}

fn generated() -> String {
    let mut text = serde_json::to_string_pretty(&record::schema()).unwrap();
    text.push('\n');
    text
}

#[test]
fn the_committed_schema_is_the_one_that_the_types_give() {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(committed(), generated()).unwrap();
    }
    let found = std::fs::read_to_string(committed()).unwrap_or_default();
    assert!(
        found == generated(),
        "docs/record.schema.json is out of date; `BLESS=1 cargo test -p ciphermark-record --test all schema` writes it anew"
    );
}

fn errors(record: &Value) -> Vec<String> {
    let schema = serde_json::to_value(record::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(record).map(|e| format!("{}: {e}", e.instance_path())).collect()
}

fn sample() -> Value {
    serde_json::from_str(include_str!("sample.json")).unwrap()
}

#[test]
fn a_record_that_is_read_is_one_by_the_schema() {
    let record = record::from_json(include_str!("sample.json"), "sample.json").unwrap();
    assert_eq!(errors(&sample()), Vec::<String>::new());
    let written: Value = serde_json::from_str(&record::to_json(&record)).unwrap();
    assert_eq!(errors(&written), Vec::<String>::new());
}

/// Names of fields, wherever the schema defines an object.
fn field_names(schema: &Value, names: &mut std::collections::BTreeSet<String>) {
    if let Some(fields) = schema.get("properties").and_then(Value::as_object) {
        names.extend(fields.keys().cloned());
    }
    match schema {
        Value::Object(parts) => parts.values().for_each(|part| field_names(part, names)),
        Value::Array(parts) => parts.iter().for_each(|part| field_names(part, names)),
        _ => {}
    }
}

#[test]
fn every_field_is_explained_in_the_documentation() {
    let page = include_str!("../../../docs/FORMAT.md");
    let mut names = std::collections::BTreeSet::new();
    field_names(&serde_json::to_value(record::schema()).unwrap(), &mut names);
    assert!(names.len() > 80, "{names:?}");
    let missing: Vec<&String> =
        names.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(missing.is_empty(), "docs/FORMAT.md does not explain {missing:?}");
    assert!(page.contains(&format!("format **{}**", record::FORMAT_VERSION)));
}
