//! The system's Mbed TLS, or the one that CIPHERMARK_TEST_MBEDTLS names, under every check.

use super::*;
use crate::attached::agreement::{
    bytes, forgeries_are_rejected, messages_agree, pieces_agree, streams_agree, whole_offer_passes,
};
use contract::Outcome;
use std::path::PathBuf;

fn named() -> Option<PathBuf> {
    std::env::var_os("CIPHERMARK_TEST_MBEDTLS").map(PathBuf::from)
}

fn library() -> Box<dyn Library> {
    let places =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let path = named().unwrap_or_else(|| {
        let found = places.iter().map(|p| PathBuf::from(p).join("libmbedcrypto.so.7"));
        found.into_iter().find(|p| p.exists()).expect("libmbedcrypto7 is installed")
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
    assert_eq!(identity.name, "mbedtls");
    assert_eq!(identity.version.split('.').count(), 3, "{identity:?}");
    assert!(identity.build.iter().any(|o| o == "MBEDTLS_AESNI_C"), "{identity:?}");
}

#[test]
fn everything_that_is_offered_passes_every_check() {
    let library = library();
    let unsupported = whole_offer_passes(&*library);
    if named().is_some() {
        return;
    }
    let offered = |name: &str| {
        let block = |ciphers: &[&str], modes: &[&str]| {
            ciphers.iter().any(|c| name.starts_with(c)) && modes.iter().any(|m| name.ends_with(m))
        };
        block(&["aes-"], &["-cfb8", "-ofb", "-xts", "-gmac"])
            || block(&["aes-", "camellia-"], &["-ecb", "-cbc", "-cfb", "-ctr", "-gcm", "-ccm"])
            || ["sha256", "sha384", "sha512", "poly1305", "chacha20", "chacha20-poly1305"]
                .contains(&name)
            || ["des-ede3-ecb", "des-ede3-cbc"].contains(&name)
            || name.starts_with("hmac-")
    };
    let all = Algorithm::all().iter().filter(|a| a.composite.is_none());
    let expected: Vec<_> = all.map(|a| a.name).filter(|name| !offered(name)).collect();
    assert_eq!(unsupported, expected);
}

#[test]
fn messages_streams_and_forgeries_are_the_references() {
    let library = library();
    let names = ["aes-128-cbc", "aes-256-cfb", "aes-192-ctr", "aes-192-ofb"];
    for algorithm in names.map(|name| Algorithm::find(name).unwrap()) {
        messages_agree(&*library, algorithm);
        streams_agree(&*library, algorithm);
    }
    for name in ["aes-128-gcm", "aes-192-ccm", "chacha20-poly1305"] {
        let algorithm = Algorithm::find(name).unwrap();
        messages_agree(&*library, algorithm);
        forgeries_are_rejected(&*library, algorithm);
    }
    streams_agree(&*library, Algorithm::find("chacha20-poly1305").unwrap());
}

#[test]
fn a_digest_in_pieces_is_the_digest_of_the_whole_also_after_a_message_given_up() {
    let library = library();
    for name in ["sha256", "sha512", "hmac-sha384", "poly1305"] {
        pieces_agree(open(&*library, name, Direction::Digest), 77);
    }
}

#[test]
fn a_broken_block_is_an_error_and_what_is_not_built_in_says_so() {
    let library = library();
    for name in ["aes-128-cbc", "aes-128-ecb"] {
        let mut session = open(&*library, name, Direction::Encrypt);
        let nonce = vec![0; session.algorithm().nonce_len];
        let outcome = session.message_in_place(&nonce, &[], &mut [0; 17], &mut []);
        assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
    }
    let siv = Algorithm::find("aes-128-siv").unwrap();
    let error = library.open(siv, Direction::Encrypt, &[0; 32]).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(why) if why.contains("aes-128-siv")));
}

/// <https://github.com/Mbed-TLS/mbedtls/issues/4302>: should this fail, the library was mended, and XTS may
/// be said to work in place.
#[test]
fn a_data_unit_that_ends_within_a_block_goes_wrong_in_place_and_is_not_offered_so() {
    let library = library();
    let mut session = open(&*library, "aes-128-xts", Direction::Encrypt);
    assert!(!session.in_place() && !session.has_stream());
    let (nonce, data) = ([3; 16], bytes(17, 1));
    let (mut apart, mut over) = (vec![0; 17], data.clone());
    let message = contract::Message {
        nonce: &nonce,
        aad: &[],
        input: &data,
        output: &mut apart,
        tag: &mut [],
    };
    assert_eq!(session.message(message), Outcome::Done);
    let (call, state) = (session.raw().message.unwrap(), session.raw().state);
    let message = raw::Message {
        nonce: nonce.as_ptr(),
        aad: std::ptr::null(),
        aad_len: 0,
        input: over.as_ptr(),
        len: over.len(),
        output: over.as_mut_ptr(),
        tag: std::ptr::null_mut(),
    };
    // SAFETY: the function reads and writes one buffer, in bounds; what it makes of it is the test.
    assert_eq!(unsafe { call(state, &raw const message) }, raw::OK);
    assert_ne!(apart, over);
}

#[test]
fn sessions_say_what_they_call_and_that_nothing_is_copied() {
    let library = library();
    let gcm = open(&*library, "aes-128-gcm", Direction::Decrypt);
    assert_eq!(gcm.calls().unwrap(), "mbedtls_gcm_auth_decrypt");
    assert!(!gcm.copies() && !gcm.allocates() && gcm.in_place());
    let cfb = open(&*library, "camellia-256-cfb", Direction::Encrypt);
    assert_eq!(cfb.calls().unwrap(), "mbedtls_camellia_crypt_cfb128");
}
