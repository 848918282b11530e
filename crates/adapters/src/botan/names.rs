//! What Botan calls the algorithms (its manual's "Cipher Modes", "Block Ciphers", "Hash Functions"
//! and "Message Authentication Codes").

use base::model::{Algorithm, Mode, Primitive};

/// The interface that an algorithm is behind, and its name there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// `botan_block_cipher_*`
    Block(String),
    /// `botan_cipher_*`
    Cipher(String),
    /// `botan_hash_*`
    Hash(&'static str),
    /// `botan_mac_*`
    Mac(String),
}

/// `None`: Botan has no name for it.
pub(super) fn name(algorithm: &Algorithm) -> Option<Name> {
    match algorithm.mode {
        Mode::None => digest(algorithm.cipher).map(Name::Hash),
        Mode::Hmac => digest(algorithm.cipher).map(|hash| Name::Mac(format!("HMAC({hash})"))),
        Mode::OneTimeMac => Some(Name::Mac("Poly1305".to_owned())),
        Mode::Gmac => Some(Name::Mac(format!("GMAC({})", block(algorithm)?))),
        Mode::Ecb => block(algorithm).map(Name::Block),
        _ => cipher(algorithm).map(Name::Cipher),
    }
}

/// The cipher mode that authenticates without encrypting, for versions whose `botan_mac_*` takes
/// no nonce.
pub(super) fn gcm_for_gmac(algorithm: &Algorithm) -> Option<String> {
    Some(format!("{}/GCM", block(algorithm)?))
}

fn cipher(algorithm: &Algorithm) -> Option<String> {
    match algorithm.mode {
        Mode::Stream => return Some("ChaCha(20)".to_owned()),
        // With a nonce of 24 bytes it is XChaCha20-Poly1305.
        Mode::Poly1305 => return Some("ChaCha20Poly1305".to_owned()),
        _ => {}
    }
    let block = block(algorithm)?;
    Some(match algorithm.mode {
        Mode::Cbc => format!("{block}/CBC/NoPadding"),
        Mode::Cfb => format!("{block}/CFB"),
        Mode::Cfb8 => format!("{block}/CFB(8)"),
        Mode::Ofb => format!("OFB({block})"),
        Mode::Ctr => format!("CTR-BE({block})"),
        Mode::Xts => format!("{block}/XTS"),
        Mode::Gcm => format!("{block}/GCM"),
        // Tag length and length of the length: 3 bytes go with a nonce of 12.
        Mode::Ccm => format!("{block}/CCM(16,3)"),
        Mode::Ocb => format!("{block}/OCB"),
        Mode::Eax => format!("{block}/EAX"),
        Mode::Siv => format!("{block}/SIV"),
        Mode::GcmSiv => format!("{block}/GCM-SIV"),
        _ => return None,
    })
}

fn block(algorithm: &Algorithm) -> Option<String> {
    let keys = if matches!(algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
    let bits = algorithm.key_len / keys * 8;
    Some(match algorithm.cipher {
        Primitive::Aes => format!("AES-{bits}"),
        Primitive::Camellia => format!("Camellia-{bits}"),
        Primitive::Aria => format!("ARIA-{bits}"),
        Primitive::Sm4 => "SM4".to_owned(),
        Primitive::TripleDes => "TripleDES".to_owned(),
        _ => return None,
    })
}

fn digest(primitive: Primitive) -> Option<&'static str> {
    Some(match primitive {
        Primitive::Sha256 => "SHA-256",
        Primitive::Sha384 => "SHA-384",
        Primitive::Sha512 => "SHA-512",
        Primitive::Sha3_256 => "SHA-3(256)",
        Primitive::Sha3_384 => "SHA-3(384)",
        Primitive::Sha3_512 => "SHA-3(512)",
        Primitive::Blake2b => "BLAKE2b(512)",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_the_ciphers_own_key_length() {
        let of = |n: &str| name(Algorithm::find(n).unwrap());
        let cipher = |n: &str| Some(Name::Cipher(n.to_owned()));
        assert_eq!(of("aes-256-xts"), cipher("AES-256/XTS"));
        assert_eq!(of("camellia-192-siv"), cipher("Camellia-192/SIV"));
        assert_eq!(of("des-ede3-ctr"), cipher("CTR-BE(TripleDES)"));
        assert_eq!(of("aria-128-ecb"), Some(Name::Block("ARIA-128".to_owned())));
        assert_eq!(of("hmac-sha384"), Some(Name::Mac("HMAC(SHA-384)".to_owned())));
        assert_eq!(of("aes-192-gmac"), Some(Name::Mac("GMAC(AES-192)".to_owned())));
        for none in ["aes-128-cfb1", "aegis-128l", "blake3", "crc32c", "memcpy", "null"] {
            assert_eq!(of(none), None, "{none}");
        }
    }
}
