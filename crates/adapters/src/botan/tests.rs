//! The system's Botan 2, or the one that CIPHERMARK_TEST_BOTAN names, under every check.

use super::*;
use crate::attached::agreement::{
    bytes, forgeries_are_rejected, messages_agree, pieces_agree, streams_agree, whole_offer_passes,
};
use contract::Outcome;
use std::path::PathBuf;

fn named() -> Option<PathBuf> {
    std::env::var_os("CIPHERMARK_TEST_BOTAN").map(PathBuf::from)
}

fn library() -> Box<dyn Library> {
    let places =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let path = named().unwrap_or_else(|| {
        let found = places.iter().map(|p| PathBuf::from(p).join("libbotan-2.so.19"));
        found.into_iter().find(|p| p.exists()).expect("libbotan-2-19 is installed")
    });
    crate::load(&path, None).unwrap()
}

fn open(library: &dyn Library, name: &str, direction: Direction) -> Session {
    let algorithm = Algorithm::find(name).unwrap();
    library.open(algorithm, direction, &bytes(algorithm.key_len, 4)).unwrap()
}

#[test]
fn the_library_says_who_it_is() {
    let library = library();
    let identity = library.identity();
    assert_eq!(identity.name, "botan-c");
    assert_eq!(identity.version.split('.').count(), 3, "{identity:?}");
    assert!(identity.build[0].contains(&identity.version), "{identity:?}");
}

#[test]
fn everything_that_is_offered_passes_every_check() {
    let library = library();
    let unsupported = whole_offer_passes(&*library);
    if named().is_some() {
        return;
    }
    let missing = |name: &str| {
        let other = ["aegis-", "memcpy", "null", "blake3", "xxh3-64", "crc32c"];
        name.ends_with("-cfb1")
            || name.ends_with("-gcm-siv")
            || other.iter().any(|start| name.starts_with(start))
    };
    let all = Algorithm::all().iter().filter(|a| a.composite.is_none());
    let expected: Vec<_> = all.map(|a| a.name).filter(|name| missing(name)).collect();
    assert_eq!(unsupported, expected);
}

#[test]
fn messages_streams_and_forgeries_are_the_references() {
    let library = library();
    for name in ["aes-128-cbc", "aes-256-cfb", "aes-192-ctr", "aes-256-xts", "aes-128-gcm"] {
        let algorithm = Algorithm::find(name).unwrap();
        messages_agree(&*library, algorithm);
        if algorithm.tag_len > 0 {
            forgeries_are_rejected(&*library, algorithm);
        } else {
            streams_agree(&*library, algorithm);
        }
    }
}

#[test]
fn a_digest_in_pieces_is_the_digest_of_the_whole_also_after_a_message_given_up() {
    let library = library();
    for name in ["sha256", "sha3-512", "blake2b512", "hmac-sha384", "poly1305"] {
        pieces_agree(open(&*library, name, Direction::Digest), 77);
    }
}

#[test]
fn sessions_say_what_the_interface_copies_and_what_they_call() {
    let library = library();
    let ctr = open(&*library, "aes-128-ctr", Direction::Encrypt);
    assert_eq!(ctr.calls().unwrap(), "botan_cipher_start, botan_cipher_update");
    assert!(ctr.copies());
    let major: u32 = library.identity().version.split('.').next().unwrap().parse().unwrap();
    assert_eq!(ctr.allocates(), major < 3);
    let ecb = open(&*library, "aes-128-ecb", Direction::Decrypt);
    assert_eq!(ecb.calls().unwrap(), "botan_block_cipher_decrypt_blocks");
    assert!(!ecb.copies() && !ecb.allocates());
}

#[test]
fn a_broken_block_is_an_error_and_a_missing_algorithm_says_so() {
    let library = library();
    for name in ["aes-128-cbc", "aes-128-ecb"] {
        let mut session = open(&*library, name, Direction::Encrypt);
        let nonce = vec![0; session.algorithm().nonce_len];
        let outcome = session.message_in_place(&nonce, &[], &mut [0; 17], &mut []);
        assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
    }
    let cfb1 = Algorithm::find("aes-128-cfb1").unwrap();
    let error = library.open(cfb1, Direction::Encrypt, &[0; 16]).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(why) if why.contains("aes-128-cfb1")));
}
