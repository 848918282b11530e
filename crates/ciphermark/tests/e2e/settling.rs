//! How cases come to their speed, and processes that come in kinds.

use crate::support::*;
use serde_json::Value;

/// A record of one case of a stand-in, its file and the case.
fn measured(library: &str) -> (tempfile::TempDir, String, Value) {
    let directory = scratch();
    let path = file(&directory, "r.json");
    let line = format!("-q --no-evidence -l {library} -a memcpy -s 64 -m message -o {path}");
    let words: Vec<&str> = line.split_whitespace().collect();
    // A precision that twelve processes do not reach, all of one kind or nearly: there are to be many.
    measure(&[&words[..], &["--precision", "0.05%", "--budget", "6s"]].concat()).with_code(0);
    let record = read(&path);
    let row = rows(&record, "measurements")[0].clone();
    assert_eq!(text(&row, "state"), "measured", "{row}");
    (directory, path, row)
}

/// Up to the end of the first window that has no slow call of `settles.c`, which are 0.8 ms at the least.
const SLOW_US: f64 = 1600.0;

#[test]
fn a_library_that_is_slow_in_a_processs_first_milliseconds_gets_its_settled_number() {
    let (_directory, path, row) = measured(&fakes::library("settles"));
    let settled = &row["settled"];
    assert!(number(settled, "us") >= SLOW_US, "{settled}");
    assert!(number(settled, "first_ns") > 2.0 * number(&row, "ns_per_op.median"), "{row}");
    // None of the samples that count were taken before.
    let raw = &row["raw"];
    let all = rows(raw, "clean").iter().zip(rows(raw, "settled_us"));
    let counted: Vec<f64> =
        all.filter(|(clean, _)| **clean == true).filter_map(|(_, us)| us.as_f64()).collect();
    assert!(!counted.is_empty() && counted.iter().all(|us| *us >= SLOW_US), "{counted:?}");
    let explained = ciphermark(&["explain", &path], b"").with_code(0).stdout;
    assert!(explained.contains("settles after"), "{explained}");
    assert!(explained.contains("the first operation costs"), "{explained}");
}

#[test]
fn a_library_whose_processes_are_of_two_kinds_is_shown_as_two() {
    let (_directory, path, row) = measured(&fakes::library("two_kinds"));
    let kinds = rows(&row, "kinds");
    assert_eq!(kinds.len(), 2, "{row}");
    assert!(number(&kinds[1], "cost") > 1.5 * number(&kinds[0], "cost"), "{kinds:?}");
    let estimate = number(&row, "cycles_per_op.median");
    assert!(number(&kinds[0], "cost") < estimate && estimate < number(&kinds[1], "cost"), "{row}");
    let shown = ciphermark(&["show", &path], b"").with_code(0).stdout;
    assert!(shown.contains("has processes of two kinds"), "{shown}");
}
