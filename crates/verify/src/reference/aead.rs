//! Authenticated modes over the RustCrypto crates, and their streams without a tag.

use super::any::AnyCipher;
use super::ocb::Offsets;
use super::xex::Block;
use super::{Implementation, Update};
use ::aead::{AeadInOut, KeyInit};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use base::model::Direction;
use ccm::Ccm;
use chacha20::{ChaCha20, XChaCha20};
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use cipher::consts::{U12, U16};
use cipher::{InnerIvInit, KeyIvInit, StreamCipher, StreamCipherSeek};
use cmac::digest::InnerInit;
use cmac::{Cmac, Mac};
use ctr::{Ctr32BE, Ctr128BE, CtrCore};
use eax::Eax;
use ocb3::Ocb3;
use std::marker::PhantomData;

/// An authenticated mode and what its updates do before the message ends.
pub(super) struct Aead<A, S> {
    aead: A,
    stream: S,
}

impl<A: AeadInOut + Send + Sync, S: Implementation> Implementation for Aead<A, S> {
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

    fn stream(&self, direction: Direction, nonce: &[u8], next_unit: bool) -> Option<Update<'_>> {
        self.stream.stream(direction, nonce, next_unit)
    }
}

/// GCM, NIST SP 800-38D, 96-bit nonces.
pub(super) fn gcm(cipher: AnyCipher) -> impl Implementation + use<> {
    Aead { aead: AesGcm::<AnyCipher, U12>::from(cipher.clone()), stream: GcmKeystream(cipher) }
}

/// CCM, NIST SP 800-38C, 96-bit nonces, 128-bit tags.
pub(super) fn ccm(cipher: AnyCipher) -> impl Implementation + use<> {
    Aead { aead: Ccm::<AnyCipher, U16, U12>::from(cipher), stream: NoStream }
}

/// OCB, RFC 7253, 96-bit nonces, 128-bit tags.
pub(super) fn ocb(cipher: AnyCipher) -> impl Implementation + use<> {
    Aead { aead: Ocb3::<AnyCipher, U12>::from(cipher.clone()), stream: Offsets::new(cipher) }
}

/// EAX, nonces and tags of a block. The crate keeps the key and makes its schedule anew for each
/// message.
pub(super) fn eax(cipher: AnyCipher, key: &[u8]) -> impl Implementation + use<> {
    let aead = Eax::<AnyCipher>::new_from_slice(key).expect("the key length chose the cipher");
    Aead { aead, stream: EaxKeystream(cipher) }
}

/// GCM-SIV, RFC 8452, which derives keys of the cipher's own length for each nonce.
pub(super) fn gcm_siv<C>(key: &[u8]) -> impl Implementation + use<C>
where
    AesGcmSiv<C>: AeadInOut + KeyInit + Send + Sync,
{
    let aead = AesGcmSiv::<C>::new_from_slice(key).expect("the key length chose the cipher");
    Aead { aead, stream: NoStream }
}

/// ChaCha20-Poly1305, RFC 8439: block 0 makes the Poly1305 key, the message begins at block 1 (§2.8).
pub(super) fn chacha20_poly1305(key: &[u8]) -> impl Implementation + use<> {
    let aead = ChaCha20Poly1305::new_from_slice(key).expect("the key has 32 bytes");
    Aead { aead, stream: ChaChaKeystream::<ChaCha20>::new(key, 1) }
}

/// XChaCha20-Poly1305, draft-irtf-cfrg-xchacha-03.
pub(super) fn xchacha20_poly1305(key: &[u8]) -> impl Implementation + use<> {
    let aead = XChaCha20Poly1305::new_from_slice(key).expect("the key has 32 bytes");
    Aead { aead, stream: ChaChaKeystream::<XChaCha20>::new(key, 1) }
}

struct NoStream;

impl Implementation for NoStream {}

/// The counter of a GCM message begins at 2: 1 makes the tag (NIST SP 800-38D §7.1).
struct GcmKeystream(AnyCipher);

impl Implementation for GcmKeystream {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut first = Block::default();
        first[..12].copy_from_slice(nonce);
        first[15] = 2;
        let mut keystream = Ctr32BE::from_core(CtrCore::inner_iv_init(&self.0, &first));
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// The counter of an EAX message begins at the nonce's OMAC under the tweak 0, which is CMAC over
/// a zero block and the nonce.
struct EaxKeystream(AnyCipher);

impl Implementation for EaxKeystream {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut omac = Cmac::<AnyCipher>::inner_init(self.0.clone());
        omac.update(&[0; 16]);
        omac.update(nonce);
        let first = omac.finalize().into_bytes();
        let mut keystream = Ctr128BE::from_core(CtrCore::inner_iv_init(&self.0, &first));
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// The key stream of ChaCha20 from one of its blocks on.
struct ChaChaKeystream<S> {
    key: Vec<u8>,
    first_block: u32,
    cipher: PhantomData<S>,
}

impl<S> ChaChaKeystream<S> {
    fn new(key: &[u8], first_block: u32) -> Self {
        Self { key: key.to_vec(), first_block, cipher: PhantomData }
    }
}

impl<S> Implementation for ChaChaKeystream<S>
where
    S: KeyIvInit + StreamCipher + StreamCipherSeek + Send + Sync + 'static,
{
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream =
            S::new_from_slices(&self.key, nonce).expect("key and nonce have the cipher's length");
        keystream.seek(64 * self.first_block);
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// ChaCha20 alone, from block 0 (RFC 8439 §2.4).
pub(super) fn chacha20(key: &[u8]) -> impl Implementation + use<> {
    ChaChaKeystream::<ChaCha20>::new(key, 0)
}

impl Implementation for Offsets {
    fn stream(&self, direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        Some(Box::new(Offsets::stream(self, direction, nonce)))
    }
}
