//! Block ciphers as one type; and xor, encipher, xor, which XTS and OCB share.
//!
//! The block ciphers with blocks of 128 bits as one type: every mode is compiled once, and not once for each of ten
//! ciphers. Blocks pass the indirect call many at a time.

use aes::{Aes128, Aes192, Aes256};
use aria::{Aria128, Aria192, Aria256};
use base::model::Primitive;
use camellia::{Camellia128, Camellia192, Camellia256};
use cipher::common::array::ArraySize;
use cipher::common::{BlockSizeUser, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser};
use cipher::consts::{U16, U33, U64};
use cipher::inout::{InOut, InOutBuf};
use cipher::{
    Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, Key,
};
use sm4::Sm4;
use std::sync::Arc;

/// One of [`CIPHERS`] under a key.
#[derive(Clone)]
pub(crate) struct AnyCipher(Arc<dyn Permutation>);

/// Key, direction and blocks are all that a mode asks for.
trait Permutation: Send + Sync {
    fn encrypt(&self, blocks: &mut [Block]);
    fn decrypt(&self, blocks: &mut [Block]);
}

impl<C> Permutation for C
where
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + Send + Sync,
{
    fn encrypt(&self, blocks: &mut [Block]) {
        self.encrypt_blocks(blocks);
    }

    fn decrypt(&self, blocks: &mut [Block]) {
        self.decrypt_blocks(blocks);
    }
}

/// Cipher, bytes of its key, key schedule.
type Row = (Primitive, usize, fn(&[u8]) -> Arc<dyn Permutation>);

const CIPHERS: &[Row] = &[
    (Primitive::Aes, 16, schedule::<Aes128>),
    (Primitive::Aes, 24, schedule::<Aes192>),
    (Primitive::Aes, 32, schedule::<Aes256>),
    (Primitive::Camellia, 16, schedule::<Camellia128>),
    (Primitive::Camellia, 24, schedule::<Camellia192>),
    (Primitive::Camellia, 32, schedule::<Camellia256>),
    (Primitive::Aria, 16, schedule::<Aria128>),
    (Primitive::Aria, 24, schedule::<Aria192>),
    (Primitive::Aria, 32, schedule::<Aria256>),
    (Primitive::Sm4, 16, schedule::<Sm4>),
];

fn schedule<C: Permutation + KeyInit + 'static>(key: &[u8]) -> Arc<dyn Permutation> {
    Arc::new(C::new_from_slice(key).expect("the row has the key's length"))
}

/// The key that chooses the cipher, too, so that modes which make cipher objects of their own can: the cipher's row, the
/// key, and zeros up to the longest.
///
/// # Panics
/// When no cipher of that name has 128-bit blocks and such a key.
pub(crate) fn choosing_key(cipher: Primitive, key: &[u8]) -> Key<AnyCipher> {
    let row = CIPHERS.iter().position(|row| (row.0, row.1) == (cipher, key.len()));
    let mut chosen = Key::<AnyCipher>::default();
    chosen[0] = row.unwrap_or_else(|| panic!("{cipher:?} with {} bytes", key.len())) as u8;
    chosen[1..=key.len()].copy_from_slice(key);
    chosen
}

impl AnyCipher {
    /// Does the key schedule.
    ///
    /// # Panics
    /// As [`choosing_key`].
    pub(crate) fn keyed(cipher: Primitive, key: &[u8]) -> Self {
        Self::new(&choosing_key(cipher, key))
    }
}

impl KeySizeUser for AnyCipher {
    type KeySize = U33;
}

impl KeyInit for AnyCipher {
    fn new(key: &Key<Self>) -> Self {
        let (_, len, schedule) = CIPHERS[usize::from(key[0])];
        Self(schedule(&key[1..=len]))
    }
}

impl BlockSizeUser for AnyCipher {
    type BlockSize = U16;
}

impl BlockCipherEncrypt for AnyCipher {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        f.call(&Way(|blocks: &mut [Block]| self.0.encrypt(blocks)));
    }
}

impl BlockCipherDecrypt for AnyCipher {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = U16>) {
        f.call(&Way(|blocks: &mut [Block]| self.0.decrypt(blocks)));
    }
}

/// One direction of a cipher.
struct Way<F>(F);

impl<F> BlockSizeUser for Way<F> {
    type BlockSize = U16;
}

/// As many as the widest kernel takes: 64 blocks with 512-bit registers.
impl<F> ParBlocksSizeUser for Way<F> {
    type ParBlocksSize = U64;
}

impl<F: Fn(&mut [Block])> Way<F> {
    fn block(&self, mut block: InOut<'_, '_, Block>) {
        let mut made = [*block.get_in()];
        self.0(&mut made);
        [*block.get_out()] = made;
    }

    fn blocks<N: ArraySize>(&self, mut blocks: InOut<'_, '_, Array<Block, N>>) {
        let mut made = blocks.clone_in();
        self.0(&mut made);
        *blocks.get_out() = made;
    }

    fn tail(&self, mut blocks: InOutBuf<'_, '_, Block>) {
        let mut made = [Block::default(); 64];
        let made = &mut made[..blocks.len()];
        made.copy_from_slice(blocks.get_in());
        self.0(made);
        blocks.get_out().copy_from_slice(made);
    }
}

impl<F: Fn(&mut [Block])> BlockCipherEncBackend for Way<F> {
    fn encrypt_block(&self, block: InOut<'_, '_, Block>) {
        self.block(block);
    }

    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.blocks(blocks);
    }

    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block>) {
        self.tail(blocks);
    }
}

impl<F: Fn(&mut [Block])> BlockCipherDecBackend for Way<F> {
    fn decrypt_block(&self, block: InOut<'_, '_, Block>) {
        self.block(block);
    }

    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.blocks(blocks);
    }

    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Block>) {
        self.tail(blocks);
    }
}

// Xor, encipher, xor: the shape that XTS and OCB share, many blocks at a time.

/// Bytes of a block.
pub(crate) const BLOCK_LEN: usize = 16;

/// One block.
pub(crate) type Block = Array<u8, U16>;

/// Blocks that go through the cipher together: a multiple of the widest kernel's (64 blocks with
/// 512-bit registers), small enough to stay in the first-level cache with their masks.
const BATCH: usize = 64;

/// Replaces each block B by M ⊕ permute(B ⊕ M), M being the next mask.
pub(crate) fn xex(
    blocks: &mut [Block],
    mut next_mask: impl FnMut() -> [u8; BLOCK_LEN],
    permute: impl Fn(&mut [Block]),
) {
    let mut masks = [[0; BLOCK_LEN]; BATCH];
    for batch in blocks.chunks_mut(BATCH) {
        let masks = &mut masks[..batch.len()];
        masks.fill_with(&mut next_mask);
        xor(batch, masks);
        permute(batch);
        xor(batch, masks);
    }
}

fn xor(blocks: &mut [Block], masks: &[[u8; BLOCK_LEN]]) {
    for (block, mask) in blocks.iter_mut().zip(masks) {
        let sum = u128::from_ne_bytes(block.0) ^ u128::from_ne_bytes(*mask);
        block.0 = sum.to_ne_bytes();
    }
}
