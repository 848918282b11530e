//! Sessions against the reference implementations.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use contract::{Library, Message, Outcome, Session};
use model::{Algorithm, Direction};
use verify::reference::Reference;

/// Every length up to this, so that every remainder of every kernel's stride is met.
const ALL_LENGTHS_TO: usize = 257;

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

/// Messages of a cipher of the lengths that it takes, both ways, with and without a second buffer.
///
/// # Panics
/// When they are not.
pub fn messages_agree(
    library: &dyn Library,
    algorithm: &'static Algorithm,
    takes: impl Fn(usize) -> bool,
) {
    let key = bytes(algorithm.key_len, 1);
    let reference = Reference::new(algorithm, &key);
    let mut encrypt = library.open(algorithm, Direction::Encrypt, &key).unwrap();
    let mut decrypt = library.open(algorithm, Direction::Decrypt, &key).unwrap();
    let lengths = (0..=ALL_LENGTHS_TO).chain([4096, 65_536 + 16]);
    for len in lengths.filter(|len| algorithm.sizes.allows(*len) && takes(*len)) {
        let s = Sealed::new(&reference, len);
        let encrypted = s.encrypt_with(&mut encrypt);
        assert_eq!(
            encrypted,
            (Outcome::Done, s.cipher.clone(), s.tag.clone()),
            "{algorithm} {len}"
        );
        let decrypted = s.decrypt_with(&mut decrypt);
        assert_eq!(decrypted, (Outcome::Done, s.plain.clone()), "{algorithm} {len}");

        let (mut buffer, mut tag) = (s.plain.clone(), vec![0; s.tag.len()]);
        if encrypt.in_place() {
            let outcome = encrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
            let right = (Outcome::Done, &s.cipher, &s.tag);
            assert_eq!((outcome, &buffer, &tag), right, "{algorithm} {len} in place");
        }
        if decrypt.in_place() {
            let (mut buffer, mut tag) = (s.cipher.clone(), s.tag.clone());
            let outcome = decrypt.message_in_place(&s.nonce, &s.aad, &mut buffer, &mut tag);
            assert_eq!((outcome, &buffer), (Outcome::Done, &s.plain), "{algorithm} {len} in place");
        }
    }
}

/// Each part of a message changed alone is rejected, and a good message passes after each.
///
/// # Panics
/// When they are not.
pub fn forgeries_are_rejected(library: &dyn Library, algorithm: &'static Algorithm) {
    let key = bytes(algorithm.key_len, 2);
    let reference = Reference::new(algorithm, &key);
    let mut session = library.open(algorithm, Direction::Decrypt, &key).unwrap();
    // Lengths that give associated data.
    for len in [1, 16, 100, 1001] {
        for part in 0..4 {
            let mut forged = Sealed::new(&reference, len);
            let parts = [&mut forged.cipher, &mut forged.tag, &mut forged.nonce, &mut forged.aad];
            *parts.into_iter().nth(part).unwrap().last_mut().unwrap() ^= 1;
            let outcome = forged.decrypt_with(&mut session).0;
            assert_eq!(outcome, Outcome::Rejected, "{algorithm} {len} part {part}");
            let good = Sealed::new(&reference, len);
            assert_eq!(good.decrypt_with(&mut session), (Outcome::Done, good.plain.clone()));
        }
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

/// A digest or MAC in pieces is that of the whole, also after a message that was given up.
///
/// # Panics
/// When they are not.
pub fn pieces_agree(library: &dyn Library, algorithm: &'static Algorithm) {
    let mut session = open(library, algorithm.name, Direction::Digest);
    let nonce = bytes(algorithm.nonce_len, 8);
    for (len, piece) in
        [(0, 1), (1, 1), (63, 7), (64, 16), (129, 64), (1000, 1), (1000, 77), (5000, 129)]
    {
        let (data, mut whole) = (bytes(len, 6), vec![0; algorithm.tag_len]);
        let message =
            Message { nonce: &nonce, aad: &[], input: &data, output: &mut [], tag: &mut whole };
        assert_eq!(session.message(message), Outcome::Done, "{algorithm} {len}");
        let mut tag = vec![0; whole.len()];
        assert_eq!(session.start(&nonce), Outcome::Done, "{algorithm} {len}");
        assert_eq!(session.update_digest(&data[..len / 2]), Outcome::Done, "{algorithm} {len}");
        assert_eq!(session.start(&nonce), Outcome::Done, "{algorithm} {len}");
        for part in data.chunks(piece) {
            assert_eq!(session.update_digest(part), Outcome::Done, "{algorithm} {len}");
        }
        assert_eq!(session.finish(&mut tag), Outcome::Done, "{algorithm} {len}");
        assert_eq!(tag, whole, "{algorithm}: {len} bytes by {piece}");
    }
}
