//! The whole offer of the library, and what sessions say of themselves.

use super::*;
use contract::loader::SharedObject;
use testing::trial::primitives;

#[test]
fn the_systems_openssl_offers_all_that_it_has() {
    if EVP.named().is_some() {
        eprintln!("skipped: another library was named");
        return;
    }
    let library = library();
    let version = openssl_version(&*library).expect("the system's library is OpenSSL");
    if version > (3, 0) && version < (3, 5) {
        eprintln!("skipped: nobody has looked what OpenSSL {version:?} has");
        return;
    }
    let missing = |a: &Algorithm| {
        use base::model::{Mode, Primitive};
        match (a.cipher, a.mode) {
            (Primitive::Aes, mode) => mode == Mode::Eax || mode == Mode::GcmSiv && version < (3, 5),
            (Primitive::Camellia, mode) => {
                matches!(
                    mode,
                    Mode::Xts | Mode::Gcm | Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Siv
                )
            }
            (Primitive::Aria, mode) => {
                matches!(mode, Mode::Xts | Mode::Ocb | Mode::Eax | Mode::Siv)
            }
            (Primitive::Sm4, Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr) => false,
            (Primitive::Sm4, Mode::Gcm | Mode::Ccm | Mode::Xts) => version < (3, 5),
            (Primitive::Sm4, _) => true,
            (Primitive::TripleDes, mode) => mode == Mode::Ctr,
            (Primitive::XChaCha20 | Primitive::None, _) => true,
            (Primitive::Aegis128 { .. } | Primitive::Aegis256 { .. }, _) => true,
            (Primitive::Blake3 | Primitive::Xxh3 | Primitive::Crc32c, _) => true,
            _ => false,
        }
    };
    for algorithm in primitives() {
        for &direction in Direction::of(algorithm.kind) {
            let session = open(&*library, algorithm, direction, &bytes(algorithm.key_len, 1));
            assert_eq!(session.is_none(), missing(algorithm), "{algorithm} {direction}");
        }
    }
}

#[test]
fn each_session_names_functions_that_the_library_exports() {
    let library = library();
    let object = SharedObject::open(&EVP.path().unwrap()).unwrap();
    for algorithm in primitives() {
        for &direction in Direction::of(algorithm.kind) {
            let key = bytes(algorithm.key_len, 3);
            let Some(session) = open(&*library, algorithm, direction, &key) else { continue };
            let calls = session.calls().expect("every session says what it calls");
            for call in calls.split(", ").filter(|call| *call != "memcpy") {
                assert!(object.has(call), "{algorithm} {direction}: {call}");
            }
            assert_eq!(session.copies(), calls.contains("memcpy"), "{algorithm} {direction}");
        }
    }
}

/// BoringSSL's and AWS-LC's headers ask for `EVP_AEAD` instead; streams stay where they were.
#[test]
fn gcm_is_sealed_by_evp_aead_where_its_tag_can_stand_apart() {
    let library = library();
    let object = SharedObject::open(&EVP.path().unwrap()).unwrap();
    let algorithm = Algorithm::find("aes-256-gcm").unwrap();
    let session = open(&*library, algorithm, Direction::Encrypt, &bytes(32, 3)).unwrap();
    let aead = object.has("EVP_AEAD_CTX_seal_scatter");
    assert_eq!(session.calls().unwrap() == "EVP_AEAD_CTX_seal_scatter", aead);
    assert!(session.has_stream());
}

#[test]
fn a_session_that_allocates_for_each_message_says_so() {
    let library = library();
    for name in ["aes-256-siv", "aes-256-gcm-siv"] {
        let algorithm = Algorithm::find(name).unwrap();
        let key = bytes(algorithm.key_len, 3);
        if let Some(session) = open(&*library, algorithm, Direction::Encrypt, &key) {
            let by_cipher = session.calls().unwrap().contains("EVP_EncryptUpdate");
            assert_eq!(session.allocates(), by_cipher, "{name}");
        }
    }
    let algorithm = Algorithm::find("sha256").unwrap();
    let session = open(&*library, algorithm, Direction::Digest, &[]).unwrap();
    assert_eq!(session.allocates(), openssl_version(&*library) == Some((3, 0)));
}
