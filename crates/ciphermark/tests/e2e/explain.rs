//! `explain`: what runs inside the clock.

use crate::support::*;
use serde_json::Value;

#[test]
#[ignore = "long: takes ten seconds or more"]
fn what_a_library_allocates_and_copies_for_a_message_is_counted() {
    let what = format!("explain -l {} -a aes-128-gcm -s 16,1024", fakes::library("copies"));
    let all = call(&format!("{what} --json")).with_code(0).rows();
    assert_eq!(all.len(), 2, "encrypt and decrypt: {all:?}");
    for row in &all {
        for (cost, size) in rows(row, "costs").iter().zip([16.0, 1024.0]) {
            assert_eq!(cost["size"], size as u64, "{row}");
            assert_eq!(cost["allocations"], 1.0, "{row}");
            assert_eq!(cost["allocated_bytes"], size + 100.0, "{row}");
            assert_eq!(cost["copied_bytes"], size, "{row}");
        }
    }
    let text = call(&what).with_code(0).stdout;
    assert!(
        text.contains("1024 B: 1 allocation (1124 B), 1024 B copied (1.0 × the message)"),
        "{text}"
    );
    let without =
        format!("explain -l {} -a aes-128-gcm -d encrypt -s 1024", fakes::library("correct"));
    let text = call(&without).with_code(0).stdout;
    assert!(text.contains("1024 B: no allocation, nothing copied"), "{text}");
}

/// What `explain --json` says that a stand-in executes for a copy, with instruction counts kept in
/// `cache`.
fn executed(cache: &str) -> Value {
    let fake = fakes::library("counted");
    let arguments = ["explain", "-l", &fake, "-a", "memcpy", "-s", "48", "--json"];
    let done = ciphermark_with(&arguments, &[("CIPHERMARK_CACHE", cache)]).with_code(0);
    done.json()[0]["executed"][0].clone()
}

/// Share of a class: per byte and per message.
fn share(executed: &Value, class: &str) -> (f64, f64) {
    let found = where_(rows(executed, "classes"), &[("class", class)])[0];
    (number(found, "per_byte"), number(found, "per_message"))
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_instructions_of_an_operation_are_counted_exactly_and_the_same_every_time() {
    let first = executed("");
    assert_eq!(first["source"], "single-step", "{first}");
    assert_eq!(share(&first, "aes-round"), (10.0 / 16.0, 0.0), "{first}");
    assert!(share(&first, "other").1 >= 7.0, "{first}");
    let sum: f64 = rows(&first, "classes").iter().map(|class| number(class, "per_byte")).sum();
    assert!((sum - number(&first, "per_byte")).abs() < 1e-9, "{first}");
    let sets: Vec<&str> =
        rows(&first, "instruction_sets").iter().filter_map(Value::as_str).collect();
    assert!(sets.contains(&"aes") && !sets.contains(&"vaes"), "{sets:?}");
    assert_eq!(first["exact"][0]["size"], 48);
    assert!(number(&first["exact"][0], "instructions") > 30.0 + 7.0, "{first}");
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
