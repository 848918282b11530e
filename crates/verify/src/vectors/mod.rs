//! Published vectors: what standards and test projects say must come out. Each algorithm's are parsed once a
//! process.
//!
//! Vector 1 of IEEE 1619 is left out: its two keys are equal, which FIPS 140 forbids and libraries refuse.

mod published;
mod wycheproof;

use crate::example::Example;
use crate::vector_file;
use base::model::{Algorithm, Mode, Primitive};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// One published vector that fits an algorithm's lengths.
pub(crate) struct Vector {
    /// Where it is published, for messages.
    pub(crate) name: String,
    pub(crate) key: Vec<u8>,
    pub(crate) example: Example,
    /// Whether decryption must reject it.
    pub(crate) forged: bool,
}

impl Vector {
    /// A file's vector.
    pub(crate) fn of(
        algorithm: &Algorithm,
        read: &vector_file::Vector,
        name: String,
    ) -> Result<Self, hex::FromHexError> {
        let example = Example {
            nonce: hex::decode(&read.nonce)?,
            aad: hex::decode(&read.aad)?,
            plaintext: hex::decode(&read.message)?,
            ciphertext: hex::decode(&read.ciphertext)?,
            tag: hex::decode(&read.tag)?,
            source: "the vector",
            writes_output: algorithm.writes_output(),
        };
        Ok(Self { name, key: hex::decode(&read.key)?, example, forged: !read.valid })
    }
}

/// Every published vector of an algorithm.
pub(crate) fn of(algorithm: &'static Algorithm) -> &'static [Vector] {
    static PARSED: Mutex<BTreeMap<&str, &[Vector]>> = Mutex::new(BTreeMap::new());
    let mut parsed = PARSED.lock().expect("a test reads every vector");
    parsed.entry(algorithm.name).or_insert_with(|| {
        published::vectors(algorithm)
            .chain(wycheproof::vectors(algorithm))
            .collect::<Vec<_>>()
            .leak()
    })
}

/// Whether forgeries are published of an algorithm.
pub(crate) fn has_forgeries(algorithm: &Algorithm) -> bool {
    algorithm.rejects() && wycheproof::has(algorithm)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::Reference;
    use base::model::Kind;

    #[test]
    fn every_algorithm_has_vectors_or_a_reason_for_having_none() {
        for algorithm in Algorithm::all() {
            let count = of(algorithm).len();
            // The check `known-answers` makes RFC 7253's iterated test of every key length.
            let iterated = (algorithm.cipher, algorithm.mode) == (Primitive::Aes, Mode::Ocb);
            let has = count > 0 || iterated;
            assert_eq!(has, unpublished(algorithm).is_none(), "{algorithm}: {count}");
        }
    }

    #[test]
    fn the_reference_agrees_with_every_vector() {
        for algorithm in Algorithm::all() {
            for Vector { name, key, example, forged } in of(algorithm) {
                let reference = Reference::new(algorithm, key);
                let opened = |tag: &[u8]| {
                    let Example { nonce, aad, plaintext, ciphertext, writes_output, .. } = example;
                    let input = if *writes_output { ciphertext } else { plaintext };
                    let mut output = vec![0; ciphertext.len()];
                    let right = reference.decrypt(nonce, aad, input, &mut output, tag);
                    right.then_some(if *writes_output { output } else { plaintext.clone() })
                };
                let expected = (!forged).then(|| example.plaintext.clone());
                assert_eq!(opened(&example.tag), expected, "{algorithm} {name}");
                if *forged {
                    continue;
                }
                let made = encrypted(&reference, example, example.plaintext.len());
                assert_eq!(
                    (made.ciphertext, made.tag),
                    (example.ciphertext.clone(), example.tag.clone()),
                    "{name}"
                );
                // Wycheproof has forgeries of its own.
                let bits = if name.starts_with("Wycheproof") { 0 } else { example.tag.len() * 8 };
                for bit in 0..bits {
                    let mut wrong = example.tag.clone();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    assert_eq!(opened(&wrong), None, "{algorithm} {name} bit {bit}");
                }
            }
        }
    }

    fn encrypted(reference: &Reference, example: &Example, len: usize) -> Example {
        let (nonce, aad) = (example.nonce.clone(), example.aad.clone());
        Example::solve(reference, nonce, aad, example.plaintext[..len].to_vec())
    }

    /// Partial segments use as much of the last key stream block as they need, and so does OpenSSL.
    #[test]
    fn a_message_that_ends_anywhere_is_the_start_of_a_longer_one() {
        let any_length = |a: &&Algorithm| a.kind == Kind::Cipher && a.sizes.allows(1);
        let mut modes = 0;
        for algorithm in Algorithm::all().iter().filter(any_length) {
            for vector in of(algorithm) {
                let reference = Reference::new(algorithm, &vector.key);
                for len in 0..vector.example.plaintext.len() {
                    let made = encrypted(&reference, &vector.example, len).ciphertext;
                    assert_eq!(made, vector.example.ciphertext[..len], "{algorithm} {len} bytes");
                }
                modes += 1;
            }
        }
        assert!(modes >= 16, "{modes}");
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
