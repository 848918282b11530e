//! Reads files of any kind that ciphermark writes; their contents decide, not their names.

use crate::error::Failure;
use judge::advise::Advised;
use judge::load::Calibration;
use record::at_rest::PagesRecord;
use record::tls::TlsFile;
use record::{Record, RecordError};
use std::path::Path;

/// What a file holds.
pub enum Kind {
    /// A survey: `run -o`.
    Survey(Box<Record>),
    /// A page store: `pages -o`.
    Pages(Box<PagesRecord>),
    /// Advice: `advise --format json`.
    Advice(Box<Advised>),
    /// A run of TLS: `tls handshake -o`, `tls records -o`, `tls primitives -o`.
    Tls(Box<TlsFile>),
}

/// Reads a file, packed by gzip or not.
pub fn load(path: &Path) -> Result<Kind, Failure> {
    let text = record::load_text(path).map_err(Failure::usage)?;
    if judge::advise::is_advice(&text) {
        let advice = judge::advise::from_json(&text, &path.display().to_string());
        return advice.map(|advice| Kind::Advice(Box::new(advice))).map_err(Failure::usage);
    }
    Kind::of(read(&text, path).map_err(Failure::usage)?, path)
}

/// Reads a record of any kind, as this version writes it or an older one did.
pub fn record(path: &Path) -> Result<Record, RecordError> {
    read(&record::load_text(path)?, path)
}

/// The same from its text.
pub fn read(text: &str, path: &Path) -> Result<Record, RecordError> {
    let origin = path.display().to_string();
    match record::older_kind(text).as_deref() {
        Some(record::at_rest::KIND) => record::at_rest::read(text, &origin),
        _ => record::tls::read(text, &origin),
    }
}

/// Reads the record of a survey, for what other runs have nothing of.
pub fn survey(path: &Path) -> Result<Record, Failure> {
    match load(path)? {
        Kind::Survey(record) => Ok(*record),
        _ => Err(Failure::usage(format!(
            "'{}' is no survey, and no instructions are counted in others: `ciphermark run -o FILE` writes one",
            path.display()
        ))),
    }
}

impl Kind {
    /// What a record is of.
    pub fn of(record: Record, path: &Path) -> Result<Self, Failure> {
        let kind = match record.kind() {
            None => return Ok(Self::Survey(Box::new(record))),
            Some(record::at_rest::KIND) => {
                record::at_rest::of(&record).map(|run| Self::Pages(Box::new(run)))
            }
            Some(_) => TlsFile::of(&record).map(|file| Self::Tls(Box::new(file))),
        };
        kind.map_err(|why| Failure::usage(format!("'{}': {why}", path.display())))
    }
}

/// A run of TLS of one kind.
pub fn tls<R: record::tls::Row>(path: &Path) -> Result<record::tls::Run<R>, Failure> {
    let record = record(path).map_err(Failure::usage)?;
    record::tls::from_record(&record).map_err(|why| {
        Failure::usage(format!(
            "'{}' is not a run of tls {command}: {why}; `ciphermark tls {command} -o FILE` writes one",
            path.display(),
            command = R::COMMAND
        ))
    })
}

/// A file by `tls calibrate`.
pub fn calibration(path: &Path) -> Result<Calibration, Failure> {
    let text = record::load_text(path).map_err(Failure::usage)?;
    Calibration::parse(&text, &path.display().to_string()).map_err(Failure::usage)
}
