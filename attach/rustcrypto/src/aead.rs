//! The authenticated modes: the crates `aes-gcm`, `aes-gcm-siv`, `ccm`, `eax`, `ocb3`, `aes-siv`
//! and `chacha20poly1305`, all but a part of `aes-siv` behind the trait `aead::AeadInOut`. It
//! knows whole messages only, so there are no streams.
use crate::block_cipher::Cipher128;
use ::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::siv::CmacSiv;
use ccm::Ccm;
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use cipher::consts::{U12, U16};
use cipher::{Array, KeyInit};
use contract::export::{Buffer, Done, Mode, Refusal};
use eax::Eax;
use ocb3::Ocb3;
use std::ffi::CStr;

/// An authenticated mode that takes messages of up to `MAX_LEN` bytes. Decrypting longer ones, the
/// crates report the same error as for a wrong tag, or (CCM, past 64 GiB) panic.
pub(crate) struct Aead<A, const MAX_LEN: u64>(pub(crate) A);

/// NIST SP 800-38D §5.2.1.1.
pub(crate) type Gcm<C> = Aead<AesGcm<C, U12>, { aes_gcm::P_MAX }>;
/// RFC 8452 §6.
pub(crate) type GcmSiv<C> = Aead<AesGcmSiv<C>, { aes_gcm_siv::P_MAX }>;
/// 12 bytes of nonce leave three for the length, NIST SP 800-38C A.1.
pub(crate) type CcmMode<C> = Aead<Ccm<C, U16, U12>, { (1 << 24) - 1 }>;
/// The crate's own limit.
pub(crate) type EaxMode<C> = Aead<Eax<C>, { eax::P_MAX }>;
/// What the crate's default table of L values reaches.
pub(crate) type Ocb<C> = Aead<Ocb3<C, U12>, { (1 << 30) - 1 }>;
/// RFC 5297 names no limit that a length could reach.
pub(crate) type SivAead<A> = Aead<A, { u64::MAX }>;
/// All of the 32-bit block counter but block 0, RFC 8439 §2.8.
const CHACHA_MAX: u64 = 64 * ((1 << 32) - 1) - 1;
pub(crate) type ChaCha = Aead<ChaCha20Poly1305, CHACHA_MAX>;
pub(crate) type XChaCha = Aead<XChaCha20Poly1305, CHACHA_MAX>;

/// The name under which the crate's users know the type.
pub(crate) trait Named {
    const CALLS: [&'static CStr; 2];
}

macro_rules! named {
    ($($type:ty, $name:literal $(, $cipher:ident)?);+ $(;)?) => {
        $(impl$(<$cipher: Cipher128>)? Named for $type {
            const CALLS: [&'static CStr; 2] = [
                match CStr::from_bytes_with_nul(
                    concat!($name, "::encrypt_inout_detached\0").as_bytes(),
                ) {
                    Ok(call) => call,
                    Err(_) => panic!("the name has no NUL"),
                },
                match CStr::from_bytes_with_nul(
                    concat!($name, "::decrypt_inout_detached\0").as_bytes(),
                ) {
                    Ok(call) => call,
                    Err(_) => panic!("the name has no NUL"),
                },
            ];
        })+
    };
}

named! {
    AesGcm<C, U12>, "AesGcm", C;
    AesGcmSiv<C>, "AesGcmSiv", C;
    Ccm<C, U16, U12>, "Ccm", C;
    Eax<C>, "Eax", C;
    Ocb3<C, U12>, "Ocb3", C;
    aes_siv::Aes128SivAead, "Aes128SivAead";
    aes_siv::Aes256SivAead, "Aes256SivAead";
    ChaCha20Poly1305, "ChaCha20Poly1305";
    XChaCha20Poly1305, "XChaCha20Poly1305";
}

impl<A: AeadInOut + KeyInit + Named + 'static, const MAX_LEN: u64> Mode for Aead<A, MAX_LEN> {
    type Nonce = Nonce<A>;
    type Tag = Tag<A>;
    const CALLS: [&'static CStr; 2] = A::CALLS;
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        A::new_from_slice(key).ok().map(Self)
    }

    fn encrypt(&mut self, nonce: &Nonce<A>, aad: &[u8], buffer: Buffer<'_>) -> Done<Tag<A>> {
        self.0.encrypt_inout_detached(nonce, aad, buffer).map_err(|_| Refusal::Failed)
    }

    fn decrypt(&mut self, nonce: &Nonce<A>, aad: &[u8], buffer: Buffer<'_>, tag: &Tag<A>) -> Done {
        if buffer.len() as u64 > MAX_LEN {
            return Err(Refusal::Failed);
        }
        self.0.decrypt_inout_detached(nonce, aad, buffer, tag).map_err(|_| Refusal::Tag)
    }
}

/// SIV over a cipher for which the crate has no authenticated type of its own. The components are
/// those of its types: the associated data, then the nonce.
pub(crate) struct Siv<C: Cipher128>(pub(crate) CmacSiv<C>);

impl<C: Cipher128> Mode for Siv<C>
where
    CmacSiv<C>: KeyInit,
{
    type Nonce = Array<u8, U16>;
    type Tag = Array<u8, U16>;
    const CALLS: [&'static CStr; 2] =
        [c"CmacSiv::encrypt_inout_detached", c"CmacSiv::decrypt_inout_detached"];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        <CmacSiv<C> as KeyInit>::new_from_slice(key).ok().map(Self)
    }

    fn encrypt(&mut self, nonce: &Self::Nonce, aad: &[u8], buffer: Buffer<'_>) -> Done<Self::Tag> {
        let components = [aad, nonce.as_slice()];
        self.0.encrypt_inout_detached(components, buffer).map_err(|_| Refusal::Failed)
    }

    fn decrypt(
        &mut self,
        nonce: &Self::Nonce,
        aad: &[u8],
        buffer: Buffer<'_>,
        tag: &Self::Tag,
    ) -> Done {
        let components = [aad, nonce.as_slice()];
        self.0.decrypt_inout_detached(components, buffer, tag).map_err(|_| Refusal::Tag)
    }
}
