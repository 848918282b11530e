//! The record as JSON, there and back.

use crate::format::{FORMAT_VERSION, KIND, PagesRecord};
use crate::plausible::contradiction;
use record::printable;
use serde_json::Value;

/// Why a text is no record of pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PagesError {
    /// It is something else, or damaged.
    #[error("'{origin}' is not a ciphermark pages record: {why}")]
    Malformed {
        /// Where the text came from.
        origin: String,
        /// What is wrong.
        why: String,
    },
    /// It is of a version that this program does not read.
    #[error(
        "'{origin}' has pages format {found}; this program reads {FORMAT_VERSION} and its minor versions"
    )]
    Version {
        /// Where the text came from.
        origin: String,
        /// Its version.
        found: String,
    },
}

#[derive(serde::Deserialize)]
struct Head {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    format_version: String,
}

/// Whether a text looks like a record of pages rather than of a survey.
#[must_use]
pub fn is_pages(text: &str) -> bool {
    serde_json::from_str::<Head>(unmarked(text)).is_ok_and(|h| h.kind == KIND)
}

/// Reads a record; `origin` names it in errors.
///
/// # Errors
/// [`PagesError`], one line.
pub fn from_json(text: &str, origin: &str) -> Result<PagesRecord, PagesError> {
    let malformed =
        |why: String| PagesError::Malformed { origin: origin.to_owned(), why: printable(&why) };
    let text = unmarked(text);
    let head: Head = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
    if head.kind != KIND {
        return Err(malformed(format!("it is of the kind '{}'", head.kind)));
    }
    let major = |version: &str| version.split('.').next().map(ToOwned::to_owned);
    if major(&head.format_version) != major(FORMAT_VERSION) {
        let found = printable(&head.format_version);
        return Err(PagesError::Version { origin: origin.to_owned(), found });
    }
    let record: PagesRecord = serde_json::from_str(text).map_err(|e| malformed(e.to_string()))?;
    contradiction(&record).map_err(malformed)?;
    Ok(record)
}

/// Editors on some systems put a mark at the beginning of what they save.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The record as text: what belongs together stands on one line.
#[must_use]
pub fn to_json(record: &PagesRecord) -> String {
    let value = serde_json::to_value(record).expect("a record is plain data");
    let Value::Object(fields) = value else { unreachable!("a record is an object") };
    let mut text = String::from("{\n");
    let last = fields.len();
    for (i, (name, value)) in fields.into_iter().enumerate() {
        text += &format!("  {}: ", Value::String(name));
        match value {
            Value::Array(items) if !items.is_empty() => {
                let lines: Vec<String> = items.iter().map(|item| format!("    {item}")).collect();
                text += &format!("[\n{}\n  ]", lines.join(",\n"));
            }
            other => text += &other.to_string(),
        }
        text += if i + 1 == last { "\n" } else { ",\n" };
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let text = to_json(&sample());
        assert!(text == include_str!("../tests/sample.json"));
        assert!(is_pages(&text));
        assert_eq!(from_json(&text, "x").unwrap(), sample());
    }

    #[test]
    fn what_is_no_record_is_named() {
        let wrong = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
        assert!(wrong("{").contains("'x.json' is not a ciphermark pages record"));
        assert!(wrong(r#"{"kind":"other\u0007","format_version":"1.0"}"#).contains("'other '"));
        assert!(wrong(r#"{"kind":"pages","format_version":"9.0"}"#).contains("format 9.0"));
        let mut record = sample();
        record.cells[0].library = 99;
        assert!(wrong(&to_json(&record)).contains("library 99"));
        let long = format!(r#"{{"kind":"{}","format_version":"1.0"}}"#, "x".repeat(100_000));
        assert!(wrong(&long).len() < 1000);
    }
}
