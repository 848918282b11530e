//! The system's Nettle, or the one that CIPHERMARK_TEST_NETTLE names, under every check.

use super::*;
use crate::attached::agreement::{
    bytes, forgeries_are_rejected, messages_agree, pieces_agree, whole_offer_passes,
};
use contract::Outcome;
use std::path::PathBuf;

fn named() -> Option<PathBuf> {
    std::env::var_os("CIPHERMARK_TEST_NETTLE").map(PathBuf::from)
}

fn library() -> Box<dyn Library> {
    let places =
        ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
    let path = named().unwrap_or_else(|| {
        let found = places.iter().map(|p| PathBuf::from(p).join("libnettle.so.8"));
        found.into_iter().find(|p| p.exists()).expect("libnettle8 is installed")
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
    assert_eq!(identity.name, "nettle");
    assert_eq!(identity.version.split('.').count(), 2, "{identity:?}");
}

#[test]
fn everything_that_is_offered_passes_every_check() {
    let library = library();
    let unsupported = whole_offer_passes(&*library);
    if named().is_some() {
        return;
    }
    let old = library.identity().version.as_str() < "3.9";
    let missing = |name: &str| {
        let never = ["aria-", "aegis-", "xchacha20-", "poly1305", "memcpy", "null", "blake"];
        let since_3_9 = ["-ocb", "-gcm-siv"];
        never.iter().any(|start| name.starts_with(start))
            || ["-ofb", "-cfb1"].iter().any(|end| name.ends_with(end))
            || ["xxh3-64", "crc32c"].contains(&name)
            || old && (name.starts_with("sm4-") || since_3_9.iter().any(|end| name.ends_with(end)))
    };
    let all = Algorithm::all().iter().filter(|a| a.composite.is_none());
    let expected: Vec<_> = all.map(|a| a.name).filter(|name| missing(name)).collect();
    assert_eq!(unsupported, expected);
}

#[test]
fn messages_and_forgeries_are_the_references() {
    let library = library();
    for name in
        ["aes-128-cbc", "aes-256-cfb", "aes-192-ctr", "aes-256-xts", "aes-128-gcm", "aes-192-ccm"]
    {
        let algorithm = Algorithm::find(name).unwrap();
        messages_agree(&*library, algorithm);
        if algorithm.tag_len > 0 {
            forgeries_are_rejected(&*library, algorithm);
        }
    }
}

#[test]
fn a_digest_in_pieces_is_the_digest_of_the_whole_also_after_a_message_given_up() {
    let library = library();
    for name in ["sha256", "sha3-512", "hmac-sha384"] {
        pieces_agree(open(&*library, name, Direction::Digest), 77);
    }
    // GCM's associated data come in whole blocks until the last.
    assert!(open(&*library, "aes-256-gmac", Direction::Digest).raw().update.is_none());
}

#[test]
fn what_the_library_would_abort_on_is_an_error() {
    let library = library();
    for (name, len) in [("aes-128-cbc", 17), ("aes-128-ecb", 8), ("aes-128-xts", 15)] {
        let mut session = open(&*library, name, Direction::Encrypt);
        let nonce = vec![0; session.algorithm().nonce_len];
        let outcome = session.message_in_place(&nonce, &[], &mut vec![0; len], &mut []);
        assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
    }
    let mut session = open(&*library, "aes-256-ctr", Direction::Encrypt);
    assert_eq!(session.start(&[0; 16]), Outcome::Done);
    assert_eq!(session.update_in_place(&mut [0; 17]), Outcome::Done);
    assert!(matches!(session.update_in_place(&mut [0; 16]), Outcome::Error(_)));
    for name in ["aes-128-gcm", "aes-256-eax"] {
        let mut session = open(&*library, name, Direction::Encrypt);
        assert_eq!(session.start(&vec![0; session.algorithm().nonce_len]), Outcome::Done);
        let outcome = session.update_in_place(&mut [0; 17]);
        assert!(matches!(outcome, Outcome::Error(_)), "{name}: {outcome:?}");
    }
}

#[test]
fn sessions_say_what_they_call_and_which_of_them_copy() {
    let library = library();
    let calls = |name, direction| open(&*library, name, direction).calls().unwrap();
    assert_eq!(calls("camellia-128-cbc", Direction::Encrypt), "nettle_cbc_encrypt");
    assert!(calls("aes-128-gcm", Direction::Decrypt).ends_with(", nettle_memeql_sec"));
    let siv = open(&*library, "aes-128-siv", Direction::Encrypt);
    assert!(siv.copies() && !siv.allocates());
    assert!(!open(&*library, "aes-256-ccm", Direction::Encrypt).copies());
}

#[test]
fn raw_poly1305_is_unsupported_for_a_reason() {
    let poly1305 = Algorithm::find("poly1305").unwrap();
    let error = library().open(poly1305, Direction::Digest, &[1; 32]).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(why) if why.contains("Poly1305-AES")));
}
