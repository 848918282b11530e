//! Reading a record: bytes that anybody may have written, into a record or one line.

use crate::packed::unpack;
use crate::plausible::contradiction;
use crate::{FORMAT_VERSION, Record, RecordError};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Most bytes of a file that are read: more than any survey has, and an end where a device has none.
const MOST_BYTES: u64 = 1 << 30;

/// Most characters of a reason: it quotes the file, which may hold anything.
const MOST_CHARS: usize = 300;

/// Reads a record file, packed by gzip or not.
///
/// # Errors
/// [`RecordError`], one line.
pub fn load(path: &Path) -> Result<Record, RecordError> {
    from_json(&load_text(path)?, &path.display().to_string())
}

/// A record file's text, unpacked, of whichever kind of record it is.
///
/// # Errors
/// [`RecordError`], one line.
pub fn load_text(path: &Path) -> Result<String, RecordError> {
    text(bytes(path)?, &path.display().to_string())
}

/// A file's content as it is, up to 1 GiB: a device has no end.
///
/// # Errors
/// [`RecordError::Read`], one line.
pub fn bytes(path: &Path) -> Result<Vec<u8>, RecordError> {
    read(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it has more than 1 GiB"));
    }
    Ok(bytes)
}

/// Reads a record from a file's content, packed by gzip or not; `origin` names it in errors.
///
/// # Errors
/// [`RecordError`], one line.
pub fn from_bytes(bytes: Vec<u8>, origin: &str) -> Result<Record, RecordError> {
    from_json(&text(bytes, origin)?, origin)
}

/// A file's content, packed by gzip or not, as text; `origin` names it in errors.
///
/// # Errors
/// [`RecordError::Malformed`].
pub fn text(bytes: Vec<u8>, origin: &str) -> Result<String, RecordError> {
    let malformed = |why| RecordError::Malformed { origin: origin.to_owned(), why };
    let bytes = unpack(bytes).map_err(|e| malformed(format!("it cannot be unpacked: {e}")))?;
    String::from_utf8(bytes).map_err(|e| {
        malformed(format!("it is not text (byte {} is not UTF-8)", e.utf8_error().valid_up_to()))
    })
}

/// Reads a record from JSON; `origin` names it in errors.
///
/// # Errors
/// [`RecordError::Malformed`] or [`RecordError::Version`].
pub fn from_json(text: &str, origin: &str) -> Result<Record, RecordError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format_version: String,
    }
    let malformed = |why: String| RecordError::Malformed { origin: origin.to_owned(), why };
    let text = unmarked(text);
    // The version first: what follows may be of any other shape in another major version.
    let head: Head = serde_json::from_str(text).map_err(|e| malformed(explain("", &e)))?;
    if major(&head.format_version) != major(FORMAT_VERSION) {
        let found = printable(&head.format_version);
        return Err(RecordError::Version { origin: origin.to_owned(), found });
    }
    let record: Record = parsed(text).map_err(malformed)?;
    contradiction(&record).map_err(malformed)?;
    Ok(record)
}

/// Reads JSON of any shape: a part of a record, a worker's message. All JSON that comes as bytes takes this way: another
/// would have every reader in the program once more.
///
/// # Errors
/// What is wrong and where, in one line.
pub fn value_from_json<T: DeserializeOwned>(json: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(json)
        .map_err(|e| format!("it is not text (byte {} is not UTF-8)", e.valid_up_to()))?;
    parsed(text)
}

fn parsed<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = serde_path_to_error::deserialize(&mut json)
        .map_err(|e| explain(&e.path().to_string(), e.inner()))?;
    json.end().map_err(|e| explain("", &e))?;
    Ok(value)
}

/// The kind that a document of its own from before format 1.4 names: `pages`, `tls-handshakes`, …; none of a record.
#[must_use]
pub fn older_kind(text: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        kind: Option<String>,
    }
    serde_json::from_str::<Head>(unmarked(text)).ok()?.kind
}

/// Editors on some systems put a mark at the beginning of what they save.
#[must_use]
pub fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// What is wrong and where, on one line: serde quotes the input, which may hold anything.
pub(crate) fn explain(path: &str, error: &serde_json::Error) -> String {
    let place = format!("line {} column {}", error.line(), error.column());
    if error.is_eof() {
        return format!("it ends too early, at {place}");
    }
    let words = error.to_string();
    let words = words.strip_suffix(&format!(" at {place}")).unwrap_or(&words);
    match path {
        "" | "." => format!("{} at {place}", printable(words)),
        _ => format!("{} at {place}", printable(&format!("{path}: {words}"))),
    }
}

/// On one line, and not much of it.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = chars.by_ref().take(MOST_CHARS).collect();
    if chars.next().is_some() { shown + "…" } else { shown }
}

#[cfg(test)]
mod tests;
