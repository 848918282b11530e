//! `pair`: two libraries held against each other. Whatever the speed of this machine and whoever
//! else is on it, four times the work is more work.

use crate::support::*;

fn planted(per_mille: u32) -> String {
    let object = fakes::object("planted", &format!("PLANTED={per_mille}"));
    format!("planted{per_mille}={}", arg(&object))
}

fn compare(base: &str, new: &str, more: &str) -> Done {
    within("200s", base, new, more)
}

fn within(budget: &str, base: &str, new: &str, more: &str) -> Done {
    call(&format!("pair {base} {new} -a crc32c -s 16000 --budget {budget} {more}"))
}

#[test]
fn a_library_with_four_times_the_work_is_slower_and_the_other_way_round_faster() {
    let (base, new) = (planted(0), planted(3000));
    let whole = compare(&base, &new, "--json").with_code(1).json();
    let trial = &whole["trials"][0];
    assert_eq!(text(trial, "verdict"), "slower", "{trial}");
    assert_eq!(rows(trial, "pairs").len(), 12, "the first look is enough: {trial}");
    assert!(number(trial, "ratio.low") > 1.0, "{trial}");
    assert_eq!(whole["false_verdicts"], 0.001);
    let done = compare(&new, &base, "").with_code(0);
    assert!(done.stdout.contains("\n  faster "), "{}", done.stdout);
}

#[test]
fn several_trials_are_counted_by_verdict() {
    let (base, new) = (planted(0), planted(3000));
    let done = compare(&base, &new, "--trials 2").with_code(0);
    assert!(done.stdout.contains("2 trials: 0 same, 0 faster, 2 slower"), "{}", done.stdout);
}

#[test]
fn without_a_verdict_there_is_advice_and_an_exit_code_for_who_asks() {
    let (base, new) = (planted(0), planted(3000));
    // No pair of processes is through in this time.
    let hurried = |more: &str| within("1ms", &base, &new, more);
    let done = hurried("").with_code(0);
    assert!(done.stdout.contains("undecided: the budget was spent after 0 "), "{}", done.stdout);
    hurried("--fail-if slower --fail-if undecided").with_code(1);
    let whole = hurried("--json").json();
    assert!(text(&whole["trials"][0], "advice").contains("--budget"), "{whole}");
    compare(&base, &new, "--fail-if undecided").with_code(0);
    compare(&new, &base, "--fail-if faster").with_code(1);
}

#[test]
fn a_library_that_fails_a_check_is_not_compared() {
    let (right, wrong) = (fakes::library("correct"), fakes::library("wrong_tag"));
    let done = call(&format!("pair {right} {wrong} -a aes-128-gcm -s 64")).with_code(3);
    assert!(done.only_line_on_stderr().contains("wrong_tag@1.0: known-answers: "), "{done:?}");
}

#[test]
fn what_is_no_pair_gets_one_line_that_helps() {
    let correct = fakes::library("correct");
    for (flags, words) in [
        ("-a aes-128-ctr -s 16,64", "'16,64' for '--size <BYTES>': give one size"),
        ("-a aes-128-ctr -d both", "[possible values: encrypt, decrypt]"),
        ("-a aes-129-ctr", "aes-129-ctr"),
    ] {
        refuses(&format!("pair {correct} {correct} {flags}"), &[words]);
    }
}
