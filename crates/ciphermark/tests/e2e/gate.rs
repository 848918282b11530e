//! What a gate over two builds stands on: instructions at the measured sizes, and verdicts that pairs of
//! processes settle. Nothing here depends on how fast this machine is: four times the work is more.

use crate::support::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A run over two builds into one record.
fn measured(base: &Path, head: &Path, directory: &Path, sizes: &str) -> PathBuf {
    let record = directory.join("speed.json");
    let what = format!("-q -l base={} -l head={} -a crc32c -s {sizes}", arg(base), arg(head));
    let how = format!("{what} --precision 5% --budget 4s -o {}", arg(&record));
    measure(&how.split(' ').collect::<Vec<_>>()).with_code(0);
    record
}

/// With the record's directory as the home directory.
fn compare(record: &Path, more: &str) -> Done {
    let line = format!("compare {} --libraries base,head {more}", arg(record));
    let words: Vec<&str> = line.split_whitespace().collect();
    ciphermark_with(&words, &[("HOME", arg(record.parent().unwrap())), ("CIPHERMARK_CACHE", "")])
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn three_per_cent_more_instructions_at_8_kib_alone_fail_the_gate_and_an_equal_build_passes() {
    let directory = scratch();
    // The same code on both sides: where the planted steps begin is a constant in it.
    let base = fakes::object("planted", "PLANTED=50 FROM=1000000 TO=1000000");
    let head = fakes::object("planted", "PLANTED=50 FROM=8192 TO=8192");
    let record = measured(&base, &head, directory.path(), "64,8K");
    let gate = "--fail-if instructions:0.5%";
    let done = compare(&record, &format!("{gate} --format json")).with_code(1);
    let row = &done.json()["instructions"][0];
    let growth = |size: u64| {
        let of_size = rows(row, "sizes").iter().find(|s| s["size"] == size);
        number(of_size.unwrap_or_else(|| panic!("{row}")), "growth")
    };
    assert_eq!(growth(64), 0.0);
    assert!((0.02..0.06).contains(&growth(8192)), "{row}");
    // What the gate had before: the two sizes of the slope go past it.
    assert_eq!(row["per_byte_growth"], 0.0, "{row}");
    assert!(number(row, "per_message_growth") < 0.005, "{row}");
    compare(&record, "--fail-if instructions-per-byte:0.5%").with_code(0);
    let text = compare(&record, gate).with_code(1).stdout;
    assert!(text.contains("instructions grew in 1 case, by up to "), "{text}");

    let equal = fakes::object("planted", "PLANTED=50 FROM=1000001 TO=1000001");
    let record = measured(&base, &equal, directory.path(), "64,8K");
    compare(&record, "--fail-if instructions").with_code(0);
}

/// Clean samples of twelve processes that agree within a tenth of a per cent.
fn made_up(ticks: u64) -> Value {
    let all: Vec<u64> = (0..60).collect();
    let of = |value: &dyn Fn(u64) -> Value| all.iter().map(|i| value(*i)).collect::<Vec<_>>();
    json!({
        "process": of(&|i| (i / 5).into()), "ops": of(&|_| 10.into()),
        "ticks": of(&|i| (ticks + ticks * (i % 7) / 10_000).into()),
        "clock_before": of(&|_| 1.0.into()), "clock_after": of(&|_| 1.0.into()),
        "probe_before": of(&|_| 4.0.into()), "probe_after": of(&|_| 4.0.into()),
        "switches": of(&|_| 0.into()), "migrated": of(&|_| false.into()),
        "clean": of(&|_| true.into()),
    })
}

/// The head is four times as fast as the base, and the record says that it is five times as slow.
fn wrong_record(directory: &Path) -> (PathBuf, PathBuf) {
    let (base, head) = (directory.join("base.so"), directory.join("head.so"));
    std::fs::copy(fakes::object("planted", "PLANTED=3000"), &base).unwrap();
    std::fs::copy(fakes::object("planted", "PLANTED=0"), &head).unwrap();
    let path = measured(&base, &head, directory, "16000");
    let mut record = read(&path);
    for m in record["measurements"].as_array_mut().unwrap() {
        m["contended"] = false.into();
        m["raw"] = made_up(if m["library"]["name"] == "head" { 50_000 } else { 10_000 });
    }
    // The files below the home directory, as records that are shared name them.
    let here = record::shown(arg(&directory.canonicalize().unwrap()));
    let text = record.to_string().replace(&here, "~");
    assert!(text.contains("\"~/head.so\""), "{text}");
    std::fs::write(&path, text).unwrap();
    (path, head)
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_wrong_verdict_is_settled_by_pairs_and_the_exit_code_follows() {
    let directory = scratch();
    let (record, head) = wrong_record(directory.path());
    let before = compare(&record, "--format json").with_code(1).json();
    assert_eq!(before["cases"][0]["verdict"], "slower");
    assert!(before["confirmation"].is_null());
    let confirm = "--confirm --budget 200s -q";
    let whole = compare(&record, &format!("{confirm} --format json")).with_code(0).json();
    let case = &whole["cases"][0];
    assert_eq!(
        (text(case, "verdict"), text(case, "by_pairs.verdict_before")),
        ("faster", "slower")
    );
    assert!(number(case, "ratio.high") < 1.0, "{case}");
    assert!(number(case, "by_pairs.ratio_before.low") > 1.0, "{case}");
    assert_eq!((&whole["tally"]["faster"], &whole["tally"]["slower"]), (&1.into(), &0.into()));
    assert_eq!(
        (&whole["confirmation"]["settled"], &whole["confirmation"]["left"]),
        (&1.into(), &0.into())
    );
    let said = compare(&record, confirm).with_code(0).stdout;
    assert!(said.contains("1 of 1 candidates settled") && said.contains("was slower"), "{said}");

    // A build that is not there any more leaves the verdict as it was, and is named.
    std::fs::remove_file(&head).unwrap();
    let said = compare(&record, confirm).with_code(1).stdout;
    assert!(said.contains("0 of 1 candidates settled") && said.contains("1 left"), "{said}");
    assert!(said.contains("head@1.0 is not available"), "{said}");
}

#[test]
fn without_time_or_on_another_processor_candidates_are_left_and_said_to_be() {
    let directory = scratch();
    let (path, _) = wrong_record(directory.path());
    let said = compare(&path, "--confirm --budget 1ms").with_code(1).stdout;
    assert!(said.contains("1 left") && said.contains("no time left"), "{said}");
    let mut record = read(&path);
    record["host"]["cpu"]["name"] = "Another CPU".into();
    std::fs::write(&path, record.to_string()).unwrap();
    let said = compare(&path, "--confirm").with_code(1).stdout;
    assert!(said.contains("measured on another processor (Another CPU)"), "{said}");
}

#[test]
fn what_no_library_offers_ends_as_what_could_not_be_done_in_every_command() {
    let correct = fakes::library("correct");
    for (line, words) in [
        (format!("run -q -l {correct} -a sm4-ctr -s 64 --budget 1s"), "nothing was measured"),
        (format!("verify -q -l {correct} -a sm4-ctr"), "none of the selected libraries offers"),
        (format!("pair -q {correct} {correct} -a sm4-ctr -s 64"), "correct@1.0"),
        (format!("explain -l {correct} -a sm4-ctr"), "no library that was selected offers any"),
    ] {
        let done = call(&line).with_code(4);
        assert!(done.only_line_on_stderr().contains(words), "{line}: {done:?}");
    }
}
