//! The promises over every committed input of every fuzz target, over these with some bytes changed, and over
//! any bytes at all: 64 times each, or `PROPTEST_CASES`; `make fuzz` goes on from there.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
use ciphermark_testing::{ENTRIES, Entry};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// What is committed stays small enough to be read and cloned by everybody.
const MOST_BYTES: usize = 1_500_000;

/// The files and directories in a directory below the corpora.
fn files(below: &str) -> Vec<PathBuf> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let entries = fs::read_dir(corpora.join(below)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Every committed input, with its entrance.
static COMMITTED: LazyLock<Vec<(Entry, PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let read = |entry, file: PathBuf| (entry, file.clone(), fs::read(file).unwrap());
    let inputs = |entry: Entry| files(entry.name).into_iter().map(move |file| read(entry, file));
    ENTRIES.into_iter().flat_map(inputs).collect()
});

#[test]
#[ignore = "long: seconds"]
fn no_input_that_was_ever_interesting_breaks_a_promise() {
    for (entry, file, bytes) in &*COMMITTED {
        let outcome = std::panic::catch_unwind(|| (entry.run)(bytes));
        assert!(outcome.is_ok(), "{}", file.display());
    }
}

#[test]
fn the_corpora_are_those_of_the_targets_and_stay_small() {
    let directories = files("");
    let names: Vec<_> =
        directories.iter().map(|d| d.file_name().unwrap().to_str().unwrap()).collect();
    let mut expected = ENTRIES.map(|entry| entry.name);
    expected.sort_unstable();
    assert_eq!(names, expected);
    for name in names {
        let inputs = COMMITTED.iter().filter(|(entry, ..)| entry.name == name).count();
        assert!(inputs > 10, "{name} has {inputs} inputs");
    }
    let bytes: usize = COMMITTED.iter().map(|(_, _, bytes)| bytes.len()).sum();
    assert!(bytes <= MOST_BYTES, "{bytes} bytes");
}

/// One change of some bytes.
#[derive(Clone, Debug)]
enum Edit {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, u8),
    Repeat(Index, u8),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Set(at, byte)),
        (any::<Index>(), "\\PC{1,6}").prop_map(|(at, text)| Edit::Insert(at, text.into_bytes())),
        (any::<Index>(), any::<u8>()).prop_map(|(at, length)| Edit::Remove(at, length)),
        (any::<Index>(), any::<u8>()).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ]
}

fn edited(bytes: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits {
        let at = |index: &Index| index.index(bytes.len() + 1);
        match edit {
            Edit::Set(index, byte) => {
                let at = at(index);
                bytes.get_mut(at).into_iter().for_each(|b| *b = *byte);
            }
            Edit::Insert(index, new) => {
                let at = at(index);
                bytes.splice(at..at, new.iter().copied());
            }
            Edit::Remove(index, length) => {
                let at = at(index);
                bytes.drain(at..(at + usize::from(*length)).min(bytes.len()));
            }
            Edit::Repeat(index, length) => {
                let at = at(index);
                let piece = bytes[at..(at + usize::from(*length)).min(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
        }
    }
    bytes
}

fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(64))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    #[ignore = "long: seconds"]
    fn any_bytes_keep_every_promise(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        ENTRIES.iter().for_each(|entry| (entry.run)(&bytes));
    }

    #[test]
    fn any_text_keeps_every_promise(text in "\\PC{0,200}") {
        ENTRIES.iter().for_each(|entry| (entry.run)(text.as_bytes()));
    }

    #[test]
    fn changed_inputs_keep_every_promise(
        which in any::<Index>(), edits in prop::collection::vec(edit(), 1..6),
    ) {
        let (entry, _, bytes) = &COMMITTED[which.index(COMMITTED.len())];
        (entry.run)(&edited(bytes, &edits));
    }
}
