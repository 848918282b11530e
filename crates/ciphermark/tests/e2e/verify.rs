//! `verify`: every check, no timing.

use crate::support::*;
use serde_json::Value;

fn verdicts(arguments: &[&str], code: i32) -> Vec<Value> {
    let all = [&["verify", "--json"], arguments].concat();
    let done = ciphermark(&all, b"").with_code(code);
    assert_eq!(done.stderr, "");
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn every_library_of_this_machine_passes_every_check() {
    let all = verdicts(&[], 0);
    for library in ["openssl", "libgcrypt", "rustcrypto", "baselines"] {
        for row in where_(&all, &[("library.name", library)]) {
            assert_eq!(text(row, "state"), "passed", "{row}");
            assert!(!row["checks"].as_array().unwrap().is_empty(), "{row}");
        }
    }
    let algorithms = where_(&all, &[("library.name", "openssl")]);
    assert!(algorithms.len() >= 25, "{} algorithms of OpenSSL", algorithms.len());
}

#[test]
fn a_finding_is_told_with_its_check_and_exit_code_1() {
    let broken = fakes::library("accepts_forgery");
    let all = verdicts(&["-l", "openssl", "-l", &broken, "-a", "aes-128-gcm"], 1);
    assert_eq!(all.len(), 2);
    assert_eq!(text(where_(&all, &[("library.name", "openssl")])[0], "state"), "passed");
    let found = where_(&all, &[("library.name", "accepts_forgery")])[0];
    assert_eq!(text(found, "state"), "refused");
    assert!(text(found, "reason").starts_with("tamper: "), "{found}");
    let plain = ciphermark(&["verify", "-l", &broken, "-a", "aes-128-gcm"], b"").with_code(1);
    assert!(plain.stdout.contains("REFUSED") && plain.stdout.contains("tamper: "), "{plain:?}");
}

#[test]
fn agreeing_on_a_wrong_answer_helps_no_library() {
    let object = fakes::object("wrong_tag", "");
    let names: Vec<String> = (0..3).map(|i| format!("wrong{i}={}", arg(&object))).collect();
    let flags: Vec<&str> = names.iter().flat_map(|name| ["-l", name]).collect();
    let all = verdicts(&[&["-a", "aes-128-gcm", "-l", "openssl"], &flags[..]].concat(), 1);
    assert_eq!(where_(&all, &[("state", "refused")]).len(), 3, "{all:?}");
    assert_eq!(text(where_(&all, &[("library.name", "openssl")])[0], "state"), "passed");
}
