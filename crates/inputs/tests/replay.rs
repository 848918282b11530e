//! Every committed input of every fuzz target, through the same functions.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use ciphermark_inputs::{ENTRIES, entry};
use std::fs;
use std::path::{Path, PathBuf};

/// What is committed stays small enough to be read and cloned by everybody.
const MOST_BYTES: u64 = 1_500_000;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn no_input_that_was_ever_interesting_breaks_a_promise() {
    for entry in ENTRIES {
        let files = files(&corpus().join(entry.name));
        assert!(files.len() > 10, "{} has {} inputs", entry.name, files.len());
        for file in files {
            let bytes = fs::read(&file).unwrap();
            let outcome = std::panic::catch_unwind(|| (entry.run)(&bytes));
            assert!(outcome.is_ok(), "{}", file.display());
        }
    }
}

#[test]
fn the_corpora_are_those_of_the_targets_and_stay_small() {
    let directories = files(&corpus());
    let names: Vec<_> =
        directories.iter().map(|d| d.file_name().unwrap().to_str().unwrap()).collect();
    let mut expected = ENTRIES.map(|entry| entry.name);
    expected.sort_unstable();
    assert_eq!(names, expected);
    let sizes = directories.iter().flat_map(|d| files(d)).map(|f| f.metadata().unwrap().len());
    let bytes: u64 = sizes.sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

#[test]
fn an_entry_that_breaks_a_promise_would_be_noticed() {
    let broken = std::panic::catch_unwind(|| entry("no such"));
    assert!(broken.is_err());
}
