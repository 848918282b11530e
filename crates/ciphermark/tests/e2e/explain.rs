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
