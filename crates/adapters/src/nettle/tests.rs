//! What there is to test of the library besides `testing`.

use crate::testing::NETTLE;
use base::model::{Algorithm, Direction};
use contract::{OpenError, Outcome};
use testing::trial::open;

#[test]
fn what_the_library_would_abort_on_is_an_error() {
    let library = NETTLE.library().unwrap();
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
    let library = NETTLE.library().unwrap();
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
    let error = NETTLE.library().unwrap().open(poly1305, Direction::Digest, &[1; 32]).unwrap_err();
    assert!(matches!(error, OpenError::Unsupported(why) if why.contains("Poly1305-AES")));
}
