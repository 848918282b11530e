//! The run as JSON, there and back.

use crate::at_rest::convert::{from_record, into_record};
use crate::at_rest::format::{FORMAT_VERSION, KIND, PagesRecord};
use crate::at_rest::plausible::contradiction;
use crate::{Record, RecordError, printable};

/// Reads a run; `origin` names it in errors.
///
/// # Errors
/// [`RecordError`], one line.
pub fn from_json(text: &str, origin: &str) -> Result<PagesRecord, RecordError> {
    of(&read(text, origin)?)
        .map_err(|why| RecordError::Malformed { origin: origin.to_owned(), why: printable(&why) })
}

/// The run that a record is of, without contradictions. Its own record, in which some fields follow from others, is
/// read again.
///
/// # Errors
/// Why it is of none, in one line.
pub fn of(record: &Record) -> Result<PagesRecord, String> {
    let run = from_record(record)?;
    contradiction(&run)?;
    crate::contradiction(&into_record(&run))?;
    Ok(run)
}

/// Reads a record, or what `pages` wrote before records had their kinds: a document of format 1.0.
///
/// # Errors
/// [`RecordError`], one line.
pub fn read(text: &str, origin: &str) -> Result<Record, RecordError> {
    if crate::older_kind(text).as_deref() != Some(KIND) {
        return crate::from_json(text, origin);
    }
    let malformed =
        |why: String| RecordError::Malformed { origin: origin.to_owned(), why: printable(&why) };
    let run: PagesRecord =
        serde_json::from_str(crate::unmarked(text)).map_err(|e| malformed(e.to_string()))?;
    let major = |version: &str| version.split('.').next().map(ToOwned::to_owned);
    if major(&run.format_version) != major(FORMAT_VERSION) {
        let found = &run.format_version;
        return Err(malformed(format!(
            "its format is {found}, this program reads {FORMAT_VERSION}"
        )));
    }
    contradiction(&run).map_err(malformed)?;
    let run = PagesRecord { format_version: FORMAT_VERSION.to_owned(), ..run };
    let format_version = crate::WITHOUT_SAMPLES.to_owned();
    let record = Record { format_version, ..into_record(&run) };
    crate::contradiction(&record).map_err(malformed)?;
    of(&record).map_err(malformed)?;
    Ok(record)
}

/// The run's record as text.
#[must_use]
pub fn to_json(run: &PagesRecord) -> String {
    crate::to_json(&into_record(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::sample;

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let record = into_record(&sample());
        let text = to_json(&sample());
        assert_eq!(crate::from_json(&text, "x").unwrap(), record);
        assert_eq!(from_json(&text, "x").unwrap(), sample());
        let m = &record.measurements[0];
        assert_eq!((m.setting.as_str(), m.size), ("sequential reused", 8192));
    }

    #[test]
    fn a_published_document_of_an_older_version_becomes_a_record_and_loses_nothing() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/pages-2026-11-21-zen4.json.gz");
        let older = crate::load_text(std::path::Path::new(path)).unwrap();
        let run: PagesRecord = serde_json::from_str(&older).unwrap();
        let record = read(&older, "x").unwrap();
        assert_eq!(of(&record).unwrap(), run);
        assert_eq!(from_json(&to_json(&run), "x").unwrap(), run);
    }

    #[test]
    fn what_is_no_record_is_named() {
        let wrong = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
        assert!(wrong("{").contains("'x.json' is not a ciphermark record"));
        assert!(
            wrong(r#"{"kind":"other\u0007","format_version":"1.0"}"#).contains("missing field")
        );
        let older = include_str!("../../tests/at-rest.json");
        let newer = older.replace("\"format_version\": \"1.0\"", "\"format_version\": \"9.0\"");
        assert!(wrong(&newer).contains("format is 9.0"), "{}", wrong(&newer));
        let mut record = sample();
        record.cells[0].library = 99;
        assert!(wrong(&to_json(&record)).contains("library 99"));
    }
}
