//! What there is to test of the library besides `testing`.

use crate::testing::MBEDTLS;
use base::model::{Algorithm, Direction};
use contract::{OpenError, Outcome, raw};
use testing::trial::{bytes, open};

#[test]
fn a_broken_block_is_an_error_and_what_is_not_built_in_says_so() {
    let library = MBEDTLS.library().unwrap();
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
    let library = MBEDTLS.library().unwrap();
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
    let library = MBEDTLS.library().unwrap();
    let gcm = open(&*library, "aes-128-gcm", Direction::Decrypt);
    assert_eq!(gcm.calls().unwrap(), "mbedtls_gcm_auth_decrypt");
    assert!(!gcm.copies() && !gcm.allocates() && gcm.in_place());
    let cfb = open(&*library, "camellia-256-cfb", Direction::Encrypt);
    assert_eq!(cfb.calls().unwrap(), "mbedtls_camellia_crypt_cfb128");
}
