//! Sessions against the reference implementations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use base::model::{Algorithm, Direction};
use contract::{Library, Message, Outcome, Session};
use verify::reference::Reference;

/// A session that the library has.
///
/// # Panics
/// When it does not.
#[must_use]
pub fn open(library: &dyn Library, name: &str, direction: Direction) -> Session {
    let algorithm = Algorithm::find(name).unwrap();
    library.open(algorithm, direction, &bytes(algorithm.key_len, 4)).unwrap()
}

/// Bytes that differ from place to place and from `salt` to `salt`.
#[must_use]
pub fn bytes(len: usize, salt: u8) -> Vec<u8> {
    (0..len).map(|i| (i as u8).wrapping_mul(167).wrapping_add(salt) ^ (i >> 8) as u8).collect()
}

/// A message of an algorithm, both ways round.
#[derive(Debug)]
pub struct Sealed {
    /// Nonce, IV or tweak.
    pub nonce: Vec<u8>,
    /// Associated data.
    pub aad: Vec<u8>,
    /// Plaintext.
    pub plain: Vec<u8>,
    /// Ciphertext.
    pub cipher: Vec<u8>,
    /// Tag.
    pub tag: Vec<u8>,
}

impl Sealed {
    /// The reference's message of `len` bytes; the associated data differs in length as well.
    #[must_use]
    pub fn new(reference: &Reference, len: usize) -> Self {
        let algorithm = reference.algorithm();
        let aad_len = if algorithm.tag_len == 0 { 0 } else { [16, 37, 0, 1][len % 4] };
        let (nonce, aad) = (bytes(algorithm.nonce_len, len as u8), bytes(aad_len, 5));
        let (plain, mut cipher) = (bytes(len, 9), vec![0; len]);
        let mut tag = vec![0; algorithm.tag_len];
        reference.encrypt(&nonce, &aad, &plain, &mut cipher, &mut tag);
        Self { nonce, aad, plain, cipher, tag }
    }

    /// What a session of the forward direction makes of the plaintext.
    pub fn encrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>, Vec<u8>) {
        let (mut output, mut tag) = (vec![0; self.plain.len()], vec![0; self.tag.len()]);
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.plain,
            output: &mut output,
            tag: &mut tag,
        });
        (outcome, output, tag)
    }

    /// What a session of the backward direction makes of ciphertext and tag.
    pub fn decrypt_with(&self, session: &mut Session) -> (Outcome, Vec<u8>) {
        let mut output = vec![0; self.cipher.len()];
        let outcome = session.message(Message {
            nonce: &self.nonce,
            aad: &self.aad,
            input: &self.cipher,
            output: &mut output,
            tag: &mut self.tag.clone(),
        });
        (outcome, output)
    }
}

/// Streams continue from update to update, begin anew, and leave nothing to the next message.
///
/// # Panics
/// When they are not.
pub fn streams_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 3);
    let reference = Reference::new(algorithm, &key);
    for direction in [Direction::Encrypt, Direction::Decrypt] {
        let mut session = library.open(algorithm, direction, &key).unwrap();
        for round in 0..2 {
            let nonce = bytes(algorithm.nonce_len, round);
            let Some(mut stream) = reference.stream(direction, &nonce, session.next_unit()) else {
                return a_stream_is_its_message_in_pieces(&mut session, &nonce);
            };
            assert_eq!(session.start(&nonce), Outcome::Done);
            let sizes = [16, 1, 15, 64, 17, 256, 100, 33, 1024, 4096, 31, 48, 16];
            for len in sizes.into_iter().filter(|n| reference.stream_sizes().allows(*n)) {
                let (mut expected, mut buffer) = (bytes(len, 7), bytes(len, 7));
                stream.update(&mut expected);
                let outcome = session.update_in_place(&mut buffer);
                assert_eq!(outcome, Outcome::Done, "{algorithm} {direction} {len}");
                assert_eq!(buffer, expected, "{algorithm} {direction} {len}");
            }
            let s = Sealed::new(&reference, 48);
            if direction == Direction::Decrypt {
                let decrypted = s.decrypt_with(&mut session);
                assert_eq!(decrypted, (Outcome::Done, s.plain.clone()), "{algorithm}");
            }
        }
    }
}

/// Where the reference has no streams.
fn a_stream_is_its_message_in_pieces(session: &mut Session, nonce: &[u8]) {
    let (algorithm, mut tag) = (session.algorithm(), vec![0; session.algorithm().tag_len]);
    let (mut whole, mut pieces) = (bytes(1000, 8), bytes(1000, 8));
    assert_eq!(session.message_in_place(nonce, &[], &mut whole, &mut tag), Outcome::Done);
    assert_eq!(session.start(nonce), Outcome::Done);
    for piece in pieces.chunks_mut(77) {
        assert_eq!(session.update_in_place(piece), Outcome::Done);
    }
    assert_eq!(whole, pieces, "{algorithm}");
}
