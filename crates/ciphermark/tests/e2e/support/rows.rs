//! Reading records as any program would: as JSON.

use serde_json::Value;

/// The measurements of a record.
pub fn measurements(record: &str) -> Vec<Value> {
    let record: Value = serde_json::from_str(record).unwrap();
    record["measurements"].as_array().unwrap().clone()
}

/// A field that holds text, `""` where it is null; `library.name` names a nested one.
pub fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    let value = field.split('.').fold(row, |value, key| &value[key]);
    match value {
        Value::Null => "",
        _ => value.as_str().unwrap_or_else(|| panic!("{field} is {value}")),
    }
}

/// The rows whose fields have these values; there must be some.
pub fn where_<'a>(rows: &'a [Value], wanted: &[(&str, &str)]) -> Vec<&'a Value> {
    let has = |row: &Value| wanted.iter().all(|(field, value)| text(row, field) == *value);
    let found: Vec<&Value> = rows.iter().filter(|row| has(row)).collect();
    assert!(!found.is_empty(), "no row with {wanted:?}");
    found
}
