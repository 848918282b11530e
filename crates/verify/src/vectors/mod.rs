//! Published vectors: what standards and test projects say must come out. Data with its source;
//! what is parsed is parsed once a process.

mod ieee1619;
mod rfc7253;
mod sp800_38a;
mod wycheproof;
mod xxh3;

pub(crate) use rfc7253::{ITERATED, Iterated};

use crate::example::Example;
use model::{Algorithm, Kind, Mode};

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
    match (algorithm.kind, algorithm.mode) {
        (Kind::Digest, _) if algorithm.name == "xxh3-64" => xxh3::vectors(),
        (_, Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr) => {
            sp800_38a::vectors(algorithm)
        }
        (_, Mode::Xts) => {
            let mut vectors = ieee1619::vectors(algorithm);
            vectors.extend(wycheproof::xts(algorithm));
            vectors
        }
        (_, Mode::Ocb) => rfc7253::vectors(algorithm),
        (_, Mode::Gcm | Mode::Ccm | Mode::Poly1305) => wycheproof::aead(algorithm),
        _ => Vec::new(),
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
    fn every_algorithm_but_the_baselines_has_vectors_or_an_iterated_one() {
        for algorithm in Algorithm::all() {
            let count = of(algorithm).len();
            let iterated = ITERATED.iter().any(|i| i.algorithm == algorithm.name);
            let baseline = matches!(algorithm.kind, Kind::Copy | Kind::Null);
            assert_eq!(count > 0 || iterated, !baseline, "{algorithm}: {count}");
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
        for name in ["aes-128-gcm", "aes-192-ccm", "chacha20-poly1305"] {
            let vectors = of(Algorithm::find(name).unwrap());
            assert!(vectors.iter().filter(|v| v.forged).count() >= 10, "{name}");
            assert!(vectors.iter().filter(|v| !v.forged).count() >= 20, "{name}");
        }
    }
}
