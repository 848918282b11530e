//! OCB's offsets over whole blocks (RFC 7253 §4.1, §4.2): what updates leave before the message
//! ends, which the crate `ocb3` has no call for. The tests hold it against that crate.

use super::any::AnyCipher;
use super::block::whole_blocks;
use super::xex::{BLOCK_LEN, Block, xex};
use base::model::Direction;
use cipher::{BlockCipherDecrypt, BlockCipherEncrypt};

/// A block number's trailing zeros choose its L value; 64-bit block numbers have up to 63.
const L_COUNT: usize = 64;

/// An expanded key with its L values.
pub(super) struct Offsets {
    cipher: AnyCipher,
    l: [u128; L_COUNT],
}

impl Offsets {
    pub(super) fn new(cipher: AnyCipher) -> Self {
        let l_star = enciphered(&cipher, 0);
        let l_dollar = double(l_star);
        let mut previous = l_dollar;
        let l = std::array::from_fn(|_| {
            previous = double(previous);
            previous
        });
        Self { cipher, l }
    }

    /// Continues from update to update under one 96-bit nonce with 128-bit tags.
    pub(super) fn stream(
        &self,
        direction: Direction,
        nonce: &[u8],
    ) -> impl FnMut(&mut [u8]) + use<'_> {
        let mut offset = self.initial_offset(nonce);
        let mut number: u64 = 0;
        move |buffer| {
            let next_offset = || {
                number += 1;
                offset ^= self.l[number.trailing_zeros() as usize];
                offset.to_be_bytes()
            };
            let blocks = whole_blocks::<AnyCipher>(buffer);
            match direction {
                Direction::Decrypt => xex(blocks, next_offset, |b| self.cipher.decrypt_blocks(b)),
                _ => xex(blocks, next_offset, |b| self.cipher.encrypt_blocks(b)),
            }
        }
    }

    /// `Offset_0` of RFC 7253 §4.2. The first seven bits of the nonce's block hold the tag length
    /// modulo 128, which is zero here.
    fn initial_offset(&self, nonce: &[u8]) -> u128 {
        let mut block = [0; BLOCK_LEN];
        block[4..].copy_from_slice(nonce);
        block[3] |= 1;
        let block = u128::from_be_bytes(block);
        let bottom = (block % 64) as u32;
        let k_top = enciphered(&self.cipher, block - u128::from(bottom));
        // Stretch = Ktop || (Ktop[1..64] xor Ktop[9..72]); what is wanted are 128 bits of it.
        let stretch_end = ((k_top >> 64) ^ (k_top >> 56)) as u64;
        (k_top << bottom) | ((u128::from(stretch_end) << bottom) >> 64)
    }
}

fn enciphered(cipher: &AnyCipher, value: u128) -> u128 {
    let mut block = Block::from(value.to_be_bytes());
    cipher.encrypt_block(&mut block);
    u128::from_be_bytes(block.0)
}

/// Doubling in GF(2¹²⁸), RFC 7253 §2.
fn double(value: u128) -> u128 {
    (value << 1) ^ ((value >> 127) * 0x87)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::aead::{AeadCore, AeadInOut, KeyInit};
    use aes::{Aes128, Aes256};
    use base::model::Primitive;
    use cipher::consts::U12;
    use ocb3::Ocb3;

    fn agrees_with_the_crate<C>(key: &[u8])
    where
        Ocb3<C, U12>: AeadInOut + AeadCore<NonceSize = U12> + KeyInit,
    {
        let theirs = Ocb3::<C, U12>::new_from_slice(key).unwrap();
        let ours = Offsets::new(AnyCipher::keyed(Primitive::Aes, key));
        // Nonces with every value of the bottom six bits, messages past two batches.
        for bottom in 0..64_u8 {
            let mut nonce = [0x5a; 12];
            nonce[11] = 0x80 | bottom;
            for blocks in [0, 1, 2, 3, 15, 64, 65, usize::from(bottom) + 100] {
                let plain: Vec<u8> = (0..blocks * 16).map(|i| (i * 5) as u8).collect();
                let mut expected = plain.clone();
                theirs
                    .encrypt_inout_detached(&nonce.into(), b"", expected.as_mut_slice().into())
                    .unwrap();
                let mut buffer = plain.clone();
                ours.stream(Direction::Encrypt, &nonce)(&mut buffer);
                assert_eq!(buffer, expected, "{blocks} blocks");
                ours.stream(Direction::Decrypt, &nonce)(&mut buffer);
                assert_eq!(buffer, plain, "{blocks} blocks");
            }
        }
    }

    #[test]
    fn every_offset_agrees_with_the_crate_ocb3() {
        let key: Vec<u8> = (7..39).collect();
        agrees_with_the_crate::<Aes128>(&key[..16]);
        agrees_with_the_crate::<Aes256>(&key);
    }

    #[test]
    fn updates_of_any_number_of_blocks_continue_one_message() {
        let ours = Offsets::new(AnyCipher::keyed(Primitive::Aes, &[3; 16]));
        let mut whole = vec![9; 16 * 200];
        ours.stream(Direction::Encrypt, &[1; 12])(&mut whole);
        let mut pieces = vec![9; 16 * 200];
        let mut stream = ours.stream(Direction::Encrypt, &[1; 12]);
        let (a, rest) = pieces.split_at_mut(16 * 3);
        let (b, c) = rest.split_at_mut(16 * 70);
        [a, b, c].into_iter().for_each(&mut stream);
        assert_eq!(pieces, whole);
    }
}
