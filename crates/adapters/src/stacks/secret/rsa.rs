//! RSA keys in pairs: both of a pair have the same modulus, which is public, and the primes in either order, so that
//! every number of the private key but the exponent, which is used only without the primes, is another.

use super::{Secret, pem};
use crate::stacks::reference::{INTEGER, SEQUENCE, integer_of, wrapped};
use num_bigint::BigUint;

/// Primes of 1024 bits, the two highest of them set; worth nothing, as all our keys.
const PRIMES: &str = include_str!("../../../keys/primes-1024.txt");

const PUBLIC_EXPONENT: u32 = 65_537;

/// `AlgorithmIdentifier` of rsaEncryption (RFC 8017 A.1).
const ALGORITHM: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
const OCTET_STRING: u8 = 0x04;

/// So many keys, or as many as there are.
pub(super) fn keys(count: usize) -> Vec<Secret> {
    let prime = |line: &str| BigUint::parse_bytes(line.as_bytes(), 16).expect("our own primes");
    let primes: Vec<BigUint> = PRIMES.lines().map(prime).collect();
    let all = (0..primes.len()).flat_map(|i| (i + 1..primes.len()).map(move |j| (i, j)));
    let pairs = all.filter_map(|(i, j)| {
        let one = numbers(&primes[i], &primes[j])?;
        let other = numbers(&primes[j], &primes[i])?;
        // A number of another length would be allocated in another size.
        one.iter().zip(&other).all(|(a, b)| a.len() == b.len()).then_some([one, other])
    });
    let keys = pairs.enumerate().flat_map(|(public, pair)| {
        pair.map(|numbers| Secret {
            pem: pem(&encoded(&numbers)),
            public: public as u64,
            ..Secret::default()
        })
    });
    keys.take(count).collect()
}

/// The numbers of `RSAPrivateKey` (RFC 8017 A.1.2) behind its version, in DER.
fn numbers(p: &BigUint, q: &BigUint) -> Option<[Vec<u8>; 8]> {
    let one = BigUint::from(1_u8);
    let exponent = BigUint::from(PUBLIC_EXPONENT);
    let private = exponent.modinv(&((p - &one) * (q - &one)))?;
    let numbers = [
        p * q,
        exponent,
        private.clone(),
        p.clone(),
        q.clone(),
        &private % (p - &one),
        &private % (q - &one),
        q.modinv(p)?,
    ];
    Some(numbers.map(|number| integer_of(&number.to_bytes_be())))
}

fn encoded(numbers: &[Vec<u8>; 8]) -> Vec<u8> {
    let version = wrapped(INTEGER, &[0]);
    let key = wrapped(SEQUENCE, &[&version[..], &numbers.concat()].concat());
    let key = wrapped(OCTET_STRING, &key);
    wrapped(SEQUENCE, &[&version[..], ALGORITHM, &key].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_six_keys_in_pairs_of_one_length() {
        let keys = keys(100);
        let publics: Vec<u64> = keys.iter().map(|key| key.public).collect();
        assert_eq!(publics, [0, 0, 1, 1, 2, 2]);
        assert!(keys.iter().all(|key| key.pem.len() == keys[0].pem.len()));
    }

    #[test]
    fn the_numbers_of_a_key_are_what_the_standard_makes_of_its_primes() {
        let (p, q) = (BigUint::from(1_000_003_u32), BigUint::from(999_983_u32));
        let of =
            |der: &Vec<u8>| BigUint::from_bytes_be(crate::stacks::reference::integer(der).unwrap());
        let [n, e, d, first, second, dp, dq, inverse] = numbers(&p, &q).unwrap().each_ref().map(of);
        assert_eq!((&n, &first, &second), (&(&p * &q), &p, &q));
        let message = BigUint::from(123_456_u32);
        assert_eq!(message.modpow(&e, &n).modpow(&d, &n), message);
        // By the primes (RFC 8017 5.1.2).
        let secret = message.modpow(&e, &n);
        let (one, other) = (secret.modpow(&dp, &p), secret.modpow(&dq, &q));
        let h = (one + &p - &other % &p) * inverse % &p;
        assert_eq!(other + q * h, message);
    }
}
