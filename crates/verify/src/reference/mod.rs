//! Independent implementations that libraries are held against: the RustCrypto crates and
//! xxhash-rust, with XTS and OCB's offsets written here and held against the crates in turn.
//!
//! Fast enough to run between timed samples: key schedules are done once, blocks go through the
//! ciphers many at a time, and the one indirect call is per message or update.

mod aead;
mod block;
mod ocb;
#[cfg(test)]
mod tests;
mod xex;
mod xts;

use aes::{Aes128, Aes192, Aes256};
use block::BlockCipher;
use model::{Algorithm, Direction, Kind, Mode, SizeRule};
use std::fmt;

/// One algorithm under one key.
pub struct Reference {
    algorithm: &'static Algorithm,
    work: Work,
}

enum Work {
    Cipher(Box<dyn Implementation>),
    Xxh3,
    Copy,
    Nothing,
}

/// What a mode implements, in place. Lengths have been checked.
trait Implementation: Send + Sync {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]);
    /// Whether the tag is right; modes without one say yes.
    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool;
    fn stream(&self, direction: Direction, nonce: &[u8], next_unit: bool) -> Option<Update<'_>>;
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
            Kind::Digest | Kind::Mac => Work::Xxh3,
            Kind::Copy => Work::Copy,
            Kind::Null => Work::Nothing,
            Kind::Cipher | Kind::Aead | Kind::Checked => {
                Work::Cipher(implementation(algorithm.mode, key))
            }
        };
        Self { algorithm, work }
    }

    /// What this computes.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The forward direction: plaintext to ciphertext and tag; a digest writes only the tag
    /// (XXH3: the canonical form, which is big-endian); a copy writes only the output; `null`
    /// writes nothing.
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
            Work::Xxh3 => tag.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(input).to_be_bytes()),
            Work::Copy => output.copy_from_slice(input),
            Work::Nothing => {}
        }
    }

    /// The backward direction; whether the tag is right. After a wrong tag the output is
    /// unspecified. Digests compare the tag with the input's; a copy copies.
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
            Work::Xxh3 => xxhash_rust::xxh3::xxh3_64(input).to_be_bytes() == *tag,
            Work::Copy => {
                output.copy_from_slice(input);
                true
            }
            Work::Nothing => true,
        }
    }

    /// The model `stream` under one nonce: ECB, CBC, CFB, OFB and CTR continue from update to
    /// update; GCM and ChaCha20-Poly1305 continue the key stream of their message, OCB its
    /// offsets, all without a tag; each update of XTS is one data unit, all under the nonce as
    /// tweak, or with `next_unit` under the nonce as a little-endian number raised by one after
    /// each. `None` where updates have no meaning without the message's length or an end: CCM,
    /// digests, copies.
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

fn implementation(mode: Mode, key: &[u8]) -> Box<dyn Implementation> {
    match mode {
        Mode::Poly1305 => Box::new(aead::chacha20_poly1305(key)),
        Mode::Xts => match key.len() {
            32 => Box::new(xts::Xts::<Aes128>::new(key)),
            _ => Box::new(xts::Xts::<Aes256>::new(key)),
        },
        _ => match key.len() {
            16 => aes_mode::<Aes128>(mode, key),
            24 => aes_mode::<Aes192>(mode, key),
            _ => aes_mode::<Aes256>(mode, key),
        },
    }
}

fn aes_mode<C: BlockCipher>(mode: Mode, key: &[u8]) -> Box<dyn Implementation> {
    let cipher = C::new_from_slice(key).expect("the key length chose the cipher");
    match mode {
        Mode::Ecb => Box::new(block::Ecb(cipher)),
        Mode::Cbc => Box::new(block::Cbc(cipher)),
        Mode::Cfb => Box::new(block::Cfb(cipher)),
        Mode::Ofb => Box::new(block::Ofb(cipher)),
        Mode::Ctr => Box::new(block::Ctr(cipher)),
        Mode::Gcm => Box::new(aead::gcm(cipher)),
        Mode::Ccm => Box::new(aead::ccm(cipher)),
        Mode::Ocb => Box::new(aead::ocb(cipher)),
        _ => unreachable!("{mode:?} is not a mode over one AES key"),
    }
}
