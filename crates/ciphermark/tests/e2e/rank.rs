//! `rank`: questions to a record.

use crate::support::*;
use serde_json::Value;

fn rank(arguments: &[&str]) -> Done {
    ciphermark(&[&["rank", &published()], arguments].concat(), b"").with_code(0)
}

fn answer(arguments: &[&str]) -> Value {
    let done = rank(&[arguments, &["--format", "json"]].concat());
    serde_json::from_str::<Value>(&done.stdout).unwrap()[0].clone()
}

#[test]
fn flags_say_which_cases_take_part() {
    let whole = answer(&["--authenticated", "-d", "decrypt", "-s", "1K", "--key-bits", "256"]);
    let rows = whole["standings"][0]["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(
            (row["direction"].as_str(), row["size"].as_u64()),
            (Some("decrypt"), Some(1024))
        );
        assert!(!row["algorithm"].as_str().unwrap().contains("128"), "{row}");
    }
}

#[test]
fn what_cannot_be_told_apart_may_have_either_place() {
    // The two libraries have the same code of one author.
    let whole = answer(&["-a", "aegis-128l", "-s", "1K"]);
    let standing = &whole["standings"][0];
    assert_eq!(standing["may_be_first"], 2, "{standing}");
    let either = |r: &Value| r["place"] == 1 && r["last_place"] == 2;
    assert!(standing["rows"].as_array().unwrap().iter().all(either), "{standing}");
    let text = rank(&["-a", "aegis-128l", "-s", "1K"]).stdout;
    assert_eq!(text.matches("1–2").count(), 2, "{text}");
}

#[test]
fn what_does_not_notice_tampering_is_labelled() {
    let text = rank(&["-s", "8K", "--rows", "60"]).stdout;
    for (algorithm, label) in
        [("aes-128-ecb ", "ecb-leaks"), ("aes-128-ctr ", "no-integrity"), ("+xxh3", "composite")]
    {
        let rows: Vec<&str> = text.lines().filter(|l| l.contains(algorithm)).collect();
        assert!(!rows.is_empty() && rows.iter().all(|l| l.contains(label)), "{algorithm}: {text}");
    }
}

#[test]
fn each_library_has_its_best() {
    let whole = answer(&["--authenticated", "--per", "library"]);
    let groups: Vec<&str> = whole["standings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["group"].as_str().unwrap())
        .collect();
    assert!(groups.contains(&"openssl@4.0.3") && groups.contains(&"libaegis@0.9.20"), "{groups:?}");
    assert_eq!(groups[0], "libaegis@0.9.20");
}

#[test]
fn without_a_question_the_usual_ones_are_answered() {
    let text = rank(&[]).stdout;
    assert!(text.matches("fastest authenticated").count() >= 4, "{text}");
    assert!(text.contains("per library (model message"), "{text}");
    assert!(!text.contains("tier noaes"), "the record has none: {text}");
}

#[test]
fn every_format_has_the_answer() {
    let as_format =
        |format: &str| rank(&["--authenticated", "-s", "8K", "--format", format]).stdout;
    let markdown = as_format("markdown");
    assert!(
        markdown.starts_with("### fastest authenticated")
            && (markdown.contains("| 1 |") || markdown.contains("| 1–")),
        "{markdown}"
    );
    let csv = as_format("csv");
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(rows.len() >= 10 && rows[0][2].starts_with('1'), "{} rows", rows.len());
}

#[test]
fn a_question_without_a_record_is_measured_now() {
    let correct = fakes::library("correct");
    let name = correct.split('=').next().unwrap();
    let what = ["rank", "-a", "aes-128-gcm", "-s", "64", "-l", &correct, "--format", "json"];
    let done = ciphermark(&what, b"").with_code(0);
    let whole: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(whole[0]["standings"][0]["rows"][0]["library"]["name"], name);
}

#[test]
fn what_is_not_understood_or_not_there_gets_one_line() {
    let line = |arguments: &[&str]| refusal(&[&["rank", &published()], arguments].concat());
    let tier = line(&["-t", "noaes"]);
    assert!(tier.contains("no tier noaes") && tier.contains("ciphermark run -t noaes"), "{tier}");
    let two = line(&["-s", "64,8K"]);
    assert!(two.contains("--size '64,8K': a question is about one size"), "{two}");
    let nothing = refusal(&["rank"]);
    assert!(nothing.contains("give a record") && nothing.contains("--help"), "{nothing}");
    let missing = refusal(&["rank", "no/such.json"]);
    assert!(missing.contains("no/such.json"), "{missing}");
}

#[test]
fn words_are_no_question() {
    refuses("rank fastest", &["'fastest'", "No such file"]);
    refuses(&format!("rank {} fastest", published()), &["unexpected argument 'fastest'"]);
}
