//! CFB with segments of a block and of a byte: the crates `cfb-mode` and `cfb8`.
use crate::block::{mode_with_iv, stream_of_blocks};
use crate::block_cipher::{Block, BlockCipher, NoTag, whole_blocks};
use cipher::{BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser, InnerIvInit, IvState};
use contract::export::{Buffer, Done, Mode, Streaming, Update};
use std::ffi::CStr;

mode_with_iv!(
    /// Cipher feedback with full-block segments.
    Cfb,
    cfb_mode,
    encrypt_inout,
    decrypt_inout,
    |buffer| buffer,
    [
        c"cfb_mode::Encryptor::inner_iv_init, encrypt_inout",
        c"cfb_mode::Decryptor::inner_iv_init, decrypt_inout",
    ]
);
mode_with_iv!(
    /// Cipher feedback with segments of a byte.
    Cfb8,
    cfb8,
    encrypt_inout,
    decrypt_inout,
    |buffer| buffer,
    [
        c"cfb8::Encryptor::inner_iv_init, encrypt_inout",
        c"cfb8::Decryptor::inner_iv_init, decrypt_inout",
    ]
);
// To the crate a segment is a block of one byte, so that pieces of any length are whole blocks.
stream_of_blocks!(Cfb8, cfb8);

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
macro_rules! cfb_stream {
    ($name:ident, $whole:ident, $pieces:ident, $blocks:ident, $any:ident) => {
        pub(crate) enum $name<C: BlockCipher> {
            Whole(C, cfb_mode::$whole<C>),
            Pieces(cfb_mode::$pieces<C>),
        }

        impl<C: BlockCipher> Update for $name<C> {
            fn update(&mut self, buffer: Buffer<'_>) -> Done {
                match self {
                    Self::Whole(_, mode) if is_whole::<C>(&buffer) => {
                        mode.$blocks(whole_blocks(buffer)?);
                    }
                    Self::Whole(cipher, mode) => {
                        let iv = mode.iv_state();
                        let mut pieces = cfb_mode::$pieces::inner_iv_init(cipher.clone(), &iv);
                        pieces.$any(buffer.into_out_with_copied_in());
                        *self = Self::Pieces(pieces);
                    }
                    Self::Pieces(mode) => mode.$any(buffer.into_out_with_copied_in()),
                }
                Ok(())
            }
        }
    };
}

cfb_stream!(CfbEncrypting, Encryptor, BufEncryptor, encrypt_blocks_inout, encrypt);
cfb_stream!(CfbDecrypting, Decryptor, BufDecryptor, decrypt_blocks_inout, decrypt);

fn is_whole<C: BlockSizeUser>(buffer: &Buffer<'_>) -> bool {
    buffer.len().is_multiple_of(C::block_size())
}
