//! One cell a row.

use crate::format::{NsRange, PagesRecord, Tails};
use record::Library;

const HEAD: [&str; 28] = [
    "library_name",
    "library_version",
    "scheme",
    "extra_bytes",
    "protection",
    "medium",
    "keying",
    "direction",
    "threads",
    "state",
    "reason",
    "rounds",
    "disturbed_rounds",
    "pages",
    "crypto_ns",
    "crypto_ns_low",
    "crypto_ns_high",
    "crypto_p50_ns",
    "crypto_p99_ns",
    "crypto_p999_ns",
    "crypto_max_ns",
    "io_p50_ns",
    "io_p99_ns",
    "io_p999_ns",
    "io_max_ns",
    "over_none_ns",
    "pages_per_s",
    "core_seconds_per_gib",
];

/// The cells as CSV (RFC 4180).
pub(super) fn csv(record: &PagesRecord) -> String {
    let rows = record.cells.iter().map(|cell| {
        let facts = record.schemes.iter().find(|s| s.recipe.scheme == cell.scheme);
        let number = |n: Option<f64>| n.map(|n| n.to_string()).unwrap_or_default();
        let tails = |t: Option<Tails>| {
            [t.map(|t| t.p50), t.map(|t| t.p99), t.map(|t| t.p999), t.map(|t| t.max)].map(number)
        };
        let range = |r: Option<NsRange>| {
            [r.map(|r| r.median), r.and_then(|r| r.low), r.and_then(|r| r.high)].map(number)
        };
        let protection: Option<&str> = facts.map(|f| f.protection.into());
        let library = record.libraries.get(cell.library);
        let of_library = |of: fn(&Library) -> &String| {
            library.map(of).map(|t| text::clean(t)).unwrap_or_default()
        };
        let mut row = vec![
            of_library(|l| &l.name),
            of_library(|l| &l.version),
            text::clean(&cell.scheme),
            facts.map(|f| f.extra_bytes.to_string()).unwrap_or_default(),
            protection.unwrap_or_default().to_owned(),
            cell.medium.name().to_owned(),
            cell.keying.name().to_owned(),
            cell.direction.name().to_owned(),
            cell.threads.to_string(),
            cell.state.name().to_owned(),
            text::clean(cell.reason.as_deref().unwrap_or_default()),
            cell.rounds.to_string(),
            cell.disturbed_rounds.to_string(),
            cell.pages.to_string(),
        ];
        row.extend(range(cell.crypto_ns));
        row.extend(tails(cell.crypto_tails));
        row.extend(tails(cell.io_tails));
        row.push(number(cell.over_none_ns.map(|r| r.median)));
        row.push(number(cell.pages_per_s));
        row.push(number(cell.core_seconds_per_gib));
        row
    });
    text::csv(&HEAD, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn every_cell_has_a_row_as_long_as_the_head() {
        let mut record = sample();
        record.libraries[0].name = "=cmd|x".into();
        let text = csv(&record);
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), record.cells.len());
        assert!(rows.iter().all(|r| r.len() == HEAD.len()));
        assert!(text.contains("'=cmd"), "{text}");
        // Under the names that `run`, `rank` and `compare` use.
        assert!(text.starts_with("library_name,library_version,scheme,"), "{text}");
    }
}
