//! The promises over bytes of no corpus: any at all, and committed inputs with some bytes changed.

#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use ciphermark_inputs::{ENTRIES, Entry};
use proptest::prelude::*;
use proptest::sample::Index;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// Every committed input, with its entrance.
static COMMITTED: LazyLock<Vec<(Entry, Vec<u8>)>> = LazyLock::new(|| {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let inputs = |entry: Entry| {
        let files = fs::read_dir(corpus.join(entry.name)).unwrap();
        let mut files: Vec<PathBuf> = files.map(|f| f.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(move |f| (entry, fs::read(f).unwrap())).collect::<Vec<_>>()
    };
    ENTRIES.into_iter().flat_map(inputs).collect()
});

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
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
        let (entry, bytes) = &COMMITTED[which.index(COMMITTED.len())];
        (entry.run)(&edited(bytes, &edits));
    }
}
