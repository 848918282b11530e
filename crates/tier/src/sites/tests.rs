#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use super::*;
use crate::stand_in::{CONFUSING, compiled};
use std::path::Path;

fn found(path: &Path) -> (Sites, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let image = Image::parse(&bytes).unwrap();
    (find(&image), bytes)
}

#[test]
fn instructions_are_found_and_tables_and_immediates_are_left_alone() {
    let object = compiled("confusing.so", CONFUSING, &[]);
    let (sites, bytes) = found(&object);
    // A function in C, one in assembly without unwinding table, one behind a table in the code, and
    // one with a prefix.
    assert_eq!(sites.instructions.len(), 4, "{sites:?}");
    // The table twice, the immediate, the displacement.
    assert_eq!(sites.others.len(), 4, "{sites:?}");
    for offset in sites.instructions.iter().chain(&sites.others) {
        assert_eq!(bytes[*offset as usize..][..2], CPUID);
    }
}

#[test]
fn nothing_is_found_in_the_same_object_without_its_symbols_but_what_can_be_proven() {
    // Stripped, the assembly is known only by the call that leads to it.
    let object = compiled("confusing-stripped.so", CONFUSING, &["-s"]);
    let (sites, _) = found(&object);
    assert_eq!((sites.instructions.len(), sites.others.len()), (4, 4), "{sites:?}");
}

#[test]
fn the_features_that_code_needs_are_those_of_its_instructions() {
    let object = compiled("confusing.so", CONFUSING, &[]);
    let bytes = std::fs::read(object).unwrap();
    let features = features(&Image::parse(&bytes).unwrap());
    assert_eq!(features.get("AES"), Some(&5), "{features:?}");
    assert!(!features.contains_key("AVX512F"));
}
