//! ring as a library that ciphermark loads: `libciphermark_ring.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
mod aead;
mod digest;

use aead::Aead;
use contract::export::{OpenError, Opened, Wanted};
use digest::{Hash, Hmac};
use ring::aead::{AES_128_GCM, AES_256_GCM, CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use ring::digest::{SHA256, SHA384, SHA512};
use ring::hmac::{HMAC_SHA256, HMAC_SHA384, HMAC_SHA512};

contract::adapter! { c"ring", open }

/// Opens what is wanted, its key expanded.
fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "aes-128-gcm" => wanted.cipher(aead(wanted, &AES_128_GCM)?),
        "aes-256-gcm" => wanted.cipher(aead(wanted, &AES_256_GCM)?),
        "chacha20-poly1305" => wanted.cipher(aead(wanted, &CHACHA20_POLY1305)?),
        "sha256" => wanted.streaming_digest(Hash::<32>(&SHA256)),
        "sha384" => wanted.streaming_digest(Hash::<48>(&SHA384)),
        "sha512" => wanted.streaming_digest(Hash::<64>(&SHA512)),
        "hmac-sha256" => wanted.streaming_digest(Hmac::<32>::new(HMAC_SHA256, wanted.key)),
        "hmac-sha384" => wanted.streaming_digest(Hmac::<48>::new(HMAC_SHA384, wanted.key)),
        "hmac-sha512" => wanted.streaming_digest(Hmac::<64>::new(HMAC_SHA512, wanted.key)),
        name => Err(OpenError::Unsupported(format!("ring has no {name}"))),
    }
}

fn aead(wanted: &Wanted<'_>, algorithm: &'static ring::aead::Algorithm) -> Result<Aead, OpenError> {
    let key = UnboundKey::new(algorithm, wanted.key).map_err(|_| wanted.no_such_key())?;
    Ok(Aead(LessSafeKey::new(key)))
}
