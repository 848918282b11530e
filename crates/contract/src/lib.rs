//! The adapter contract: what stands between the timing loop and a library, for built-in adapters
//! and attached shared objects alike. The `raw` types are `include/ciphermark.h` in Rust.
//!
//! This crate holds `unsafe` code: it turns a table of C functions into [`Session`], whose methods
//! check every length, so that verification is written without `unsafe`.
#![warn(missing_docs)]

pub mod export;
pub mod loader;
pub mod raw;
mod session;
pub mod tls;

use base::model::{Algorithm, Direction};
pub use session::{
    Message, ONE_KEY, Operations, Outcome, Placed, Ran, Remote, Session, Table, Turn, reopening,
};

/// Who the loaded library says it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Name as in `--library`: `openssl`, `libgcrypt`.
    pub name: String,
    /// Version as the loaded library itself reports it.
    pub version: String,
    /// How it was built, one fact a line, as far as it says so.
    pub build: Vec<String>,
}

/// Why an algorithm could not be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The library does not have it.
    Unsupported(String),
    /// The library has it and reported an error.
    Failed(String),
}

/// A loaded library. Several threads may open sessions of it at once, each its own.
pub trait Library: Send + Sync {
    /// Who it says it is.
    fn identity(&self) -> &Identity;

    /// Whether sessions may be used in several threads at once, each its own: why not, where they
    /// may not.
    fn one_thread_only(&self) -> Option<&str> {
        None
    }

    /// The process that the library's code runs in, where it is not this one: a runtime's.
    fn process(&self) -> Option<u32> {
        None
    }

    /// Opens an algorithm in one direction and does its key schedule.
    ///
    /// `key` has [`Algorithm::key_len`] bytes.
    ///
    /// # Errors
    /// [`OpenError::Unsupported`] when the library does not have it, [`OpenError::Failed`] when it
    /// does and reported an error.
    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError>;
}
