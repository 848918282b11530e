//! What there is to test of the library besides `testing`.

use crate::testing::AEGIS;
use base::model::{Algorithm, Direction};
use contract::Outcome;

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
    for library in AEGIS.libraries() {
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
    }
}
