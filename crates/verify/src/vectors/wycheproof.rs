//! Project Wycheproof: vectors that are known to have broken implementations, the forged ones among them.

use super::Vector;
use crate::vector_file;
use base::model::{Algorithm, Mode, Primitive};
use miniz_oxide::inflate::decompress_to_vec;

/// Whether the project has a file of an algorithm.
pub(super) fn has(algorithm: &Algorithm) -> bool {
    packed(algorithm).is_some()
}

/// The vectors that fit an algorithm's lengths.
pub(super) fn vectors(algorithm: &'static Algorithm) -> Vec<Vector> {
    let Some(packed) = packed(algorithm) else { return Vec::new() };
    let text = decompress_to_vec(packed).ok().and_then(|text| String::from_utf8(text).ok());
    let text = text.expect("a test unpacks the project's files");
    let file = vector_file::read(&text).expect("a test reads the project's files");
    let own = file.vectors.iter().filter(|(of, _)| of.name == algorithm.name);
    own.map(|(_, vector)| {
        let name = format!("Wycheproof test {}", vector.id);
        Vector::of(algorithm, vector, name).expect("what was read is hexadecimal")
    })
    .collect()
}

/// The project's file of an algorithm, as the build packed it (RFC 1951).
fn packed(algorithm: &Algorithm) -> Option<&'static [u8]> {
    Some(match (algorithm.cipher, algorithm.mode) {
        (Primitive::Aes, Mode::Gcm) => files::AES_GCM,
        (Primitive::Aes, Mode::Ccm) => files::AES_CCM,
        (Primitive::Aes, Mode::Eax) => files::AES_EAX,
        (Primitive::Aes, Mode::GcmSiv) => files::AES_GCM_SIV,
        (Primitive::Aes, Mode::Siv) => files::AES_SIV,
        (Primitive::Aes, Mode::Xts) => files::AES_XTS,
        (Primitive::Aria, Mode::Gcm) => files::ARIA_GCM,
        (Primitive::Aria, Mode::Ccm) => files::ARIA_CCM,
        (Primitive::Camellia, Mode::Ccm) => files::CAMELLIA_CCM,
        (Primitive::Sm4, Mode::Gcm) => files::SM4_GCM,
        (Primitive::Sm4, Mode::Ccm) => files::SM4_CCM,
        (Primitive::ChaCha20, Mode::Poly1305) => files::CHACHA20_POLY1305,
        (Primitive::XChaCha20, Mode::Poly1305) => files::XCHACHA20_POLY1305,
        (Primitive::Sha256, Mode::Hmac) => files::HMAC_SHA256,
        (Primitive::Sha384, Mode::Hmac) => files::HMAC_SHA384,
        (Primitive::Sha512, Mode::Hmac) => files::HMAC_SHA512,
        _ => return None,
    })
}

mod files {
    include!(concat!(env!("OUT_DIR"), "/packed.rs"));
}
