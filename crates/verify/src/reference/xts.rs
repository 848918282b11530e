//! XTS over one data unit (IEEE 1619-2018 §5, NIST SP 800-38E).
//!
//! Written here because the crate `xts-mode` enciphers block after block, far slower than the
//! libraries that are to be checked; the tests hold it against that crate.

use super::any::AnyCipher;
use super::block::whole_blocks;
use super::xex::{BLOCK_LEN, Block, xex};
use super::{Implementation, Update};
use base::model::Direction;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt};

/// Two key schedules: the data's and the tweak's.
pub(super) struct Xts {
    data: AnyCipher,
    tweak: AnyCipher,
}

impl Xts {
    pub(super) fn new(data: AnyCipher, tweak: AnyCipher) -> Self {
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
