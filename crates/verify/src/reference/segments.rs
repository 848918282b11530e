//! Cipher feedback with segments of a byte and of a bit (NIST SP 800-38A §6.3), for blocks of any
//! size. The shift register is enciphered once per segment, whatever the segment's length.

use super::block::{BlockCipher, iv};
use super::{Implementation, Update};
use base::model::Direction;
use cipher::Array;

/// Cipher feedback in segments of so many bits, which divide a byte; the most significant bits of a byte first.
pub(super) struct Segments<C, const BITS: usize>(pub(super) C);

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
