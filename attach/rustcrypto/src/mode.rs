//! What a mode of operation offers, in safe code; `table` puts it behind C functions.

use cipher::Array;
use cipher::array::ArraySize;
use cipher::consts::U16;
use cipher::inout::InOutBuf;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use contract::raw;

/// A cipher with 128-bit blocks in both directions.
pub(crate) trait BlockCipher:
    BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit + Clone + 'static
{
}

impl BlockCipher for aes::Aes128 {}
impl BlockCipher for aes::Aes192 {}
impl BlockCipher for aes::Aes256 {}

/// One AES block.
pub(crate) type Block = Array<u8, U16>;

/// Input and output of a call: the same buffer, or two that do not overlap.
pub(crate) type Buffer<'i, 'o> = InOutBuf<'i, 'o, u8>;

/// Why a call did not succeed.
#[derive(Clone, Copy, Debug)]
#[repr(i32)]
pub(crate) enum Refusal {
    /// The tag is wrong.
    Tag = raw::REJECTED,
    /// The length is none that the mode takes.
    Length = raw::FAILED,
}

/// A mode under an expanded key. Each call is one whole message.
pub(crate) trait Mode: 'static {
    type NonceSize: ArraySize;
    /// Zero for modes without authentication.
    type TagSize: ArraySize;

    fn encrypt(
        &self,
        nonce: &Array<u8, Self::NonceSize>,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
    ) -> Result<Array<u8, Self::TagSize>, Refusal>;

    fn decrypt(
        &self,
        nonce: &Array<u8, Self::NonceSize>,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
        tag: &Array<u8, Self::TagSize>,
    ) -> Result<(), Refusal>;
}

/// A mode whose crate can continue over several calls. A mode object owns a copy of the expanded
/// key, taken when the stream starts.
pub(crate) trait Streaming: Mode {
    type Encryptor: Update;
    type Decryptor: Update;

    fn start_encrypting(&self, nonce: &Array<u8, Self::NonceSize>) -> Self::Encryptor;
    fn start_decrypting(&self, nonce: &Array<u8, Self::NonceSize>) -> Self::Decryptor;
}

/// A stream that has been started.
pub(crate) trait Update {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal>;
}

/// A buffer as blocks, unless a part of one is left.
pub(crate) fn whole_blocks<'i, 'o>(
    buffer: Buffer<'i, 'o>,
) -> Result<InOutBuf<'i, 'o, Block>, Refusal> {
    let (blocks, tail) = buffer.into_chunks();
    if tail.is_empty() { Ok(blocks) } else { Err(Refusal::Length) }
}
