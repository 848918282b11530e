//! What to encrypt with: from a record and measured on the spot, in every format, with exit codes.

use crate::support::*;
use serde_json::Value;

fn record() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/at-rest-2026-11-23-gnr.json.gz")
}

fn advice(arguments: &[&str], code: i32) -> Value {
    let all = [&["advise"], arguments, &["--format", "json"]].concat();
    serde_json::from_str(&ciphermark(&all, b"").with_code(code).stdout).unwrap()
}

#[test]
fn three_tiers_of_a_record_give_three_answers() {
    let record = record();
    let mut schemes = Vec::new();
    for tier in ["native", "aesni", "noaes"] {
        let answer = advice(&[record, "--for", "postgres", "-t", tier], 0);
        let choice = &answer["outcome"]["choice"];
        schemes.push(text(choice, "scheme").to_owned());
        assert!(choice["price"]["write_ns"]["median"].as_f64().unwrap() > 0.0, "{choice}");
        assert!(choice["write_core_seconds_per_gib"].as_f64().unwrap() > 0.0, "{choice}");
        assert!(!text(choice, "key.rotate_by").is_empty(), "{choice}");
    }
    schemes.dedup();
    assert_eq!(schemes.len(), 3, "{schemes:?}");
}

#[test]
fn the_day_on_which_a_key_must_change_follows_its_birth_and_the_rate_of_writing() {
    let day = |rate: &str, keys: &str| {
        let record = record();
        let asked = [record, "--for", "postgres", "--fips", "algorithm", "--writes-per-second"];
        let asked = [&asked[..], &[rate, "--keys", keys, "--key-born", "2026-01-01"]].concat();
        let answer = advice(&asked, 0);
        text(&answer, "outcome.choice.key.rotate_by").to_owned()
    };
    // 2^32 writes: 49.7 days at 1000 a second.
    assert_eq!(day("1000", "1"), "2026-02-19");
    assert_eq!(day("10000", "10"), "2026-02-19");
    assert_eq!(day("1", "1"), "2028-01-01");
}

#[test]
fn wishes_against_each_other_are_an_answer_with_exit_code_1() {
    let record = record();
    let asked = [record, "--for", "postgres", "--expansion", "0", "--integrity", "adversary"];
    let answer = advice(&asked, 1);
    let flags: Vec<&str> = answer["outcome"]["none"]["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f.as_str().unwrap())
        .collect();
    assert_eq!(flags, ["--expansion 0", "--integrity adversary"]);
    let printed = ciphermark(&[&["advise"], &asked[..]].concat(), b"").with_code(1).stdout;
    let text = printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("none: no scheme fulfils --expansion 0 and --integrity adversary"),
        "{text}"
    );
    // A way out is offered, and it is one.
    assert!(text.contains("--integrity none → aes-256-xts"), "{text}");
    let way_out = [record, "--for", "postgres", "--expansion", "0", "--integrity", "none"];
    assert_eq!(self::text(&advice(&way_out, 0), "outcome.choice.scheme"), "aes-256-xts");
}

#[test]
fn what_is_wrong_is_called_wrong_in_every_format() {
    let record = record();
    for format in ["text", "markdown"] {
        let asked = ["advise", "--record", record, "--for", "wal", "--format", format];
        let printed = ciphermark(&asked, b"").with_code(0).stdout;
        for named in ["ecb-leaks", "sum-is-no-mac", "aes-256-ctr+xxh3-64", "no-integrity"] {
            assert!(printed.contains(named), "{format}: {named}: {printed}");
        }
        assert!(printed.to_lowercase().contains("wrong"), "{printed}");
    }
}

#[test]
fn without_a_record_what_the_question_needs_is_measured_and_kept() {
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let asked = ["--for", "sqlite", "-l", "openssl", "--fips", "algorithm", "--budget", "10s"];
    let answer = advice(&[&asked[..], &["-o", arg(&kept)]].concat(), 0);
    let choice = &answer["outcome"]["choice"];
    let algorithms = [text(choice, "scheme")];
    assert!(algorithms[0].starts_with("aes-"), "{choice}");
    assert!(text(&answer, "record").starts_with("measured now"), "{answer}");
    // What was kept answers the same question.
    let again = advice(&[&[arg(&kept)], &asked[..6]].concat(), 0);
    assert_eq!(again["outcome"]["choice"]["scheme"], choice["scheme"]);
    assert_eq!(again["basis"]["stale"], Value::Array(Vec::new()));
    // Nothing was measured that no answer could come from.
    let rows = measurements(&std::fs::read_to_string(&kept).unwrap());
    assert!(rows.iter().all(|row| !text(row, "algorithm").ends_with("-ecb")), "{rows:?}");
}

#[test]
fn what_a_record_cannot_answer_is_named_with_what_would_measure_it() {
    let record = record();
    let why = |more: &[&str]| refusal(&[&["advise", record, "--for", "postgres"], more].concat());
    assert!(
        why(&["-t", "baseline"])
            .contains("has no tier baseline; `ciphermark run --suite at-rest -t baseline")
    );
    assert!(why(&["--key-per", "write"]).contains("-m rekey"));
    assert!(why(&["-s", "1M"]).contains("-s 1048576"));
    assert!(why(&["-l", "nss"]).contains("has no library that matches 'nss'"));
    assert!(why(&["--max-p99", "20us"]).contains("--latency"));
    assert!(why(&["--writes-per-second", "0"]).contains("--writes-per-second 0"));
    assert!(why(&["--reads", "101%"]).contains("101%"));
    assert!(why(&["--certificate", "4985"]).contains("--library"));
    assert!(refusal(&["advise", "/no/such.json", "--for", "wal"]).contains("/no/such.json"));
}

/// A record of pages: its own size, its own times, and what it cannot answer.
#[test]
fn a_record_of_pages_answers_with_what_its_store_cost() {
    let pages = repository("crates/at-rest/tests/sample.json");
    let answer = advice(&[arg(&pages), "--for", "postgres"], 0);
    let choice = &answer["outcome"]["choice"];
    assert_eq!((text(choice, "scheme"), text(choice, "price.how")), ("aes-256-gcm", "store"));
    assert_eq!(choice["price"]["in_store"][0]["medium"], "cache");
    assert_eq!((text(&answer, "kind"), &answer["size"]), ("advice", &Value::from(8192)));
    let shown = ciphermark(&["advise", arg(&pages), "--for", "postgres"], b"").with_code(0).stdout;
    assert!(shown.contains("in store    cache: 2000 ns beside 1700 ns of reading"), "{shown}");
    advice(&[arg(&pages), "--for", "postgres", "--expansion", "0"], 1);
    let why = |more: &[&str]| refusal(&[&["advise", arg(&pages)], more].concat());
    assert!(why(&["--for", "postgres", "-t", "noaes"]).contains("`ciphermark pages … -t noaes`"));
    assert!(why(&["--for", "postgres", "-s", "4K"]).contains("has pages of 8192 bytes"));
    assert!(why(&["--for", "messages"]).contains("--for messages needs"));
    assert!(why(&["--for", "postgres", "-l", "nss"]).contains("no library that matches 'nss'"));
    let directory = scratch();
    let kept = directory.path().join("advice.json");
    std::fs::write(&kept, answer.to_string()).unwrap();
    let line = refusal(&["advise", arg(&kept), "--for", "postgres"]);
    assert!(line.contains("is advice already"), "{line}");
}
