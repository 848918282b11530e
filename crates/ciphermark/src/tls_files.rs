//! Reads files written by commands of `tls`, packed by gzip or not.

use crate::error::Failure;
use crate::kinds::{self, Kind};
use std::path::Path;
use tls::{Document, PrimitivesDocument, RecordsDocument, TlsFile};
use tls_load::Calibration;

/// A file by `tls handshake`.
pub fn handshakes(path: &Path) -> Result<Document, Failure> {
    match run(path, "handshake")? {
        TlsFile::Handshakes(run) => Ok(run),
        _ => Err(no_run_of(path, "handshake")),
    }
}

/// A file by `tls records`.
pub fn records(path: &Path) -> Result<RecordsDocument, Failure> {
    match run(path, "records")? {
        TlsFile::Records(run) => Ok(run),
        _ => Err(no_run_of(path, "records")),
    }
}

/// A file by `tls primitives`.
pub fn primitives(path: &Path) -> Result<PrimitivesDocument, Failure> {
    match run(path, "primitives")? {
        TlsFile::Primitives(run) => Ok(run),
        _ => Err(no_run_of(path, "primitives")),
    }
}

/// A file by `tls calibrate`.
pub fn calibration(path: &Path) -> Result<Calibration, Failure> {
    let text = record::load_text(path).map_err(Failure::usage)?;
    Calibration::parse(&text, &path.display().to_string()).map_err(Failure::usage)
}

fn run(path: &Path, command: &str) -> Result<TlsFile, Failure> {
    match kinds::load(path)? {
        Kind::Tls(file) => Ok(*file),
        _ => Err(no_run_of(path, command)),
    }
}

fn no_run_of(path: &Path, command: &str) -> Failure {
    Failure::usage(format!(
        "'{0}' is not a run of tls {command}: `ciphermark tls {command} -o FILE` writes one",
        path.display()
    ))
}
