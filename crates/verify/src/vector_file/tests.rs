use super::*;
use proptest::prelude::*;

fn file(tests: &str) -> String {
    format!(r#"{{"algorithm":"AES-GCM","testGroups":[{{"tests":[{tests}]}}]}}"#)
}

const ZEROS: &str = "00000000000000000000000000000000";

/// McGrew and Viega, The Galois/Counter Mode of Operation, test case 2, changed as asked.
fn test(id: u64, iv: &str, result: &str) -> String {
    format!(
        r#"{{"tcId":{id},"key":"{ZEROS}","iv":"{iv}","aad":"","msg":"{ZEROS}","ct":"0388dace60b6a392f328c2b971b2fe78","tag":"ab6e47d42cec13bdf53a67b21257bddf","result":"{result}"}}"#
    )
}

#[test]
fn what_fits_is_kept_and_what_does_not_is_named_with_its_reason() {
    let iv = &ZEROS[..24];
    let text =
        file(&[test(1, iv, "valid"), test(2, "00", "valid"), test(3, iv, "acceptable")].join(","));
    let read = read(&text).unwrap();
    assert_eq!(read.vectors.len(), 1);
    assert_eq!((read.vectors[0].0.name, read.vectors[0].1.id), ("aes-128-gcm", 1));
    let why: Vec<&str> = read.skipped.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(why[0], "aes-128-gcm takes nonces of 12 bytes, not 1");
    assert!(why[1].contains("acceptable"), "{why:?}");
}

#[test]
fn an_unknown_algorithm_and_a_broken_text_are_one_line() {
    let unknown = read(&file("").replace("AES-GCM", "ROT13")).unwrap_err().to_string();
    assert!(unknown.contains("'ROT13'") && unknown.contains("AES-GCM"), "{unknown}");
    let broken = read("{\"algorithm\": 7}").unwrap_err().to_string();
    assert!(broken.contains("line 1"), "{broken}");
}

#[test]
fn every_name_leads_to_an_algorithm() {
    for name in names::known() {
        let some = [0, 16, 24, 32, 48, 64].into_iter().any(|len| names::of(name, len).is_some());
        assert!(some, "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in ".{0,300}", cut in 0_usize..400) {
        let whole = file(&test(1, &ZEROS[..24], "valid"));
        for text in [text.as_str(), whole.get(..cut).unwrap_or(&whole)] {
            if let Err(e) = read(text) {
                prop_assert!(e.to_string().lines().count() <= 1, "{e}");
            }
        }
    }
}
