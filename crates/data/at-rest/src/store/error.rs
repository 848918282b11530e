//! What can be wrong with a store, in one line each.

use std::path::{Path, PathBuf};

/// Why a store cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It cannot be read.
    #[error("cannot read '{}': {why}", .path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The directory is no data directory.
    #[error("'{}' is no PostgreSQL data directory: it has no {missing}", .path.display())]
    NotPostgres {
        /// The directory.
        path: PathBuf,
        /// What it lacks.
        missing: &'static str,
    },
    /// The control file is damaged, or of a layout that is not known.
    #[error("'{}': {why}", .path.display())]
    Control {
        /// The control file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The server runs or was not shut down.
    #[error("'{}' was not shut down cleanly ({state}): its pages may be half written; stop the server first (pg_ctl stop -m fast)", .path.display())]
    NotShutDown {
        /// The directory.
        path: PathBuf,
        /// The state as the control file or the pid file has it.
        state: String,
    },
    /// The database is in use.
    #[error("'{}' has a {what} beside it: its pages are not all in the file; close the database first (PRAGMA wal_checkpoint(TRUNCATE), or roll the journal back by opening it)", .path.display())]
    SqliteOpen {
        /// The database.
        path: PathBuf,
        /// What lies beside it.
        what: &'static str,
    },
    /// The page size cannot be.
    #[error("{0}")]
    PageSize(String),
    /// There are no whole pages.
    #[error("'{}' holds no whole page", .0.display())]
    Empty(PathBuf),
}

impl StoreError {
    /// What a failed read becomes.
    pub(crate) fn read(path: &Path, e: impl ToString) -> Self {
        Self::Read { path: path.to_owned(), why: e.to_string() }
    }
}
