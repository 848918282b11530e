//! A run over a page store as JSON, there and back, and what its types cannot rule out.

use crate::at_rest::cells::{from_record, into_record};
use crate::at_rest::{Cell, FORMAT_VERSION, KIND, NsRange, PagesRecord, Tails};
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

// What the types of a record of pages cannot rule out, and what shows it or computes with it relies on.

/// The largest count: what a double holds exactly, and so few that sums stay far below 2^64.
const MOST: u64 = 1 << 53;
/// Beyond any time or speed, and so small that what is computed from it stays finite.
const MOST_RATE: f64 = 1e18;
/// Most libraries and most schemes, ten times what a run has: tables have a row for each pair.
const MOST_NAMES: usize = 256;
/// Most numbers of threads: each has a table.
const MOST_THREAD_COUNTS: usize = 16;
/// Bytes that a page can have.
const PAGE_SIZES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// What contradicts itself or cannot be, on one line.
pub(crate) fn contradiction(record: &PagesRecord) -> Result<(), String> {
    few("libraries", record.libraries.len())?;
    few("schemes", record.schemes.len())?;
    of_store(record)?;
    libraries_are_there(record)?;
    let most = MOST_NAMES * MOST_NAMES;
    if record.probes.len() > most || record.verified.len() > most {
        return Err("it has more pairs of library and scheme than any run".to_owned());
    }
    for (i, probed) in record.probes.iter().enumerate() {
        for row in &probed.rows {
            let counts = &row.counts;
            at_most("tried", counts.tried)?;
            if counts.noticed > counts.tried {
                let (noticed, tried) = (counts.noticed, counts.tried);
                return Err(format!("probes[{i}]: {noticed} of {tried} noticed"));
            }
        }
    }
    for (i, cell) in record.cells.iter().enumerate() {
        of_cell(cell).map_err(|why| format!("cells[{i}]: {why}"))?;
    }
    let mut threads: Vec<u32> = record.cells.iter().map(|c| c.threads).collect();
    threads.sort_unstable();
    threads.dedup();
    if threads.len() > MOST_THREAD_COUNTS {
        return Err(format!("cells have {} different numbers of threads", threads.len()));
    }
    let Some(timing) = &record.timing else { return Ok(()) };
    rate("timing.seconds", Some(timing.seconds))?;
    rate("timing.quiet_throughput", Some(timing.quiet_throughput))
}

fn few(what: &str, count: usize) -> Result<(), String> {
    if count <= MOST_NAMES { Ok(()) } else { Err(format!("it has {count} {what}")) }
}

fn of_store(record: &PagesRecord) -> Result<(), String> {
    let store = &record.store;
    if !PAGE_SIZES.contains(&store.page_size) {
        return Err(format!(
            "`store.page_size` is {}: pages have {} to {} bytes",
            store.page_size,
            PAGE_SIZES.start(),
            PAGE_SIZES.end()
        ));
    }
    // Bytes of the store are computed of it.
    at_most("store.pages", store.pages.saturating_mul(store.page_size as u64))?;
    at_most("store.files", store.files)?;
    at_most("nonces.pages", record.nonces.pages)
}

fn libraries_are_there(record: &PagesRecord) -> Result<(), String> {
    let libraries = record.libraries.len();
    let verified = record.verified.iter().map(|v| v.library);
    let probed = record.probes.iter().map(|p| p.library);
    let mut used = verified.chain(probed).chain(record.cells.iter().map(|c| c.library));
    match used.find(|library| *library >= libraries) {
        Some(library) => Err(format!("library {library} of {libraries}")),
        None => Ok(()),
    }
}

fn of_cell(cell: &Cell) -> Result<(), String> {
    let has = |has: bool| if has { "has" } else { "lacks" };
    if cell.state.has_number() != cell.crypto_ns.is_some() {
        return Err(format!(
            "the state is '{}' but it {} `crypto_ns`",
            cell.state.name(),
            has(cell.crypto_ns.is_some())
        ));
    }
    at_most("pages", cell.pages)?;
    let io = cell.raw_io_ticks.len();
    if !cell.raw.is_rectangular() || io != 0 && io != cell.raw.len() {
        return Err("the columns of `raw` have different lengths".to_owned());
    }
    range("crypto_ns", cell.crypto_ns)?;
    range("io_ns", cell.io_ns)?;
    tails("crypto_tails", cell.crypto_tails)?;
    tails("io_tails", cell.io_tails)?;
    rate("pages_per_s", cell.pages_per_s)?;
    rate("core_seconds_per_gib", cell.core_seconds_per_gib)?;
    // Noise can make it cost less than nothing.
    let Some(over) = cell.over_none_ns else { return Ok(()) };
    within("over_none_ns", over, -MOST_RATE)
}

fn range(name: &str, range: Option<NsRange>) -> Result<(), String> {
    range.map_or(Ok(()), |range| within(name, range, 0.0))
}

fn within(name: &str, range: NsRange, least: f64) -> Result<(), String> {
    let NsRange { median, low, high } = range;
    let (low, high) = (low.unwrap_or(median), high.unwrap_or(median));
    if low < least || high > MOST_RATE {
        return Err(format!("`{name}` is {median:e}, which no run has"));
    }
    if low > median || median > high {
        return Err(format!("the median of `{name}` is outside its interval"));
    }
    Ok(())
}

fn tails(name: &str, tails: Option<Tails>) -> Result<(), String> {
    let Some(Tails { p50, p99, p999, max }) = tails else { return Ok(()) };
    [p50, p99, p999, max].into_iter().try_for_each(|ns| rate(name, Some(ns)))
}

fn rate(name: &str, rate: Option<f64>) -> Result<(), String> {
    match rate {
        Some(rate) if !(0.0..=MOST_RATE).contains(&rate) => {
            Err(format!("`{name}` is {rate:e}, which no run has"))
        }
        _ => Ok(()),
    }
}

fn at_most(what: &str, count: u64) -> Result<(), String> {
    if count <= MOST { Ok(()) } else { Err(format!("`{what}` is {count}, more than can be")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
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

    fn why(change: impl FnOnce(&mut PagesRecord)) -> String {
        let mut record = sample();
        change(&mut record);
        contradiction(&record).unwrap_err()
    }

    #[test]
    fn numbers_that_no_run_has_are_named() {
        assert_eq!(contradiction(&sample()), Ok(()));
        assert!(why(|r| r.store.page_size = 0).contains("512 to 65536"));
        assert!(why(|r| r.store.pages = u64::MAX / 2).contains("more than can be"));
        assert_eq!(why(|r| r.cells[0].library = 99), "library 99 of 2");
        let below = why(|r| r.cells[1].pages_per_s = Some(-1.0));
        assert_eq!(below, "cells[1]: `pages_per_s` is -1e0, which no run has");
        let outside = why(|r| {
            r.cells[0].crypto_ns = Some(NsRange { median: 5.0, low: Some(6.0), high: Some(7.0) });
        });
        assert!(outside.ends_with("is outside its interval"), "{outside}");
        let lacking = why(|r| r.cells[0].crypto_ns = None);
        assert!(lacking.contains("the state is 'measured' but it lacks"), "{lacking}");
        let refused = why(|r| r.cells[0].state = State::Refused);
        assert!(refused.contains("has `crypto_ns`"), "{refused}");
        assert!(why(|r| r.probes[0].rows[0].counts.noticed = 201).contains("201 of 200 noticed"));
    }

    #[test]
    fn tables_without_end_are_not_made() {
        let many = why(|r| r.libraries = vec![r.libraries[0].clone(); 257]);
        assert_eq!(many, "it has 257 libraries");
        let threads = why(|r| {
            let cell = r.cells[0].clone();
            r.cells.extend((2..40).map(|threads| Cell { threads, ..cell.clone() }));
        });
        assert!(threads.contains("different numbers of threads"), "{threads}");
    }
}
