//! How cases come to their speed, processes that come in kinds, and a core that earlier runs saw quieter: one
//! that a neighbour accompanies from its beginning to its end could not know it by itself.

use crate::support::{fakes, *};
use serde_json::Value;
use std::path::Path;

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

/// A run that ends with its budget, with what earlier ones left in `cache`.
fn run(cache: &Path, budget: &str) -> Value {
    let fake = fakes::library("correct");
    let mut words = vec!["run", "-l", &fake, "-a", "aes-128-ctr", "-s", "64", "-d", "encrypt"];
    words.extend(["--no-evidence", "--precision", "0.0001%", "--format", "json"]);
    words.extend(["--budget", budget]);
    let done = ciphermark_with(&words, &[("CIPHERMARK_CACHE", arg(cache))]).with_code(0);
    serde_json::from_str(&done.stdout).unwrap()
}

/// The quiet rate of the CPU that took a record's samples.
fn rate(record: &Value) -> f64 {
    record["host"]["clock"]["quiet_probe"].as_f64().unwrap()
}

#[test]
#[ignore = "long: takes ten seconds or more"]
#[cfg(target_arch = "x86_64")]
fn a_core_that_earlier_runs_saw_quieter_than_this_one_is_called_contended() {
    let cache = scratch();
    let first = run(cache.path(), "10s");
    assert!(rate(&first) < QUIETER, "{}", rate(&first));
    let path = kept_rates(cache.path());
    // As if this run had been accompanied and two earlier ones not.
    remember_rate(&path, QUIETER);
    let later = run(cache.path(), "6s");
    assert_eq!(rate(&later), QUIETER);
    let row = &later["measurements"][0];
    assert_eq!(row["contended"], true, "{row}");
    // A file that nobody can read is no more than a machine of which nothing is known.
    std::fs::write(&path, "torn = [").unwrap();
    assert!(rate(&run(cache.path(), "6s")) < QUIETER);
}
