//! The system's libwolfssl, or the one that CIPHERMARK_TEST_WOLFSSL names, against the checks.

use crate::testing::{
    findings, offered, sessions_name_their_calls, streams_end_in_the_messages_tag, system_library,
};
use contract::{Library, Message, Outcome};
use model::{Algorithm, Direction, Kind};

fn library() -> Option<Box<dyn Library>> {
    let library = system_library("CIPHERMARK_TEST_WOLFSSL", "libwolfssl.so.35");
    if library.is_none() {
        println!("skipped: no libwolfssl.so.35 here and CIPHERMARK_TEST_WOLFSSL is not set");
    }
    library
}

#[test]
fn the_library_is_not_taken_for_openssl_whose_names_it_also_exports() {
    let Some(library) = library() else { return };
    let identity = library.identity();
    assert_eq!(identity.name, "wolfssl");
    assert!(identity.version.starts_with('5'), "{identity:?}");
}

#[test]
fn everything_that_the_library_has_is_offered() {
    let Some(library) = library() else { return };
    let offered = offered(&*library);
    for name in [
        "aes-128-cfb1",
        "aes-192-gmac",
        "aes-256-xts",
        "aes-256-siv",
        "camellia-192-cbc",
        "des-ede3-ecb",
        "xchacha20-poly1305",
        "blake2b512",
        "hmac-sha384",
        "poly1305",
    ] {
        assert!(offered.contains(&name), "{name}: {offered:?}");
    }
    assert!(!offered.contains(&"aes-128-ocb") && !offered.contains(&"camellia-128-ecb"));
    sessions_name_their_calls(&*library);
}

#[test]
fn what_is_offered_passes_every_check() {
    let Some(library) = library() else { return };
    assert_eq!(findings(&*library), []);
}

#[test]
fn streams_of_digests_and_macs_end_with_the_tag_of_the_whole_message() {
    let Some(library) = library() else { return };
    let offered = offered(&*library);
    let is_hash = |a: &&Algorithm| matches!(a.kind, Kind::Digest | Kind::Mac);
    for algorithm in Algorithm::all().iter().filter(is_hash) {
        if offered.contains(&algorithm.name) && !algorithm.name.ends_with("gmac") {
            streams_end_in_the_messages_tag(&*library, algorithm);
        }
    }
}

/// The published benchmark took an XTS call that returned an error at once for a fast one.
#[test]
fn a_call_that_the_library_refuses_is_an_error_and_not_a_fast_success() {
    let Some(library) = library() else { return };
    let xts = Algorithm::find("aes-256-xts").unwrap();
    let key: Vec<u8> = (0..64).collect();
    let mut session = library.open(xts, Direction::Encrypt, &key).unwrap();
    let outcome = session.message(Message {
        nonce: &[7; 16],
        aad: &[],
        input: &[0; 15],
        output: &mut [0; 15],
        tag: &mut [],
    });
    assert!(matches!(outcome, Outcome::Error(code) if code < 0), "{outcome:?}");
}
