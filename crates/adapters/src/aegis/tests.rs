//! The libaegis that is built with us, or the one that CIPHERMARK_TEST_LIBAEGIS names, against the
//! reference implementations.

use super::*;
use crate::attached::agreement::{
    bytes, files, forgeries_are_rejected, messages_agree, offer, whole_offer_passes,
};
use contract::Outcome;

fn each_library(test: impl Fn(&dyn Library)) {
    for path in files("CIPHERMARK_TEST_LIBAEGIS", "libaegis.so", "libaegis/libaegis.so") {
        test(&*crate::load(&path, None).unwrap());
    }
}

#[test]
fn the_library_says_who_it_is_and_what_it_found() {
    each_library(|library| {
        let identity = library.identity();
        assert_eq!((&*identity.name, &*identity.version), ("libaegis", "unversioned"));
        assert!(identity.build[0].starts_with("cpu features: "), "{identity:?}");
    });
}

#[test]
fn the_offer_is_the_six_variants_of_aegis() {
    each_library(|library| {
        let names: Vec<&str> = offer(library).iter().map(|a| a.name).collect();
        assert_eq!(
            names,
            ["aegis-128l", "aegis-128x2", "aegis-128x4", "aegis-256", "aegis-256x2", "aegis-256x4"]
        );
    });
}

/// draft-irtf-cfrg-aegis-aead, appendix "AEGIS-128L Test Vectors" and "AEGIS-256 Test Vectors",
/// test vector 1: a check that does not hang on the reference implementations.
#[test]
fn the_drafts_first_vectors_come_out() {
    let [key_start, nonce_start] = ["1001", "1000"].map(|h| hex::decode(h).unwrap());
    let padded = |start: &[u8], second: u8, len: usize| {
        let mut bytes = vec![0; len];
        bytes[0] = start[0];
        bytes[1] = second;
        bytes
    };
    each_library(|library| {
        for (name, len, ciphertext, tag) in [
            (
                "aegis-128l",
                16,
                "c1c0e58bd913006feba00f4b3cc3594e",
                "25835bfbb21632176cf03840687cb968cace4617af1bd0f7d064c639a5c79ee4",
            ),
            (
                "aegis-256",
                32,
                "754fc3d8c973246dcc6d741412a4b236",
                "1181a1d18091082bf0266f66297d167d2e68b845f61a3b0527d31fc7b7b89f13",
            ),
        ] {
            let algorithm = Algorithm::find(name).unwrap();
            let key = padded(&key_start, 1, len);
            let nonce = padded(&nonce_start, 0, len).into_iter().enumerate();
            // 10 00 02 00 …: the second byte of the key, the third of the nonce.
            let nonce: Vec<u8> = nonce.map(|(i, b)| if i == 2 { 2 } else { b }).collect();
            let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
            let (mut buffer, mut code) = ([0; 16], [0; 32]);
            let outcome = session.message_in_place(&nonce, &[], &mut buffer, &mut code);
            assert_eq!(outcome, Outcome::Done);
            assert_eq!((hex::encode(buffer), hex::encode(code)), (ciphertext.into(), tag.into()));
        }
    });
}

#[test]
fn every_message_up_to_257_bytes_is_the_references_both_ways_and_in_place() {
    each_library(|library| offer(library).into_iter().for_each(|a| messages_agree(library, a)));
}

#[test]
fn each_forged_part_is_rejected_and_a_good_message_passes_afterwards() {
    each_library(|library| {
        offer(library).into_iter().for_each(|a| forgeries_are_rejected(library, a));
    });
}

#[test]
fn a_stream_is_its_message_in_pieces() {
    each_library(|library| {
        for algorithm in offer(library) {
            let (key, nonce) = (bytes(algorithm.key_len, 1), bytes(algorithm.nonce_len, 2));
            let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
            if !session.has_stream() {
                eprintln!("skipped: {algorithm} of this version has no streams");
                continue;
            }
            let (mut whole, mut pieces) = (bytes(1000, 8), bytes(1000, 8));
            let outcome = session.message_in_place(&nonce, &[], &mut whole, &mut [0; 32]);
            assert_eq!(outcome, Outcome::Done);
            assert_eq!(session.start(&nonce), Outcome::Done);
            for piece in pieces.chunks_mut(77) {
                assert_eq!(session.update_in_place(piece), Outcome::Done);
            }
            assert_eq!(whole, pieces, "{algorithm}");
        }
    });
}

#[test]
fn everything_on_offer_passes_the_checks() {
    each_library(|library| drop(whole_offer_passes(library)));
}
