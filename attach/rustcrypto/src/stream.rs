//! CTR and OFB, which make a key stream: the crates `ctr` and `ofb`.

use crate::mode::{Block, BlockCipher, Buffer, Mode, Refusal, Streaming, Update};
use cipher::consts::{U0, U16};
use cipher::{Array, InnerIvInit, StreamCipher};
use ctr::{Ctr128BE, CtrCore};
use ofb::{Ofb as OfbStream, OfbCore};

/// A mode whose directions both add the same key stream. `$stream` wraps `$core` so that it takes
/// pieces of any length; both are generic over the cipher, which a message borrows.
macro_rules! keystream_mode {
    ($(#[$doc:meta])* $name:ident, $stream:ident, $core:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: BlockCipher> Mode for $name<C> {
            type NonceSize = U16;
            type TagSize = U0;

            fn encrypt(
                &self,
                iv: &Block,
                _: &[u8],
                buffer: Buffer<'_, '_>,
            ) -> Result<Array<u8, U0>, Refusal> {
                apply(&mut $stream::from_core($core::inner_iv_init(&self.0, iv)), buffer)?;
                Ok(Array::default())
            }

            fn decrypt(
                &self,
                iv: &Block,
                aad: &[u8],
                buffer: Buffer<'_, '_>,
                _: &Array<u8, U0>,
            ) -> Result<(), Refusal> {
                self.encrypt(iv, aad, buffer).map(|_| ())
            }
        }

        impl<C: BlockCipher> Streaming for $name<C> {
            type Encryptor = Started<$stream<C>>;
            type Decryptor = Started<$stream<C>>;

            fn start_encrypting(&self, iv: &Block) -> Self::Encryptor {
                Started($stream::from_core($core::inner_iv_init(self.0.clone(), iv)))
            }

            fn start_decrypting(&self, iv: &Block) -> Self::Decryptor {
                self.start_encrypting(iv)
            }
        }
    };
}

keystream_mode!(
    /// Counter mode with a 128-bit big-endian counter.
    Ctr,
    Ctr128BE,
    CtrCore
);
keystream_mode!(
    /// Output feedback.
    Ofb,
    OfbStream,
    OfbCore
);

/// A key stream that goes on.
pub(crate) struct Started<S>(S);

impl<S: StreamCipher> Update for Started<S> {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        apply(&mut self.0, buffer)
    }
}

fn apply(keystream: &mut impl StreamCipher, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
    keystream.try_apply_keystream_inout(buffer).map_err(|_| Refusal::Length)
}
