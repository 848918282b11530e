//! What there is to test of the library besides `testing`.

use crate::testing::BOTAN;
use base::model::{Algorithm, Direction};
use contract::{OpenError, Outcome};
use testing::trial::open;

#[test]
fn sessions_say_what_the_interface_copies_and_what_they_call() {
    let library = BOTAN.library().unwrap();
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
    let library = BOTAN.library().unwrap();
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
