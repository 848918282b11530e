//! ECB, CBC and CFB: the crates `ecb`, `cbc` and `cfb-mode`.

use crate::mode::{Block, BlockCipher, Buffer, Mode, Refusal, Streaming, Update, whole_blocks};
use cipher::common::InnerInit;
use cipher::consts::{U0, U16};
use cipher::{Array, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit, IvState};

type NoTag = Array<u8, U0>;

/// Electronic codebook.
pub(crate) struct Ecb<C>(pub(crate) C);

impl<C: BlockCipher> Mode for Ecb<C> {
    type NonceSize = U0;
    type TagSize = U0;

    fn encrypt(&self, _: &NoTag, _: &[u8], buffer: Buffer<'_, '_>) -> Result<NoTag, Refusal> {
        ecb::Encryptor::inner_init(&self.0).encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(NoTag::default())
    }

    fn decrypt(
        &self,
        _: &NoTag,
        _: &[u8],
        buffer: Buffer<'_, '_>,
        _: &NoTag,
    ) -> Result<(), Refusal> {
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

/// Cipher block chaining.
pub(crate) struct Cbc<C>(pub(crate) C);

impl<C: BlockCipher> Mode for Cbc<C> {
    type NonceSize = U16;
    type TagSize = U0;

    fn encrypt(&self, iv: &Block, _: &[u8], buffer: Buffer<'_, '_>) -> Result<NoTag, Refusal> {
        cbc::Encryptor::inner_iv_init(&self.0, iv).encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(NoTag::default())
    }

    fn decrypt(
        &self,
        iv: &Block,
        _: &[u8],
        buffer: Buffer<'_, '_>,
        _: &NoTag,
    ) -> Result<(), Refusal> {
        cbc::Decryptor::inner_iv_init(&self.0, iv).decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

impl<C: BlockCipher> Streaming for Cbc<C> {
    type Encryptor = Encrypting<cbc::Encryptor<C>>;
    type Decryptor = Decrypting<cbc::Decryptor<C>>;

    fn start_encrypting(&self, iv: &Block) -> Self::Encryptor {
        Encrypting(cbc::Encryptor::inner_iv_init(self.0.clone(), iv))
    }

    fn start_decrypting(&self, iv: &Block) -> Self::Decryptor {
        Decrypting(cbc::Decryptor::inner_iv_init(self.0.clone(), iv))
    }
}

/// A mode object that takes whole blocks.
pub(crate) struct Encrypting<M>(M);

impl<M: BlockModeEncrypt<BlockSize = U16>> Update for Encrypting<M> {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        self.0.encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

/// A mode object that takes whole blocks.
pub(crate) struct Decrypting<M>(M);

impl<M: BlockModeDecrypt<BlockSize = U16>> Update for Decrypting<M> {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        self.0.decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

/// Cipher feedback with full-block segments.
pub(crate) struct Cfb<C>(pub(crate) C);

impl<C: BlockCipher> Mode for Cfb<C> {
    type NonceSize = U16;
    type TagSize = U0;

    fn encrypt(&self, iv: &Block, _: &[u8], buffer: Buffer<'_, '_>) -> Result<NoTag, Refusal> {
        cfb_mode::Encryptor::inner_iv_init(&self.0, iv).encrypt_inout(buffer);
        Ok(NoTag::default())
    }

    fn decrypt(
        &self,
        iv: &Block,
        _: &[u8],
        buffer: Buffer<'_, '_>,
        _: &NoTag,
    ) -> Result<(), Refusal> {
        cfb_mode::Decryptor::inner_iv_init(&self.0, iv).decrypt_inout(buffer);
        Ok(())
    }
}

impl<C: BlockCipher> Streaming for Cfb<C> {
    type Encryptor = CfbEncrypting<C>;
    type Decryptor = CfbDecrypting<C>;

    fn start_encrypting(&self, iv: &Block) -> Self::Encryptor {
        let cipher = self.0.clone();
        CfbEncrypting::Whole(self.0.clone(), cfb_mode::Encryptor::inner_iv_init(cipher, iv))
    }

    fn start_decrypting(&self, iv: &Block) -> Self::Decryptor {
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
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        match self {
            Self::Whole(_, mode) if is_whole(&buffer) => {
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
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        match self {
            Self::Whole(_, mode) if is_whole(&buffer) => {
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

fn is_whole(buffer: &Buffer<'_, '_>) -> bool {
    buffer.len().is_multiple_of(size_of::<Block>())
}
