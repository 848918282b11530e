//! Reading and writing record files.

use crate::{FORMAT_VERSION, Record};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be opened or read.
    #[error("cannot read record '{path}': {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write record '{path}': {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The text is no record.
    #[error("'{origin}' is not a ciphermark record: {why}")]
    Malformed {
        /// Where the text came from.
        origin: String,
        /// What is wrong.
        why: String,
    },
    /// The record is of a version that this program does not read.
    #[error(
        "'{origin}' has record format {found}; this program reads {FORMAT_VERSION} and its minor versions"
    )]
    Version {
        /// Where the text came from.
        origin: String,
        /// Its version.
        found: String,
    },
}

/// Reads a record file.
///
/// # Errors
/// [`RecordError`], one line.
pub fn load(path: &Path) -> Result<Record, RecordError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
    from_json(&text, &path.display().to_string())
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
    let malformed = |e: serde_json::Error| RecordError::Malformed {
        origin: origin.to_owned(),
        why: e.to_string(),
    };
    let head: Head = serde_json::from_str(text).map_err(malformed)?;
    if major(&head.format_version) != major(FORMAT_VERSION) {
        return Err(RecordError::Version { origin: origin.to_owned(), found: head.format_version });
    }
    serde_json::from_str(text).map_err(malformed)
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// The record as JSON.
#[must_use]
pub fn to_json(record: &Record) -> String {
    serde_json::to_string_pretty(record).expect("a record is plain data and always serialises")
}

/// Writes a record so that the file is at every moment either the old one or the new one whole.
///
/// # Errors
/// [`RecordError::Write`].
pub fn save(record: &Record, path: &Path) -> Result<(), RecordError> {
    let error = |source| RecordError::Write { path: path.to_owned(), source };
    let directory = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(error)?;
    file.write_all(to_json(record).as_bytes()).map_err(error)?;
    file.as_file().sync_all().map_err(error)?;
    file.persist(path).map_err(|e| error(e.error))?;
    Ok(())
}
