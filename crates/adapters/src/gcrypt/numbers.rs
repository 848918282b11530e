//! What `gcrypt.h` calls the algorithms: its enumerations as numbers.

use base::model::{Algorithm, Mode, Primitive};
use std::ffi::c_int;

/// Cipher and mode in `enum gcry_cipher_algos` and `enum gcry_cipher_modes`. Whether the loaded
/// version has them, `gcry_cipher_open` says.
pub(super) fn cipher(algorithm: &Algorithm) -> Option<(c_int, c_int)> {
    let mode = match algorithm.mode {
        Mode::Ecb => 1,
        Mode::Cfb => 2,
        Mode::Cbc => 3,
        Mode::Stream => 4,
        Mode::Ofb => 5,
        Mode::Ctr => 6,
        Mode::Ccm => 8,
        Mode::Gcm => 9,
        Mode::Poly1305 => 10,
        Mode::Ocb => 11,
        Mode::Cfb8 => 12,
        Mode::Xts => 13,
        Mode::Eax => 14,
        Mode::Siv => 15,
        Mode::GcmSiv => 16,
        _ => return None,
    };
    // XTS and SIV keys are two keys of the cipher.
    let keys = if matches!(algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
    let cipher = match (algorithm.cipher, algorithm.key_len / keys) {
        (Primitive::TripleDes, 24) => 2,
        (Primitive::Aes, 16) => 7,
        (Primitive::Aes, 24) => 8,
        (Primitive::Aes, 32) => 9,
        (Primitive::Camellia, 16) => 310,
        (Primitive::Camellia, 24) => 311,
        (Primitive::Camellia, 32) => 312,
        (Primitive::ChaCha20, 32) => 316,
        (Primitive::Sm4, 16) => 318,
        (Primitive::Aria, 16) => 319,
        (Primitive::Aria, 24) => 320,
        (Primitive::Aria, 32) => 321,
        _ => return None,
    };
    Some((cipher, mode))
}

/// A digest in `enum gcry_md_algos`.
pub(super) fn digest(algorithm: &Algorithm) -> Option<c_int> {
    Some(match algorithm.cipher {
        Primitive::Sha256 => 8,
        Primitive::Sha384 => 9,
        Primitive::Sha512 => 10,
        Primitive::Sha3_256 => 313,
        Primitive::Sha3_384 => 314,
        Primitive::Sha3_512 => 315,
        Primitive::Blake2b => 318,
        _ => return None,
    })
}

/// A message authentication code in `enum gcry_mac_algos`. GMAC takes the length of the key from
/// the key.
pub(super) fn mac(algorithm: &Algorithm) -> Option<c_int> {
    Some(match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => 101,
        (Mode::Hmac, Primitive::Sha512) => 103,
        (Mode::Hmac, Primitive::Sha384) => 104,
        (Mode::Gmac, Primitive::Aes) => 401,
        (Mode::OneTimeMac, Primitive::Poly1305) => 501,
        _ => return None,
    })
}
