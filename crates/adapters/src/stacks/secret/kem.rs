//! Keys of ML-KEM-768 with the same matrix, which is public, and ciphertexts that are valid, or wrong in one bit each.
//!
//! From one key follow others: (s, t) times a power of X is a key to the same matrix, since t = As + e. In the domain of
//! the transform that is a number for each pair of coefficients (FIPS 203 4.3.1).

use super::{Secret, pem};
use crate::stacks::reference::{
    SEQUENCE, encapsulate_with, expanded, expanded_decapsulate, from_seed, wrapped,
};
use sha3::{Digest as _, Sha3_256};
use std::ops::Range;

const PRIME: u32 = 3329;
/// A primitive root of unity of order 256.
const ROOT: u32 = 17;
/// Bytes of three polynomials, whose coefficients have 12 bits.
const VECTOR: usize = 1152;
/// The expanded key (FIPS 203 7.1): s; t and the seed of the matrix; their digest; what refusals are made from.
const PUBLIC: Range<usize> = VECTOR..2 * VECTOR + 32;
const DIGEST: Range<usize> = PUBLIC.end..PUBLIC.end + 32;
const REFUSAL: Range<usize> = DIGEST.end..DIGEST.end + 32;

/// Version, `AlgorithmIdentifier` (2.16.840.1.101.3.4.4.2) and the beginning of the key: OCTET STRING.
const BEFORE: &[u8] = b"\x02\x01\x00\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x02";
const OCTET_STRING: u8 = 0x04;

/// Every other one is another key with one ciphertext, which is valid for the first. Between them is the first key with
/// ciphertexts of which one coefficient is off by one: it decrypts to the same, so that the ciphertext that is made
/// again differs at that place only, wherever a comparison would end.
pub(super) fn keys(count: usize, seeds: bool, bytes: &mut impl FnMut() -> [u8; 32]) -> Vec<Secret> {
    let seed = [bytes(), bytes()].concat();
    let first = expanded(&seed);
    let ciphertext = encapsulate_with(&first[PUBLIC], bytes());
    let mut of = |number: usize| {
        let own = if number == 0 { seed.clone() } else { [bytes(), bytes()].concat() };
        let mut turned = turned(&first, 2 * number as u32);
        turned[REFUSAL].copy_from_slice(&own[32..]);
        if seeds { of_seed(&own, &ciphertext) } else { of_expanded(&turned, &ciphertext) }
    };
    let refused = |number: usize| {
        let mut ciphertext = ciphertext.clone();
        ciphertext[place(number, count / 2)] ^= 1;
        if seeds { of_seed(&seed, &ciphertext) } else { of_expanded(&first, &ciphertext) }
    };
    let each =
        |number: usize| if number.is_multiple_of(2) { of(number / 2) } else { refused(number / 2) };
    (0..count).map(each).collect()
}

/// The first bytes of each part are the lowest bits of a coefficient: every fifth of 960, then each (FIPS 203 4.2.1).
fn place(number: usize, of: usize) -> usize {
    const LAST: usize = 1087;
    let at = LAST * number / of.saturating_sub(1).max(1);
    if at < 960 { at / 5 * 5 } else { at }
}

fn of_seed(seed: &[u8], ciphertext: &[u8]) -> Secret {
    let output = Some(from_seed(seed, ciphertext));
    let images = images(&expanded(seed));
    Secret { raw: seed.to_vec(), input: ciphertext.to_vec(), output, images, ..Secret::default() }
}

fn of_expanded(key: &[u8], ciphertext: &[u8]) -> Secret {
    let inner = wrapped(OCTET_STRING, &wrapped(OCTET_STRING, key));
    Secret {
        pem: pem(&wrapped(SEQUENCE, &[BEFORE, &inner].concat())),
        raw: key.to_vec(),
        input: ciphertext.to_vec(),
        output: Some(expanded_decapsulate(key, ciphertext)),
        images: images(key),
        public: 0,
    }
}

/// s as it is written and as words of 16 bits, and what refusals are made from.
fn images(key: &[u8]) -> Vec<Vec<u8>> {
    let words = key[..VECTOR].as_chunks::<3>().0.iter().flat_map(|three| {
        let pair = coefficients(*three);
        pair.map(|x| (x as u16).to_le_bytes()).concat()
    });
    vec![key[..VECTOR].to_vec(), words.collect(), key[REFUSAL].to_vec()]
}

fn coefficients(three: [u8; 3]) -> [u32; 2] {
    let [a, b, c] = three.map(u32::from);
    [a | (b & 15) << 8, b >> 4 | c << 4]
}

/// The key times X to an even power.
fn turned(key: &[u8], power: u32) -> Vec<u8> {
    let mut turned = key.to_vec();
    turn(&mut turned[..VECTOR], power / 2);
    turn(&mut turned[PUBLIC][..VECTOR], power / 2);
    let digest = Sha3_256::digest(&turned[PUBLIC]);
    turned[DIGEST].copy_from_slice(&digest);
    turned
}

/// Multiplies each pair of coefficients by the square of X there, so often.
fn turn(vector: &mut [u8], times: u32) {
    for (number, three) in vector.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let place = (number % 128) as u32;
        let square = power(ROOT, 2 * (place.reverse_bits() >> 25) + 1);
        let factor = power(square, times);
        let pair = coefficients(*three).map(|x| x * factor % PRIME);
        three[0] = pair[0] as u8;
        three[1] = (pair[0] >> 8 | pair[1] << 4) as u8;
        three[2] = (pair[1] >> 4) as u8;
    }
}

fn power(base: u32, exponent: u32) -> u32 {
    (0..exponent).fold(1, |product, _| product * base % PRIME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_key_is_one_to_the_same_matrix() {
        let first = expanded(&[7; 64]);
        for power in [2, 30, 256] {
            let turned = turned(&first, power);
            assert_eq!(turned[PUBLIC][VECTOR..], first[PUBLIC][VECTOR..], "the seed of the matrix");
            assert_ne!(turned[..VECTOR], first[..VECTOR]);
            let ciphertext = encapsulate_with(&turned[PUBLIC], [3; 32]);
            let secret = expanded_decapsulate(&turned, &ciphertext);
            // The key that is not turned refuses it, and so gives another secret.
            assert_ne!(secret, expanded_decapsulate(&first, &ciphertext));
            let again = self::turned(&turned, 512 - power);
            assert_eq!(again, first, "X to the 512th is one");
            let with_other_refusal = {
                let mut key = turned.clone();
                key[REFUSAL].fill(1);
                key
            };
            assert_eq!(
                secret,
                expanded_decapsulate(&with_other_refusal, &ciphertext),
                "it was valid"
            );
        }
    }

    #[test]
    fn the_first_ciphertext_is_valid_for_the_first_key_only() {
        let mut number = 0;
        let mut bytes = || {
            number += 1;
            [number; 32]
        };
        for seeds in [false, true] {
            let keys = keys(8, seeds, &mut bytes);
            let outputs: std::collections::BTreeSet<_> =
                keys.iter().map(|key| &key.output).collect();
            assert_eq!(outputs.len(), 8);
            for (at, key) in keys.iter().enumerate().skip(1) {
                let same = (key.input == keys[0].input, key.raw == keys[0].raw);
                assert_eq!(same, (at % 2 == 0, at % 2 == 1), "{at}");
            }
        }
        assert_eq!((0..4).map(|n| place(n, 4)).collect::<Vec<_>>(), [0, 360, 720, 1087]);
    }
}
