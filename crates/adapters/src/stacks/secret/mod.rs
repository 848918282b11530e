//! Private keys for the judge of what depends on them: they differ in what is secret, and in public as little as can be.

mod kem;
mod rsa;

use crate::stacks::keys::known_key;
use crate::stacks::reference::{self, agreement_answer};
use base64::Engine as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use record::tls::{Operation, Scheme};

/// A private key with what it is used on. All of one scheme are read from as many bytes, so that reading them allocates
/// the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secret {
    /// The key in PEM (PKCS #8); empty where only its own bytes are read.
    pub pem: String,
    /// The key's own bytes: of X25519, and of ML-KEM the seed or the expanded key.
    pub raw: Vec<u8>,
    /// The other side's public key, or the ciphertext; of signatures nothing.
    pub input: Vec<u8>,
    /// What must come out, where that is known beforehand.
    pub output: Option<Vec<u8>>,
    /// What the key looks like in a library's memory, as far as it can be followed from there.
    pub images: Vec<Vec<u8>>,
    /// Of keys with one number the same is public, as far as execution may depend on it.
    pub public: u64,
}

/// The schemes with a private key whose use can be judged, each with what is done.
pub const PRIVATE: [(Scheme, Operation); 7] = [
    (Scheme::X25519, Operation::Agree),
    (Scheme::P256, Operation::Agree),
    (Scheme::EcdsaP256, Operation::Sign),
    (Scheme::Ed25519, Operation::Sign),
    (Scheme::Rsa2048Pss, Operation::Sign),
    (Scheme::Rsa2048Pkcs1, Operation::Sign),
    (Scheme::Mlkem768, Operation::Decapsulate),
];

/// What keys are made from: the same ones each time.
const SEED: u64 = 1;

/// So many keys of a scheme, or as many as there are, always the same ones. `seeds` says that a library reads no
/// other form of an ML-KEM key.
#[must_use]
pub fn secrets(scheme: Scheme, count: usize, seeds: bool) -> Vec<Secret> {
    let mut random = StdRng::seed_from_u64(SEED);
    let mut bytes = || {
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        bytes
    };
    match scheme {
        Scheme::X25519 => (0..count).map(|number| x25519(number, bytes())).collect(),
        Scheme::P256 => (0..count).map(|number| p256(number, bytes())).collect(),
        Scheme::EcdsaP256 => (0..count).map(|_| named(Scheme::P256, &bytes())).collect(),
        Scheme::Ed25519 => (0..count).map(|_| followed(named(scheme, &bytes()))).collect(),
        Scheme::Rsa2048Pss | Scheme::Rsa2048Pkcs1 => rsa::keys(count),
        Scheme::Mlkem768 => kem::keys(count, seeds, &mut bytes),
        _ => Vec::new(),
    }
}

/// With the key's own bytes as what is in memory.
fn followed(secret: Secret) -> Secret {
    Secret { images: vec![secret.raw.clone()], ..secret }
}

/// The key of a known answer with other bytes.
fn named(of: Scheme, bytes: &[u8; 32]) -> Secret {
    let known = known_key(of).and_then(reference::pem).expect("our own files are PEM");
    let head = &known[..known.len() - bytes.len()];
    Secret { pem: pem(&[head, &bytes[..]].concat()), raw: bytes.to_vec(), ..Secret::default() }
}

/// Nearly all bits are zero in the second and one in the third: the first and last are always the same (RFC 7748 5).
fn x25519(number: usize, random: [u8; 32]) -> Secret {
    let bytes = match number {
        1 => [0; 32],
        2 => [0xff; 32],
        _ => random,
    };
    let peer = agreement_answer(Scheme::X25519).expect("there is one of X25519").peer;
    let of_peer = <[u8; 32]>::try_from(&peer[..]).expect("the answer is of 32 bytes");
    let shared = x25519_dalek::StaticSecret::from(bytes).diffie_hellman(&of_peer.into());
    let output = Some(shared.as_bytes().to_vec());
    followed(Secret { input: peer, output, ..named(Scheme::X25519, &bytes) })
}

/// The first is the known answer's.
fn p256(number: usize, random: [u8; 32]) -> Secret {
    let answer = agreement_answer(Scheme::P256).expect("there is one of P-256");
    let private = <[u8; 32]>::try_from(&answer.private[..]).expect("the answer is of 32 bytes");
    let is_known = number == 0;
    let key = named(Scheme::P256, if is_known { &private } else { &random });
    Secret { input: answer.peer, output: is_known.then_some(answer.secret), ..key }
}

/// A private key in PEM (RFC 7468 10).
fn pem(der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("base64 is ASCII"))
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_of_a_scheme_are_of_one_length_and_no_two_are_the_same() {
        for (scheme, operation) in PRIVATE {
            assert!(scheme.operations().contains(&operation), "{scheme}");
            for seeds in [false, true] {
                let keys = secrets(scheme, 6, seeds);
                assert_eq!(keys.len(), 6, "{scheme}");
                for (at, key) in keys.iter().enumerate() {
                    let lengths = |of: &Secret| (of.pem.len(), of.raw.len(), of.input.len());
                    assert_eq!(lengths(key), lengths(&keys[0]), "{scheme}");
                    let same = |other: &Secret| {
                        (&other.raw, &other.pem, &other.input) == (&key.raw, &key.pem, &key.input)
                    };
                    assert!(!keys[..at].iter().any(same), "{scheme} {at}");
                }
            }
        }
        assert!(secrets(Scheme::Sha256, 2, false).is_empty());
    }
}
