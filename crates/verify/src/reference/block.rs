//! Block ciphers, and their modes without a tag (NIST SP 800-38A over the RustCrypto crates, for blocks of
//! any size): ECB, CBC, CFB, OFB and CTR; CFB by the byte and by the bit; XTS. The ciphers with blocks of one
//! size are one type: every mode is compiled once, and not once for each of twenty ciphers, and blocks pass the
//! indirect call many at a time. XTS and OCB share xor, encipher, xor.

use crate::reference::{Implementation, Update};
use aes::{Aes128, Aes192, Aes256};
use aria::{Aria128, Aria192, Aria256};
use base::model::{Direction, Primitive};
use blowfish::Blowfish;
use camellia::{Camellia128, Camellia192, Camellia256};
use cast5::Cast5;
use cipher::common::array::ArraySize;
use cipher::common::{BlockSizeUser, KeyInit, KeySizeUser, ParBlocks, ParBlocksSizeUser};
use cipher::consts::{U8, U16, U33, U64};
use cipher::inout::{InOut, InOutBuf};
use cipher::{
    Array, BlockCipherDecBackend, BlockCipherDecClosure, BlockCipherDecrypt, BlockCipherEncBackend,
    BlockCipherEncClosure, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, InnerIvInit,
    Key, StreamCipher, StreamCipherCoreWrapper,
};
use ctr::CtrCore;
use ctr::flavors::{Ctr64BE, Ctr128BE};
use des::{Des, TdesEde3};
use idea::Idea;
use kuznyechik::Kuznyechik;
use magma::Magma;
use ofb::OfbCore;
use rc2::Rc2;
use serpent::Serpent;
use sha2::{Digest, Sha256};
use sm4::Sm4;
use std::marker::PhantomData;
use std::sync::Arc;
use twofish::Twofish;

/// One of the ciphers with blocks of `N` bytes, under a key.
#[derive(Clone)]
pub(crate) struct AnyCipher<N: ArraySize = U16>(Arc<dyn Permutation<N>>);

/// Key, direction and blocks are all that a mode asks for.
pub(crate) trait Permutation<N: ArraySize>: Send + Sync {
    fn encrypt(&self, blocks: &mut [Array<u8, N>]);
    fn decrypt(&self, blocks: &mut [Array<u8, N>]);
}

impl<N, C> Permutation<N> for C
where
    N: ArraySize,
    C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = N> + Send + Sync,
{
    fn encrypt(&self, blocks: &mut [Array<u8, N>]) {
        self.encrypt_blocks(blocks);
    }

    fn decrypt(&self, blocks: &mut [Array<u8, N>]) {
        self.decrypt_blocks(blocks);
    }
}

/// Cipher, bytes of its key, key schedule.
type Row<N> = (Primitive, usize, fn(&[u8]) -> Arc<dyn Permutation<N>>);

/// The size of a block, with the ciphers that have it.
pub(crate) trait Width: ArraySize + 'static {
    const CIPHERS: &'static [Row<Self>];
}

impl Width for U16 {
    const CIPHERS: &'static [Row<Self>] = &[
        (Primitive::Aes, 16, schedule::<_, Aes128>),
        (Primitive::Aes, 24, schedule::<_, Aes192>),
        (Primitive::Aes, 32, schedule::<_, Aes256>),
        (Primitive::Camellia, 16, schedule::<_, Camellia128>),
        (Primitive::Camellia, 24, schedule::<_, Camellia192>),
        (Primitive::Camellia, 32, schedule::<_, Camellia256>),
        (Primitive::Aria, 16, schedule::<_, Aria128>),
        (Primitive::Aria, 24, schedule::<_, Aria192>),
        (Primitive::Aria, 32, schedule::<_, Aria256>),
        (Primitive::Sm4, 16, schedule::<_, Sm4>),
        (Primitive::Serpent, 16, schedule::<_, Serpent>),
        (Primitive::Serpent, 24, schedule::<_, Serpent>),
        (Primitive::Serpent, 32, schedule::<_, Serpent>),
        (Primitive::Twofish, 16, schedule::<_, Twofish>),
        (Primitive::Twofish, 24, schedule::<_, Twofish>),
        (Primitive::Twofish, 32, schedule::<_, Twofish>),
        (Primitive::Kuznyechik, 32, schedule::<_, Kuznyechik>),
        (Primitive::Seed, 16, |key| Arc::new(Seed::new(key))),
    ];
}

impl Width for U8 {
    const CIPHERS: &'static [Row<Self>] = &[
        (Primitive::TripleDes, 24, schedule::<_, TdesEde3>),
        (Primitive::Des, 8, schedule::<_, Des>),
        (Primitive::Blowfish, 16, schedule::<_, Blowfish>),
        (Primitive::Cast5, 16, schedule::<_, Cast5>),
        (Primitive::Idea, 16, schedule::<_, Idea>),
        (Primitive::Rc2, 16, schedule::<_, Rc2>),
        (Primitive::Magma, 32, schedule::<_, Magma>),
    ];
}

fn schedule<N: ArraySize, C: Permutation<N> + KeyInit + 'static>(
    key: &[u8],
) -> Arc<dyn Permutation<N>> {
    Arc::new(C::new_from_slice(key).expect("the row has the key's length"))
}

/// The crate is written against the traits before these.
struct Seed(kisaseed::SEED);

impl Seed {
    fn new(key: &[u8]) -> Self {
        Self(cipher_04::KeyInit::new_from_slice(key).expect("the key has 16 bytes"))
    }
}

impl Permutation<U16> for Seed {
    fn encrypt(&self, blocks: &mut [Block]) {
        for block in blocks {
            cipher_04::BlockEncrypt::encrypt_block(&self.0, (&mut block.0).into());
        }
    }

    fn decrypt(&self, blocks: &mut [Block]) {
        for block in blocks {
            cipher_04::BlockDecrypt::decrypt_block(&self.0, (&mut block.0).into());
        }
    }
}

/// The key that chooses the cipher, too, so that modes which make cipher objects of their own can: the cipher's row, the
/// key, and zeros up to the longest.
///
/// # Panics
/// When no cipher of that name has blocks of that size and such a key.
pub(crate) fn choosing_key<N: Width>(cipher: Primitive, key: &[u8]) -> Key<AnyCipher<N>> {
    let row = N::CIPHERS.iter().position(|row| (row.0, row.1) == (cipher, key.len()));
    let mut chosen = Key::<AnyCipher<N>>::default();
    chosen[0] = row.unwrap_or_else(|| panic!("{cipher:?} with {} bytes", key.len())) as u8;
    chosen[1..=key.len()].copy_from_slice(key);
    chosen
}

impl<N: Width> AnyCipher<N> {
    /// Does the key schedule.
    pub(crate) fn keyed(cipher: Primitive, key: &[u8]) -> Self {
        Self::new(&choosing_key::<N>(cipher, key))
    }
}

impl<N: Width> KeySizeUser for AnyCipher<N> {
    type KeySize = U33;
}

impl<N: Width> KeyInit for AnyCipher<N> {
    fn new(key: &Key<Self>) -> Self {
        let (_, len, schedule) = N::CIPHERS[usize::from(key[0])];
        Self(schedule(&key[1..=len]))
    }
}

impl<N: ArraySize> BlockSizeUser for AnyCipher<N> {
    type BlockSize = N;
}

impl<N: ArraySize> BlockCipherEncrypt for AnyCipher<N> {
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = N>) {
        f.call(&Way::new(|blocks: &mut [Array<u8, N>]| self.0.encrypt(blocks)));
    }
}

impl<N: ArraySize> BlockCipherDecrypt for AnyCipher<N> {
    fn decrypt_with_backend(&self, f: impl BlockCipherDecClosure<BlockSize = N>) {
        f.call(&Way::new(|blocks: &mut [Array<u8, N>]| self.0.decrypt(blocks)));
    }
}

struct Way<N, F>(F, PhantomData<N>);

impl<N, F> BlockSizeUser for Way<N, F>
where
    N: ArraySize,
{
    type BlockSize = N;
}

/// As many as the widest kernel takes: 64 blocks with 512-bit registers.
impl<N: ArraySize, F> ParBlocksSizeUser for Way<N, F> {
    type ParBlocksSize = U64;
}

impl<N: ArraySize, F: Fn(&mut [Array<u8, N>])> Way<N, F> {
    fn new(permute: F) -> Self {
        Self(permute, PhantomData)
    }

    fn block(&self, mut block: InOut<'_, '_, Array<u8, N>>) {
        let mut made = [block.get_in().clone()];
        self.0(&mut made);
        [*block.get_out()] = made;
    }

    fn blocks<M: ArraySize>(&self, mut blocks: InOut<'_, '_, Array<Array<u8, N>, M>>) {
        let mut made = blocks.clone_in();
        self.0(&mut made);
        *blocks.get_out() = made;
    }

    fn tail(&self, mut blocks: InOutBuf<'_, '_, Array<u8, N>>) {
        let mut made: [Array<u8, N>; 64] = std::array::from_fn(|_| Array::default());
        let made = &mut made[..blocks.len()];
        made.clone_from_slice(blocks.get_in());
        self.0(made);
        blocks.get_out().clone_from_slice(made);
    }
}

impl<N: ArraySize, F: Fn(&mut [Array<u8, N>])> BlockCipherEncBackend for Way<N, F> {
    fn encrypt_block(&self, block: InOut<'_, '_, Array<u8, N>>) {
        self.block(block);
    }

    fn encrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.blocks(blocks);
    }

    fn encrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Array<u8, N>>) {
        self.tail(blocks);
    }
}

impl<N: ArraySize, F: Fn(&mut [Array<u8, N>])> BlockCipherDecBackend for Way<N, F> {
    fn decrypt_block(&self, block: InOut<'_, '_, Array<u8, N>>) {
        self.block(block);
    }

    fn decrypt_par_blocks(&self, blocks: InOut<'_, '_, ParBlocks<Self>>) {
        self.blocks(blocks);
    }

    fn decrypt_tail_blocks(&self, blocks: InOutBuf<'_, '_, Array<u8, N>>) {
        self.tail(blocks);
    }
}

// Xor, encipher, xor: the shape that XTS and OCB share, many blocks at a time.

pub(crate) const BLOCK_LEN: usize = 16;

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

/// A block cipher in both directions.
pub(crate) trait BlockCipher:
    BlockCipherEncrypt + BlockCipherDecrypt + KeyInit + Clone + Send + Sync + 'static
{
    /// The key stream of a counter as wide as the block.
    fn ctr(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher;

    /// The key stream of output feedback.
    fn ofb(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher;
}

macro_rules! block_ciphers {
    ($($counter:ident: $cipher:ty;)+) => {
        $(impl BlockCipher for $cipher {
            fn ctr(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher {
                StreamCipherCoreWrapper::from_core(CtrCore::<&Self, $counter>::inner_iv_init(self, &iv))
            }

            fn ofb(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher {
                StreamCipherCoreWrapper::from_core(OfbCore::inner_iv_init(self, &iv))
            }
        })+
    };
}

block_ciphers! {
    Ctr128BE: AnyCipher;
    Ctr64BE: AnyCipher<U8>;
}

/// The initialization vector: one block.
pub(crate) fn iv<C: BlockCipher>(nonce: &[u8]) -> &Array<u8, C::BlockSize> {
    nonce.try_into().expect("an initialization vector is a block")
}

/// A buffer as blocks.
///
/// # Panics
/// When it does not end with a whole block.
pub(crate) fn whole_blocks<C: BlockSizeUser>(buffer: &mut [u8]) -> &mut [Array<u8, C::BlockSize>] {
    let (blocks, tail) = Array::slice_as_chunks_mut(buffer);
    assert!(tail.is_empty(), "the mode works in whole blocks, {} bytes are left", tail.len());
    blocks
}

pub(crate) struct Ecb<C>(pub(crate) C);

impl<C: BlockCipher> Implementation for Ecb<C> {
    fn stream(&self, direction: Direction, _nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(match direction {
            Direction::Decrypt => Box::new(|b| self.0.decrypt_blocks(whole_blocks::<C>(b))),
            _ => Box::new(|b| self.0.encrypt_blocks(whole_blocks::<C>(b))),
        })
    }
}

pub(crate) struct Cbc<C>(pub(crate) C);

impl<C: BlockCipher> Implementation for Cbc<C> {
    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            let mut mode = cbc::Decryptor::inner_iv_init(&self.0, iv::<C>(nonce));
            Box::new(move |buffer| mode.decrypt_blocks(whole_blocks::<C>(buffer)))
        } else {
            let mut mode = cbc::Encryptor::inner_iv_init(&self.0, iv::<C>(nonce));
            Box::new(move |buffer| mode.encrypt_blocks(whole_blocks::<C>(buffer)))
        })
    }
}

/// CBC under an IV that is the sector's number, enciphered under SHA-256 of the key (dm-crypt's `essiv:sha256`). A sector is
/// a whole message: there is no stream.
pub(crate) struct Essiv {
    numbers: AnyCipher,
    data: Cbc<AnyCipher>,
}

impl Essiv {
    pub(crate) fn new(cipher: Primitive, key: &[u8]) -> Self {
        let [numbers, data] =
            [&Sha256::digest(key)[..], key].map(|key| AnyCipher::keyed(cipher, key));
        Self { numbers, data: Cbc(data) }
    }

    fn iv(&self, nonce: &[u8]) -> Block {
        let mut iv = *iv::<AnyCipher>(nonce);
        self.numbers.encrypt_block(&mut iv);
        iv
    }
}

impl Implementation for Essiv {
    fn encrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &mut [u8]) {
        self.data.encrypt(&self.iv(nonce), aad, buffer, tag);
    }

    fn decrypt(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8], tag: &[u8]) -> bool {
        self.data.decrypt(&self.iv(nonce), aad, buffer, tag)
    }
}

/// Cipher feedback with full-block segments; the last segment may be partial, as in OpenSSL.
pub(crate) struct Cfb<C>(pub(crate) C);

impl<C: BlockCipher> Implementation for Cfb<C> {
    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            cfb_decrypt_stream(&self.0, iv::<C>(nonce))
        } else {
            cfb_encrypt_stream(&self.0, iv::<C>(nonce))
        })
    }
}

/// Whole blocks go through the mode object that takes many at a time; from the first partial
/// block on, the stream is in the middle of a segment and goes through the buffering one.
fn cfb_encrypt_stream<'a, C: BlockCipher>(
    cipher: &'a C,
    iv: &Array<u8, C::BlockSize>,
) -> Update<'a> {
    let mut last = iv.clone();
    let mut buffered: Option<cfb_mode::BufEncryptor<&C>> = None;
    Box::new(move |buffer| {
        let whole = if buffered.is_none() { buffer.len() / last.len() * last.len() } else { 0 };
        let (whole, rest) = buffer.split_at_mut(whole);
        let blocks = whole_blocks::<C>(whole);
        cfb_mode::Encryptor::inner_iv_init(cipher, &last).encrypt_blocks(blocks);
        last = blocks.last().unwrap_or(&last).clone();
        if !rest.is_empty() {
            let begin = || cfb_mode::BufEncryptor::inner_iv_init(cipher, &last);
            buffered.get_or_insert_with(begin).encrypt(rest);
        }
    })
}

fn cfb_decrypt_stream<'a, C: BlockCipher>(
    cipher: &'a C,
    iv: &Array<u8, C::BlockSize>,
) -> Update<'a> {
    let mut last = iv.clone();
    let mut buffered: Option<cfb_mode::BufDecryptor<&C>> = None;
    Box::new(move |buffer| {
        let whole = if buffered.is_none() { buffer.len() / last.len() * last.len() } else { 0 };
        let (whole, rest) = buffer.split_at_mut(whole);
        let blocks = whole_blocks::<C>(whole);
        let next = blocks.last().unwrap_or(&last).clone();
        cfb_mode::Decryptor::inner_iv_init(cipher, &last).decrypt_blocks(blocks);
        last = next;
        if !rest.is_empty() {
            let begin = || cfb_mode::BufDecryptor::inner_iv_init(cipher, &last);
            buffered.get_or_insert_with(begin).decrypt(rest);
        }
    })
}

pub(crate) struct Ofb<C>(pub(crate) C);

impl<C: BlockCipher> Implementation for Ofb<C> {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.0.ofb(iv::<C>(nonce).clone());
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// Counter mode; the nonce is the initial counter block, all of whose bits count.
pub(crate) struct Ctr<C>(pub(crate) C);

impl<C: BlockCipher> Implementation for Ctr<C> {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.0.ctr(iv::<C>(nonce).clone());
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

// Cipher feedback with segments of a byte and of a bit (NIST SP 800-38A §6.3), for blocks of any
// size. The shift register is enciphered once per segment, whatever the segment's length.

/// Cipher feedback in segments of so many bits, which divide a byte; the most significant bits of a byte first.
pub(crate) struct Segments<C, const BITS: usize>(pub(crate) C);

impl<C: BlockCipher, const BITS: usize> Segments<C, BITS> {
    /// The highest bits of a byte.
    const SEGMENT: u8 = !((0xff_u16 >> BITS) as u8);

    /// The other side's byte; what is ciphertext of the two is fed back.
    fn step(&self, register: &mut Array<u8, C::BlockSize>, byte: u8, direction: Direction) -> u8 {
        let mut result = 0;
        for at in (0..8).step_by(BITS) {
            let mut block = register.clone();
            self.0.encrypt_block(&mut block);
            let segment = (byte << at) & Self::SEGMENT;
            let other = (segment ^ block[0]) & Self::SEGMENT;
            result |= other >> at;
            shift_in::<BITS>(
                register,
                if direction == Direction::Decrypt { segment } else { other },
            );
        }
        result
    }
}

/// Moves all bits towards the first byte and puts the highest ones of `segment` into the last places.
fn shift_in<const BITS: usize>(register: &mut [u8], segment: u8) {
    let mut carry = u16::from(segment) >> (8 - BITS);
    for byte in register.iter_mut().rev() {
        let shifted = (u16::from(*byte) << BITS) | carry;
        (*byte, carry) = (shifted as u8, shifted >> 8);
    }
}

impl<C: BlockCipher, const BITS: usize> Implementation for Segments<C, BITS> {
    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        let mut register = iv::<C>(nonce).clone();
        Some(Box::new(move |buffer| {
            for byte in buffer {
                *byte = self.step(&mut register, *byte, direction);
            }
        }))
    }
}

// XTS over one data unit (IEEE 1619-2018 §5, NIST SP 800-38E).
//
// Written here because the crate `xts-mode` enciphers block after block, far slower than the
// libraries that are to be checked; the tests hold it against that crate.

/// Two key schedules: the data's and the tweak's.
pub(crate) struct Xts {
    data: AnyCipher,
    tweak: AnyCipher,
}

impl Xts {
    pub(crate) fn new(data: AnyCipher, tweak: AnyCipher) -> Self {
        Self { data, tweak }
    }

    fn encrypt_unit(&self, tweak: u128, buffer: &mut [u8]) {
        let mut masks = self.masks(tweak);
        let (whole, partial) = split_partial(buffer);
        xex(whole_blocks::<AnyCipher>(whole), || masks.next(), |b| self.data.encrypt_blocks(b));
        if !partial.is_empty() {
            let last = swap_into_last_block(whole, partial);
            xex(last, || masks.next(), |b| self.data.encrypt_blocks(b));
        }
    }

    fn decrypt_unit(&self, tweak: u128, buffer: &mut [u8]) {
        let mut masks = self.masks(tweak);
        let (whole, partial) = split_partial(buffer);
        if partial.is_empty() {
            xex(whole_blocks::<AnyCipher>(whole), || masks.next(), |b| self.data.decrypt_blocks(b));
            return;
        }
        // The last whole block of ciphertext was made with the mask after the stolen one.
        let (before, last) = whole.split_at_mut(whole.len() - BLOCK_LEN);
        xex(whole_blocks::<AnyCipher>(before), || masks.next(), |b| self.data.decrypt_blocks(b));
        let stolen_mask = masks.next();
        let last_mask = masks.next();
        xex(whole_blocks::<AnyCipher>(last), || last_mask, |b| self.data.decrypt_blocks(b));
        let stolen = swap_into_last_block(last, partial);
        xex(stolen, || stolen_mask, |b| self.data.decrypt_blocks(b));
    }

    fn masks(&self, tweak: u128) -> Masks {
        let mut block = Block::from(tweak.to_le_bytes());
        self.tweak.encrypt_block(&mut block);
        Masks(u128::from_le_bytes(block.0))
    }
}

/// The enciphered tweak times α, α², … in GF(2¹²⁸), IEEE 1619-2018 §5.2.
struct Masks(u128);

impl Masks {
    fn next(&mut self) -> [u8; BLOCK_LEN] {
        let mask = self.0;
        self.0 = (mask << 1) ^ ((mask >> 127) * 0x87);
        mask.to_le_bytes()
    }
}

fn split_partial(buffer: &mut [u8]) -> (&mut [u8], &mut [u8]) {
    assert!(buffer.len() >= BLOCK_LEN, "a data unit has at least one block");
    let whole = buffer.len() - buffer.len() % BLOCK_LEN;
    buffer.split_at_mut(whole)
}

/// Swaps the partial block with the start of the last whole one, which is returned.
fn swap_into_last_block<'a>(whole: &'a mut [u8], partial: &mut [u8]) -> &'a mut [Block] {
    let last = whole.len() - BLOCK_LEN;
    let last = &mut whole[last..];
    last[..partial.len()].swap_with_slice(partial);
    whole_blocks::<AnyCipher>(last)
}

fn tweak_of(nonce: &[u8]) -> u128 {
    u128::from_le_bytes(nonce.try_into().expect("a tweak has 16 bytes"))
}

impl Implementation for Xts {
    fn stream(&self, direction: Direction, nonce: &[u8], next_unit: bool) -> Option<Update<'_>> {
        let mut tweak = tweak_of(nonce);
        Some(Box::new(move |buffer| {
            match direction {
                Direction::Decrypt => self.decrypt_unit(tweak, buffer),
                _ => self.encrypt_unit(tweak, buffer),
            }
            tweak = tweak.wrapping_add(u128::from(next_unit));
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aes::{Aes128, Aes256};
    use base::model::Primitive;
    use cipher::consts::U16;
    use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit};
    use xts_mode::Xts128;

    #[test]
    fn a_segment_is_shifted_in_behind_the_others() {
        let mut register = [0b1000_0000, 0b1000_0001];
        shift_in::<1>(&mut register, 0b1000_0000);
        assert_eq!(register, [0b0000_0001, 0b0000_0011]);
        shift_in::<1>(&mut register, 0);
        assert_eq!(register, [0b0000_0010, 0b0000_0110]);
        shift_in::<8>(&mut register, 0xa5);
        assert_eq!(register, [0b0000_0110, 0xa5]);
    }

    fn agrees_with_the_crate<C>(key: &[u8])
    where
        C: BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize = U16> + KeyInit,
    {
        let (data, tweak) = key.split_at(key.len() / 2);
        let theirs =
            Xts128::new(C::new_from_slice(data).unwrap(), C::new_from_slice(tweak).unwrap());
        let [data, tweak] = [data, tweak].map(|half| AnyCipher::keyed(Primitive::Aes, half));
        let ours = Xts::new(data, tweak);
        let nonce = [0xf7; BLOCK_LEN];
        // Past two batches, with every remainder.
        for len in (16..=300).chain(1000..=1100).chain(2040..=2100) {
            let plain: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
            let mut expected = plain.clone();
            theirs.encrypt_sector(&mut expected, nonce.into());
            let mut buffer = plain.clone();
            ours.encrypt(&nonce, &[], &mut buffer, &mut []);
            assert_eq!(buffer, expected, "{len} bytes");
            assert!(ours.decrypt(&nonce, &[], &mut buffer, &[]));
            assert_eq!(buffer, plain, "{len} bytes");
        }
    }

    #[test]
    fn every_length_agrees_with_the_crate_xts_mode() {
        let key: Vec<u8> = (0..64).collect();
        agrees_with_the_crate::<Aes128>(&key[..32]);
        agrees_with_the_crate::<Aes256>(&key);
    }
}
