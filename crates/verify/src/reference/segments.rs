//! Cipher feedback with segments of a byte and of a bit (NIST SP 800-38A §6.3), for blocks of any
//! size. The shift register is enciphered once per segment, whatever the segment's length.

use super::block::{BlockCipher, iv};
use super::{Implementation, Update};
use cipher::Array;
use model::Direction;
use std::marker::PhantomData;

/// Cipher feedback in the segments of `S`.
pub(super) struct Segments<C, S> {
    cipher: C,
    segment: PhantomData<S>,
}

impl<C, S> Segments<C, S> {
    pub(super) fn new(cipher: C) -> Self {
        Self { cipher, segment: PhantomData }
    }
}

/// What one byte of a message does to the shift register.
pub(super) trait Segment: Send + Sync {
    /// The other side's byte; `ciphertext` picks the one of the two bytes that is fed back.
    fn step<C: BlockCipher>(
        cipher: &C,
        register: &mut Array<u8, C::BlockSize>,
        byte: u8,
        direction: Direction,
    ) -> u8;
}

/// Segments of eight bits.
pub(super) struct Byte;

impl Segment for Byte {
    fn step<C: BlockCipher>(
        cipher: &C,
        register: &mut Array<u8, C::BlockSize>,
        byte: u8,
        direction: Direction,
    ) -> u8 {
        let result = byte ^ enciphered(cipher, register)[0];
        let fed_back = if direction == Direction::Decrypt { byte } else { result };
        register.rotate_left(1);
        *register.last_mut().expect("a block has bytes") = fed_back;
        result
    }
}

/// Segments of one bit, the most significant bit of a byte first.
pub(super) struct Bit;

impl Segment for Bit {
    fn step<C: BlockCipher>(
        cipher: &C,
        register: &mut Array<u8, C::BlockSize>,
        byte: u8,
        direction: Direction,
    ) -> u8 {
        let mut result = 0;
        for shift in (0..8).rev() {
            let bit = (byte >> shift) & 1;
            let other = bit ^ (enciphered(cipher, register)[0] >> 7);
            result |= other << shift;
            shift_in(register, if direction == Direction::Decrypt { bit } else { other });
        }
        result
    }
}

fn enciphered<C: BlockCipher>(
    cipher: &C,
    register: &Array<u8, C::BlockSize>,
) -> Array<u8, C::BlockSize> {
    let mut block = register.clone();
    cipher.encrypt_block(&mut block);
    block
}

/// Moves every bit one place towards the first byte and puts `bit` into the last place.
fn shift_in(register: &mut [u8], bit: u8) {
    let mut carry = bit;
    for byte in register.iter_mut().rev() {
        let next = *byte >> 7;
        *byte = (*byte << 1) | carry;
        carry = next;
    }
}

impl<C: BlockCipher, S: Segment> Implementation for Segments<C, S> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.update(Direction::Encrypt, nonce)(buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.update(Direction::Decrypt, nonce)(buffer);
        true
    }

    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(Box::new(self.update(direction, nonce)))
    }
}

impl<C: BlockCipher, S: Segment> Segments<C, S> {
    fn update(&self, direction: Direction, nonce: &[u8]) -> impl FnMut(&mut [u8]) + use<'_, C, S> {
        let mut register = iv::<C>(nonce).clone();
        move |buffer| {
            for byte in buffer {
                *byte = S::step(&self.cipher, &mut register, *byte, direction);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_shifted_in_behind_the_others() {
        let mut register = [0b1000_0000, 0b1000_0001];
        shift_in(&mut register, 1);
        assert_eq!(register, [0b0000_0001, 0b0000_0011]);
        shift_in(&mut register, 0);
        assert_eq!(register, [0b0000_0010, 0b0000_0110]);
    }
}
