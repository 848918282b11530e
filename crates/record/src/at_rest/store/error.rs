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
    /// It is no store, is in use, or holds what no store has.
    #[error("'{}' {why}", .path.display())]
    Unfit {
        /// The store, or the file of it.
        path: PathBuf,
        /// What is wrong, and the remedy where there is one.
        why: String,
    },
}

impl StoreError {
    /// What a failed read becomes.
    pub(crate) fn read(path: &Path, e: impl ToString) -> Self {
        Self::Read { path: path.to_owned(), why: e.to_string() }
    }

    pub(crate) fn unfit(path: &Path, why: impl Into<String>) -> Self {
        Self::Unfit { path: path.to_owned(), why: why.into() }
    }
}
