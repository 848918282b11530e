//! Reading records as any program would: as JSON.

use super::repository;
use serde_json::Value;
use std::path::Path;

/// A file of JSON.
pub fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The run of TLS or of pages that a record is of, as its own commands see it.
pub fn run_of(record: &Value) -> Value {
    keeps_to(record, "docs/record.schema.json");
    let text = record.to_string();
    if record["details"]["kind"] == "pages" {
        return serde_json::to_value(record::at_rest::from_json(&text, "record").unwrap()).unwrap();
    }
    match record::tls::from_json(&text, "record").unwrap() {
        record::tls::TlsFile::Handshakes(run) => serde_json::to_value(run),
        record::tls::TlsFile::Records(run) => serde_json::to_value(run),
        record::tls::TlsFile::Primitives(run) => serde_json::to_value(run),
    }
    .unwrap()
}

/// The measurements of a record.
pub fn measurements(record: &str) -> Vec<Value> {
    rows(&serde_json::from_str(record).unwrap(), "measurements").clone()
}

/// A field that holds rows.
pub fn rows<'a>(of: &'a Value, field: &str) -> &'a Vec<Value> {
    of[field].as_array().unwrap_or_else(|| panic!("{field} of {of:#}"))
}

/// A field; `library.name` names a nested one.
fn field<'a>(row: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(row, |value, key| &value[key])
}

/// A field that holds text, `""` where it is null.
pub fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    match field(row, name) {
        Value::Null => "",
        value => value.as_str().unwrap_or_else(|| panic!("{name} is {value}")),
    }
}

/// A field that holds a number.
pub fn number(row: &Value, name: &str) -> f64 {
    field(row, name).as_f64().unwrap_or_else(|| panic!("{name} of {row:#}"))
}

/// The rows whose fields have these values; there must be some.
pub fn where_<'a>(rows: &'a [Value], wanted: &[(&str, &str)]) -> Vec<&'a Value> {
    let has = |row: &Value| wanted.iter().all(|(field, value)| text(row, field) == *value);
    let found: Vec<&Value> = rows.iter().filter(|row| has(row)).collect();
    assert!(!found.is_empty(), "no row with {wanted:?}");
    found
}

/// Demands a state of every row.
#[track_caller]
pub fn all_are<'a>(rows: impl IntoIterator<Item = &'a Value>, state: &str) {
    for row in rows {
        assert_eq!(text(row, "state"), state, "{row}");
    }
}

/// Demands that a document follows its schema in the documentation.
pub fn keeps_to(document: &Value, schema: &str) {
    let validator = jsonschema::validator_for(&read(repository(schema))).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}
