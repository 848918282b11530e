//! Independent implementations that libraries are held against: the RustCrypto crates, `blake3`,
//! `crc32c` and `xxhash-rust`; written here and held against crates or published vectors in turn are
//! XTS, OCB's offsets, CFB with short segments, AEGIS and the composites.
//!
//! Fast enough to run between timed samples: key schedules are done once where the crates allow it,
//! blocks go through the ciphers many at a time, and the one indirect call is per message or update.

mod aead;
mod aegis;
mod any;
mod block;
mod composite;
mod digest;
mod ocb;
mod segments;
mod select;
mod siv;
#[cfg(test)]
mod tests;
mod xex;
mod xts;

use base::model::{Algorithm, Direction, Kind, Mode, SizeRule};
use digest::Tagger;
use std::fmt;

/// The longest tag: SHA-512's.
const MAX_TAG_LEN: usize = 64;

/// One algorithm under one key.
pub struct Reference {
    algorithm: &'static Algorithm,
    work: Work,
}

enum Work {
    Cipher(Box<dyn Implementation>),
    Tag(Tagger),
    Copy,
    Nothing,
}

/// What a mode implements, in place. Lengths have been checked. A mode without a tag implements `stream`
/// alone: its message is a stream's first update.
trait Implementation: Send + Sync {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.first_update(Direction::Encrypt, nonce, buffer);
    }

    /// Whether the tag is right; modes without one say yes.
    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.first_update(Direction::Decrypt, nonce, buffer);
        true
    }

    /// What updates do before the message ends; `None` where they have no meaning.
    fn stream(&self, _direction: Direction, _nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        None
    }

    fn first_update(&self, direction: Direction, nonce: &[u8], buffer: &mut [u8]) {
        let mut update =
            self.stream(direction, nonce, false).expect("a mode without a tag has streams");
        update(buffer);
    }
}

/// Continues a stream over a buffer.
type Update<'a> = Box<dyn FnMut(&mut [u8]) + 'a>;

/// What repeated updates under one nonce must leave.
pub struct Stream<'a> {
    update: Update<'a>,
}

impl Stream<'_> {
    /// Continues the stream in place.
    ///
    /// # Panics
    /// When the length is not one of [`Reference::stream_sizes`].
    pub fn update(&mut self, buffer: &mut [u8]) {
        (self.update)(buffer);
    }
}

impl fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl Reference {
    /// Does the key schedule.
    ///
    /// # Panics
    /// When the key's length is not the algorithm's.
    #[must_use]
    pub fn new(algorithm: &'static Algorithm, key: &[u8]) -> Self {
        assert_eq!(key.len(), algorithm.key_len, "key length of {algorithm}");
        let work = match algorithm.kind {
            Kind::Digest | Kind::Mac => Work::Tag(digest::tagger(algorithm, key)),
            Kind::Copy => Work::Copy,
            Kind::Null => Work::Nothing,
            Kind::Cipher | Kind::Aead | Kind::Checked => {
                Work::Cipher(select::implementation(algorithm, key))
            }
        };
        Self { algorithm, work }
    }

    /// What this computes.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The forward direction: plaintext to ciphertext and tag; digests and MACs write only the tag
    /// (XXH3 and CRC-32C as big-endian numbers, XXH3's canonical form); a copy writes only the
    /// output; `null` writes nothing.
    ///
    /// # Panics
    /// When a length is not one that the algorithm has, which for CCM includes messages of 16 MiB
    /// or more: 12-byte nonces leave three bytes for the length (NIST SP 800-38C A.1).
    pub fn encrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &mut [u8],
    ) {
        self.check(nonce, input, tag);
        match &self.work {
            Work::Cipher(cipher) => {
                output.copy_from_slice(input);
                cipher.encrypt(nonce, aad, output, tag);
            }
            Work::Tag(tagger) => tagger(nonce, input, tag),
            Work::Copy => output.copy_from_slice(input),
            Work::Nothing => {}
        }
    }

    /// The backward direction; whether the tag is right. After a wrong tag the output is
    /// unspecified. Digests and MACs compare the tag with the input's; a copy copies.
    ///
    /// # Panics
    /// As [`Reference::encrypt`].
    #[must_use]
    pub fn decrypt(
        &self,
        nonce: &[u8],
        aad: &[u8],
        input: &[u8],
        output: &mut [u8],
        tag: &[u8],
    ) -> bool {
        self.check(nonce, input, tag);
        match &self.work {
            Work::Cipher(cipher) => {
                output.copy_from_slice(input);
                cipher.decrypt(nonce, aad, output, tag)
            }
            Work::Tag(tagger) => {
                let mut made = [0; MAX_TAG_LEN];
                let made = &mut made[..tag.len()];
                tagger(nonce, input, made);
                made == tag
            }
            Work::Copy => {
                output.copy_from_slice(input);
                true
            }
            Work::Nothing => true,
        }
    }

    /// The model `stream` under one nonce: ECB, CBC, CFB, OFB, CTR and ChaCha20 continue from
    /// update to update; GCM, EAX and (X)ChaCha20-Poly1305 continue the key stream of their
    /// message, OCB its offsets, all without a tag; each update of XTS is one data unit, all under
    /// the nonce as tweak, or with `next_unit` under the nonce as a little-endian number raised by
    /// one after each. `None` where updates have no meaning without the message's length, the whole
    /// message or an end (CCM, SIV, GCM-SIV, AEGIS, composites, digests, MACs), and for copies.
    ///
    /// # Panics
    /// When the nonce's length is not the algorithm's or the direction is not one of a cipher.
    #[must_use]
    pub fn stream(
        &self,
        direction: Direction,
        nonce: &[u8],
        next_unit: bool,
    ) -> Option<Stream<'_>> {
        let Work::Cipher(cipher) = &self.work else { return None };
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length of {}", self.algorithm);
        assert!(
            matches!(direction, Direction::Encrypt | Direction::Decrypt),
            "a stream is encrypted or decrypted"
        );
        cipher.stream(direction, nonce, next_unit).map(|update| Stream { update })
    }

    /// The lengths that an update of a stream may have. OCB works in whole blocks until the
    /// message ends, so its streams do.
    #[must_use]
    pub fn stream_sizes(&self) -> SizeRule {
        match self.algorithm.mode {
            Mode::Ocb => SizeRule::MultipleOf(xex::BLOCK_LEN),
            _ => self.algorithm.sizes,
        }
    }

    /// A composite's cipher over its message, without a tag.
    fn encrypt_in_place(&self, nonce: &[u8], buffer: &mut [u8]) {
        if let Work::Cipher(cipher) = &self.work {
            cipher.encrypt(nonce, &[], buffer, &mut []);
        }
    }

    fn decrypt_in_place(&self, nonce: &[u8], buffer: &mut [u8]) {
        if let Work::Cipher(cipher) = &self.work {
            cipher.decrypt(nonce, &[], buffer, &[]);
        }
    }

    fn check(&self, nonce: &[u8], input: &[u8], tag: &[u8]) {
        let Algorithm { nonce_len, tag_len, sizes, .. } = *self.algorithm;
        assert_eq!(nonce.len(), nonce_len, "nonce length of {}", self.algorithm);
        assert_eq!(tag.len(), tag_len, "tag length of {}", self.algorithm);
        assert!(sizes.allows(input.len()), "{} bytes of {}", input.len(), self.algorithm);
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reference").field("algorithm", &self.algorithm.name).finish_non_exhaustive()
    }
}
