//! SIV, RFC 5297, with a nonce: the vector has exactly two components before the plaintext, the
//! associated data and the nonce (§3).

use super::Implementation;
use super::any::AnyCipher;
use ::aead::KeyInit;
use aes_siv::siv::CmacSiv;
use cipher::Key;

/// The key for CMAC, then the one for CTR. The crate's object changes with every message, so that
/// each gets its own: three key schedules a message.
pub(super) struct Siv {
    key: Key<CmacSiv<AnyCipher>>,
}

impl Siv {
    pub(super) fn new(mac: &Key<AnyCipher>, ctr: &Key<AnyCipher>) -> Self {
        let key = [&mac[..], &ctr[..]].concat();
        Self { key: key.as_slice().try_into().expect("two keys") }
    }

    fn message(&self) -> CmacSiv<AnyCipher> {
        CmacSiv::new(&self.key)
    }
}

impl Implementation for Siv {
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
