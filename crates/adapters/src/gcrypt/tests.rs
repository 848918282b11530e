//! The system's libgcrypt, or the one that CIPHERMARK_TEST_LIBGCRYPT names, against the reference
//! implementations.

use super::*;
use crate::attached::agreement::{
    bytes, files, forgeries_are_rejected, messages_agree, offer, offers, parts_agree,
    streams_agree, whole_offer_passes,
};
use contract::Outcome;
use std::sync::Mutex;

/// The library initialises itself once per process, which is not something to do twice at a time.
static LOADING: Mutex<()> = Mutex::new(());

/// It is installed with what the tests need.
fn library() -> Box<dyn Library> {
    let _one_at_a_time = LOADING.lock().unwrap();
    let files = files("CIPHERMARK_TEST_LIBGCRYPT", "libgcrypt.so.20", "libgcrypt/libgcrypt.so");
    crate::load(files.first().expect("libgcrypt20 is installed"), None).unwrap()
}

fn ciphers(library: &dyn Library) -> Vec<&'static Algorithm> {
    let is_cipher = |a: &&Algorithm| matches!(a.kind, Kind::Cipher | Kind::Aead);
    offer(library).into_iter().filter(is_cipher).collect()
}

#[test]
fn the_library_says_who_it_is() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "libgcrypt");
    assert!(identity.version.starts_with(|c: char| c.is_ascii_digit()), "{identity:?}");
    assert!(identity.build.iter().any(|line| line.starts_with("hwflist:")), "{identity:?}");
}

#[test]
fn every_message_up_to_257_bytes_is_the_references_both_ways_and_in_place() {
    let library = library();
    ciphers(&*library).into_iter().for_each(|a| messages_agree(&*library, a));
}

#[test]
fn each_forged_part_is_rejected_and_a_good_message_passes_afterwards() {
    let library = library();
    let all = ciphers(&*library).into_iter().filter(|a| a.tag_len > 0);
    all.for_each(|a| forgeries_are_rejected(&*library, a));
}

#[test]
fn streams_continue_as_the_references_do_and_leave_nothing_to_the_next_message() {
    let library = library();
    let takes_messages_whole =
        |a: &Algorithm| matches!(a.mode, Mode::Ccm | Mode::Siv | Mode::GcmSiv);
    for algorithm in ciphers(&*library) {
        let session = library.open(algorithm, Direction::Encrypt, &bytes(algorithm.key_len, 0));
        assert_ne!(session.unwrap().has_stream(), takes_messages_whole(algorithm), "{algorithm}");
        if !takes_messages_whole(algorithm) {
            streams_agree(&*library, algorithm);
        }
    }
}

#[test]
fn the_stream_of_a_counter_mode_is_its_message_in_pieces() {
    let library = library();
    let algorithm = Algorithm::find("aes-256-ctr").unwrap();
    let key = bytes(32, 4);
    let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
    // The counter runs over from its last 128-bit value to zero on the way.
    let nonce = [0xff; 16];
    let (mut whole, mut pieces) = (bytes(1000, 8), bytes(1000, 8));
    assert_eq!(session.message_in_place(&nonce, &[], &mut whole, &mut []), Outcome::Done);
    assert_eq!(session.start(&nonce), Outcome::Done);
    for piece in pieces.chunks_mut(77) {
        assert_eq!(session.update_in_place(piece), Outcome::Done);
    }
    assert_eq!(whole, pieces);
}

/// NIST SP 800-38A F.1.1, F.2.1, F.3.13, F.4.1 and F.5.1, first block each: a check that does not
/// hang on the reference implementations.
#[test]
fn the_first_blocks_of_sp_800_38a_come_out() {
    let library = library();
    let key = hex::decode("2b7e151628aed2a6abf7158809cf4f3c").unwrap();
    let plain = hex::decode("6bc1bee22e409f96e93d7e117393172a").unwrap();
    let iv = hex::decode("000102030405060708090a0b0c0d0e0f").unwrap();
    let counter = hex::decode("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").unwrap();
    for (name, nonce, expected) in [
        ("aes-128-ecb", &[][..], "3ad77bb40d7a3660a89ecaf32466ef97"),
        ("aes-128-cbc", &iv, "7649abac8119b246cee98e9b12e9197d"),
        ("aes-128-cfb", &iv, "3b3fd92eb72dad20333449f8e83cfb4a"),
        ("aes-128-ofb", &iv, "3b3fd92eb72dad20333449f8e83cfb4a"),
        ("aes-128-ctr", &counter, "874d6191b620e3261bef6864990db6ce"),
    ] {
        let algorithm = Algorithm::find(name).unwrap();
        let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
        let mut output = plain.clone();
        assert_eq!(session.message_in_place(nonce, &[], &mut output, &mut []), Outcome::Done);
        assert_eq!(hex::encode(output), expected, "{name}");
    }
}

#[test]
fn what_the_library_has_not_is_unsupported_and_a_broken_block_is_the_librarys_own_error() {
    let library = library();
    for name in ["xxh3-64", "crc32c", "aes-128-cfb1", "aegis-256", "memcpy", "null"] {
        let algorithm = Algorithm::find(name).unwrap();
        let error = library.open(algorithm, Direction::of(algorithm.kind)[0], &[]).unwrap_err();
        assert!(matches!(error, OpenError::Unsupported(why) if why.contains(name)));
    }
    let cbc = Algorithm::find("aes-128-cbc").unwrap();
    let mut session = library.open(cbc, Direction::Encrypt, &bytes(16, 1)).unwrap();
    let outcome = session.message_in_place(&bytes(16, 2), &[], &mut [0; 17], &mut []);
    assert!(
        matches!(outcome, Outcome::Error(code) if code.cast_unsigned() >> 24 == 1),
        "{outcome:?}"
    );
}

/// What 1.10 has; later versions have ARIA as well, earlier ones lack some.
#[test]
fn the_offer_has_every_mode_of_the_library() {
    let library = library();
    for name in [
        "aes-192-cfb8",
        "aes-256-eax",
        "aes-128-siv",
        "aes-192-siv",
        "aes-256-gcm-siv",
        "camellia-256-xts",
        "camellia-128-siv",
        "sm4-gcm",
        "des-ede3-ctr",
        "des-ede3-cfb8",
        "chacha20",
        "sha3-384",
        "blake2b512",
        "hmac-sha384",
        "aes-192-gmac",
        "poly1305",
    ] {
        assert!(offers(&*library, Algorithm::find(name).unwrap()), "{name}");
    }
}

#[test]
fn everything_on_offer_passes_the_checks() {
    let library = library();
    whole_offer_passes(&*library);
}

#[test]
fn a_digest_in_parts_is_the_digest_of_the_whole() {
    let library = library();
    let is_digest = |a: &&Algorithm| matches!(a.kind, Kind::Digest | Kind::Mac);
    offer(&*library).into_iter().filter(is_digest).for_each(|a| parts_agree(&*library, a));
}
