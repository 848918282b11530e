//! What the tests share: running the program, stand-in libraries, reading records.

mod attached;
mod background;
mod company;
pub mod fakes;
mod kubernetes;
mod postgres;
mod program;
mod rates;
mod rows;
mod shared;
mod slurm;
mod venv;

pub use background::{Background, descendants, journal, processes_below, stat};
pub use kubernetes::KubernetesCluster;
pub use postgres::Cluster;
pub use program::{
    BY_SIGNAL, Done, INTERRUPTED, QUICK, attached_object, call, ciphermark, ciphermark_bundled,
    ciphermark_with, ciphermark_with_many, in_terminal, measure, program, record, record_alone,
    refusal, refuses, with_more_time,
};
pub use rates::{QUIETER, kept_rates, remember_rate};
pub use rows::{all_are, keeps_to, measurements, number, read, rows, run_of, text, where_};
pub use shared::shared;
pub use slurm::SlurmCluster;
pub use venv::python_with;

use std::path::{Path, PathBuf};

/// A file of the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A record of a whole survey that stands in for runs.
pub fn published() -> String {
    arg(&repository("records/published-2026-11-23-gnr.json.gz")).to_owned()
}

/// A directory for one test, removed with the value.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A file in a directory, as an argument.
pub fn file(directory: &tempfile::TempDir, name: &str) -> String {
    arg(&directory.path().join(name)).to_owned()
}

/// Where the system keeps its libraries.
pub fn system_libraries() -> PathBuf {
    Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH))
}

/// A path as an argument.
pub fn arg(path: &Path) -> &str {
    path.to_str().expect("the tests' own paths are text")
}
