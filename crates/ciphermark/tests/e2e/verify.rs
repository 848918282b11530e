//! `verify`: every check, no timing.

use crate::support::*;
use serde_json::Value;

fn verdicts(arguments: &[&str], code: i32) -> Vec<Value> {
    let done = ciphermark(&[&["verify", "--json"], arguments].concat(), b"").with_code(code);
    assert_eq!(done.stderr, "");
    done.rows()
}

/// Faults of libraries themselves, each traced to its cause in the adapter's README.
const KNOWN_FAULTS: [(&str, &str); 5] = [
    // No tag for an empty message, before 3.5.
    ("openssl", "aes-128-siv"),
    ("openssl", "aes-192-siv"),
    ("openssl", "aes-256-siv"),
    // A wrong tag with associated data and an empty message.
    ("libtomcrypt", "chacha20-poly1305"),
    // ARIA is wrong in place.
    ("cryptopp", "aria-*"),
];

#[test]
#[ignore = "long: every check in every library"]
fn every_library_of_this_machine_passes_every_check_but_for_its_known_faults() {
    // One key length of each: the others differ by their rounds.
    let globs = ["aes-128-*", "aes-256-*gcm*", "aegis-*", "*chacha20*", "sm4-*", "aria-128-ctr"];
    let more = ["camellia-128-c*", "sha*", "blake*", "hmac-*", "xxh3-64", "crc32c", "memcpy"];
    let chosen = globs.iter().chain(&more).flat_map(|glob| ["-a", glob]);
    let arguments: Vec<&str> = ["verify", "--json"].into_iter().chain(chosen).collect();
    let all = ciphermark_bundled(&arguments).rows();
    for row in &all {
        if text(row, "state") == "passed" {
            assert!(!row["checks"].as_array().unwrap().is_empty(), "{row}");
            continue;
        }
        let (library, algorithm) = (text(&row["library"], "name"), text(row, "algorithm"));
        let known = KNOWN_FAULTS.iter().any(|(l, a)| {
            let prefix = a.strip_suffix('*');
            *l == library && prefix.map_or(*a == algorithm, |prefix| algorithm.starts_with(prefix))
        });
        assert!(known && text(row, "state") == "refused", "{row}");
    }
    for library in ["openssl", "libgcrypt", "rustcrypto", "baselines"] {
        assert!(all.iter().any(|row| text(&row["library"], "name") == library), "{library}");
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
fn a_crash_is_told_with_its_place_its_call_and_the_librarys_last_words() {
    let reason = |library: &str, algorithm: &str| {
        let all = verdicts(&["-l", library, "-a", algorithm, "-t", "native"], 1);
        text(&all[0], "reason").to_owned()
    };
    let access = if cfg!(target_arch = "x86_64") { "read of" } else { "access to" };
    let null = format!(
        "in check surroundings: crashed: SIGSEGV, bad memory access: {access} address 0, a null pointer's, in \
         encrypt of 16 bytes; last words: crash: about to read address zero"
    );
    assert_eq!(reason(&fakes::library("crash"), "aes-128-ctr"), null);
}

/// In an initialiser, and in one algorithm's opening.
#[test]
fn what_ends_the_process_before_any_check_is_told_as_what_it_is() {
    let directory = scratch();
    let source = repository("tests/fakes/early_return.c");
    let refused = |more: &str, words: &str| {
        let object = directory.path().join("mine.so");
        let input = directory.path().join("mine.c");
        std::fs::write(&input, format!("#include {source:?}\n#include <stdlib.h>\n{more}"))
            .unwrap();
        let mut cc = fakes::compiler(&object);
        cc.arg("-I").arg(repository("include")).arg("-I").arg(repository("tests/fakes"));
        fakes::succeed(cc.arg(&input));
        refuses(&format!("verify -l mine={}", arg(&object)), &[words]);
    };
    let leave = "__attribute__((constructor)) static void leave(void) { exit(0); }";
    refused(leave, "while loading: exited with code 0");
    let crash = "__attribute__((constructor)) static void crash(void) { *(volatile int *)8 = 0; }";
    let access = if cfg!(target_arch = "x86_64") { "write to" } else { "access to" };
    let words = "crashed: SIGSEGV, bad memory access: ";
    refused(crash, &format!("while loading: {words}{access} address 8, a null pointer's"));
}

#[test]
fn an_algorithm_that_crashes_when_it_is_opened_costs_the_library_that_algorithm() {
    let broken = fakes::variant("crash", "OPENING=aes-128-gcm");
    let all = verdicts(&["-l", &broken, "-a", "aes-128-*", "-t", "native"], 1);
    let of = |name: &str| where_(&all, &[("algorithm", name)])[0];
    assert_eq!(text(of("aes-128-ctr"), "state"), "passed");
    assert_eq!(text(of("aes-128-gcm"), "state"), "failed");
    let reason = text(of("aes-128-gcm"), "reason");
    assert!(reason.contains("crashed: SIGSEGV"), "{reason}");
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

#[test]
fn a_size_that_is_asked_for_is_checked_and_the_end_says_what_was_tried() {
    // A size that no other check meets, however many calls it has time for.
    let broken = fakes::variant("accepts_forgery", "FORGED_AT=7000");
    let what = ["-l", &broken, "-a", "aes-128-gcm", "--seed", "1"];
    let all = verdicts(&what, 0);
    assert!(!all[0]["tried"]["drawn"].as_array().unwrap().contains(&Value::from(7000)));
    let all = verdicts(&[&what[..], &["-s", "7000"]].concat(), 1);
    let words = "other-sizes: decryption accepted a message of 7000 bytes whose ";
    assert!(text(&all[0], "reason").starts_with(words), "{all:?}");
    let plain = [&["verify", "-q"], &what[..], &["-s", "16,777"]].concat();
    let done = ciphermark(&plain, b"").with_code(0);
    let line = |heading: &str| {
        let line = done.stdout.lines().find_map(|line| line.strip_prefix(heading));
        line.unwrap_or_else(|| panic!("{heading}: {done:?}")).trim().to_owned()
    };
    assert_eq!(line("asked sizes"), "16, 777");
    assert!(line("fixed sizes").starts_with("every size from 0 to 257 bytes"));
    assert!(line("drawn sizes").starts_with("aes-128-gcm: "));
    assert!(line("repeated calls").contains(" in 2 sessions, "));
    assert_eq!(line("seed"), "1; --seed 1 draws the same again");
    refusal(&["verify", "-l", &broken, "-s", "many"]);
}

#[test]
fn a_seed_draws_the_same_sizes_again_and_without_one_they_are_others_each_time() {
    let broken = fakes::library("correct");
    let drawn = |more: &[&str]| {
        let what = [&["-l", &broken, "-a", "aes-128-ctr"], more].concat();
        let all = verdicts(&what, 0);
        (all[0]["seed"].clone(), all[0]["tried"]["drawn"].clone())
    };
    let (seed, sizes) = drawn(&[]);
    let (again, others) = drawn(&[]);
    assert!(seed != again && sizes != others, "{seed} {sizes} {again} {others}");
    let (same, once_more) = drawn(&["--seed", &seed.to_string()]);
    assert_eq!(same, seed);
    // How many there is time for depends on the machine.
    let (first, second) = (sizes.as_array().unwrap(), once_more.as_array().unwrap());
    assert!(
        !second.is_empty() && first.iter().zip(second).all(|(a, b)| a == b),
        "{first:?} {second:?}"
    );
}

/// Test case 2 of McGrew and Viega's paper on GCM, with what is asked changed.
fn vector(id: u64, iv: &str, tag: &str, result: &str) -> String {
    let zeros = "0".repeat(32);
    format!(
        r#"{{"tcId":{id},"key":"{zeros}","iv":"{iv}","aad":"","msg":"{zeros}","ct":"0388dace60b6a392f328c2b971b2fe78","tag":"{tag}","result":"{result}"}}"#
    )
}

fn vectors(tests: &[String]) -> String {
    let tests = tests.join(",");
    format!(r#"{{"algorithm":"AES-GCM","testGroups":[{{"tests":[{tests}]}}]}}"#)
}

const IV: &str = "000000000000000000000000";
const TAG: &str = "ab6e47d42cec13bdf53a67b21257bddf";
const FORGED: &str = "ab6e47d42cec13bdf53a67b21257bdde";

#[test]
fn a_file_of_vectors_goes_through_every_library_that_has_its_algorithm() {
    let directory = scratch();
    let path = directory.path().join("gcm.json");
    let tests = [
        vector(1, IV, TAG, "valid"),
        vector(2, IV, FORGED, "invalid"),
        vector(3, "00", TAG, "valid"),
    ];
    std::fs::write(&path, vectors(&tests)).unwrap();
    let given = ["verify", "--vectors", arg(&path), "-l", "openssl", "-l", "libgcrypt"];
    let done = ciphermark(&given, b"").with_code(0);
    assert_eq!(
        done.stdout.matches("1 passed, 1 correctly rejected, 0 wrong").count(),
        2,
        "{done:?}"
    );
    assert!(done.stdout.contains("takes nonces of 12 bytes, not 1"), "{done:?}");

    // A vector that is wrong is named with its number, and so is a library that accepts anything.
    std::fs::write(&path, vectors(&[vector(7, IV, FORGED, "valid")])).unwrap();
    let done = ciphermark(&given, b"").with_code(1);
    assert!(done.stdout.contains("tcId 7, aes-128-gcm: "), "{done:?}");
    std::fs::write(&path, vectors(&[vector(8, IV, FORGED, "invalid")])).unwrap();
    let broken = fakes::library("accepts_forgery");
    let done = ciphermark(&["verify", "--vectors", arg(&path), "-l", &broken], b"").with_code(1);
    assert!(done.stdout.contains("tcId 8, aes-128-gcm: decrypt accepted an invalid"), "{done:?}");
}
