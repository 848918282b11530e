//! What the kernel calls the algorithms, and how it takes their nonces.

use base::model::{Algorithm, Mode, Primitive};

/// `salg_type`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Skcipher,
    Aead,
    Hash,
}

impl Kind {
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Self::Skcipher => "skcipher",
            Self::Aead => "aead",
            Self::Hash => "hash",
        }
    }
}

/// How repeated calls under one IV go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// The kernel carries the IV from call to call, at whole blocks.
    Carries,
    /// Every call is a message of its own: ECB's blocks, XTS's data units.
    Starts,
}

/// An algorithm in the kernel's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) kind: Kind,
    /// `salg_name`
    pub(super) name: String,
    /// The IV as it is handed over; the nonce is laid over it at `nonce_at`.
    pub(super) iv: Vec<u8>,
    pub(super) nonce_at: usize,
    pub(super) nonce_len: usize,
    pub(super) chain: Chain,
}

/// `None` for what the kernel has no name for. Whether it has what is named, `bind` says.
pub(super) fn target(algorithm: &Algorithm) -> Option<Target> {
    let (kind, name) = name(algorithm)?;
    let (iv, nonce_at) = match (algorithm.cipher, algorithm.mode) {
        // The first byte says how many bytes the length has, less one; the counter behind the nonce
        // is zero (RFC 3610 §2.3, as crypto/ccm.c takes it).
        (_, Mode::Ccm) => {
            let len_of_len = 15 - algorithm.nonce_len;
            let mut iv = vec![0; 16];
            iv[0] = u8::try_from(len_of_len - 1).expect("between 1 and 7");
            (iv, 1)
        }
        // A little-endian block counter, then the nonce.
        (Primitive::ChaCha20, Mode::Stream) => (vec![0; 16], 4),
        _ => (vec![0; algorithm.nonce_len], 0),
    };
    let chain = match algorithm.mode {
        Mode::Ecb | Mode::Xts => Chain::Starts,
        _ => Chain::Carries,
    };
    Some(Target { kind, name, iv, nonce_at, nonce_len: algorithm.nonce_len, chain })
}

fn name(algorithm: &Algorithm) -> Option<(Kind, String)> {
    match algorithm.mode {
        Mode::None | Mode::Hmac => return hash(algorithm).map(|name| (Kind::Hash, name)),
        Mode::Stream => return Some((Kind::Skcipher, "chacha20".to_owned())),
        Mode::Poly1305 if algorithm.cipher == Primitive::ChaCha20 => {
            return Some((Kind::Aead, "rfc7539(chacha20,poly1305)".to_owned()));
        }
        _ => {}
    }
    let cipher = match algorithm.cipher {
        Primitive::Aes => "aes",
        Primitive::Camellia => "camellia",
        Primitive::Aria => "aria",
        Primitive::Sm4 => "sm4",
        Primitive::TripleDes => "des3_ede",
        _ => return None,
    };
    let (kind, mode) = match algorithm.mode {
        Mode::Ecb => (Kind::Skcipher, "ecb"),
        Mode::Cbc => (Kind::Skcipher, "cbc"),
        Mode::Cfb => (Kind::Skcipher, "cfb"),
        Mode::Ofb => (Kind::Skcipher, "ofb"),
        Mode::Ctr => (Kind::Skcipher, "ctr"),
        Mode::Xts => (Kind::Skcipher, "xts"),
        Mode::Gcm => (Kind::Aead, "gcm"),
        Mode::Ccm => (Kind::Aead, "ccm"),
        _ => return None,
    };
    Some((kind, format!("{mode}({cipher})")))
}

fn hash(algorithm: &Algorithm) -> Option<String> {
    let digest = match algorithm.cipher {
        Primitive::Sha256 => "sha256",
        Primitive::Sha384 => "sha384",
        Primitive::Sha512 => "sha512",
        Primitive::Sha3_256 => "sha3-256",
        Primitive::Sha3_384 => "sha3-384",
        Primitive::Sha3_512 => "sha3-512",
        Primitive::Blake2b => "blake2b-512",
        Primitive::Crc32c => "crc32c",
        _ => return None,
    };
    Some(match algorithm.mode {
        Mode::Hmac => format!("hmac({digest})"),
        _ => digest.to_owned(),
    })
}
