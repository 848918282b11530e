//! GCM, CCM, OCB and ChaCha20-Poly1305: the crates `aes-gcm`, `ccm`, `ocb3` and
//! `chacha20poly1305`, all behind the trait `aead::AeadInOut`. It knows whole messages only, so
//! there are no streams.

use crate::mode::{Buffer, Mode, Refusal};
use ::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::AesGcm;
use ccm::Ccm;
use chacha20poly1305::ChaCha20Poly1305;
use cipher::consts::{U12, U16};
use ocb3::Ocb3;

/// An authenticated mode that takes messages of up to `MAX_LEN` bytes. Decrypting longer ones, the
/// crates report the same error as for a wrong tag, or (CCM, past 64 GiB) panic.
pub(crate) struct Aead<A, const MAX_LEN: u64>(pub(crate) A);

/// NIST SP 800-38D §5.2.1.1.
pub(crate) type Gcm<C> = Aead<AesGcm<C, U12>, { aes_gcm::P_MAX }>;
/// 12 bytes of nonce leave three for the length, NIST SP 800-38C A.1.
pub(crate) type CcmMode<C> = Aead<Ccm<C, U16, U12>, { (1 << 24) - 1 }>;
/// What the crate's default table of L values reaches.
pub(crate) type Ocb<C> = Aead<Ocb3<C, U12>, { (1 << 30) - 1 }>;
/// All of the 32-bit block counter but block 0, RFC 8439 §2.8.
pub(crate) type ChaCha = Aead<ChaCha20Poly1305, { 64 * ((1 << 32) - 1) - 1 }>;

impl<A: AeadInOut + 'static, const MAX_LEN: u64> Mode for Aead<A, MAX_LEN> {
    type NonceSize = A::NonceSize;
    type TagSize = A::TagSize;

    fn encrypt(
        &self,
        nonce: &Nonce<A>,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
    ) -> Result<Tag<A>, Refusal> {
        self.0.encrypt_inout_detached(nonce, aad, buffer).map_err(|_| Refusal::Length)
    }

    fn decrypt(
        &self,
        nonce: &Nonce<A>,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
        tag: &Tag<A>,
    ) -> Result<(), Refusal> {
        if buffer.len() as u64 > MAX_LEN {
            return Err(Refusal::Length);
        }
        self.0.decrypt_inout_detached(nonce, aad, buffer, tag).map_err(|_| Refusal::Tag)
    }
}
