//! Files that `tls handshake`, `tls records` and `tls primitives` wrote, read again.

use crate::tls::convert::{from_record, into_record};
use crate::tls::document::{Document, Handshake, Run};
use crate::tls::primitives::{PrimitiveRow, PrimitivesDocument};
use crate::tls::records::{RecordRow, RecordsDocument};
use crate::tls::row::Row;
use crate::tls::shared::{markdown, table};
use crate::{Record, RecordError, printable};
use serde_json::{Value, json};

/// What such a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum TlsFile {
    /// `tls handshake`
    Handshakes(Document),
    /// `tls records`
    Records(RecordsDocument),
    /// `tls primitives`
    Primitives(PrimitivesDocument),
}

/// Reads what one of these commands wrote; `origin` names it in errors.
///
/// # Errors
/// [`RecordError`], one line.
pub fn from_json(text: &str, origin: &str) -> Result<TlsFile, RecordError> {
    let malformed = |why: String| RecordError::Malformed {
        origin: origin.to_owned(),
        why: printable(&format!("it is no run of `ciphermark tls`: {why}")),
    };
    TlsFile::of(&read(text, origin)?).map_err(malformed)
}

/// Reads a record, or what these commands wrote before records had their kinds: documents of a format 1.0.
///
/// # Errors
/// [`RecordError`], one line.
pub fn read(text: &str, origin: &str) -> Result<Record, RecordError> {
    let kind = crate::older_kind(text).unwrap_or_default();
    let convert: fn(Value) -> Result<Record, String> = match kind.as_str() {
        Handshake::KIND => converted::<Handshake>,
        RecordRow::KIND => converted::<RecordRow>,
        PrimitiveRow::KIND => converted::<PrimitiveRow>,
        _ => return crate::from_json(text, origin),
    };
    let malformed =
        |why: String| RecordError::Malformed { origin: origin.to_owned(), why: printable(&why) };
    let document: Value =
        serde_json::from_str(crate::unmarked(text)).map_err(|e| malformed(e.to_string()))?;
    let version = document["format_version"].as_str().unwrap_or_default();
    if version.split('.').next() != Some("1") {
        return Err(malformed(format!("its format is {version}, this program reads 1.0")));
    }
    convert(document).map_err(malformed)
}

/// A document of its own kind as a record.
fn converted<R: Row>(mut document: Value) -> Result<Record, String> {
    let rows = ["handshakes", "records", "primitives"].map(|name| document[name].take());
    let rows = rows.into_iter().find(|rows| !rows.is_null());
    document["rows"] = rows.ok_or("it has no rows")?;
    document["tool"] =
        json!({"name": "ciphermark", "version": "", "command": document["command"].take()});
    let alone = document["noise"]["core_alone"].as_bool() == Some(true);
    document["noise"]["quiet"] = json!([]);
    document["noise"]["shield"] = if alone { "core-scheduling" } else { "none" }.into();
    for row in document["rows"].as_array_mut().into_iter().flatten() {
        for part in R::PARTS {
            if let Some(cost) = row.get_mut(part.name()) {
                interval_of_cycles(cost);
            }
        }
    }
    let run: Run<R> = serde_json::from_value(document).map_err(|e| e.to_string())?;
    let record = into_record(&run, &[]);
    crate::contradiction(&record)?;
    from_record::<R>(&record)?;
    Ok(record)
}

/// Cycles had half their interval's width beside them; before that the time's.
fn interval_of_cycles(cost: &mut Value) {
    let Some(cycles) = cost["cycles"].as_f64() else { return };
    let of_time = || {
        let ns = |name: &str| cost[name].as_f64().unwrap_or_default();
        (ns("high_ns") - ns("low_ns")) / (2.0 * ns("median_ns"))
    };
    let precision = cost["cycles_precision"].as_f64().unwrap_or_else(of_time);
    let half = cycles * precision;
    cost["cycles"] = json!({"median": cycles, "low": cycles - half, "high": cycles + half});
}

impl TlsFile {
    /// The run that a record is of.
    ///
    /// # Errors
    /// Why it is of none, in one line.
    pub fn of(record: &Record) -> Result<Self, String> {
        match record.kind() {
            Some(RecordRow::KIND) => from_record(record).map(Self::Records),
            Some(PrimitiveRow::KIND) => from_record(record).map(Self::Primitives),
            _ => from_record(record).map(Self::Handshakes),
        }
    }

    /// The run's machine.
    #[must_use]
    pub fn host(&self) -> &crate::Host {
        match self {
            Self::Handshakes(d) => &d.host,
            Self::Records(d) => &d.host,
            Self::Primitives(d) => &d.host,
        }
    }

    /// When it began (RFC 3339).
    #[must_use]
    pub fn started(&self) -> &str {
        match self {
            Self::Handshakes(d) => &d.started,
            Self::Records(d) => &d.started,
            Self::Primitives(d) => &d.started,
        }
    }

    /// Its record, without samples.
    #[must_use]
    pub fn record(&self) -> Record {
        match self {
            Self::Handshakes(d) => into_record(d, &[]),
            Self::Records(d) => into_record(d, &[]),
            Self::Primitives(d) => into_record(d, &[]),
        }
    }

    /// The tables that its command prints.
    #[must_use]
    pub fn table(&self, width: usize) -> String {
        match self {
            Self::Handshakes(d) => table(d, width),
            Self::Records(d) => table(d, width),
            Self::Primitives(d) => table(d, width),
        }
    }

    /// The same in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        match self {
            Self::Handshakes(d) => markdown(d),
            Self::Records(d) => markdown(d),
            Self::Primitives(d) => markdown(d),
        }
    }
}

#[cfg(test)]
mod tests;
