#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use super::*;
use crate::tier::x86_64::fixtures::{CONFUSING, compiled};
use std::path::Path;

fn found(path: &Path) -> (Sites, Vec<u8>) {
    let bytes = std::fs::read(path).unwrap();
    let image = Image::parse(&bytes).unwrap();
    (find(&image).unwrap(), bytes)
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
    let features = features(&Image::parse(&bytes).unwrap()).unwrap();
    assert_eq!(features.get("AES"), Some(&5), "{features:?}");
    assert!(!features.contains_key("AVX512F"));
}

/// Code of nothing but a pattern, with these functions over it.
fn image(code: &[u8], functions: Vec<Range<u64>>) -> Image<'_> {
    let code = vec![Code { address: 0x1000, offset: 0x100, bytes: code }];
    let (entries, needed) = (Vec::new(), Vec::new());
    Image { code, functions, entries, soname: None, needed, mapped: 0 }
}

#[test]
fn functions_that_all_cover_all_of_the_code_come_to_an_end() {
    let code = [0x0f, 0xa2, 0x90, 0x90].repeat(1 << 14);
    let end = 0x1000 + code.len() as u64;
    let many = (0x1000..0x9000).map(|start| start..end).collect();
    assert_eq!(find(&image(&code, many)).unwrap_err(), "has functions that overlap without end");
    let one = find(&image(&code, vec![Range { start: 0x1000, end }])).unwrap();
    assert_eq!((one.instructions.len(), one.others.len()), (1 << 14, 0));
    assert_eq!(one.instructions[1], 0x104);
}

#[test]
fn a_function_beyond_the_end_of_everything_is_read_as_far_as_there_is_code() {
    let code = [0x0f, 0xa2, 0xc3];
    let most = u64::MAX;
    for (start, end) in [(0x1000, most), (0, most), (most, most), (0x1003, 0x1001)] {
        let function = Range { start, end };
        let found = find(&image(&code, vec![function.clone()])).unwrap();
        let expected = usize::from(function.start == 0x1000);
        assert_eq!(found.instructions.len(), expected, "{function:?}");
    }
    assert_eq!(covered(&[1..3, 2..9, 9..10, 12..13]), [1..10, 12..13]);
}

#[test]
fn code_of_nothing_but_places_that_look_like_cpuid_is_refused() {
    let code = CPUID.repeat(MOST_CANDIDATES);
    let why = find(&image(&code, Vec::new())).unwrap_err();
    assert!(why.ends_with("look like CPUID"), "{why}");
}
