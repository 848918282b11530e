//! `once`: one operation by hand.

use crate::support::*;

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
        assert!(done.only_line_on_stderr().contains("tag"), "{library}: {done:?}");
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
    let line = |algorithm: &str, more: &[&str], input: &str| {
        let done = once(algorithm, "openssl", more, input).with_code(2);
        assert!(done.bytes.is_empty());
        done.only_line_on_stderr().to_owned()
    };
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
        let text = line(algorithm, flags, "0011");
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn exactly_one_library_must_match() {
    let done = once("aes-128-ctr", "{openssl,libgcrypt}", &CTR, CTR_PLAIN).with_code(2);
    let line = done.only_line_on_stderr();
    assert!(line.contains("openssl@") && line.contains("libgcrypt@"), "{line}");
    let done = once("aes-128-ctr", "openssi", &CTR, CTR_PLAIN).with_code(2);
    let line = done.only_line_on_stderr();
    assert!(line.contains("did you mean 'openssl'?"), "{line}");
}

#[test]
fn a_library_by_its_file_answers_as_itself() {
    let mine = fakes::library("correct");
    assert_eq!(output("aes-128-ctr", &mine, &CTR, CTR_PLAIN), CTR_CIPHER);
    let crash = fakes::library("crash");
    let done = once("aes-128-ctr", &crash, &CTR, CTR_PLAIN).with_code(4);
    assert!(done.bytes.is_empty());
    assert!(done.only_line_on_stderr().contains("SIGSEGV"), "{done:?}");
    let chatter = fakes::library("noisy");
    assert_eq!(output("aes-128-ctr", &chatter, &CTR, CTR_PLAIN), CTR_CIPHER);
}
