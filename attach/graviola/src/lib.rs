//! Graviola as a library that ciphermark loads: `libciphermark_graviola.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
mod aead;
mod digest;

use contract::export::{OpenError, Opened, Wanted};
use digest::{Hash, Keyed, Sha3_256, Sha3_512};
use graviola::aead::{AesGcm, ChaCha20Poly1305, XChaCha20Poly1305};
use graviola::hashing::{Sha256, Sha384, Sha512};

contract::adapter! { c"graviola", open }

/// Opens what is wanted, its key expanded.
fn open(wanted: &Wanted<'_>) -> Opened {
    // The types take any key and panic at a wrong length.
    match (wanted.algorithm, wanted.key.len()) {
        ("aes-128-gcm", 16) | ("aes-256-gcm", 32) => {
            runs_here()?;
            wanted.cipher(aead::Gcm(AesGcm::new(wanted.key)))
        }
        ("aes-128-gcm" | "aes-256-gcm", _) => Err(wanted.no_such_key()),
        (_, _) => {
            runs_here()?;
            without_aes(wanted)
        }
    }
}

fn without_aes(wanted: &Wanted<'_>) -> Opened {
    let key = wanted.key;
    match wanted.algorithm {
        "chacha20-poly1305" => wanted.cipher(aead::ChaCha(ChaCha20Poly1305::new(wanted.key_of()?))),
        "xchacha20-poly1305" => {
            wanted.cipher(aead::XChaCha(XChaCha20Poly1305::new(wanted.key_of()?)))
        }
        "sha256" => wanted.streaming_digest(Hash::<Sha256, 32>::new()),
        "sha384" => wanted.streaming_digest(Hash::<Sha384, 48>::new()),
        "sha512" => wanted.streaming_digest(Hash::<Sha512, 64>::new()),
        "sha3-256" => wanted.streaming_digest(Sha3_256),
        "sha3-512" => wanted.streaming_digest(Sha3_512),
        "hmac-sha256" => wanted.streaming_digest(Keyed::<Sha256, 32>::new(key)),
        "hmac-sha384" => wanted.streaming_digest(Keyed::<Sha384, 48>::new(key)),
        "hmac-sha512" => wanted.streaming_digest(Keyed::<Sha512, 64>::new(key)),
        name => Err(OpenError::Unsupported(format!("Graviola has no {name}"))),
    }
}

/// Refuses a CPU that lacks what Graviola asserts at each entry (`verify_cpu_features` of its `low`
/// modules): it has no portable code, and a failed assertion ends the process, because its types assert
/// once more when they are dropped.
fn runs_here() -> Result<(), OpenError> {
    match needed().into_iter().find(|(_, there)| !there) {
        None => Ok(()),
        Some((feature, _)) => {
            Err(OpenError::Unsupported(format!("Graviola needs a CPU with {feature}")))
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn needed() -> impl IntoIterator<Item = (&'static str, bool)> {
    use std::arch::is_x86_feature_detected as has;
    [
        ("aes", has!("aes")),
        ("pclmulqdq", has!("pclmulqdq")),
        ("bmi1", has!("bmi1")),
        ("adx", has!("adx")),
        ("avx", has!("avx")),
        ("avx2", has!("avx2")),
    ]
}

#[cfg(target_arch = "aarch64")]
fn needed() -> impl IntoIterator<Item = (&'static str, bool)> {
    use std::arch::is_aarch64_feature_detected as has;
    [("neon", has!("neon")), ("aes", has!("aes")), ("pmull", has!("pmull")), ("sha2", has!("sha2"))]
}
