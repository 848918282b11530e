//! Records of every kind, as this version writes them or an older one did: before format 1.4 runs of TLS and of pages
//! were documents of their own, of a format 1.0.

use crate::file::{RecordError, from_json, older_kind};
use crate::format::Record;
use crate::json::{printable, unmarked};
use crate::{at_rest, tls};
use serde_json::Value;

/// Reads a record; `origin` names it in errors.
pub fn read(text: &str, origin: &str) -> Result<Record, RecordError> {
    let convert: fn(Value) -> Result<Record, String> = match older_kind(text).as_deref() {
        Some(at_rest::KIND) => at_rest::of_older,
        Some(kind) if tls::RunKind::of_name(kind).is_some() => tls::of_older,
        _ => return from_json(text, origin),
    };
    let document = || -> Result<Record, String> {
        let document: Value = serde_json::from_str(unmarked(text)).map_err(|e| e.to_string())?;
        let version = document["format_version"].as_str().unwrap_or_default();
        if version.split('.').next() != Some("1") {
            return Err(format!("its format is {version}, this program reads 1.0"));
        }
        convert(document)
    };
    document().map_err(|why| malformed(origin, &why))
}

/// The run that a record is of, read by what knows its kind.
pub fn read_run<T>(
    text: &str,
    origin: &str,
    of: fn(&Record) -> Result<T, String>,
) -> Result<T, RecordError> {
    of(&read(text, origin)?).map_err(|why| malformed(origin, &why))
}

fn malformed(origin: &str, why: &str) -> RecordError {
    RecordError::Malformed { origin: origin.to_owned(), why: printable(why) }
}
