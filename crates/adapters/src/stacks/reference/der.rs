//! As much of DER (ITU-T X.690) as public keys and parameters of DH need.

use crate::stacks::reference::agreement::Field;
use base64::Engine as _;
use num_bigint::BigUint;

pub(crate) const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
pub(crate) const SEQUENCE: u8 = 0x30;

/// What a PEM file holds (RFC 7468); of several, the first.
#[must_use]
pub fn pem(text: &str) -> Option<Vec<u8>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1);
    let body: String = lines.take_while(|line| !line.starts_with('-')).collect();
    base64::engine::general_purpose::STANDARD.decode(body).ok()
}

/// The first element of a tag: its content, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length = bytes
            .iter()
            .try_fold(0_usize, |sum, b| sum.checked_mul(256).map(|sum| sum + usize::from(*b)));
        (length?, rest)
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}

/// An element of a tag with this content.
pub(crate) fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        short @ ..0x80 => out.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let from = bytes.iter().position(|b| *b != 0).unwrap_or(bytes.len());
            out.push(0x80 | (bytes.len() - from) as u8);
            out.extend_from_slice(&bytes[from..]);
        }
    }
    out.extend_from_slice(content);
    out
}

/// The key in a `SubjectPublicKeyInfo` (RFC 5280 4.1): a point, the bytes of a key, `RSAPublicKey`, or
/// for DH an [`integer`].
#[must_use]
pub fn public_key(info: &[u8]) -> Option<&[u8]> {
    let (body, _) = element(info, SEQUENCE)?;
    let (_, rest) = element(body, SEQUENCE)?;
    let (bits, _) = element(rest, BIT_STRING)?;
    bits.split_first().filter(|(unused, _)| **unused == 0).map(|(_, key)| key)
}

/// The same `SubjectPublicKeyInfo` with another key; of DH, a number.
#[must_use]
pub fn with_public_key(info: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let (body, _) = element(info, SEQUENCE)?;
    let (_, rest) = element(body, SEQUENCE)?;
    let algorithm = &body[..body.len() - rest.len()];
    let is_number = public_key(info).and_then(integer).is_some();
    let key = if is_number { integer_of(key) } else { key.to_vec() };
    let bits = wrapped(BIT_STRING, &[&[0], &key[..]].concat());
    Some(wrapped(SEQUENCE, &[algorithm, &bits].concat()))
}

/// An element that is a positive number.
pub(crate) fn integer_of(number: &[u8]) -> Vec<u8> {
    wrapped(INTEGER, &signed(number))
}

/// A positive number has a zero before a first byte that would make it negative.
fn signed(number: &[u8]) -> Vec<u8> {
    let zero: &[u8] = if number.first().is_some_and(|b| *b >= 0x80) { &[0] } else { &[] };
    [zero, number].concat()
}

/// A positive number without leading zeros, where the whole is one.
#[must_use]
pub fn integer(der: &[u8]) -> Option<&[u8]> {
    let (number, rest) = element(der, INTEGER)?;
    let from = number.iter().position(|b| *b != 0)?;
    rest.is_empty().then_some(&number[from..])
}

/// Prime and generator of `DHParameter` (PKCS #3, 9): what a PEM file of DH parameters holds.
#[must_use]
pub fn finite_field(parameters: &[u8]) -> Option<Field> {
    let (body, _) = element(parameters, SEQUENCE)?;
    let (prime, rest) = element(body, INTEGER)?;
    let (generator, _) = element(rest, INTEGER)?;
    let [prime, generator] = [prime, generator].map(BigUint::from_bytes_be);
    Some(Field { prime, generator })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_put_in_comes_out() {
        let algorithm = wrapped(SEQUENCE, &wrapped(0x06, &[0x2b, 0x65, 0x6e]));
        let info = |key: &[u8]| {
            let bits = wrapped(BIT_STRING, &[&[0], key].concat());
            wrapped(SEQUENCE, &[&algorithm[..], &bits].concat())
        };
        let (one, two) = ([7; 32], [9; 32]);
        assert_eq!(public_key(&info(&one)), Some(&one[..]));
        assert_eq!(with_public_key(&info(&one), &two), Some(info(&two)));
        // A number of 200 bytes, the first of which has its highest bit set.
        let number = [0x80; 200];
        let der = wrapped(INTEGER, &signed(&number));
        assert_eq!(der[..4], [INTEGER, 0x81, 201, 0]);
        let with = with_public_key(&info(&wrapped(INTEGER, &[5])), &number).unwrap();
        assert_eq!(public_key(&with).and_then(integer), Some(&number[..]));
    }

    #[test]
    fn what_is_cut_short_is_none() {
        let whole = wrapped(SEQUENCE, &[wrapped(INTEGER, &[23]), wrapped(INTEGER, &[5])].concat());
        assert_eq!(finite_field(&whole).unwrap().bits(), 5);
        for end in 0..whole.len() {
            assert_eq!(finite_field(&whole[..end]), None, "{end}");
        }
        assert_eq!(element(&[SEQUENCE, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1], SEQUENCE), None);
    }
}
