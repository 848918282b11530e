//! The published claims, judged by records and by what is measured for them.

use crate::support::*;
use serde_json::Value;

const VERDICTS: [&str; 4] = ["holds", "does not hold", "depends", "not testable here"];

fn record() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/sample.json")
}

fn judged(arguments: &[&str]) -> Vec<Value> {
    let all = [&["claims"], arguments, &["--format", "json"]].concat();
    ciphermark(&all, b"").with_code(0).rows()
}

#[test]
fn every_claim_has_a_verdict_and_what_a_record_lacks_is_named() {
    let all = judged(&[record()]);
    assert_eq!(all.len(), 36);
    for claim in &all {
        assert!(VERDICTS.contains(&text(claim, "verdict")), "{claim}");
        assert!(!text(claim, "why").is_empty(), "{claim}");
        assert!(text(claim, "source.url").starts_with("https://"), "{claim}");
    }
    let only = judged(&[record(), "--only", "highgo-*", "--only", "tls-kx-order"]);
    assert_eq!(only.len(), 9);
    assert_eq!(judged(&[record(), "--source", "tls"]).len(), 7);
}

#[test]
fn a_claim_is_measured_and_judged_in_one_call_and_its_record_judges_it_again() {
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let what =
        ["--only", "highgo-key-length", "-l", "openssl", "--budget", "20s", "-o", arg(&kept)];
    let [claim] = &judged(&what)[..] else { panic!("one claim was asked for") };
    assert!(VERDICTS[..3].contains(&text(claim, "verdict")), "{claim}");
    let here = &claim["figures"][0]["here"][0];
    assert!(here["value"].as_f64().unwrap() > 0.0, "{claim}");
    assert!(here["low"].as_f64() <= here["value"].as_f64(), "{claim}");
    let [again] = &judged(&[arg(&kept), "--only", "highgo-key-length"])[..] else { panic!() };
    assert_eq!(again, claim);
    // What was measured is what the conditions name, and it is an ordinary record.
    let rows = measurements(&std::fs::read_to_string(&kept).unwrap());
    assert!(rows.iter().all(|row| text(row, "algorithm").ends_with("-ctr")), "{rows:?}");
    ciphermark(&["show", arg(&kept)], b"").with_code(0);
}

/// What TLS claims say is judged by handshakes of the machine's own OpenSSL, kept beside the record.
#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_claim_of_handshakes_is_measured_and_its_run_judges_it_again() {
    let Some(stack) = crate::tls::stack() else { return };
    let stack = stack.replacen("system=", "openssl=", 1);
    let directory = scratch();
    let kept = directory.path().join("kept.json");
    let what = ["--only", "tls-resumption", "-l", &stack, "--budget", "60s", "-o", arg(&kept)];
    let [claim] = &judged(&what)[..] else { panic!("one claim was asked for") };
    assert!(VERDICTS[..3].contains(&text(claim, "verdict")), "{claim}");
    let ratio = claim["figures"][1]["here"][0]["value"].as_f64().unwrap();
    assert!(ratio > 0.0, "{claim}");
    let [again] = &judged(&[arg(&kept), "--only", "tls-resumption"])[..] else { panic!() };
    assert_eq!(again, claim);
}

#[test]
fn an_articles_table_is_printed_again() {
    let printed = call(&format!("claims {} --table highgo", record())).with_code(0).stdout;
    assert!(printed.contains("6338") && printed.contains("8192 B"), "{printed}");
}

#[test]
fn wrong_names_get_one_line_with_the_nearest_right_one() {
    for (flags, words) in [
        ("--only highgo-ctr-clos", "did you mean 'highgo-ctr-close'?"),
        ("--source higho", "did you mean 'highgo'?"),
        ("--table tsl", "unknown source 'tsl'"),
    ] {
        refuses(&format!("claims {} {flags}", record()), &[words]);
    }
    refuses("claims /no/such.json", &["cannot read record '/no/such.json'"]);
}
