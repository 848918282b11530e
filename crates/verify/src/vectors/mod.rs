//! Published vectors: what standards and test projects say must come out. Data with its source;
//! what is parsed is parsed once a process.

mod ciphers;
mod digests;
mod ieee1619;
mod rfc7253;
mod sp800_38a;
pub(crate) mod wycheproof;
mod xxh3;

pub(crate) use rfc7253::{ITERATED, Iterated};

use crate::example::Example;
use model::{Algorithm, Mode, Primitive};

/// One published vector that fits an algorithm's lengths.
pub(crate) struct Vector {
    /// Where it is published, for messages.
    pub(crate) name: String,
    pub(crate) key: Vec<u8>,
    pub(crate) example: Example,
    /// Whether decryption must reject it.
    pub(crate) forged: bool,
}

/// Every published vector of an algorithm.
pub(crate) fn of(algorithm: &Algorithm) -> Vec<Vector> {
    match (algorithm.cipher, algorithm.mode) {
        (Primitive::Xxh3, _) => xxh3::vectors(),
        (_, Mode::Hmac) => wycheproof::mac(algorithm),
        (_, Mode::None | Mode::OneTimeMac) => digests::vectors(algorithm),
        (Primitive::Aes, Mode::Xts) => {
            let mut vectors = ieee1619::vectors(algorithm);
            vectors.extend(wycheproof::xts(algorithm));
            vectors
        }
        (Primitive::Aes, Mode::Ocb) => rfc7253::vectors(algorithm),
        _ if algorithm.rejects() => wycheproof::aead(algorithm),
        (Primitive::Aes, _) => sp800_38a::vectors(algorithm),
        _ => ciphers::vectors(algorithm),
    }
}

/// Why an algorithm has no published vector here; `None` where it has some.
pub(crate) fn unpublished(algorithm: &Algorithm) -> Option<&'static str> {
    match (algorithm.cipher, algorithm.mode) {
        (Primitive::None, _) => Some("a baseline: nothing is computed"),
        (_, Mode::Composite) => Some("defined here; its parts have vectors"),
        (_, Mode::Gmac) => Some("GCM without a plaintext, of which GCM's vectors hold some"),
        (_, Mode::Aegis) => {
            Some("the published vectors have other tags; two implementations agree")
        }
        (Primitive::Aes, _) => None,
        (Primitive::Camellia | Primitive::Aria | Primitive::Sm4 | Primitive::TripleDes, mode) => {
            let published = match mode {
                Mode::Ecb => true,
                Mode::Gcm => algorithm.cipher != Primitive::Camellia,
                Mode::Ccm => true,
                _ => false,
            };
            (!published).then_some("the mode has vectors with AES, the cipher has them in ECB")
        }
        _ => None,
    }
}

/// Bytes of a constant in hexadecimal; blanks and line breaks are layout.
fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    hex::decode(digits).expect("vectors in this crate are hexadecimal")
}

/// A vector of a cipher without authentication.
fn cipher_example(nonce: Vec<u8>, plaintext: Vec<u8>, ciphertext: Vec<u8>) -> Example {
    aead_example(nonce, Vec::new(), plaintext, ciphertext, Vec::new())
}

/// A vector of authenticated encryption.
fn aead_example(
    nonce: Vec<u8>,
    aad: Vec<u8>,
    plaintext: Vec<u8>,
    ciphertext: Vec<u8>,
    tag: Vec<u8>,
) -> Example {
    let source = "the vector";
    Example { nonce, aad, plaintext, ciphertext, tag, source, writes_output: true }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;

    #[test]
    fn every_algorithm_has_vectors_or_a_reason_for_having_none() {
        for algorithm in Algorithm::all() {
            let count = of(algorithm).len();
            let iterated = ITERATED.iter().any(|i| i.algorithm == algorithm.name);
            let has = count > 0 || iterated;
            assert_eq!(has, unpublished(algorithm).is_none(), "{algorithm}: {count}");
        }
    }

    #[test]
    fn the_reference_agrees_with_every_vector() {
        for algorithm in Algorithm::all() {
            for vector in of(algorithm) {
                let Vector { name, key, example, forged } = vector;
                let reference = Reference::new(algorithm, &key);
                let mut output = vec![0; example.ciphertext.len()];
                let valid = reference.decrypt(
                    &example.nonce,
                    &example.aad,
                    if example.writes_output { &example.ciphertext } else { &example.plaintext },
                    &mut output,
                    &example.tag,
                );
                assert_eq!(valid, !forged, "{algorithm} {name}");
                assert!(forged || !example.writes_output || output == example.plaintext, "{name}");
            }
        }
    }

    #[test]
    fn tampering_is_represented_where_wycheproof_has_it() {
        for name in
            ["aes-128-gcm", "aes-192-ccm", "chacha20-poly1305", "aes-256-gcm-siv", "aes-128-eax"]
        {
            let vectors = of(Algorithm::find(name).unwrap());
            assert!(vectors.iter().filter(|v| v.forged).count() >= 10, "{name}");
            assert!(vectors.iter().filter(|v| !v.forged).count() >= 20, "{name}");
        }
    }
}
