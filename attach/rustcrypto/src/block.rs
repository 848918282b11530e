//! ECB and CBC: the crates `ecb` and `cbc`.
use crate::block_cipher::{Block, BlockCipher, NoTag, whole_blocks};
use cipher::common::InnerInit;
use cipher::{BlockModeDecrypt, BlockModeEncrypt, InnerIvInit};
use contract::export::{Buffer, Done, Mode, Streaming, Update};
use std::ffi::CStr;

/// Electronic codebook.
pub(crate) struct Ecb<C>(pub(crate) C);

impl<C: BlockCipher> Mode for Ecb<C> {
    type Nonce = NoTag;
    type Tag = NoTag;
    const CALLS: [&'static CStr; 2] = [
        c"ecb::Encryptor::inner_init, encrypt_blocks_inout",
        c"ecb::Decryptor::inner_init, decrypt_blocks_inout",
    ];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        C::new_from_slice(key).ok().map(Self)
    }

    fn encrypt(&mut self, _: &NoTag, _: &[u8], buffer: Buffer<'_>) -> Done<NoTag> {
        ecb::Encryptor::inner_init(&self.0).encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(NoTag::default())
    }

    fn decrypt(&mut self, _: &NoTag, _: &[u8], buffer: Buffer<'_>, _: &NoTag) -> Done {
        ecb::Decryptor::inner_init(&self.0).decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

impl<C: BlockCipher> Streaming for Ecb<C> {
    type Encryptor = Encrypting<ecb::Encryptor<C>>;
    type Decryptor = Decrypting<ecb::Decryptor<C>>;

    fn start_encrypting(&self, _: &NoTag) -> Self::Encryptor {
        Encrypting(ecb::Encryptor::inner_init(self.0.clone()))
    }

    fn start_decrypting(&self, _: &NoTag) -> Self::Decryptor {
        Decrypting(ecb::Decryptor::inner_init(self.0.clone()))
    }
}

/// A mode with an IV of one of the crates, all of which have the same two mode objects: what encrypts and
/// decrypts a message, and what is made of its buffer.
macro_rules! mode_with_iv {
    (
        $(#[$doc:meta])* $name:ident, $krate:ident,
        $encrypt:ident, $decrypt:ident, |$buffer:ident| $made:expr, $calls:expr $(,)?
    ) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: BlockCipher> Mode for $name<C> {
            type Nonce = Block<C>;
            type Tag = NoTag;
            const CALLS: [&'static CStr; 2] = $calls;
            const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                C::new_from_slice(key).ok().map(Self)
            }

            fn encrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                $buffer: Buffer<'_>,
            ) -> Done<NoTag> {
                $krate::Encryptor::inner_iv_init(&self.0, iv).$encrypt($made);
                Ok(NoTag::default())
            }

            fn decrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                $buffer: Buffer<'_>,
                _: &NoTag,
            ) -> Done {
                $krate::Decryptor::inner_iv_init(&self.0, iv).$decrypt($made);
                Ok(())
            }
        }
    };
}
pub(crate) use mode_with_iv;

/// Streams of such a mode in whole blocks.
macro_rules! stream_of_blocks {
    ($name:ident, $krate:ident) => {
        impl<C: BlockCipher> Streaming for $name<C> {
            type Encryptor = $crate::block::Encrypting<$krate::Encryptor<C>>;
            type Decryptor = $crate::block::Decrypting<$krate::Decryptor<C>>;

            fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
                $crate::block::Encrypting($krate::Encryptor::inner_iv_init(self.0.clone(), iv))
            }

            fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
                $crate::block::Decrypting($krate::Decryptor::inner_iv_init(self.0.clone(), iv))
            }
        }
    };
}
pub(crate) use stream_of_blocks;

mode_with_iv!(
    /// Cipher block chaining.
    Cbc,
    cbc,
    encrypt_blocks_inout,
    decrypt_blocks_inout,
    |buffer| whole_blocks(buffer)?,
    [
        c"cbc::Encryptor::inner_iv_init, encrypt_blocks_inout",
        c"cbc::Decryptor::inner_iv_init, decrypt_blocks_inout",
    ]
);
stream_of_blocks!(Cbc, cbc);

/// A mode object that takes whole blocks.
pub(crate) struct Encrypting<M>(pub(crate) M);

impl<M: BlockModeEncrypt + 'static> Update for Encrypting<M> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

/// A mode object that takes whole blocks.
pub(crate) struct Decrypting<M>(pub(crate) M);

impl<M: BlockModeDecrypt + 'static> Update for Decrypting<M> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}
