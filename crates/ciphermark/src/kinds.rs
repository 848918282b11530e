//! Reads files of any kind that ciphermark writes; their contents decide, not their names.

use crate::error::Failure;
use advise::Advised;
use at_rest::PagesRecord;
use record::Record;
use std::path::Path;
use tls::TlsFile;

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
    let origin = path.display().to_string();
    if at_rest::is_pages(&text) {
        let record = at_rest::from_json(&text, &origin).map_err(Failure::usage)?;
        return Ok(Kind::Pages(Box::new(record)));
    }
    if advise::is_advice(&text) {
        let advice = advise::from_json(&text, &origin).map_err(Failure::usage)?;
        return Ok(Kind::Advice(Box::new(advice)));
    }
    if tls::is_tls(&text) {
        let file = tls::from_json(&text, &origin).map_err(Failure::usage)?;
        return Ok(Kind::Tls(Box::new(file)));
    }
    let record = record::from_json(&text, &origin).map_err(Failure::usage)?;
    Ok(Kind::Survey(Box::new(record)))
}
