//! What a quiet core gives is known from earlier runs: one that a neighbour accompanies from its
//! beginning to its end could not know it.

use crate::support::*;
use serde_json::Value;
use std::path::Path;

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
