//! Ciphers whose one block is the whole message, so that each changed bit changes all of it: HCTR2 and Adiantum. Written here
//! from the papers over AES, POLYVAL, XChaCha and Poly1305 alone.

use crate::reference::Implementation;
use crate::reference::block::{AnyCipher, BLOCK_LEN, Block};
use base::model::{Direction, Primitive};
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, KeyIvInit, StreamCipher};
use poly1305::Poly1305;
use polyval::Polyval;
use polyval::universal_hash::UniversalHash;
use std::marker::PhantomData;

/// The block that begins or ends a message, as a little-endian number.
type Word = u128;

fn word(bytes: &[u8]) -> Word {
    Word::from_le_bytes(bytes.try_into().expect("a block has 16 bytes"))
}

fn enciphered(cipher: &AnyCipher, value: Word) -> Word {
    let mut block = Block::from(value.to_le_bytes());
    cipher.encrypt_block(&mut block);
    word(&block)
}

fn deciphered(cipher: &AnyCipher, value: Word) -> Word {
    let mut block = Block::from(value.to_le_bytes());
    cipher.decrypt_block(&mut block);
    word(&block)
}

/// HCTR2 (IACR ePrint 2021/1441 §3): hash, encipher the first block, count over the rest, hash.
pub(crate) struct Hctr2 {
    cipher: AnyCipher,
    /// Under the cipher's zero.
    hash: Polyval,
    /// Under the cipher's one.
    mask: Word,
}

impl Hctr2 {
    pub(crate) fn new(cipher: AnyCipher) -> Self {
        let hash = Polyval::new(&enciphered(&cipher, 0).to_le_bytes().into());
        let mask = enciphered(&cipher, 1);
        Self { cipher, hash, mask }
    }

    fn crypt(&self, direction: Direction, tweak: &[u8], buffer: &mut [u8]) {
        let (first, rest) = buffer.split_at_mut(BLOCK_LEN);
        let before = word(first) ^ self.hashed(tweak, rest);
        let after = match direction {
            Direction::Decrypt => deciphered(&self.cipher, before),
            _ => enciphered(&self.cipher, before),
        };
        self.count(before ^ after ^ self.mask, rest);
        let last = after ^ self.hashed(tweak, rest);
        first.copy_from_slice(&last.to_le_bytes());
    }

    /// The tweak's length in bits, doubled, says by its lowest bit whether the message ends within a block. One that does
    /// gets a one bit behind it.
    fn hashed(&self, tweak: &[u8], rest: &[u8]) -> Word {
        let whole = rest.len() / BLOCK_LEN * BLOCK_LEN;
        let (blocks, end) = rest.split_at(whole);
        let lengths = 2 * (8 * tweak.len() as Word) + 2 + Word::from(!end.is_empty());
        let mut hash = self.hash.clone();
        hash.update(&[lengths.to_le_bytes().into()]);
        hash.update_padded(tweak);
        hash.update_padded(blocks);
        if !end.is_empty() {
            hash.update_padded(&[end, &[1]].concat());
        }
        word(&hash.finalize())
    }

    /// XCTR (§2.2): numbers from one on, little-endian, are added to the start and not to one another.
    fn count(&self, start: Word, buffer: &mut [u8]) {
        let mut number = 0;
        let mut stream = [Block::default(); 64];
        for piece in buffer.chunks_mut(BLOCK_LEN * stream.len()) {
            for block in &mut stream {
                number += 1;
                *block = (start ^ number).to_le_bytes().into();
            }
            let blocks = &mut stream[..piece.len().div_ceil(BLOCK_LEN)];
            self.cipher.encrypt_blocks(blocks);
            let stream = Block::slice_as_flattened(blocks);
            piece.iter_mut().zip(stream).for_each(|(byte, key)| *byte ^= key);
        }
    }
}

impl Implementation for Hctr2 {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.crypt(Direction::Encrypt, nonce, buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.crypt(Direction::Decrypt, nonce, buffer);
        true
    }

    // No stream: every byte depends on the whole message.
}

/// Bytes that NH takes at once, and passes that it makes over them, each with the key moved by a unit.
const NH_PIECE: usize = 1024;
const NH_PASSES: usize = 4;
/// Bytes of NH's units.
const NH_UNIT: usize = 16;
/// Words of NH's key: as many as a piece has, and a unit for each pass but the first.
const NH_KEY: usize = (NH_PIECE + (NH_PASSES - 1) * NH_UNIT) / 4;

/// Adiantum (IACR ePrint 2018/720 §2): hash, encipher the last block, a stream from it over the rest, hash.
pub(crate) struct Adiantum<S> {
    key: Vec<u8>,
    cipher: AnyCipher,
    /// For lengths and tweaks, and for what NH makes of messages; both without what Poly1305 adds at the end.
    hashes: [Poly1305; 2],
    nh: [u32; NH_KEY],
    stream: PhantomData<S>,
}

impl<S: KeyIvInit + StreamCipher> Adiantum<S> {
    pub(crate) fn new(key: &[u8]) -> Self {
        let mut derived = [0; 64 + 4 * NH_KEY];
        stream::<S>(key, &[]).apply_keystream(&mut derived);
        let hash = |r: &[u8]| {
            let padded = [r, &[0; 16]].concat();
            Poly1305::new_from_slice(&padded).expect("the key has 32 bytes")
        };
        let word_of_key = |n: usize| {
            let bytes = derived[64 + 4 * n..][..4].try_into().expect("four bytes");
            u32::from_le_bytes(bytes)
        };
        Self {
            key: key.to_vec(),
            cipher: AnyCipher::keyed(Primitive::Aes, &derived[..32]),
            hashes: [hash(&derived[32..48]), hash(&derived[48..64])],
            nh: std::array::from_fn(word_of_key),
            stream: PhantomData,
        }
    }

    fn crypt(&self, direction: Direction, tweak: &[u8], buffer: &mut [u8]) {
        let (rest, last) = buffer.split_at_mut(buffer.len() - BLOCK_LEN);
        let before = word(last).wrapping_add(self.hashed(tweak, rest));
        // The stream's nonce is the block as the ciphertext has it.
        let (after, nonce) = match direction {
            Direction::Decrypt => (deciphered(&self.cipher, before), before),
            _ => {
                let after = enciphered(&self.cipher, before);
                (after, after)
            }
        };
        stream::<S>(&self.key, &nonce.to_le_bytes()).apply_keystream(rest);
        let made = after.wrapping_sub(self.hashed(tweak, rest));
        last.copy_from_slice(&made.to_le_bytes());
    }

    fn hashed(&self, tweak: &[u8], rest: &[u8]) -> Word {
        let lengths = (8 * rest.len() as Word).to_le_bytes();
        let short: Vec<u8> = rest.chunks(NH_PIECE).flat_map(|piece| self.nh(piece)).collect();
        let [of_tweak, of_rest] = &self.hashes;
        let of_tweak = of_tweak.clone().compute_unpadded(&[&lengths, tweak].concat());
        word(&of_tweak).wrapping_add(word(&of_rest.clone().compute_unpadded(&short)))
    }

    /// Each word plus its word of the key; the first times the third, the second times the fourth; the sum of all.
    fn nh(&self, piece: &[u8]) -> [u8; 8 * NH_PASSES] {
        let mut sums = [0_u64; NH_PASSES];
        for (n, unit) in piece.chunks(NH_UNIT).enumerate() {
            let mut words = [0; NH_UNIT];
            words[..unit.len()].copy_from_slice(unit);
            let words = words.as_chunks().0;
            for (pass, sum) in sums.iter_mut().enumerate() {
                let keyed = |i: usize| {
                    u64::from(
                        u32::from_le_bytes(words[i]).wrapping_add(self.nh[4 * (n + pass) + i]),
                    )
                };
                *sum = sum.wrapping_add(keyed(0) * keyed(2)).wrapping_add(keyed(1) * keyed(3));
            }
        }
        let bytes = sums.map(u64::to_le_bytes);
        std::array::from_fn(|i| bytes[i / 8][i % 8])
    }
}

/// A nonce of any length, then a one bit, then zeros.
fn stream<S: KeyIvInit>(key: &[u8], nonce: &[u8]) -> S {
    let mut padded = [0; 24];
    padded[..nonce.len()].copy_from_slice(nonce);
    padded[nonce.len()] = 1;
    S::new_from_slices(key, &padded).expect("the key has 32 bytes, the nonce 24")
}

impl<S: KeyIvInit + StreamCipher + Send + Sync> Implementation for Adiantum<S> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.crypt(Direction::Encrypt, nonce, buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.crypt(Direction::Decrypt, nonce, buffer);
        true
    }
}
