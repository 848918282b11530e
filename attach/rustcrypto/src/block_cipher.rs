//! What the modes ask of a block cipher.
use cipher::array::ArraySize;
use cipher::consts::{U0, U8, U16};
use cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, InOutBuf, KeyInit};
use contract::export::{Buffer, Refusal};
use hmac::digest::block_buffer::BlockSizes;

/// A cipher in both directions.
pub(crate) trait BlockCipher:
    BlockCipherEncrypt
    + BlockCipherDecrypt
    + BlockSizeUser<BlockSize: BlockSizes>
    + KeyInit
    + Clone
    + 'static
{
}

impl<C> BlockCipher for C where
    C: BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize: BlockSizes>
        + KeyInit
        + Clone
        + 'static
{
}

/// One with blocks of 128 bits.
pub(crate) trait Cipher128: BlockCipher + BlockSizeUser<BlockSize = U16> {}

impl<C: BlockCipher + BlockSizeUser<BlockSize = U16>> Cipher128 for C {}

/// One with blocks of 64 bits.
pub(crate) trait Cipher64: BlockCipher + BlockSizeUser<BlockSize = U8> {}

impl<C: BlockCipher + BlockSizeUser<BlockSize = U8>> Cipher64 for C {}

/// One block, which is also what the modes take as their IV.
pub(crate) type Block<C> = Array<u8, <C as BlockSizeUser>::BlockSize>;

/// What a mode without authentication has for a tag.
pub(crate) type NoTag = Array<u8, U0>;

/// A buffer as blocks, unless a part of one is left.
pub(crate) fn whole_blocks<'a, N: ArraySize>(
    buffer: Buffer<'a>,
) -> Result<InOutBuf<'a, 'a, Array<u8, N>>, Refusal> {
    let (blocks, tail) = buffer.into_chunks();
    if tail.is_empty() { Ok(blocks) } else { Err(Refusal::Failed) }
}
