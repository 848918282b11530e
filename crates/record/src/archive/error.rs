//! Why an archive cannot do what it was asked for, on one line.

use std::io;
use std::path::PathBuf;

/// Why an archive cannot do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Nothing is there.
    #[error("there is no archive '{0}': `ciphermark archive add {0} RECORD` creates one")]
    Absent(String),
    /// Something else is there.
    #[error("'{0}' is no ciphermark archive")]
    Other(String),
    /// A newer program wrote it.
    #[error(
        "archive '{store}' has version {found}; this program knows {known}: use a newer ciphermark"
    )]
    Newer {
        /// Which archive.
        store: String,
        /// Its version.
        found: i64,
        /// The newest that this program knows.
        known: i64,
    },
    /// A build before the first release wrote it.
    #[error(
        "archive '{0}' is of a build before the first release: add the records in '{0}.objects' to a new one"
    )]
    Unreleased(String),
    /// This build lacks a database.
    #[error(
        "'{0}': this build has no PostgreSQL; packages have it, and so has `cargo build --features postgres`"
    )]
    NoPostgres(String),
    /// This build lacks the other.
    #[error("'{0}': `make bench` builds no archives; `make build` does, and packages have them")]
    NoSqlite(String),
    /// The database says no.
    #[error("archive '{store}': {why}")]
    Database {
        /// Which archive, without a password.
        store: String,
        /// The database's reason.
        why: String,
    },
    /// What is stored cannot be what was stored.
    #[error("archive '{store}' is damaged: {what}; `ciphermark archive check` lists all")]
    Damaged {
        /// Which archive.
        store: String,
        /// What cannot be read.
        what: String,
    },
    /// A record's file beside the database cannot be read or written.
    #[error("cannot use '{path}': {source}")]
    Object {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No record, or several, are meant.
    #[error("{0}")]
    Selection(String),
}
