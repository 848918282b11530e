//! `explain`: what runs inside the clock.

use crate::support::*;
use serde_json::Value;

#[test]
fn what_a_library_allocates_and_copies_for_a_message_is_counted() {
    let fake = fakes::library("copies");
    let arguments = ["explain", "-l", &fake, "-a", "aes-128-gcm", "-s", "16,8192", "--json"];
    let done = ciphermark(&arguments, b"").with_code(0);
    let rows: Vec<Value> = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(rows.len(), 2, "encrypt and decrypt: {rows:?}");
    for row in &rows {
        for (cost, size) in row["costs"].as_array().unwrap().iter().zip([16.0, 8192.0]) {
            assert_eq!(cost["size"], size as u64, "{row}");
            assert_eq!(cost["allocations"], 1.0, "{row}");
            assert_eq!(cost["allocated_bytes"], size + 100.0, "{row}");
            assert_eq!(cost["copied_bytes"], size, "{row}");
        }
    }
    let text = ciphermark(&arguments[..7], b"").with_code(0).stdout;
    assert!(
        text.contains("8192 B: 1 allocation (8292 B), 8192 B copied (1.0 × the message)"),
        "{text}"
    );
}

#[test]
fn a_library_without_copies_costs_none() {
    let fake = fakes::library("correct");
    let done = ciphermark(&["explain", "-l", &fake, "-a", "aes-128-gcm", "-d", "encrypt"], b"")
        .with_code(0);
    assert!(done.stdout.contains("8192 B: no allocation, nothing copied"), "{}", done.stdout);
}

#[test]
fn what_no_chosen_library_offers_is_said_in_one_line() {
    let fake = fakes::library("correct");
    let done = ciphermark(&["explain", "-l", &fake, "-a", "sm4-ctr"], b"").with_code(4);
    assert_eq!(
        done.stderr,
        "ciphermark: no library that was selected offers any of the algorithms\n"
    );
}

/// What `explain --json` says that a stand-in executes for a copy, with instruction counts kept in
/// `cache`.
fn executed(cache: &str) -> Value {
    let fake = fakes::library("counted");
    let arguments = ["explain", "-l", &fake, "-a", "memcpy", "-s", "48", "--json"];
    let done = ciphermark_with(&arguments, &[("CIPHERMARK_CACHE", cache)]).with_code(0);
    let rows: Vec<Value> = serde_json::from_str(&done.stdout).unwrap();
    rows[0]["executed"][0].clone()
}

/// Share of a class: per byte and per message.
fn share(executed: &Value, class: &str) -> (f64, f64) {
    let classes = executed["classes"].as_array().unwrap();
    let found = classes.iter().find(|c| c["class"] == class).unwrap();
    (found["per_byte"].as_f64().unwrap(), found["per_message"].as_f64().unwrap())
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_instructions_of_an_operation_are_counted_exactly_and_the_same_every_time() {
    let first = executed("");
    assert_eq!(first["source"], "single-step", "{first}");
    assert_eq!(share(&first, "aes-round"), (10.0 / 16.0, 0.0), "{first}");
    let (nops, sum): (f64, f64) = (share(&first, "other").1, {
        let classes = first["classes"].as_array().unwrap();
        classes.iter().map(|c| c["per_byte"].as_f64().unwrap()).sum()
    });
    assert!(nops >= 7.0, "{first}");
    assert!((sum - first["per_byte"].as_f64().unwrap()).abs() < 1e-9, "{first}");
    let sets: Vec<&str> =
        first["instruction_sets"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(sets.contains(&"aes") && !sets.contains(&"vaes"), "{sets:?}");
    assert_eq!(first["exact"][0]["size"], 48);
    assert!(first["exact"][0]["instructions"].as_u64().unwrap() > 30 + 7, "{first}");
    assert_eq!(executed(""), first);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn counts_are_kept_and_what_is_damaged_of_them_is_counted_anew() {
    let scratch = scratch();
    let counted = executed(arg(scratch.path()));
    let files = || {
        let directory = std::fs::read_dir(scratch.path().join("evidence")).unwrap();
        directory.map(|entry| entry.unwrap().path()).collect::<Vec<_>>()
    };
    let [file] = &files()[..] else { panic!("{:?}", files()) };
    let written = std::fs::metadata(file).unwrap().modified().unwrap();
    assert_eq!(executed(arg(scratch.path())), counted);
    assert_eq!(std::fs::metadata(file).unwrap().modified().unwrap(), written, "written anew");
    std::fs::write(file, "torn").unwrap();
    assert_eq!(executed(arg(scratch.path())), counted);
    assert!(std::fs::metadata(file).unwrap().len() > 100);
}
