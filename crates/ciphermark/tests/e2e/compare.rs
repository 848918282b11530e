//! `compare`: two records, or two libraries or tiers of one. The published record stands in for runs,
//! so nothing here depends on this machine.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};

const PUBLISHED: &str = "records/published-2026-11-23-gnr.json.gz";

fn published() -> String {
    arg(&repository(PUBLISHED)).to_owned()
}

fn compare(arguments: &[&str]) -> Done {
    ciphermark(&[&["compare"], arguments].concat(), b"")
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap()
}

/// Part of the published record, changed by `edit`.
fn edited(directory: &Path, name: &str, edit: impl Fn(&mut Value)) -> PathBuf {
    let part = ["-l", "openssl@4*", "-a", "aes-128-{gcm,ctr}", "--format", "json"];
    let done = ciphermark(&[&["show", &published()], &part[..]].concat(), b"").with_code(0);
    let mut record = json(&done);
    edit(&mut record);
    let path = directory.join(name);
    std::fs::write(&path, record.to_string()).unwrap();
    path
}

#[test]
fn a_record_against_itself_is_the_same_in_every_case() {
    let done = compare(&[&published(), &published(), "--format", "json"]).with_code(0);
    let whole = json(&done);
    let tally = &whole["tally"];
    assert_eq!(tally["same"], tally["identical"]);
    assert!(tally["same"].as_u64().unwrap() > 2000, "{tally}");
    for other in ["faster", "slower", "undecided"] {
        assert_eq!(tally[other], 0, "{other}");
    }
    assert_eq!(whole["overall"][0]["ratio"]["estimate"], 1.0);
    assert!(whole["warnings"][0].as_str().unwrap().contains("the very same samples"));
}

#[test]
fn two_versions_in_one_record_are_compared_by_case_and_family() {
    let versions = ["--libraries", "openssl@3.0*,openssl@4*", "--format", "json"];
    let done = compare(&[&[&*published()], &versions[..]].concat()).with_code(1);
    let whole = json(&done);
    let family = |name: &str| {
        let families = whole["families"].as_array().unwrap();
        families.iter().find(|f| f["family"] == name).unwrap()["ratio"].clone()
    };
    // VAES came to GCM between the two; CFB with segments of one bit became slower.
    assert!(family("aes-gcm")["high"].as_f64().unwrap() < 0.6, "{}", family("aes-gcm"));
    assert!(family("aes-cfb1")["low"].as_f64().unwrap() > 1.1, "{}", family("aes-cfb1"));
    assert_eq!(whole["failed"][0]["condition"], "slower");
    let never = [&versions[..], &["--fail-if", "never"]].concat();
    compare(&[&[&*published()], &never[..]].concat()).with_code(0);
    let lenient = [&versions[..], &["--fail-if", "slower:60%", "--fail-if", "refused"]].concat();
    compare(&[&[&*published()], &lenient[..]].concat()).with_code(0);
}

#[test]
fn one_library_is_compared_with_each_of_the_others() {
    let one = ["--libraries", "openssl@4*", "-a", "aes-256-gcm", "-s", "8K", "--fail-if", "never"];
    let done = compare(&[&[&*published()], &one[..], &["--format", "json"]].concat()).with_code(0);
    let whole = json(&done);
    assert!(whole["overall"].as_array().unwrap().len() > 10, "{}", whole["overall"]);
    let text = compare(&[&[&*published()], &one[..]].concat()).with_code(0).stdout;
    assert!(text.contains("openssl@4.0.3 → libtomcrypt@1.18.2"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
}

#[test]
fn what_was_measured_before_and_is_refused_now_fails() {
    let directory = scratch();
    let base = edited(directory.path(), "base.json", |_| ());
    let head = edited(directory.path(), "head.json", |record| {
        record["started"] = "2026-12-01T00:00:00Z".into();
        let m = &mut record["measurements"][0];
        m["state"] = "refused".into();
        m["reason"] = "tamper: accepted a changed tag".into();
        m["ns_per_op"] = Value::Null;
    });
    let done = compare(&[arg(&base), arg(&head)]).with_code(1);
    assert!(done.stdout.contains("measured in the base, refused or failed now: 1"), "{done:?}");
    assert!(done.stdout.contains("tamper: accepted a changed tag"), "{done:?}");
    let markdown = compare(&[arg(&base), arg(&head), "--format", "markdown"]).with_code(1).stdout;
    assert!(markdown.starts_with("### ❌ 0 slower"), "{markdown}");
    let (open, shut) =
        (markdown.matches("<details>").count(), markdown.matches("</details>").count());
    assert!(open > 0 && open == shut, "{markdown}");
    compare(&[arg(&head), arg(&base)]).with_code(0);
}

#[test]
fn another_machine_is_compared_by_time_and_said_to_be_one() {
    let directory = scratch();
    let base = edited(directory.path(), "base.json", |_| ());
    let head = edited(directory.path(), "head.json", |record| {
        record["host"]["cpu"]["name"] = "Another CPU".into();
        record["tool"]["version"] = "9.9.9".into();
    });
    let text = compare(&[arg(&base), arg(&head)]).with_code(0).stdout;
    assert!(text.contains("note: the processors differ") && text.contains("by time"), "{text}");
    assert!(text.contains("ciphermark's version differs: 0.1.0 and 9.9.9"), "{text}");
}

#[test]
fn csv_has_one_row_a_case() {
    let what = ["--libraries", "openssl@3.0*,openssl@4*", "--format", "csv", "--fail-if", "never"];
    let done = compare(&[&[&*published()], &what[..]].concat()).with_code(0);
    let mut reader = csv::Reader::from_reader(done.stdout.as_bytes());
    assert_eq!(reader.records().map(Result::unwrap).count(), 138);
}

#[test]
fn what_cannot_be_compared_gets_one_line_that_helps() {
    let line = |arguments: &[&str]| refusal(&[&["compare", &published()], arguments].concat());
    assert!(line(&[]).contains("NEW"), "{}", line(&[]));
    assert!(line(&["no/such.json"]).contains("no/such.json"));
    let several = line(&["--libraries", "openssl*,wolfssl"]);
    assert!(several.contains("matches 3 libraries (openssl@3.0.19, "), "{several}");
    let unknown = line(&["--libraries", "opensl,wolfssl"]);
    assert!(unknown.contains("did you mean 'openssl'?"), "{unknown}");
    let tier = line(&["--tiers", "noaes,native"]);
    assert!(tier.contains("no case at tier noaes") && tier.contains("run -t noaes"), "{tier}");
    let condition = line(&["--libraries", "wolfssl@5.9*,openssl@4*", "--fail-if", "slow"]);
    assert!(condition.contains("'slow' is none of: slower[:PERCENT]"), "{condition}");
    // Measured with --no-evidence.
    let uncounted = repository("records/at-rest-2026-11-23-gnr.json.gz");
    let libraries = ["--libraries", "wolfssl@5.9*,openssl@4*", "--fail-if", "instructions"];
    let counts = refusal(&[&["compare", arg(&uncounted)], &libraries[..]].concat());
    assert!(counts.contains("no instructions were counted on both sides"), "{counts}");
    let nothing = line(&["--libraries", "libaegis,ring"]);
    assert!(nothing.contains("have no case in common"), "{nothing}");
}
