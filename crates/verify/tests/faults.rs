//! Every planted fault is refused by the check that is meant for it, and the right library passes
//! for every algorithm.
mod stand_in;

use base::model::{Algorithm, Direction, Kind};
use ciphermark_verify::reference::Reference;
use ciphermark_verify::{CHECK_NAMES, Finding, Passed, Scope, verify};
use stand_in::{Fault, StandIn};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

fn run(fault: Fault, algorithm: &str) -> Result<Passed, Finding> {
    run_in(&Scope::BRIEF, fault, algorithm)
}

fn run_in(scope: &Scope<'_>, fault: Fault, algorithm: &str) -> Result<Passed, Finding> {
    let algorithm = Algorithm::find(algorithm).expect("tests name algorithms that exist");
    verify(&StandIn::new(fault), algorithm, scope, &mut |_| {})
}

/// What a verification of this seed and these sizes does where time is no matter.
fn patient(seed: u64, sizes: &[usize]) -> Scope<'_> {
    Scope { seed, sizes, spent: &|| Duration::ZERO }
}

/// Expects a refusal by `check` whose reason contains `words`.
fn refused_in(scope: &Scope<'_>, fault: Fault, algorithm: &str, check: &str, words: &str) {
    match run_in(scope, fault, algorithm) {
        Err(Finding::Refused { check: by, why }) => {
            assert_eq!(by, check, "{fault:?} {algorithm}: {why}");
            assert!(why.contains(words), "{fault:?} {algorithm}: {why}");
            assert_eq!(why.lines().count(), 1, "{why}");
        }
        other => panic!("{fault:?} {algorithm}: {other:?}"),
    }
}

#[test]
fn a_derivation_that_costs_less_than_it_is_asked_to_is_refused_by_a_published_vector() {
    let published = "the vector has";
    for algorithm in ["pbkdf2-sha1", "pbkdf2-sha256", "pbkdf2-sha512"] {
        let fault = Fault::OneIterationLess;
        refused_in(&Scope::BRIEF, fault, algorithm, "known-answers", published);
    }
    for algorithm in ["argon2id-t2", "scrypt"] {
        refused_in(&Scope::BRIEF, Fault::HalfTheMemory, algorithm, "known-answers", published);
    }
    // Nothing is published of these numbers of passes.
    for algorithm in ["argon2id-t3", "argon2d-t1", "argon2i-t3"] {
        let own = "the reference has";
        refused_in(&Scope::BRIEF, Fault::HalfTheMemory, algorithm, "reference", own);
    }
    refused_in(&Scope::BRIEF, Fault::IgnoresTheNonce, "argon2id-t1", "nonce-matters", "");
    refused_in(&Scope::BRIEF, Fault::IgnoresHalfTheKey, "pbkdf2-sha256", "key-matters", "");
}

#[test]
fn a_right_library_passes_every_check_of_a_mode_of_each_kind() {
    let is_one = |a: &&Algorithm| {
        ["pbkdf2-sha256", "s2k-sha1", "hkdf-sha512", "random"].contains(&a.name)
            || a.name.starts_with("aes-128-") && !a.name.contains('+')
    };
    passes_every_check(Algorithm::all().iter().filter(is_one));
}

#[test]
#[ignore = "long: every check of every algorithm"]
fn a_right_library_passes_every_check_of_every_algorithm() {
    // What derives keys takes minutes each without optimisation: one of each kind, three of them above.
    let is_one = |a: &&Algorithm| {
        a.kind != Kind::Derivation || ["scrypt", "argon2id-t2", "bcrypt"].contains(&a.name)
    };
    passes_every_check(Algorithm::all().iter().filter(is_one));
}

fn passes_every_check(algorithms: impl Iterator<Item = &'static Algorithm>) {
    for algorithm in algorithms {
        let mut begun = Vec::new();
        let passed = verify(&StandIn::new(Fault::None), algorithm, &Scope::BRIEF, &mut |name| {
            begun.push(name)
        })
        .unwrap_or_else(|finding| panic!("{algorithm}: {finding}"));
        assert!(passed.checks.iter().all(|c| c.count > 0), "{algorithm}: {passed:?}");
        let names: Vec<&str> = passed.checks.iter().map(|c| c.name).collect();
        let key = vec![1; algorithm.key_len];
        let streams = algorithm.encrypts()
            && Reference::new(algorithm, &key)
                .stream(Direction::Encrypt, &vec![2; algorithm.nonce_len], false)
                .is_some();
        // A check that takes long says so again.
        begun.dedup();
        begun.retain(|name| streams || *name != "stream");
        assert_eq!(names, begun, "{algorithm}");
        if algorithm.name.starts_with("aes") && algorithm.kind == Kind::Aead && streams {
            let forged = !algorithm.name.ends_with("-ocb");
            let of_others = [
                "message-matters",
                "own-sessions",
                "draws-differ",
                "looks-random",
                "threads-differ",
            ];
            let all = CHECK_NAMES.into_iter().filter(|n| forged || *n != "known-forgeries");
            let all = all.filter(|name| !of_others.contains(name));
            assert_eq!(names, all.collect::<Vec<_>>(), "{algorithm}");
        }
    }
}

/// Fault, algorithms, the check that refuses it, and words of the reason.
type Row = (Fault, &'static [&'static str], &'static str, &'static str);

#[rustfmt::skip]
const FAULTS: &[Row] = &[
    (Fault::IgnoresANewKey, KEYED, "rekey", "after a new key"),
    (Fault::TakesHalfOfANewKey, KEYED, "rekey", "after a new key"),
    (Fault::RefusesANewKey, KEYED, "rekey", "returned Error(17)"),
    (Fault::ReturnsEarly, &["aes-128-ctr", "aes-256-gcm", "aes-128-cbc", "xxh3-64", "memcpy", "random"], "written", "did not write byte 0"),
    (Fault::SkipsTheLastByte, &["aes-256-xts"], "written", "byte 15 of the output"),
    (Fault::WrongRest, &["aes-128-ctr"], "reference", "encrypt of 4097 bytes"),
    (Fault::WrongRest, &["aes-128-cbc"], "reference", "byte 8191 of the output is "),
    (Fault::WrongRest, &["memcpy"], "reference", "the reference has "),
    (Fault::WrongTag, &["aes-128-gcm", "aes-192-ccm", "aes-256-ocb", "chacha20-poly1305", "xxh3-64"], "known-answers", "the vector has "),
    (Fault::WrongUnderLongAad, &["aes-128-ccm"], "reference", "encrypt of 0 bytes with 65300 bytes of associated data"),
    (Fault::AcceptsChangedAad, AEADS, "tamper", "decryption accepted a message "),
    (Fault::AcceptsChangedAad, &["aes-256-gcm"], "tamper", "whose associated data's bit"),
    (Fault::ComparesPartOfTheTag, AEADS, "tamper", "whose tag's bit 100"),
    (Fault::RejectsWithAnError, AEADS, "tamper", "and must reject it"),
    (Fault::AcceptsAnyTag, &["aes-256-gcm", "aes-192-ocb", "aes-128-ccm", "chacha20-poly1305"], "tamper", "bit 0 was changed (size "),
    (Fault::AcceptsPublishedForgeries, &["aes-128-gcm", "aes-192-ccm", "aes-256-gcm"], "known-forgeries", "decryption accepted the forgery of Wycheproof test "),
    (Fault::WearsOut, &["aes-256-gcm"], "round-trip", "rejected a valid message"),
    (Fault::WearsOut, &["aes-128-ctr"], "round-trip", "of the output is "),
    (Fault::IgnoresTheNonce, &["aes-128-cbc", "aes-256-ctr", "aes-128-xts", "aes-256-gcm", "aes-128-ccm"], "nonce-matters", "byte 0 of the nonce"),
    (Fault::IgnoresTheAad, AEADS, "aad-matters", "byte 0 of the associated data"),
    (Fault::IgnoresHalfTheKey, &["aes-128-ecb"], "key-matters", "byte 8 of the key"),
    (Fault::IgnoresHalfTheKey, &["aes-256-xts"], "key-matters", "byte 32 of the key"),
    (Fault::IgnoresHalfTheKey, &["aes-256-gcm"], "key-matters", "byte 16 of the key"),
    (Fault::KeepsState, &["aes-128-cbc", "aes-256-ctr", "aes-256-gcm", "chacha20-poly1305"], "independence", "depends on another message"),
    (Fault::Random, &["aes-128-ecb", "aes-256-gcm", "xxh3-64", "memcpy"], "determinism", "in a new session: byte "),
    (Fault::WritesPastTheOutput, ALL_KINDS, "bounds", "after the end of the output"),
    (Fault::WritesBeforeTheOutput, ALL_KINDS, "bounds", "before the beginning of the output"),
    (Fault::WritesPastTheTag, &["aes-256-gcm"], "bounds", "byte 1 after the end of the tag"),
    (Fault::WritesPastTheTag, &["xxh3-64"], "bounds", "after the end of the digest"),
    (Fault::WritesTheInput, ALL_KINDS, "input-unchanged", "byte 0 of the input"),
    (Fault::WritesTheInput, &["xxh3-64"], "input-unchanged", "byte 0 of the input"),
    (Fault::WritesTheTagOfDecryption, &["aes-256-gcm"], "input-unchanged", "decrypt of 0 bytes changed byte 0 of the tag"),
    (Fault::WrongInPlace, &["aes-128-ctr", "aes-256-gcm", "memcpy"], "in-place", " bytes in place: byte "),
    (Fault::WrongUnaligned, &["aes-128-ctr", "aes-256-gcm", "memcpy"], "unaligned", "at 1 bytes past alignment"),
    (Fault::WrongUnaligned, &["xxh3-64"], "unaligned", "of the digest is "),
    (Fault::DigestWritesTheOutput, &["xxh3-64"], "known-answers", "byte 0 of the output was written and must be left alone"),
    (Fault::DigestWritesTheOutput, &["null"], "reference", "byte 0 of the output was written and must be left alone"),
    (Fault::WrongSecondUpdate, &["aes-128-ecb", "aes-128-cbc", "aes-256-xts", "aes-256-gcm", "aes-128-ocb"], "stream", "update 1 of 32 bytes: byte 0 "),
    (Fault::StreamDoesNotRestart, &["aes-128-cbc", "aes-256-xts", "aes-256-gcm", "aes-128-ocb"], "stream", "update 0 of "),
];

const KEYED: &[&str] = &["aes-256-gcm", "aes-128-ctr", "chacha20-poly1305", "hmac-sha256"];
const AEADS: &[&str] = &["aes-256-gcm", "aes-128-ocb", "aes-128-ccm", "chacha20-poly1305"];
const ALL_KINDS: &[&str] = &["aes-128-ctr", "aes-256-gcm", "memcpy", "null"];

#[test]
fn every_fault_is_refused_by_the_check_that_is_meant_for_it() {
    for (fault, algorithms, check, words) in FAULTS {
        for algorithm in *algorithms {
            refused_in(&Scope::BRIEF, *fault, algorithm, check, words);
        }
    }
}

#[test]
fn a_session_that_takes_no_new_key_is_not_said_to_have_been_checked() {
    let passed = run(Fault::TakesNoNewKey, "aes-128-gcm").unwrap();
    assert!(passed.checks.iter().all(|c| c.name != "rekey"), "{passed:?}");
}

#[test]
fn the_digest_is_the_same_for_every_right_library_and_differs_between_algorithms() {
    let digest = |name| run(Fault::None, name).unwrap().digest;
    assert_eq!(digest("aes-128-ctr"), digest("aes-128-ctr"));
    assert_ne!(digest("aes-128-ctr"), digest("aes-256-ctr"));
}

#[test]
fn an_interface_may_end_where_sixteen_bits_of_length_do_but_not_be_wrong_there() {
    let digest = |fault| run(fault, "aes-128-ccm").unwrap().digest;
    assert_eq!(digest(Fault::LimitsTheAad), digest(Fault::None));
    assert_eq!(digest(Fault::LimitsTheMessage), digest(Fault::None));
}

#[test]
fn a_fault_of_one_call_in_thousands_is_refused_by_repeated_calls() {
    let scope = patient(1, &[]);
    let refused = |fault, algorithm, words| {
        refused_in(&scope, fault, algorithm, "repeated-calls", words);
    };
    for algorithm in ["aes-128-ctr", "aes-256-xts", "aes-256-gcm", "xxh3-64", "memcpy"] {
        refused(Fault::FlipsABitNowAndThen, algorithm, "in call 5000 of a session: byte ");
        refused(Fault::SkipsNowAndThen, algorithm, "in call 5000 of a session: byte 0 of the ");
    }
    for algorithm in ["aes-128-ctr", "aes-256-gcm", "aes-128-ccm", "aes-256-ctr+xxh3"] {
        let words = "decrypt of ";
        refused(Fault::FlipsABitOfDecryptionNowAndThen, algorithm, words);
    }
    for algorithm in ["aes-256-gcm", "aes-128-ocb", "chacha20-poly1305", "aes-256-ctr+xxh3"] {
        refused(Fault::AcceptsAForgeryNowAndThen, algorithm, "decryption accepted a message of ");
        refused(Fault::LooksAtNoTagNowAndThen, algorithm, "was changed in call ");
    }
}

#[test]
#[ignore = "long: seconds"]
fn forgeries_stand_where_no_library_can_know_them() {
    // Whichever call in 5000 looks at no tag: half of the eight that come are forgeries.
    let found = (0..24).filter(|seed| {
        run_in(&patient(*seed, &[]), Fault::LooksAtNoTagNowAndThen, "aes-128-gcm").is_err()
    });
    assert!(found.count() >= 23);
}

#[test]
fn time_bounds_the_repeated_calls_and_what_was_left_out_is_said() {
    let tried = |scope: &Scope<'_>| run_in(scope, Fault::None, "aes-128-gcm").unwrap().tried;
    let brief = tried(&Scope::BRIEF);
    assert!(brief.repeated.iter().all(|r| r.cut_short && (512..2000).contains(&r.calls)));
    let whole = tried(&patient(0, &[]));
    let calls: Vec<_> =
        whole.repeated.iter().map(|r| (r.direction, r.calls, r.cut_short)).collect();
    let wanted = [(Direction::Encrypt, 20_032, false), (Direction::Decrypt, 40_000, false)];
    assert_eq!(calls, wanted);
    let forgeries: Vec<u64> = whole.repeated.iter().map(|r| r.forgeries).collect();
    assert!(forgeries[0] == 0 && (18_000..22_000).contains(&forgeries[1]), "{forgeries:?}");
    assert!(brief.drawn.len() < whole.drawn.len(), "{brief:?}");
}

#[test]
fn a_size_that_is_asked_for_is_checked_and_named() {
    let fault = Fault::WrongTagAtOneSize;
    assert!(run_in(&patient(1, &[]), fault, "aes-128-gcm").is_ok(), "no check knows the size");
    let scope = patient(1, &[700, 12_345]);
    refused_in(&scope, fault, "aes-128-gcm", "other-sizes", "encrypt of 12345 bytes: byte 5 of");
    let tried = run_in(&scope, Fault::None, "aes-128-gcm").unwrap().tried;
    assert_eq!((tried.asked, tried.drawn.len()), (vec![700, 12_345], 6));
    // Whole blocks alone.
    let scope = patient(1, &[100, 160]);
    assert_eq!(run_in(&scope, Fault::None, "aes-128-cbc").unwrap().tried.asked, [160]);
    let scope = patient(1, &[100, 100_000]);
    let limited = run_in(&scope, Fault::LimitsTheMessage, "aes-128-gcm").unwrap().tried;
    assert_eq!((limited.asked, limited.not_taken.contains(&100_000)), (vec![100], true));
}

#[test]
fn sizes_that_are_drawn_find_what_is_wrong_in_a_range_and_the_seed_finds_it_again() {
    for seed in 0..8 {
        let why = || match run_in(&patient(seed, &[]), Fault::WrongTagAtOddSizes, "aes-128-gcm") {
            Err(Finding::Refused { check: "other-sizes", why }) => why,
            other => panic!("seed {seed}: {other:?}"),
        };
        assert_eq!(why(), why(), "seed {seed}");
    }
}

#[test]
fn an_error_code_is_refused_although_the_bytes_are_right() {
    for algorithm in Algorithm::all() {
        match run(Fault::ReturnsAnError, algorithm.name) {
            Err(Finding::Refused { why, .. }) => {
                assert!(why.ends_with("returned error code 17"), "{algorithm}: {why}");
            }
            other => panic!("{algorithm}: {other:?}"),
        }
    }
}

#[test]
fn what_cannot_be_opened_is_unsupported_or_failed() {
    let finding = |fault| run(fault, "aes-128-gcm").unwrap_err();
    assert_eq!(
        finding(Fault::Unsupported),
        Finding::Unsupported("encrypt: not built in".to_owned())
    );
    assert_eq!(
        finding(Fault::OnlyEncrypts),
        Finding::Unsupported("decrypt: no decryption".to_owned())
    );
    assert_eq!(
        finding(Fault::FailsToOpen),
        Finding::Failed("open for encrypt: error code 9".to_owned())
    );
}

/// Set for the child.
const CHILD: &str = "CIPHERMARK_TEST_CHILD";

/// Not a test by itself: the child of the test below dies in it.
#[test]
#[ignore = "child: faults on purpose, for the test below"]
fn read_past_the_input() {
    // Nobody's child: of all ignored tests.
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let algorithm = Algorithm::find("aes-128-ctr").unwrap();
    let result =
        verify(&StandIn::new(Fault::ReadsPastTheInput), algorithm, &Scope::BRIEF, &mut |name| {
            eprintln!("{name}")
        });
    eprintln!("{result:?}");
}

#[test]
fn a_read_past_the_input_kills_the_process_in_guard_pages() {
    /// `SIGSEGV` on Linux.
    const SEGMENTATION_FAULT: i32 = 11;
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "read_past_the_input"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&child.stderr);
    assert_eq!(child.status.signal(), Some(SEGMENTATION_FAULT), "{words}");
    assert_eq!(words.lines().last(), Some("guard-pages"), "{words}");
}
