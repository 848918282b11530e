//! AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305.
use contract::export::{Buffer, Done, Mode, Refusal, raw};
use graviola::aead::{AesGcm, ChaCha20Poly1305, XChaCha20Poly1305};
use std::ffi::CStr;

/// An authenticated mode under its key. Graviola works in place only: out of place its users copy
/// the message first, which is therefore part of the call.
macro_rules! mode {
    ($(#[$doc:meta])* $name:ident, $type:ty, $nonce_len:literal, $encrypt:literal, $decrypt:literal, $new:literal) => {
        $(#[$doc])*
        pub(crate) struct $name(pub(crate) $type);

        impl Mode for $name {
            type Nonce = [u8; $nonce_len];
            type Tag = [u8; 16];
            const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
            const CALLS: [&'static CStr; 2] = [$encrypt, $decrypt];
            const REKEY: Option<&'static CStr> = Some($new);

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                // Keys have the length that was opened, which the type takes.
                key.try_into().ok().map(|key| Self(<$type>::new(key)))
            }

            fn encrypt(
                &mut self,
                nonce: &Self::Nonce,
                aad: &[u8],
                buffer: Buffer<'_>,
            ) -> Done<[u8; 16]> {
                let mut tag = [0; 16];
                self.0.encrypt(nonce, aad, buffer.into_out_with_copied_in(), &mut tag);
                Ok(tag)
            }

            fn decrypt(
                &mut self,
                nonce: &Self::Nonce,
                aad: &[u8],
                buffer: Buffer<'_>,
                tag: &[u8; 16],
            ) -> Done {
                let message = buffer.into_out_with_copied_in();
                self.0.decrypt(nonce, aad, message, tag).map_err(|_| Refusal::Tag)
            }
        }
    };
}

mode!(
    /// AES-GCM.
    Gcm,
    AesGcm,
    12,
    c"AesGcm::encrypt",
    c"AesGcm::decrypt",
    c"AesGcm::new"
);
mode!(
    /// ChaCha20-Poly1305.
    ChaCha,
    ChaCha20Poly1305,
    12,
    c"ChaCha20Poly1305::encrypt",
    c"ChaCha20Poly1305::decrypt",
    c"ChaCha20Poly1305::new"
);
mode!(
    /// XChaCha20-Poly1305.
    XChaCha,
    XChaCha20Poly1305,
    24,
    c"XChaCha20Poly1305::encrypt",
    c"XChaCha20Poly1305::decrypt",
    c"XChaCha20Poly1305::new"
);
