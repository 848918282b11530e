//! Every libsodium that is here, or the one that CIPHERMARK_TEST_LIBSODIUM names, against the
//! reference implementations.

use super::*;
use crate::attached::agreement::{
    bytes, files, forgeries_are_rejected, messages_agree, offer, offers, parts_agree,
    whole_offer_passes,
};

fn each_library(test: impl Fn(&dyn Library)) {
    for path in files("CIPHERMARK_TEST_LIBSODIUM", "libsodium.so.23", "libsodium/libsodium.so") {
        test(&*crate::load(&path, None).unwrap());
    }
}

#[test]
fn the_library_says_who_it_is_and_what_it_found() {
    each_library(|library| {
        let identity = library.identity();
        assert_eq!(identity.name, "libsodium");
        assert!(identity.version.starts_with("1.0."), "{identity:?}");
        assert!(identity.build.iter().any(|l| l.starts_with("cpu features: ")), "{identity:?}");
    });
}

#[test]
fn the_offer_is_what_every_version_has_and_no_other_key_length() {
    each_library(|library| {
        for name in [
            "aes-256-gcm",
            "chacha20-poly1305",
            "xchacha20-poly1305",
            "chacha20",
            "sha256",
            "sha512",
            "blake2b512",
            "hmac-sha256",
            "hmac-sha512",
            "poly1305",
        ] {
            assert!(offers(library, Algorithm::find(name).unwrap()), "{name}");
        }
        for name in ["aes-128-gcm", "aes-256-ctr", "aegis-128x2", "sha384", "hmac-sha384", "crc32c"]
        {
            assert!(!offers(library, Algorithm::find(name).unwrap()), "{name}");
        }
    });
}

#[test]
fn every_message_up_to_257_bytes_is_the_references_both_ways_and_in_place() {
    each_library(|library| {
        let is_cipher = |a: &&Algorithm| matches!(a.kind, Kind::Cipher | Kind::Aead);
        let all = offer(library).into_iter().filter(is_cipher);
        all.for_each(|a| messages_agree(library, a));
    });
}

#[test]
fn each_forged_part_is_rejected_and_a_good_message_passes_afterwards() {
    each_library(|library| {
        let all = offer(library).into_iter().filter(|a| a.kind == Kind::Aead);
        all.for_each(|a| forgeries_are_rejected(library, a));
    });
}

#[test]
fn a_digest_in_parts_is_the_digest_of_the_whole() {
    each_library(|library| {
        let is_digest = |a: &&Algorithm| matches!(a.kind, Kind::Digest | Kind::Mac);
        offer(library).into_iter().filter(is_digest).for_each(|a| parts_agree(library, a));
    });
}

#[test]
fn a_session_names_the_functions_that_it_calls() {
    each_library(|library| {
        for (name, direction, calls) in [
            ("aes-256-gcm", Direction::Encrypt, "crypto_aead_aes256gcm_encrypt_detached_afternm"),
            (
                "chacha20-poly1305",
                Direction::Decrypt,
                "crypto_aead_chacha20poly1305_ietf_decrypt_detached",
            ),
            ("sha512", Direction::Digest, "crypto_hash_sha512"),
        ] {
            let algorithm = Algorithm::find(name).unwrap();
            let session = library.open(algorithm, direction, &bytes(algorithm.key_len, 1)).unwrap();
            assert_eq!(session.calls().unwrap(), calls);
        }
    });
}

#[test]
fn only_blake2b_copies_its_message_and_nothing_allocates() {
    each_library(|library| {
        for algorithm in offer(library) {
            let key = bytes(algorithm.key_len, 1);
            let session = library.open(algorithm, Direction::of(algorithm.kind)[0], &key).unwrap();
            assert_eq!(session.copies(), algorithm.name == "blake2b512", "{algorithm}");
            assert!(!session.allocates(), "{algorithm}");
        }
    });
}

#[test]
fn everything_on_offer_passes_the_checks() {
    each_library(|library| drop(whole_offer_passes(library)));
}
