//! Ciphers whose one block is the whole message, so that each changed bit changes all of it: HCTR2. Written here from the
//! papers over AES and POLYVAL alone.

use crate::reference::Implementation;
use crate::reference::block::{AnyCipher, BLOCK_LEN, Block};
use base::model::Direction;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt};
use polyval::Polyval;
use polyval::universal_hash::UniversalHash;

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
