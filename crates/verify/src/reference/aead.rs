//! Authenticated modes over the RustCrypto crates, and their streams without a tag.

use super::block::BlockCipher;
use super::ocb::Offsets;
use super::xex::Block;
use super::{Implementation, Update};
use ::aead::{AeadInOut, KeyInit};
use aes_gcm::AesGcm;
use ccm::Ccm;
use chacha20::ChaCha20;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::consts::{U12, U16};
use cipher::{InnerIvInit, KeyIvInit, StreamCipher, StreamCipherSeek};
use ctr::{Ctr32BE, CtrCore};
use model::Direction;
use ocb3::Ocb3;

/// An authenticated mode and what its updates do before the message ends.
pub(super) struct Aead<A, S> {
    aead: A,
    stream: S,
}

/// What updates do before the message ends.
pub(super) trait Unfinished: Send + Sync {
    fn stream(&self, direction: Direction, nonce: &[u8]) -> Option<Update<'_>>;
}

impl<A: AeadInOut + Send + Sync, S: Unfinished> Implementation for Aead<A, S> {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        let nonce = nonce.try_into().expect("the nonce has the mode's length");
        let made = self
            .aead
            .encrypt_inout_detached(nonce, aad, buffer.into())
            .expect("the message is not longer than the mode allows");
        tag.copy_from_slice(&made);
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        let nonce = nonce.try_into().expect("the nonce has the mode's length");
        let tag = tag.try_into().expect("the tag has the mode's length");
        self.aead.decrypt_inout_detached(nonce, aad, buffer.into(), tag).is_ok()
    }

    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        self.stream.stream(direction, nonce)
    }
}

/// GCM, NIST SP 800-38D, 96-bit nonces.
pub(super) fn gcm<C: BlockCipher>(cipher: C) -> impl Implementation + use<C> {
    Aead { aead: AesGcm::<C, U12>::from(cipher.clone()), stream: GcmKeystream(cipher) }
}

/// CCM, NIST SP 800-38C, 96-bit nonces, 128-bit tags.
pub(super) fn ccm<C: BlockCipher>(cipher: C) -> impl Implementation + use<C> {
    Aead { aead: Ccm::<C, U16, U12>::from(cipher), stream: NoStream }
}

/// OCB, RFC 7253, 96-bit nonces, 128-bit tags.
pub(super) fn ocb<C: BlockCipher>(cipher: C) -> impl Implementation + use<C> {
    Aead { aead: Ocb3::<C, U12>::from(cipher.clone()), stream: Offsets::new(cipher) }
}

/// ChaCha20-Poly1305, RFC 8439.
pub(super) fn chacha20_poly1305(key: &[u8]) -> impl Implementation + use<> {
    let key = key.try_into().expect("the key has 32 bytes");
    Aead { aead: ChaCha20Poly1305::new(key), stream: ChaChaKeystream((*key).into()) }
}

struct NoStream;

impl Unfinished for NoStream {
    fn stream(&self, _direction: Direction, _nonce: &[u8]) -> Option<Update<'_>> {
        None
    }
}

/// The counter of a GCM message begins at 2: 1 makes the tag (NIST SP 800-38D §7.1).
struct GcmKeystream<C>(C);

impl<C: BlockCipher> Unfinished for GcmKeystream<C> {
    fn stream(&self, _direction: Direction, nonce: &[u8]) -> Option<Update<'_>> {
        let mut first = Block::default();
        first[..12].copy_from_slice(nonce);
        first[15] = 2;
        let mut keystream = Ctr32BE::from_core(CtrCore::inner_iv_init(&self.0, &first));
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// Block 0 makes the Poly1305 key, the message begins at block 1 (RFC 8439 §2.8).
struct ChaChaKeystream([u8; 32]);

impl Unfinished for ChaChaKeystream {
    fn stream(&self, _direction: Direction, nonce: &[u8]) -> Option<Update<'_>> {
        let nonce = nonce.try_into().expect("the nonce has 12 bytes");
        let mut keystream = ChaCha20::new(&self.0.into(), nonce);
        keystream.seek(64_u32);
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

impl<C: BlockCipher> Unfinished for Offsets<C> {
    fn stream(&self, direction: Direction, nonce: &[u8]) -> Option<Update<'_>> {
        Some(Box::new(Offsets::stream(self, direction, nonce)))
    }
}
