//! What there is to test of the library besides `testing`.

use crate::testing::GCRYPT;
use base::model::Direction;
use contract::Outcome;
use testing::trial::open;

#[test]
fn the_stream_of_a_counter_mode_is_its_message_in_pieces() {
    let mut session = open(&*GCRYPT.library().unwrap(), "aes-256-ctr", Direction::Encrypt);
    // The counter runs over from its last 128-bit value to zero on the way.
    let nonce = [0xff; 16];
    let (mut whole, mut pieces) = ([8; 1000], [8; 1000]);
    assert_eq!(session.message_in_place(&nonce, &[], &mut whole, &mut []), Outcome::Done);
    assert_eq!(session.start(&nonce), Outcome::Done);
    for piece in pieces.chunks_mut(77) {
        assert_eq!(session.update_in_place(piece), Outcome::Done);
    }
    assert_eq!(whole, pieces);
}

#[test]
fn modes_that_need_the_whole_message_have_no_streams() {
    let library = GCRYPT.library().unwrap();
    for (name, streams) in [
        ("aes-128-ccm", false),
        ("aes-128-siv", false),
        ("aes-128-gcm-siv", false),
        ("aes-128-gcm", true),
    ] {
        assert_eq!(open(&*library, name, Direction::Encrypt).has_stream(), streams, "{name}");
    }
}

#[test]
fn a_broken_block_is_the_librarys_own_error() {
    let mut session = open(&*GCRYPT.library().unwrap(), "aes-128-cbc", Direction::Encrypt);
    let outcome = session.message_in_place(&[2; 16], &[], &mut [0; 17], &mut []);
    assert!(
        matches!(outcome, Outcome::Error(code) if code.cast_unsigned() >> 24 == 1),
        "{outcome:?}"
    );
}
