use super::*;
use crate::{State, sample, to_json};

fn why(text: &str) -> String {
    from_json(text, "r.json").unwrap_err().to_string()
}

#[test]
fn another_major_version_is_refused_by_name_and_a_minor_one_is_read() {
    let text = to_json(&sample::record());
    let version = |v: &str| text.replacen("\"1.6\"", &format!("\"{v}\""), 1);
    assert_eq!(
        why(&version("2.0")),
        "'r.json' has record format 2.0; this program reads 1.6 and its minor versions"
    );
    assert!(why(&version("10.0")).contains("record format 10.0"));
    let newer = version("1.7").replacen("\"tool\"", "\"not_known_yet\": [1], \"tool\"", 1);
    assert_eq!(from_json(&newer, "r.json").unwrap().format_version, "1.7");
}

#[test]
fn what_is_no_record_gets_one_line_with_the_place() {
    assert_eq!(
        why("# not JSON"),
        "'r.json' is not a ciphermark record: expected value at line 1 column 1"
    );
    assert!(why("{}").contains("missing field `format_version`"));
    let text = to_json(&sample::record());
    let broken = text.replacen("\"size\":8192", "\"size\":\"a\\nb\\u001b[31m\"", 1);
    let line = 1 + text[..text.find("\"size\":8192").unwrap()].matches('\n').count();
    let why = why(&broken);
    assert!(why.contains("measurements[0].size: invalid type: string"), "{why}");
    assert!(why.contains(&format!("at line {line} column ")), "{why}");
    assert!(!why.contains(char::is_control), "{why:?}");
}

#[test]
fn a_record_cut_off_anywhere_is_refused() {
    let text = to_json(&sample::record());
    assert!(why("").contains("it ends too early, at line 1 column 0"));
    for cut in (0..text.trim_end().len()).step_by(97) {
        let why = why(&text[..cut]);
        // A number that is cut off after its point is called an invalid number.
        let named = ["it ends too early, at line ", "invalid number at line "];
        assert!(named.iter().any(|n| why.contains(n)), "{cut}: {why}");
    }
}

#[test]
fn a_binary_file_is_called_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("r.json");
    std::fs::write(&path, b"\x7fELF\xff").unwrap();
    let why = load(&path).unwrap_err().to_string();
    assert!(why.ends_with("it is not text (byte 4 is not UTF-8)"), "{why}");
}

#[test]
fn a_missing_file_is_named() {
    let why = load(Path::new("no/such.json")).unwrap_err().to_string();
    assert!(why.starts_with("cannot read record 'no/such.json': No such file"), "{why}");
}

#[test]
fn records_that_contradict_themselves_are_refused() {
    let mut record = sample::record();
    record.measurements[0].raw.clean.pop();
    let message = why(&to_json(&record));
    assert!(message.contains("measurements[0]: the arrays in `raw` differ"), "{message}");

    let mut record = sample::record();
    record.measurements[2].state = State::Measured;
    let message = why(&to_json(&record));
    assert!(message.contains("'measured' but it lacks `ns_per_op`"), "{message}");

    let mut record = sample::record();
    record.measurements[0].state = State::Imported;
    let message = why(&to_json(&record));
    assert!(message.contains("'imported' but it lacks `imported`"), "{message}");
    let (source, machine) = ("a blog".to_owned(), None);
    record.measurements[0].imported = Some(crate::Imported { source, machine });
    let message = why(&to_json(&record));
    assert!(message.contains("'imported' but it claims `checks`"), "{message}");
    record.measurements[0].checks.clear();
    assert_eq!(from_json(&to_json(&record), "r.json").unwrap(), record);

    let mut record = sample::record();
    record.measurements[0].state = State::Refused;
    let message = why(&to_json(&record));
    assert!(message.contains("'refused' but it has `ns_per_op`"), "{message}");
}

#[test]
fn what_is_quoted_of_a_file_has_an_end_and_the_place_is_still_told() {
    let text = to_json(&sample::record());
    let broken =
        text.replacen("\"size\":8192", &format!("\"size\":\"{}\"", "x".repeat(1 << 20)), 1);
    let why = why(&broken);
    assert!(why.chars().count() < 500 && why.contains("… at line "), "{} characters", why.len());
}

#[test]
fn depth_repetition_and_numbers_beyond_all_bounds_are_one_line() {
    let text = to_json(&sample::record());
    for (bad, word) in [
        ("[".repeat(1 << 20), "invalid type: sequence"),
        (
            text.replacen("\"tool\"", &format!("\"deep\": {}, \"tool\"", "[".repeat(1 << 20)), 1),
            "expected value",
        ),
        (text.replacen("\"tool\"", "\"started\": \"\", \"tool\"", 1), "duplicate field `started`"),
        (text.replacen("\"size\":8192", "\"size\":-1", 1), "measurements[0].size: invalid value"),
        (text.replacen("\"size\":8192", "\"size\":1e400", 1), "number out of range"),
        (text.replacen("\"size\":8192", "\"size\":NaN", 1), "expected value"),
        (text.replacen('{', "{\u{0}", 1), "key must be a string"),
    ] {
        let why = why(&bad);
        assert!(why.contains(word) && !why.contains(char::is_control), "{word}: {why}");
    }
}

#[test]
fn the_other_encoding_of_windows_is_named() {
    let record = sample::record();
    let wide: Vec<u8> = to_json(&record).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [vec![0xff, 0xfe], wide].concat();
    let why = from_bytes(marked, "r.json").unwrap_err().to_string();
    assert!(why.ends_with("it is not text (byte 0 is not UTF-8)"), "{why}");
}
