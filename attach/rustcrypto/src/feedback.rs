//! CFB with segments of a block and of a byte: the crates `cfb-mode` and `cfb8`.

use crate::block::{Decrypting, Encrypting};
use crate::block_cipher::{Block, BlockCipher, NoTag, whole_blocks};
use cipher::{BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit, IvState};
use export::{Buffer, Done, Mode, Streaming, Update};
use std::ffi::CStr;

/// A feedback mode of one of the crates; both have the same two mode objects.
macro_rules! feedback_mode {
    ($(#[$doc:meta])* $name:ident, $krate:ident, $encrypt:literal, $decrypt:literal) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: BlockCipher> Mode for $name<C> {
            type Nonce = Block<C>;
            type Tag = NoTag;
            const CALLS: [&'static CStr; 2] = [$encrypt, $decrypt];
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
                $krate::Encryptor::inner_iv_init(&self.0, iv).encrypt_inout(buffer);
                Ok(NoTag::default())
            }

            fn decrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                buffer: Buffer<'_>,
                _: &NoTag,
            ) -> Done {
                $krate::Decryptor::inner_iv_init(&self.0, iv).decrypt_inout(buffer);
                Ok(())
            }
        }
    };
}

feedback_mode!(
    /// Cipher feedback with full-block segments.
    Cfb,
    cfb_mode,
    c"cfb_mode::Encryptor::inner_iv_init, encrypt_inout",
    c"cfb_mode::Decryptor::inner_iv_init, decrypt_inout"
);
feedback_mode!(
    /// Cipher feedback with segments of a byte.
    Cfb8,
    cfb8,
    c"cfb8::Encryptor::inner_iv_init, encrypt_inout",
    c"cfb8::Decryptor::inner_iv_init, decrypt_inout"
);

/// To the crate a segment is a block of one byte, so that pieces of any length are whole blocks.
impl<C: BlockCipher> Streaming for Cfb8<C> {
    type Encryptor = Encrypting<cfb8::Encryptor<C>>;
    type Decryptor = Decrypting<cfb8::Decryptor<C>>;

    fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
        Encrypting(cfb8::Encryptor::inner_iv_init(self.0.clone(), iv))
    }

    fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
        Decrypting(cfb8::Decryptor::inner_iv_init(self.0.clone(), iv))
    }
}

impl<C: BlockCipher> Streaming for Cfb<C> {
    type Encryptor = CfbEncrypting<C>;
    type Decryptor = CfbDecrypting<C>;

    fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
        let cipher = self.0.clone();
        CfbEncrypting::Whole(self.0.clone(), cfb_mode::Encryptor::inner_iv_init(cipher, iv))
    }

    fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
        let cipher = self.0.clone();
        CfbDecrypting::Whole(self.0.clone(), cfb_mode::Decryptor::inner_iv_init(cipher, iv))
    }
}

/// The crate has one mode object for whole blocks, which goes through the cipher many blocks at a
/// time where the mode allows, and one for pieces of any length, which never does. A stream keeps
/// to the first until a piece leaves a block unfinished.
pub(crate) enum CfbEncrypting<C: BlockCipher> {
    Whole(C, cfb_mode::Encryptor<C>),
    Pieces(cfb_mode::BufEncryptor<C>),
}

impl<C: BlockCipher> Update for CfbEncrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        match self {
            Self::Whole(_, mode) if is_whole::<C>(&buffer) => {
                mode.encrypt_blocks_inout(whole_blocks(buffer)?);
            }
            Self::Whole(cipher, mode) => {
                let iv = mode.iv_state();
                let mut pieces = cfb_mode::BufEncryptor::inner_iv_init(cipher.clone(), &iv);
                pieces.encrypt(buffer.into_out_with_copied_in());
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(mode) => mode.encrypt(buffer.into_out_with_copied_in()),
        }
        Ok(())
    }
}

/// As [`CfbEncrypting`].
pub(crate) enum CfbDecrypting<C: BlockCipher> {
    Whole(C, cfb_mode::Decryptor<C>),
    Pieces(cfb_mode::BufDecryptor<C>),
}

impl<C: BlockCipher> Update for CfbDecrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        match self {
            Self::Whole(_, mode) if is_whole::<C>(&buffer) => {
                mode.decrypt_blocks_inout(whole_blocks(buffer)?);
            }
            Self::Whole(cipher, mode) => {
                let iv = mode.iv_state();
                let mut pieces = cfb_mode::BufDecryptor::inner_iv_init(cipher.clone(), &iv);
                pieces.decrypt(buffer.into_out_with_copied_in());
                *self = Self::Pieces(pieces);
            }
            Self::Pieces(mode) => mode.decrypt(buffer.into_out_with_copied_in()),
        }
        Ok(())
    }
}

fn is_whole<C: BlockSizeUser>(buffer: &Buffer<'_>) -> bool {
    buffer.len().is_multiple_of(C::block_size())
}
