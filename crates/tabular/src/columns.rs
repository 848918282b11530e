//! The columns: one list that every tabular format is made from.

use record::{Estimate, Evidence, Imported, LibraryId, Measurement};
use serde::Serialize;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number, never negative.
    Count,
    /// A number.
    Real,
    /// Yes or no.
    Flag,
}

/// One column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in CSV: the field of the record, nested ones joined by an underscore.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Unit of its numbers, where the name does not say it.
    pub unit: Option<&'static str>,
}

impl Column {
    /// The name with its unit, for formats in which a column stands without its documentation.
    #[must_use]
    pub fn name_with_unit(&self) -> String {
        match self.unit {
            Some(unit) => format!("{}_{unit}", self.name),
            None => self.name.to_owned(),
        }
    }
}

/// One field of a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    Count(u64),
    Real(f64),
    Flag(bool),
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, unit: None }
}

const fn count(name: &'static str) -> Column {
    Column { name, kind: Kind::Count, unit: None }
}

const fn real(name: &'static str) -> Column {
    Column { name, kind: Kind::Real, unit: None }
}

const fn flag(name: &'static str) -> Column {
    Column { name, kind: Kind::Flag, unit: None }
}

const COLUMNS: [Column; 52] = [
    text("library_name"),
    text("library_version"),
    text("library_path"),
    text("library_id"),
    text("algorithm"),
    text("direction"),
    text("model"),
    count("model_version"),
    Column { name: "size", kind: Kind::Count, unit: Some("bytes") },
    text("tier"),
    count("threads"),
    text("footprint"),
    text("state"),
    text("reason"),
    text("warning"),
    real("ns_per_op_median"),
    real("ns_per_op_low"),
    real("ns_per_op_high"),
    real("cycles_per_op_median"),
    real("cycles_per_op_low"),
    real("cycles_per_op_high"),
    real("ns_per_byte"),
    real("mb_per_s"),
    real("cycles_per_byte"),
    real("instructions_per_byte"),
    real("limit_fraction"),
    Column { name: "precision", kind: Kind::Real, unit: Some("fraction") },
    text("stopped"),
    count("samples"),
    count("samples_disturbed"),
    count("processes"),
    text("checks"),
    text("evidence_clock"),
    text("evidence_cycles"),
    count("evidence_outputs_checked"),
    count("evidence_calls_succeeded"),
    real("limit_cycles_per_op"),
    text("limited_by"),
    flag("in_place"),
    real("key_setup_ns"),
    real("key_setup_cycles"),
    real("latency_ns_p50"),
    real("latency_ns_p99"),
    real("latency_ns_p99_9"),
    count("latency_ns_operations"),
    flag("contended"),
    real("instructions_per_message"),
    text("evidence_instructions"),
    text("imported_source"),
    text("imported_machine"),
    text("remarks"),
    text("limit_basis"),
];

/// Every column, in the order in which formats have them. New ones come last.
#[must_use]
pub fn columns() -> &'static [Column] {
    &COLUMNS
}

/// One row, in the order of the columns. Takes the measurement apart so that a new field cannot be
/// forgotten.
pub(crate) fn row(m: &Measurement) -> [Option<Value>; COLUMNS.len()] {
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
        remarks,
        imported,
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
        limit_basis,
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
    let latency = latency_ns.as_ref();
    let checks: Vec<String> = checks.iter().map(|c| format!("{}:{}", c.name, c.count)).collect();
    let (source, machine) = match imported {
        Some(Imported { source, machine }) => (Some(source.clone()), machine.clone()),
        None => (None, None),
    };
    [
        written(name),
        written(version),
        written(path),
        written(id),
        written(algorithm),
        written(direction.name()),
        written(model.name()),
        whole(u64::from(*model_version)),
        whole(*size as u64),
        written(tier.name()),
        whole(u64::from(*threads)),
        written(footprint.name()),
        written(state.name()),
        reason.clone().map(Value::Text),
        warning.clone().map(Value::Text),
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
        stopped.as_ref().and_then(word),
        whole(*samples),
        whole(*samples_disturbed),
        whole(u64::from(*processes)),
        written(&checks.join(";")),
        written(clock),
        written(cycles),
        whole(*outputs_checked),
        whole(*calls_succeeded),
        number(*limit_cycles_per_op),
        limited_by.as_ref().and_then(word),
        Some(Value::Flag(*in_place)),
        number(key_setup.map(|k| k.ns)),
        number(key_setup.and_then(|k| k.cycles)),
        number(latency.map(|l| l.p50)),
        number(latency.and_then(|l| l.p99)),
        number(latency.and_then(|l| l.p99_9)),
        latency.and_then(|l| whole(l.operations)),
        Some(Value::Flag(*contended)),
        number(*instructions_per_message),
        instructions.clone().map(Value::Text),
        source.map(Value::Text),
        machine.map(Value::Text),
        written(&remarks.join("; ")),
        limit_basis.as_ref().and_then(word),
    ]
}

fn estimate(estimate: Option<Estimate>) -> [Option<Value>; 3] {
    let part = |part: fn(Estimate) -> f64| number(estimate.map(part));
    [part(|e| e.median), part(|e| e.low), part(|e| e.high)]
}

/// Nothing where there is nothing to read.
fn written(text: &str) -> Option<Value> {
    (!text.is_empty()).then(|| Value::Text(text.to_owned()))
}

// Every count is there, so an option only for the row's sake.
#[expect(clippy::unnecessary_wraps)]
fn whole(count: u64) -> Option<Value> {
    Some(Value::Count(count))
}

fn number(value: Option<f64>) -> Option<Value> {
    value.map(Value::Real)
}

/// The word that stands for a value in records.
fn word<T: Serialize>(value: &T) -> Option<Value> {
    let value = serde_json::to_value(value).expect("plain data always serialises");
    value.as_str().map(|word| Value::Text(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_column_holds_the_field_that_it_is_named_after() {
        let m = &sample::measurements()[0];
        let value = serde_json::to_value(m).unwrap();
        for (column, found) in COLUMNS.iter().zip(row(m)).filter(|(c, _)| c.name != "checks") {
            let expected = match found {
                Some(Value::Text(text)) => serde_json::json!(text),
                Some(Value::Count(count)) => serde_json::json!(count),
                Some(Value::Real(real)) => serde_json::json!(real),
                Some(Value::Flag(flag)) => serde_json::json!(flag),
                None => serde_json::Value::Null,
            };
            assert_eq!(field(&value, column.name), &expected, "{}", column.name);
        }
    }

    fn field<'a>(value: &'a serde_json::Value, name: &'static str) -> &'a serde_json::Value {
        let nested = [
            "library",
            "ns_per_op",
            "cycles_per_op",
            "key_setup",
            "latency_ns",
            "evidence",
            "imported",
        ];
        let split = |parent: &'static str| {
            let rest = name.strip_prefix(parent)?.strip_prefix('_')?;
            Some((parent, rest))
        };
        match nested.into_iter().find_map(split) {
            Some((parent, rest)) => &value[parent][rest],
            None => &value[name],
        }
    }

    #[test]
    fn each_row_has_values_of_the_kinds_that_the_columns_promise() {
        for m in sample::measurements() {
            for (column, value) in COLUMNS.iter().zip(row(&m)) {
                let kind = match value {
                    Some(Value::Text(_)) => Kind::Text,
                    Some(Value::Count(_)) => Kind::Count,
                    Some(Value::Real(_)) => Kind::Real,
                    Some(Value::Flag(_)) => Kind::Flag,
                    None => column.kind,
                };
                assert_eq!(kind, column.kind, "{}", column.name);
            }
        }
    }

    #[test]
    fn every_column_is_listed_in_the_documentation() {
        let page = include_str!("../../../docs/FORMAT.md");
        let page = page.split_once("## CSV").unwrap().1;
        let is_column = |word: &&str| COLUMNS.iter().any(|c| c.name == *word);
        let listed: Vec<&str> = page.split('`').skip(1).step_by(2).filter(is_column).collect();
        let names: Vec<&str> = COLUMNS.iter().map(|c| c.name).collect();
        assert_eq!(listed[..names.len()], names);
    }
}
