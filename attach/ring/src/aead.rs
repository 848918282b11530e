//! AES-GCM and ChaCha20-Poly1305.
use contract::export::{Buffer, Done, Mode, Refusal, raw};
use ring::aead::{Aad, LessSafeKey, Nonce, Tag, UnboundKey};
use std::ffi::CStr;

/// An authenticated mode under its key. ring works in place only: out of place its users copy the
/// message first, which is therefore part of the call.
pub(crate) struct Aead(pub(crate) LessSafeKey);

impl Mode for Aead {
    type Nonce = [u8; 12];
    type Tag = [u8; 16];
    const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
    const CALLS: [&'static CStr; 2] =
        [c"LessSafeKey::seal_in_place_separate_tag", c"LessSafeKey::open_in_place_separate_tag"];
    const REKEY: Option<&'static CStr> = Some(c"UnboundKey::new, LessSafeKey::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        UnboundKey::new(self.0.algorithm(), key).ok().map(|key| Self(LessSafeKey::new(key)))
    }

    fn encrypt(&mut self, nonce: &[u8; 12], aad: &[u8], buffer: Buffer<'_>) -> Done<[u8; 16]> {
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let message = buffer.into_out_with_copied_in();
        let tag = self
            .0
            .seal_in_place_separate_tag(nonce, Aad::from(aad), message)
            .map_err(|_| Refusal::Failed)?;
        tag.as_ref().try_into().map_err(|_| Refusal::Failed)
    }

    fn decrypt(
        &mut self,
        nonce: &[u8; 12],
        aad: &[u8],
        buffer: Buffer<'_>,
        tag: &[u8; 16],
    ) -> Done {
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let message = buffer.into_out_with_copied_in();
        self.0
            .open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(*tag), message, 0..)
            .map_err(|_| Refusal::Tag)?;
        Ok(())
    }
}
