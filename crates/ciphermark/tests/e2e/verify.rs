//! `verify`: every check, no timing; and `once`: one operation by hand.

use crate::support::{fakes, *};
use serde_json::Value;

fn verdicts(line: &str, code: i32) -> Vec<Value> {
    let done = call(&format!("verify --json {line}")).with_code(code);
    assert_eq!(done.stderr, "");
    done.rows()
}

/// Faults of libraries themselves, each traced to its cause in the adapter's README.
const KNOWN_FAULTS: [(&str, &str); 6] = [
    // No tag for an empty message, before 3.5.
    ("openssl", "aes-128-siv"),
    ("openssl", "aes-192-siv"),
    ("openssl", "aes-256-siv"),
    // A wrong tag with associated data and an empty message.
    ("libtomcrypt", "chacha20-poly1305"),
    // ARIA is wrong in place.
    ("cryptopp", "aria-*"),
    // Botan 2 takes keys that were wrapped with more padding than there can be.
    ("botan", "aes-128-kwp"),
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
    let all = verdicts(&format!("-l openssl -l {broken} -a aes-128-gcm"), 1);
    assert_eq!(all.len(), 2);
    assert_eq!(text(where_(&all, &[("library.name", "openssl")])[0], "state"), "passed");
    let found = where_(&all, &[("library.name", "accepts_forgery")])[0];
    assert_eq!(text(found, "state"), "refused");
    assert!(text(found, "reason").starts_with("tamper: "), "{found}");
    let plain = call(&format!("verify -l {broken} -a aes-128-gcm")).with_code(1);
    plain.says(["REFUSED", "tamper: "]);
}

/// Whether a generator that was forked goes on from its parent's state shows in a process alone.
#[test]
fn a_generator_that_repeats_in_a_fork_or_elsewhere_is_refused_and_a_right_one_is_not() {
    let of = |library: &str, code| {
        let all = verdicts(&format!("-l {library} -a random* -t native"), code);
        let random = where_(&all, &[("algorithm", "random")])[0].clone();
        (text(&random, "state").to_owned(), random)
    };
    let (state, right) = of(&fakes::library("random"), 0);
    assert_eq!(state, "passed", "{right}");
    let names: Vec<&str> = rows(&right, "checks").iter().map(|c| text(c, "name")).collect();
    for name in ["draws-differ", "looks-random", "threads-differ", "repeated-calls", "forks"] {
        assert!(names.contains(&name), "{names:?}");
    }
    for (fault, words) in [
        (
            "COPIED",
            "forks: a process that was forked by clone(2) draws the 16 bytes that its parent draws",
        ),
        ("OF_A_SESSION", "draws-differ: generate of "),
        ("BIASED", "looks-random: of 65536 bytes in draws of 16, "),
    ] {
        let (state, refused) = of(&fakes::variant("random", &format!("{fault}=1")), 1);
        assert!(state == "refused" && text(&refused, "reason").contains(words), "{refused}");
    }
    let (state, right) = of(&fakes::variant("random", "AT_FORK=1"), 0);
    let remarks = right["remarks"].to_string();
    assert!(state == "passed" && remarks.contains("pthread_atfork"), "{right}");
}

#[test]
#[ignore = "long: measures for seconds"]
fn what_an_earlier_run_has_verified_counts_until_the_library_changes_and_never_for_verify() {
    let (directory, cache) = (scratch(), scratch());
    let (object, path) = (file(&directory, "library.so"), file(&directory, "r.json"));
    let library = format!("mine={object}");
    let copy = |fake: &str| std::fs::copy(fakes::object(fake, ""), &object).unwrap();
    let cache = [("CIPHERMARK_CACHE", arg(cache.path()))];
    let with_cache = |line: &str| call_with(&format!("{line} -l {library} -a aes-128-gcm"), &cache);
    let measured = |code| {
        let run = format!("run -q --no-evidence -s 16 -o {path} {}", QUICK.join(" "));
        with_cache(&run).with_code(code);
        read(&path)
    };
    copy("correct");
    let is_earlier = |record: &Value| record["libraries"][0].get("verified").is_some();
    let mut last = measured(0);
    assert!(!is_earlier(&last), "{}", last["libraries"][0]);
    // One in ten is verified again, and counts from then on.
    let again = (0..30).find_map(|_| {
        let record = measured(0);
        if is_earlier(&record) {
            return Some(record);
        }
        last = record;
        None
    });
    let again = again.expect("one of thirty counts what was verified before");
    let checks = |record: &Value| rows(record, "measurements")[0]["checks"].clone();
    assert_eq!(checks(&again), checks(&last));
    with_cache("verify --json --seed 1").with_code(0).says(["drawn"]);
    copy("accepts_forgery");
    let changed = measured(3);
    assert_eq!(text(&rows(&changed, "measurements")[0], "state"), "refused");
}

#[test]
fn a_crash_is_told_with_its_place_its_call_and_the_librarys_last_words() {
    let access = if cfg!(target_arch = "x86_64") { "read of" } else { "access to" };
    let null = format!(
        "in check surroundings: crashed: SIGSEGV, bad memory access: {access} address 0, a null pointer's, in \
         encrypt of 16 bytes; last words: crash: about to read address zero"
    );
    let all = verdicts(&format!("-l {} -a aes-128-ctr -t native", fakes::library("crash")), 1);
    assert_eq!(text(&all[0], "reason"), null);
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
    let all = verdicts(&format!("-l {broken} -a aes-128-* -t native"), 1);
    let of = |name: &str| where_(&all, &[("algorithm", name)])[0];
    assert_eq!(text(of("aes-128-ctr"), "state"), "passed");
    assert_eq!(text(of("aes-128-gcm"), "state"), "failed");
    says(text(of("aes-128-gcm"), "reason"), ["crashed: SIGSEGV"]);
}

#[test]
fn agreeing_on_a_wrong_answer_helps_no_library() {
    let object = fakes::object("wrong_tag", "");
    let named = |i| format!(" -l wrong{i}={}", arg(&object));
    let names: String = (0..3).map(named).collect();
    let all = verdicts(&format!("-a aes-128-gcm -l openssl{names}"), 1);
    assert_eq!(where_(&all, &[("state", "refused")]).len(), 3, "{all:?}");
    assert_eq!(text(where_(&all, &[("library.name", "openssl")])[0], "state"), "passed");
}

#[test]
fn a_size_that_is_asked_for_is_checked_and_the_end_says_what_was_tried() {
    // A size that no other check meets, however many calls it has time for.
    let broken = fakes::variant("accepts_forgery", "FORGED_AT=7000");
    let what = format!("-l {broken} -a aes-128-gcm --seed 1");
    let all = verdicts(&what, 0);
    assert!(!rows(&all[0]["tried"], "drawn").contains(&Value::from(7000)));
    let all = verdicts(&format!("{what} -s 7000"), 1);
    let words = "other-sizes: decryption accepted a message of 7000 bytes whose ";
    assert!(text(&all[0], "reason").starts_with(words), "{all:?}");
    let done = call(&format!("verify -q {what} -s 16,777")).with_code(0);
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
    let drawn = |more: &str| {
        let all = verdicts(&format!("-l {broken} -a aes-128-ctr {more}"), 0);
        (all[0]["seed"].clone(), all[0]["tried"]["drawn"].clone())
    };
    let (seed, sizes) = drawn("");
    let (again, others) = drawn("");
    assert!(seed != again && sizes != others, "{seed} {sizes} {again} {others}");
    let (same, once_more) = drawn(&format!("--seed {seed}"));
    assert_eq!(same, seed);
    // How many there is time for depends on the machine.
    let (first, second) = (sizes.as_array().unwrap(), once_more.as_array().unwrap());
    let is_same = first.iter().zip(second).all(|(a, b)| a == b);
    assert!(!second.is_empty() && is_same, "{first:?} {second:?}");
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
    let of = |libraries: &str, tests: &[String], code| {
        let path = written(&directory, "gcm.json", vectors(tests));
        call(&format!("verify --vectors {path} {libraries}")).with_code(code)
    };
    let tests = [
        vector(1, IV, TAG, "valid"),
        vector(2, IV, FORGED, "invalid"),
        vector(3, "00", TAG, "valid"),
    ];
    let both = "-l openssl -l libgcrypt";
    let done = of(both, &tests, 0).says(["takes nonces of 12 bytes, not 1"]);
    let passed = done.stdout.matches("1 passed, 1 correctly rejected, 0 wrong").count();
    assert_eq!(passed, 2, "{done:?}");
    // A vector that is wrong is named with its number, and so is a library that accepts anything.
    of(both, &[vector(7, IV, FORGED, "valid")], 1).says(["tcId 7, aes-128-gcm: "]);
    let broken = format!("-l {}", fakes::library("accepts_forgery"));
    of(&broken, &[vector(8, IV, FORGED, "invalid")], 1)
        .says(["tcId 8, aes-128-gcm: decrypt accepted an invalid"]);
}

const LIBRARIES: [&str; 3] = ["openssl", "libgcrypt", "rustcrypto"];

/// NIST SP 800-38A, F.5.1: AES-128 in counter mode, first block.
const CTR: [&str; 4] =
    ["--key", "2b7e151628aed2a6abf7158809cf4f3c", "--nonce", "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"];
const CTR_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172a";
const CTR_CIPHER: &str = "874d6191b620e3261bef6864990db6ce";

/// The Galois/Counter Mode of Operation (McGrew, Viega), test case 4: associated data and a last
/// block that is not whole.
const GCM: [&str; 6] = [
    "--key",
    "feffe9928665731c6d6a8f9467308308",
    "--nonce",
    "cafebabefacedbaddecaf888",
    "--aad",
    "feedfacedeadbeeffeedfacedeadbeefabaddad2",
];
const GCM_PLAIN: &str = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                         1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
const GCM_CIPHER: &str = "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                          21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091";
const GCM_TAG: &str = "5bc94fbc3221a5db94fae95ae7121a47";

fn once(algorithm: &str, library: &str, more: &[&str], input: &str) -> Done {
    let given = ["once", "-a", algorithm, "-l", library];
    ciphermark(&[&given, more].concat(), &hex::decode(input).unwrap())
}

/// The output in hexadecimal of an operation that must succeed.
fn output(algorithm: &str, library: &str, more: &[&str], input: &str) -> String {
    let done = once(algorithm, library, more, input).with_code(0);
    assert_eq!(done.stderr, "");
    hex::encode(done.bytes)
}

#[test]
fn published_examples_come_out_of_every_library() {
    let sealed = format!("{GCM_CIPHER}{GCM_TAG}");
    for library in LIBRARIES {
        assert_eq!(output("aes-128-ctr", library, &CTR, CTR_PLAIN), CTR_CIPHER, "{library}");
        assert_eq!(output("aes-128-gcm", library, &GCM, GCM_PLAIN), sealed, "{library}");
    }
}

#[test]
fn decryption_gives_the_plaintext_back() {
    let sealed = format!("{GCM_CIPHER}{GCM_TAG}");
    let back = |given: &[&'static str]| [given, &["--decrypt"]].concat();
    for library in LIBRARIES {
        assert_eq!(output("aes-128-ctr", library, &back(&CTR), CTR_CIPHER), CTR_PLAIN, "{library}");
        assert_eq!(output("aes-128-gcm", library, &back(&GCM), &sealed), GCM_PLAIN, "{library}");
    }
}

#[test]
fn a_wrong_tag_gives_no_plaintext_and_exit_code_1() {
    let forged = format!("{GCM_CIPHER}{}", GCM_TAG.replace("47", "46"));
    for library in LIBRARIES {
        let done = once("aes-128-gcm", library, &[&GCM[..], &["--decrypt"]].concat(), &forged);
        let done = done.with_code(1);
        assert!(done.bytes.is_empty(), "{library}: {done:?}");
        says(done.only_line_on_stderr(), ["tag"]);
    }
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn a_message_may_be_empty_and_large() {
    let empty = output("aes-128-gcm", "openssl", &GCM, "");
    assert_eq!(empty.len(), 2 * 16, "the tag alone: {empty}");
    let large = "00".repeat(3_000_001);
    let outputs: Vec<String> =
        LIBRARIES.iter().map(|library| output("aes-128-ctr", library, &CTR, &large)).collect();
    assert_eq!(outputs[0].len(), large.len());
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_digest_is_the_tag_and_a_copy_is_the_input() {
    // XXH3 with 64 bits of nothing at all, from its specification.
    assert_eq!(output("xxh3-64", "baselines", &[], ""), "2d06800538d394c2");
    assert_eq!(output("memcpy", "baselines", &[], "00ff10"), "00ff10");
}

#[test]
fn a_wrong_length_names_the_right_one() {
    let key = "00".repeat(32);
    for (flags, words) in [
        (format!("--key 0011 --nonce {}", GCM[3]), ["--key", "32"]),
        (format!("--key {key} --nonce 00"), ["--nonce", "12"]),
        (format!("--key {key}"), ["--nonce", "12"]),
    ] {
        refuses(&format!("once -a aes-256-gcm -l openssl {flags}"), &words);
    }
}

#[test]
fn input_that_fits_no_message_is_refused_with_the_reason() {
    for (algorithm, flags, words) in [
        ("aes-128-ecb", &CTR[..2], "whole blocks of 16 bytes"),
        (
            "aes-128-gcm",
            &[&GCM[..], &["--decrypt"]].concat(),
            "the tag of aes-128-gcm alone has 16",
        ),
        ("aes-128-ctr", &[&CTR[..], &["--aad", "00"]].concat(), "associated data"),
        ("aes-128-ocp", &GCM, "'aes-128-"),
    ] {
        let done = once(algorithm, "openssl", flags, "0011").ends(2, [words]);
        assert!(done.bytes.is_empty());
    }
}

#[test]
fn exactly_one_library_must_match() {
    once("aes-128-ctr", "{openssl,libgcrypt}", &CTR, CTR_PLAIN).ends(2, ["openssl@", "libgcrypt@"]);
    once("aes-128-ctr", "openssi", &CTR, CTR_PLAIN).ends(2, ["did you mean 'openssl'?"]);
}

#[test]
fn a_library_by_its_file_answers_as_itself() {
    let mine = fakes::library("correct");
    assert_eq!(output("aes-128-ctr", &mine, &CTR, CTR_PLAIN), CTR_CIPHER);
    let crash = fakes::library("crash");
    let done = once("aes-128-ctr", &crash, &CTR, CTR_PLAIN).with_code(4);
    assert!(done.bytes.is_empty());
    says(done.only_line_on_stderr(), ["SIGSEGV"]);
    let chatter = fakes::library("noisy");
    assert_eq!(output("aes-128-ctr", &chatter, &CTR, CTR_PLAIN), CTR_CIPHER);
}

/// `docs/examples/own-algorithms.c`, changed as asked, under a name.
fn toys(directory: &tempfile::TempDir, name: &str, change: (&str, &str)) -> String {
    let source = std::fs::read_to_string(repository("docs/examples/own-algorithms.c")).unwrap();
    assert!(source.lines().count() < 80, "an example that is read at once");
    let changed = source.replace(change.0, change.1);
    assert!(changed != source || change.0.is_empty(), "{} is not there", change.0);
    let [input, object] = ["c", "so"].map(|end| directory.path().join(format!("{name}.{end}")));
    std::fs::write(&input, changed).unwrap();
    fakes::succeed(
        fakes::compiler(&object).arg("-O2").arg("-I").arg(repository("include")).arg(&input),
    );
    format!("{name}={}", arg(&object))
}

const OWN: &str = "checked against its own vectors only";

#[test]
#[ignore = "long: seconds"]
fn an_algorithm_that_an_adapter_brings_is_checked_measured_ranked_and_marked() {
    let directory = scratch();
    let toys = toys(&directory, "toys", ("", ""));
    let verified = verdicts(&format!("-l {toys} -a toy-* --seed 1"), 0);
    for (name, check) in [("toy-aead", "tamper"), ("toy-digest", "message-matters")] {
        let row = where_(&verified, &[("algorithm", name)])[0];
        assert!(text(row, "warning").ends_with(OWN), "{row}");
        let names: Vec<&str> = rows(row, "checks").iter().map(|c| text(c, "name")).collect();
        assert!(!names.contains(&"reference"), "{names:?}");
        for check in [check, "known-answers", "own-sessions", "in-place", "guard-pages"] {
            assert!(names.contains(&check), "{check} of {names:?}");
        }
    }
    let path = file(&directory, "toys.json");
    let run =
        format!("run -q --no-evidence -s 1K -a toy-* -d encrypt -l {toys} -l openssl -o {path}");
    call(&format!("{run} {}", QUICK.join(" "))).with_code(0).says(["own-vectors-only"]);
    let record = read(&path);
    let measured = rows(&record, "measurements");
    for name in ["toy-aead", "toy-digest"] {
        let own = where_(measured, &[("algorithm", name), ("library.name", "toys")]);
        all_are(own.iter().copied(), "measured");
        assert!(own.iter().all(|m| text(m, "warning").ends_with(OWN)), "{own:?}");
    }
    let others = where_(measured, &[("algorithm", "toy-aead"), ("library.name", "openssl")]);
    all_are(others, "unsupported");

    // Whoever reads the record has only the record.
    std::fs::remove_file(directory.path().join("toys.so")).unwrap();
    call(&format!("rank {path} -a toy-aead -s 1K")).with_code(0).says(["toy-aead", OWN]);
    call(&format!("show {path} -a toy-*")).with_code(0).says([OWN]);
    call(&format!("report {path} -o {}", file(&directory, "page.html"))).with_code(0);
}

#[test]
#[ignore = "long: seconds"]
fn a_killed_run_of_an_algorithm_that_an_adapter_brings_is_resumed() {
    let directory = scratch();
    let (toys, record) = (toys(&directory, "toys", ("", "")), directory.path().join("r.json"));
    let what = ["-a", "toy-digest", "-l", &toys, "-s", "64,1K", "--no-evidence"];
    let running = Background::start_run(&what, &record);
    running.send(rustix::process::Signal::KILL);
    running.ends_within(std::time::Duration::from_secs(15));
    let resume = format!("run -q --no-evidence --budget 2s --resume {}", arg(&record));
    call(&resume).with_code(0).says(["toy-digest"]);
    all_are(rows(&read(&record), "measurements"), "measured");
}

#[test]
#[ignore = "long: seconds"]
fn copied_vectors_do_not_make_another_function_the_same_algorithm_in_records() {
    let directory = scratch();
    let definition = |name: &str, change: (&str, &str)| {
        let (toys, path) = (toys(&directory, name, change), file(&directory, "r.json"));
        let run = format!("run -q --no-evidence -s 1K -a toy-digest -l {toys} -o {path}");
        call(&format!("{run} {}", QUICK.join(" "))).with_code(0);
        let record = read(&path);
        let brought =
            where_(rows(&rows(&record, "libraries")[0], "brings"), &[("name", "toy-digest")]);
        text(brought[0], "sha256").to_owned()
    };
    let one = definition("one", ("", ""));
    assert_eq!(one, definition("again", ("TOYS:", "Toys:")));
    let long = ("  end(t, m->tag);", "  t.a += m->len > 1000;\n  end(t, m->tag);");
    assert_ne!(one, definition("other", long));
}

#[test]
fn a_fault_of_an_algorithm_that_an_adapter_brings_is_found_without_a_reference() {
    let directory = scratch();
    let finds = |name: &str, change: (&str, &str), algorithm: &str, words: &str| {
        let faulty = toys(&directory, name, change);
        let found = verdicts(&format!("-l {faulty} -a {algorithm} --seed 1"), 1);
        assert!(text(&found[0], "reason").contains(words), "{name}: {found:?}");
    };
    finds("tags", ("return wrong ?", "return wrong > 255 ?"), "toy-aead", "tamper: ");
    finds(
        "short",
        ("mix_all(&t, m->input, m->len);", "mix_all(&t, m->input, m->len > 256 ? 256 : m->len);"),
        "toy-digest",
        "message-matters: ",
    );
    finds("vector", (".input = \"abc\"", ".input = \"abd\""), "toy-digest", "known-answers: ");
    let of = "verify -a toy-digest -l ";
    let known = toys(&directory, "known", ("\"toy-digest\", \"toys\"", "\"sha-256\", \"toys\""));
    refuses(&format!("{of}{known}"), &["it brings 'sha-256'", "another name of 'sha256'"]);
    let long = toys(&directory, "long", ("CM_HASH, 0, 0, 16", "CM_HASH, 0, 0, 65"));
    refuses(&format!("{of}{long}"), &["it brings 'toy-digest'", "65 bytes, not 4 to 64"]);
    let many = toys(&directory, "many", ("*count = 2", "*count = 33"));
    refuses(&format!("{of}{many}"), &["it brings 33 algorithms", "at most 32"]);
}

#[test]
#[ignore = "long: several surveys"]
#[cfg(target_arch = "x86_64")]
fn leaks_of_an_algorithm_that_an_adapter_brings_are_judged() {
    let directory = scratch();
    let early = ("wrong |= tag[i] ^ m->tag[i];", "if (tag[i] != m->tag[i]) return CM_REJECTED;");
    let verdict = |name: &str, change: (&str, &str), code: i32| {
        let library = toys(&directory, name, change);
        let line = format!("leaks -q --json -a toy-* -s 37 -l {library}");
        let judged = call(&line).with_code(code).rows();
        assert_eq!(judged.len(), 1, "a digest has no secret: {judged:?}");
        text(&judged[0], "verdict").to_owned()
    };
    assert_eq!(verdict("toys", ("", ""), 0), "same-trace");
    assert_eq!(verdict("early", early, 1), "depends");
}
