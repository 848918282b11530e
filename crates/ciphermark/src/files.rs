//! Reads files that are named on the command line: text within bounds, and whatever ciphermark writes, whose
//! kind is told by its contents, not by its name.

use crate::error::Failure;
use judge::advise::Advised;
use judge::load::Calibration;
use record::at_rest::PagesRecord;
use record::tls::TlsFile;
use record::{Record, RecordError};
use std::io;
use std::io::Read;
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

/// The most bytes of a text file: a hundred times the longest known, and an end for endless devices.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file, or of standard input for `-`. `shown` names it in errors.
pub fn text(path: &Path, shown: &str) -> Result<String, Failure> {
    let bytes = if path.as_os_str() == "-" {
        read_bytes(std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(read_bytes)
    };
    let bytes = bytes.map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::usage(format!("{shown} has more than 64 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let byte = e.utf8_error().valid_up_to();
        Failure::usage(format!("{shown} is not text (byte {byte} is not UTF-8)"))
    })?;
    // Editors on some systems put a mark at the beginning of what they save.
    Ok(text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text))
}

fn read_bytes(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
