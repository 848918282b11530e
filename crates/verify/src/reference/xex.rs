//! Xor, encipher, xor: the shape that XTS and OCB share, many blocks at a time.

use cipher::Array;
use cipher::consts::U16;

/// Bytes of a block.
pub(super) const BLOCK_LEN: usize = 16;

/// One block.
pub(super) type Block = Array<u8, U16>;

/// Blocks that go through the cipher together: a multiple of the widest kernel's (64 blocks with
/// 512-bit registers), small enough to stay in the first-level cache with their masks.
const BATCH: usize = 64;

/// Replaces each block B by M ⊕ permute(B ⊕ M), M being the next mask.
pub(super) fn xex(
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
