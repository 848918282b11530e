//! What to encrypt with: from a record and measured on the spot, in every format, with exit codes.

use crate::support::*;
use serde_json::Value;

fn record() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/at-rest-2026-11-23-gnr.json.gz")
}

fn advice(arguments: &[&str], code: i32) -> Value {
    let all = [&["advise"], arguments, &["--format", "json"]].concat();
    ciphermark(&all, b"").with_code(code).json()
}

#[test]
fn three_tiers_of_a_record_give_three_answers() {
    let record = record();
    let mut schemes = Vec::new();
    for tier in ["native", "aesni", "noaes"] {
        let answer = advice(&[record, "--for", "postgres", "-t", tier], 0);
        let choice = &answer["outcome"]["choice"];
        schemes.push(text(choice, "scheme").to_owned());
        assert!(number(choice, "price.write_ns.median") > 0.0, "{choice}");
        assert!(number(choice, "write_core_seconds_per_gib") > 0.0, "{choice}");
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
        let more = ["--keys", keys, "--key-born", "2026-01-01", "--writers", "1"];
        let asked = [&asked[..], &[rate], &more[..]].concat();
        let answer = advice(&asked, 0);
        text(&answer, "outcome.choice.key.rotate_by").to_owned()
    };
    // 2^32 writes by one writer: 49.7 days at 1000 a second.
    assert_eq!(day("1000", "1"), "2026-02-19");
    assert_eq!(day("10000", "10"), "2026-02-19");
    assert_eq!(day("1", "1"), "2028-01-01");
}

/// Replicas and restored copies count: without them a key lasts as much longer.
#[test]
fn every_writer_counts_unless_there_is_but_one() {
    let day = |flags: &[&str]| {
        let asked =
            [record(), "--for", "postgres", "--fips", "algorithm", "--key-born", "2026-01-01"];
        let answer = advice(&[&asked[..], flags].concat(), 0);
        text(&answer, "outcome.choice.key.rotate_by").to_owned()
    };
    assert_eq!(day(&[]), "2026-01-17");
    assert_eq!(day(&["--writers", "1"]), "2026-02-19");
    assert_eq!(day(&["--snapshots", "no"]), "2026-02-19");
    assert_eq!(day(&["--key-per", "epoch"]), "2028-01-01");
}

/// One screen says what to do; everything else is behind a flag.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn the_first_screen_is_short_and_why_has_the_rest() {
    for used in ["postgres", "wal", "disk", "sqlite", "object-store", "backup", "messages"] {
        let asked = ["advise", record(), "--for", used];
        let short = ciphermark(&asked, b"").with_code(0).stdout;
        assert!(short.lines().count() <= 30, "{used}: {short}");
        for topic in ["choice ", "cost ", "limit ", "rotate by ", "respect ", "more "] {
            assert!(short.lines().any(|l| l.starts_with(topic)), "{topic}: {short}");
        }
        let long = ciphermark(&[&asked[..], &["--why"]].concat(), b"").with_code(0).stdout;
        assert!(long.contains("What does not, and the rule that decided"), "{long}");
        assert!(long.lines().count() > 2 * short.lines().count(), "{long}");
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn without_a_record_what_the_question_needs_is_measured_and_kept() {
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let asked = ["--for", "sqlite", "-l", "openssl", "--fips", "algorithm"];
    let measured = |budget: &str| {
        let how = ["--format", "json", "--budget", budget, "-o", arg(&kept)];
        ciphermark(&[&["advise"], &asked[..], &how].concat(), b"")
    };
    let answer = with_more_time(measured).json();
    let choice = &answer["outcome"]["choice"];
    let algorithms = [text(choice, "scheme")];
    assert!(algorithms[0].starts_with("aes-"), "{choice}");
    assert!(text(&answer, "record").starts_with("measured now"), "{answer}");
    // What was kept answers the same question.
    let again = advice(&[&[arg(&kept)], &asked[..]].concat(), 0);
    assert_eq!(again["outcome"]["choice"]["scheme"], choice["scheme"]);
    assert_eq!(again["basis"]["stale"], Value::Array(Vec::new()));
    // Nothing was measured that no answer could come from.
    let rows = measurements(&std::fs::read_to_string(&kept).unwrap());
    assert!(rows.iter().all(|row| !text(row, "algorithm").ends_with("-ecb")), "{rows:?}");
}

#[test]
fn what_a_record_cannot_answer_is_named_with_what_would_measure_it() {
    for (flags, words) in [
        ("-t baseline", "has no tier baseline; `ciphermark run --suite at-rest -t baseline"),
        ("--key-per write", "-m rekey"),
        ("-s 1M", "-s 1048576"),
        ("-l nss", "has no library that matches 'nss'"),
        ("--max-p99 20us", "--latency"),
        ("--writes-per-second 0", "--writes-per-second 0"),
        ("--reads 101%", "101%"),
        ("--certificate 4985", "--library"),
    ] {
        refuses(&format!("advise {} --for postgres {flags}", record()), &[words]);
    }
    refuses("advise /no/such.json --for wal", &["/no/such.json"]);
}

/// A record of pages: its own size, its own times, and what it cannot answer.
#[test]
fn a_record_of_pages_answers_with_what_its_store_cost() {
    let pages = repository("crates/record/tests/at-rest.json");
    let answer = advice(&[arg(&pages), "--for", "postgres"], 0);
    let choice = &answer["outcome"]["choice"];
    assert_eq!((text(choice, "scheme"), text(choice, "price.how")), ("aes-256-gcm", "store"));
    assert_eq!(choice["price"]["in_store"][0]["medium"], "cache");
    assert_eq!((text(&answer, "kind"), &answer["size"]), ("advice", &Value::from(8192)));
    let shown = call(&format!("advise {} --for postgres --why", arg(&pages))).with_code(0).stdout;
    assert!(shown.contains("in store    cache: 2000 ns beside 1700 ns of reading"), "{shown}");
    advice(&[arg(&pages), "--for", "postgres", "--expansion", "0"], 1);
    for (flags, words) in [
        ("postgres -t noaes", "`ciphermark pages … -t noaes`"),
        ("postgres -s 4K", "has pages of 8192 bytes"),
        ("messages", "--for messages needs"),
        ("postgres -l nss", "no library that matches 'nss'"),
    ] {
        refuses(&format!("advise {} --for {flags}", arg(&pages)), &[words]);
    }
    let directory = scratch();
    let kept = file(&directory, "advice.json");
    std::fs::write(&kept, answer.to_string()).unwrap();
    refuses(&format!("advise {kept} --for postgres"), &["is advice already"]);
}
