//! What there is to test of the library besides `testing`.

use crate::testing::SODIUM;
use base::model::Direction;
use testing::trial::{offered, open};

#[test]
fn a_session_names_the_functions_that_it_calls() {
    for library in SODIUM.libraries() {
        for (name, direction, calls) in [
            ("aes-256-gcm", Direction::Encrypt, "crypto_aead_aes256gcm_encrypt_detached_afternm"),
            (
                "chacha20-poly1305",
                Direction::Decrypt,
                "crypto_aead_chacha20poly1305_ietf_decrypt_detached",
            ),
            ("sha512", Direction::Digest, "crypto_hash_sha512"),
        ] {
            assert_eq!(open(&*library, name, direction).calls().unwrap(), calls);
        }
    }
}

#[test]
fn only_blake2b_copies_its_message_and_nothing_allocates() {
    for library in SODIUM.libraries() {
        for algorithm in offered(&*library) {
            let session = open(&*library, algorithm.name, Direction::of(algorithm.kind)[0]);
            assert_eq!(session.copies(), algorithm.name == "blake2b512", "{algorithm}");
            assert!(!session.allocates(), "{algorithm}");
        }
    }
}
