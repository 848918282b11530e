//! `pair`: two libraries held against each other. Whatever the speed of this machine and whoever
//! else is on it, four times the work is more work.

use crate::support::*;
use serde_json::Value;

fn planted(per_mille: u32) -> String {
    let object = fakes::object("planted", &format!("PLANTED={per_mille}"));
    format!("planted{per_mille}={}", arg(&object))
}

fn compare(base: &str, new: &str, more: &[&str]) -> Done {
    let what = ["pair", base, new, "-a", "crc32c", "-s", "16000", "--budget", "60s"];
    ciphermark(&[&what[..], more].concat(), b"")
}

#[test]
fn a_library_with_four_times_the_work_is_slower_and_the_other_way_round_faster() {
    let (base, new) = (planted(0), planted(3000));
    let done = compare(&base, &new, &["--json"]).with_code(1);
    let whole: Value = serde_json::from_str(&done.stdout).unwrap();
    let trial = &whole["trials"][0];
    assert_eq!(text(trial, "verdict"), "slower", "{trial}");
    assert_eq!(trial["pairs"].as_array().unwrap().len(), 12, "the first look is enough: {trial}");
    assert!(trial["ratio"]["low"].as_f64().unwrap() > 1.0, "{trial}");
    assert_eq!(whole["false_verdicts"], 0.001);
    let done = compare(&new, &base, &[]).with_code(0);
    assert!(done.stdout.contains("\n  faster "), "{}", done.stdout);
}

#[test]
fn several_trials_are_counted_by_verdict() {
    let (base, new) = (planted(0), planted(3000));
    let done = compare(&base, &new, &["--trials", "2"]).with_code(0);
    assert!(done.stdout.contains("2 trials: 0 same, 0 faster, 2 slower"), "{}", done.stdout);
}

#[test]
fn without_a_verdict_there_is_advice_and_an_exit_code_for_who_asks() {
    let (base, new) = (planted(0), planted(3000));
    // No pair of processes is through in this time.
    let hurried = |more: &[&str]| {
        let what = ["pair", &base, &new, "-a", "crc32c", "-s", "16000", "--budget", "1ms"];
        ciphermark(&[&what[..], more].concat(), b"")
    };
    let done = hurried(&[]).with_code(0);
    assert!(done.stdout.contains("undecided: the time was over after 0 pairs"), "{}", done.stdout);
    hurried(&["--fail-if", "slower", "--fail-if", "undecided"]).with_code(1);
    let whole: Value = serde_json::from_str(&hurried(&["--json"]).stdout).unwrap();
    assert!(text(&whole["trials"][0], "advice").contains("--budget"), "{whole}");
    compare(&base, &new, &["--fail-if", "undecided"]).with_code(0);
    compare(&new, &base, &["--fail-if", "faster"]).with_code(1);
}

#[test]
fn a_library_that_fails_a_check_is_not_compared() {
    let (right, wrong) = (fakes::library("correct"), fakes::library("wrong_tag"));
    let done =
        ciphermark(&["pair", &right, &wrong, "-a", "aes-128-gcm", "-s", "64"], b"").with_code(3);
    assert!(done.only_line_on_stderr().contains("wrong_tag@1.0: known-answers: "), "{done:?}");
}

#[test]
fn what_is_no_pair_gets_one_line_that_helps() {
    let correct = fakes::library("correct");
    let line = |arguments: &[&str], code: i32| {
        ciphermark(arguments, b"").with_code(code).only_line_on_stderr().to_owned()
    };
    let sizes = line(&["pair", &correct, &correct, "-a", "aes-128-ctr", "-s", "16,64"], 2);
    assert!(sizes.contains("compared at one size"), "{sizes}");
    let both = line(&["pair", &correct, &correct, "-a", "aes-128-ctr", "-d", "both"], 2);
    assert!(both.contains("one direction"), "{both}");
    let unknown = line(&["pair", &correct, &correct, "-a", "aes-129-ctr"], 2);
    assert!(unknown.contains("aes-129-ctr"), "{unknown}");
    let missing = line(&["pair", &correct, &correct, "-a", "sm4-ctr"], 4);
    assert!(missing.contains("correct@1.0"), "{missing}");
}
