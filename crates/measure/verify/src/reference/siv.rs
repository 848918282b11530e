//! SIV, RFC 5297, with a nonce: the vector has exactly two components before the plaintext, the
//! associated data and the nonce (§3).

use super::Implementation;
use super::block::BlockCipher128;
use ::aead::KeyInit;
use aes_siv::siv::CmacSiv;
use std::marker::PhantomData;

/// The key for CMAC, then the one for CTR. The crate's object changes with every message, so that
/// each gets its own: three key schedules a message.
pub(super) struct Siv<C> {
    key: Vec<u8>,
    cipher: PhantomData<C>,
}

impl<C> Siv<C> {
    pub(super) fn new(key: &[u8]) -> Self {
        Self { key: key.to_vec(), cipher: PhantomData }
    }
}

impl<C: BlockCipher128> Implementation for Siv<C>
where
    CmacSiv<C>: KeyInit,
{
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        let made = self
            .message()
            .encrypt_inout_detached([aad, nonce], buffer.into())
            .expect("two components are not too many");
        tag.copy_from_slice(&made);
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        let tag = tag.try_into().expect("the tag is a block");
        self.message().decrypt_inout_detached([aad, nonce], buffer.into(), tag).is_ok()
    }

    // No stream: the key stream depends on the whole message.
}

impl<C: BlockCipher128> Siv<C>
where
    CmacSiv<C>: KeyInit,
{
    fn message(&self) -> CmacSiv<C> {
        CmacSiv::<C>::new_from_slice(&self.key).expect("the key has two keys' length")
    }
}
