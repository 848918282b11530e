//! CTR, OFB and ChaCha20, which make a key stream: the crates `ctr`, `ofb` and `chacha20`.
use crate::block_cipher::{Block, BlockCipher, Cipher64, Cipher128, NoTag};
use chacha20::ChaCha20;
use cipher::consts::{U12, U32};
use cipher::{Array, InnerIvInit, KeyIvInit, StreamCipher};
use contract::export::{Buffer, Done, Mode, Refusal, Streaming, Update};
use ctr::{Ctr64BE, Ctr128BE, CtrCore};
use ofb::{Ofb as OfbStream, OfbCore};
use std::ffi::CStr;

/// A mode whose directions both add the same key stream. `$stream` wraps `$core` so that it takes
/// pieces of any length; both are generic over the cipher, which a message borrows.
macro_rules! keystream_mode {
    ($(#[$doc:meta])* $name:ident, $cipher:ident, $stream:ident, $core:ident, $call:literal) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: $cipher> Mode for $name<C> {
            type Nonce = Block<C>;
            type Tag = NoTag;
            const CALLS: [&'static CStr; 2] = [$call; 2];
            const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                C::new_from_slice(key).ok().map(Self)
            }

            fn encrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                buffer: Buffer<'_>,
            ) -> Done<NoTag> {
                apply(&mut $stream::from_core($core::inner_iv_init(&self.0, iv)), buffer)?;
                Ok(NoTag::default())
            }

            fn decrypt(
                &mut self,
                iv: &Block<C>,
                aad: &[u8],
                buffer: Buffer<'_>,
                _: &NoTag,
            ) -> Done {
                self.encrypt(iv, aad, buffer).map(|_| ())
            }
        }

        impl<C: $cipher> Streaming for $name<C> {
            type Encryptor = Started<$stream<C>>;
            type Decryptor = Started<$stream<C>>;

            fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
                Started($stream::from_core($core::inner_iv_init(self.0.clone(), iv)))
            }

            fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
                self.start_encrypting(iv)
            }
        }
    };
}

keystream_mode!(
    /// Counter mode with a 128-bit big-endian counter.
    Ctr,
    Cipher128,
    Ctr128BE,
    CtrCore,
    c"ctr::CtrCore::inner_iv_init, Ctr128BE::try_apply_keystream_inout"
);
keystream_mode!(
    /// Counter mode with a 64-bit big-endian counter.
    Ctr64,
    Cipher64,
    Ctr64BE,
    CtrCore,
    c"ctr::CtrCore::inner_iv_init, Ctr64BE::try_apply_keystream_inout"
);
keystream_mode!(
    /// Output feedback.
    Ofb,
    BlockCipher,
    OfbStream,
    OfbCore,
    c"ofb::OfbCore::inner_iv_init, Ofb::try_apply_keystream_inout"
);

/// ChaCha20 from block 0; it has no key schedule.
pub(crate) struct ChaCha(pub(crate) Array<u8, U32>);

impl Mode for ChaCha {
    type Nonce = Array<u8, U12>;
    type Tag = NoTag;
    const CALLS: [&'static CStr; 2] = [c"ChaCha20::new, try_apply_keystream_inout"; 2];
    const REKEY: Option<&'static CStr> = Some(c"none: the key is an argument of each message");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        key.try_into().ok().map(Self)
    }

    fn encrypt(&mut self, nonce: &Self::Nonce, _: &[u8], buffer: Buffer<'_>) -> Done<NoTag> {
        apply(&mut ChaCha20::new(&self.0, nonce), buffer)?;
        Ok(NoTag::default())
    }

    fn decrypt(&mut self, nonce: &Self::Nonce, aad: &[u8], buffer: Buffer<'_>, _: &NoTag) -> Done {
        self.encrypt(nonce, aad, buffer).map(|_| ())
    }
}

impl Streaming for ChaCha {
    type Encryptor = Started<ChaCha20>;
    type Decryptor = Started<ChaCha20>;

    fn start_encrypting(&self, nonce: &Self::Nonce) -> Self::Encryptor {
        Started(ChaCha20::new(&self.0, nonce))
    }

    fn start_decrypting(&self, nonce: &Self::Nonce) -> Self::Decryptor {
        self.start_encrypting(nonce)
    }
}

/// A key stream that goes on.
pub(crate) struct Started<S>(S);

impl<S: StreamCipher + 'static> Update for Started<S> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        apply(&mut self.0, buffer)
    }
}

fn apply(keystream: &mut impl StreamCipher, buffer: Buffer<'_>) -> Done {
    keystream.try_apply_keystream_inout(buffer).map_err(|_| Refusal::Failed)
}
