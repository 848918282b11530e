//! The model `stream`.

use super::*;

#[test]
fn every_stream_is_what_the_reference_makes_of_it() {
    let library = library();
    for algorithm in ciphers() {
        let key = bytes(algorithm.key_len, 31);
        let reference = Reference::new(algorithm, &key);
        let nonce = bytes(algorithm.nonce_len, 3);
        for &direction in Direction::of(algorithm.kind) {
            let Some(mut session) = open(&*library, algorithm, direction, &key) else { continue };
            if !session.has_stream() {
                continue;
            }
            // Twice: the second start must forget the first stream.
            for _ in 0..2 {
                assert_eq!(session.start(&nonce), Outcome::Done, "{algorithm} {direction}");
                let mut right = reference
                    .stream(direction, &nonce, session.next_unit())
                    .expect("the reference streams what a library streams");
                for len in [16, 32, 17, 64, 33, 256, 1, 4096, 15, 1040] {
                    if !reference.stream_sizes().allows(len) {
                        continue;
                    }
                    let (mut ours, mut theirs) = (bytes(len, 1), bytes(len, 1));
                    let at = format!("{algorithm} {direction} {len} B");
                    assert_eq!(session.update_in_place(&mut ours), Outcome::Done, "{at}");
                    right.update(&mut theirs);
                    assert_eq!(ours, theirs, "{at}");
                }
            }
        }
    }
}

/// One update of the whole message is the message, where there is no tag to tell them apart.
#[test]
fn a_stream_of_one_update_is_the_message() {
    let library = library();
    let algorithm = Algorithm::find("aes-256-ctr").unwrap();
    let key = bytes(32, 4);
    let mut session = open(&*library, algorithm, Direction::Encrypt, &key).unwrap();
    let (nonce, plain) = (bytes(16, 8), bytes(1000, 2));
    let (mut whole, mut streamed) = (vec![0; 1000], plain.clone());
    let message =
        Message { nonce: &nonce, aad: &[], input: &plain, output: &mut whole, tag: &mut [] };
    assert_eq!(session.message(message), Outcome::Done);
    assert_eq!(session.start(&nonce), Outcome::Done);
    for part in [0..10, 10..500, 500..1000] {
        assert_eq!(session.update_in_place(&mut streamed[part]), Outcome::Done);
    }
    assert_eq!(whole, streamed);
}

#[test]
fn a_ccm_message_is_no_stream() {
    let library = library();
    let algorithm = Algorithm::find("aes-128-ccm").unwrap();
    if let Some(session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1)) {
        assert!(session.has_message() && !session.has_stream());
    }
}

/// With the remainder held back, the next update would write past its output.
#[test]
fn an_ocb_stream_takes_whole_blocks_only() {
    let library = library();
    let algorithm = Algorithm::find("aes-128-ocb").unwrap();
    let Some(mut session) = open(&*library, algorithm, Direction::Encrypt, &bytes(16, 1)) else {
        return;
    };
    assert_eq!(session.start(&bytes(12, 1)), Outcome::Done);
    assert_eq!(session.update_in_place(&mut [0; 17]), Outcome::Error(raw::FAILED));
    assert_eq!(session.update_in_place(&mut [0; 32]), Outcome::Done);
}
