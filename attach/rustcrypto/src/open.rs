//! Opening an algorithm: its name chooses the types, its key is expanded here, outside the clock.
use crate::aead::{Aead, CcmMode, ChaCha, EaxMode, Gcm, GcmSiv, Ocb, Siv, SivAead, XChaCha};
use crate::block::{Cbc, Ecb};
use crate::block_cipher::{BlockCipher, Cipher64, Cipher128};
use crate::digest::{Gmac, Hash, Keyed, OneTime};
use crate::feedback::{Cfb, Cfb8};
use crate::stream::{ChaCha as ChaChaStream, Ctr, Ctr64, Ofb};
use crate::xts::Xts;
use aes::{Aes128, Aes192, Aes256};
use aes_siv::siv::CmacSiv;
use aes_siv::{Aes128SivAead, Aes256SivAead};
use aria::{Aria128, Aria192, Aria256};
use camellia::{Camellia128, Camellia192, Camellia256};
use cipher::{Array, KeyInit, KeySizeUser};
use contract::export::{OpenError, Opened, Wanted};
use des::TdesEde3;
use sm4::Sm4;
use std::ops::Add;

/// Opens what is wanted.
pub(crate) fn open(wanted: &Wanted<'_>) -> Opened {
    let name = wanted.algorithm;
    match name {
        "chacha20" => wanted.streaming_cipher(ChaChaStream(Array(wanted.key_of()?))),
        "chacha20-poly1305" => {
            let mode: ChaCha = Aead(keyed(wanted)?);
            wanted.cipher(mode)
        }
        "xchacha20-poly1305" => {
            let mode: XChaCha = Aead(keyed(wanted)?);
            wanted.cipher(mode)
        }
        "sha256" => wanted.streaming_digest(Hash::<sha2::Sha256>::new()),
        "sha384" => wanted.streaming_digest(Hash::<sha2::Sha384>::new()),
        "sha512" => wanted.streaming_digest(Hash::<sha2::Sha512>::new()),
        "sha3-256" => wanted.streaming_digest(Hash::<sha3::Sha3_256>::new()),
        "sha3-384" => wanted.streaming_digest(Hash::<sha3::Sha3_384>::new()),
        "sha3-512" => wanted.streaming_digest(Hash::<sha3::Sha3_512>::new()),
        "blake2b512" => wanted.streaming_digest(Hash::<blake2::Blake2b512>::new()),
        "hmac-sha256" => wanted.streaming_digest(hmac::<sha2::Sha256>(wanted)?),
        "hmac-sha384" => wanted.streaming_digest(hmac::<sha2::Sha384>(wanted)?),
        "hmac-sha512" => wanted.streaming_digest(hmac::<sha2::Sha512>(wanted)?),
        "poly1305" => wanted.digest(OneTime(keyed(wanted)?)),
        _ => mode_of_a_cipher(wanted),
    }
}

/// `aes-128-gcm`: the cipher's name ends with its key length, where it has several.
fn mode_of_a_cipher(wanted: &Wanted<'_>) -> Opened {
    // Names of composites begin like those of modes; the program makes them of their parts.
    let Some((cipher, mode)) = split(wanted.algorithm) else { return Err(no_crate(wanted)) };
    match (cipher, mode) {
        ("aes-128", "siv") => {
            let mode: SivAead<Aes128SivAead> = Aead(keyed(wanted)?);
            wanted.cipher(mode)
        }
        ("aes-256", "siv") => {
            let mode: SivAead<Aes256SivAead> = Aead(keyed(wanted)?);
            wanted.cipher(mode)
        }
        ("aes-128", "gcm-siv" | "gmac") => aes_alone::<Aes128>(wanted, mode),
        ("aes-192", "gmac") => aes_alone::<Aes192>(wanted, mode),
        ("aes-256", "gcm-siv" | "gmac") => aes_alone::<Aes256>(wanted, mode),
        ("aes-128", _) => mode_128::<Aes128>(wanted, mode),
        ("aes-192", _) => mode_128::<Aes192>(wanted, mode),
        ("aes-256", _) => mode_128::<Aes256>(wanted, mode),
        ("camellia-128", _) => mode_128::<Camellia128>(wanted, mode),
        ("camellia-192", _) => mode_128::<Camellia192>(wanted, mode),
        ("camellia-256", _) => mode_128::<Camellia256>(wanted, mode),
        ("aria-128", _) => mode_128::<Aria128>(wanted, mode),
        ("aria-192", _) => mode_128::<Aria192>(wanted, mode),
        ("aria-256", _) => mode_128::<Aria256>(wanted, mode),
        ("sm4", _) => mode_128::<Sm4>(wanted, mode),
        ("des-ede3", _) => mode_64::<TdesEde3>(wanted, mode),
        _ => Err(no_crate(wanted)),
    }
}

/// The cipher's part of a name and the mode's.
fn split(name: &str) -> Option<(&str, &str)> {
    const CIPHERS: [&str; 11] = [
        "aes-128",
        "aes-192",
        "aes-256",
        "camellia-128",
        "camellia-192",
        "camellia-256",
        "aria-128",
        "aria-192",
        "aria-256",
        "sm4",
        "des-ede3",
    ];
    CIPHERS.into_iter().find_map(|c| Some((c, name.strip_prefix(c)?.strip_prefix('-')?)))
}

/// Modes of ciphers with 128-bit blocks.
fn mode_128<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened
where
    C::KeySize: Add,
    CmacSiv<C>: KeyInit,
{
    match mode {
        "ctr" => wanted.streaming_cipher(Ctr(keyed::<C>(wanted)?)),
        "xts" => {
            let xts = Xts::<C>::new(wanted.key).ok_or_else(|| wanted.no_such_key())?;
            wanted.streaming_cipher(xts)
        }
        "gcm" => {
            let mode: Gcm<C> = Aead(keyed::<C>(wanted)?.into());
            wanted.cipher(mode)
        }
        "ccm" => {
            let mode: CcmMode<C> = Aead(keyed::<C>(wanted)?.into());
            wanted.cipher(mode)
        }
        "ocb" => {
            let mode: Ocb<C> = Aead(keyed::<C>(wanted)?.into());
            wanted.cipher(mode)
        }
        "eax" => {
            let mode: EaxMode<C> = Aead(keyed(wanted)?);
            wanted.cipher(mode)
        }
        "siv" => wanted.cipher(Siv::<C>(keyed(wanted)?)),
        _ => mode_of_any::<C>(wanted, mode),
    }
}

/// What is defined for AES alone.
fn aes_alone<C: Cipher128>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    let cipher = keyed::<C>(wanted)?;
    match mode {
        "gcm-siv" => {
            let mode: GcmSiv<C> = Aead(cipher.into());
            wanted.cipher(mode)
        }
        "gmac" => wanted.digest(Gmac::<C>(Aead(cipher.into()))),
        _ => Err(no_crate(wanted)),
    }
}

/// Modes of ciphers with 64-bit blocks.
fn mode_64<C: Cipher64>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "ctr" => wanted.streaming_cipher(Ctr64(keyed::<C>(wanted)?)),
        _ => mode_of_any::<C>(wanted, mode),
    }
}

/// Modes of any cipher.
fn mode_of_any<C: BlockCipher>(wanted: &Wanted<'_>, mode: &str) -> Opened {
    match mode {
        "ecb" => wanted.streaming_cipher(Ecb(keyed::<C>(wanted)?)),
        "cbc" => wanted.streaming_cipher(Cbc(keyed::<C>(wanted)?)),
        "cfb" => wanted.streaming_cipher(Cfb(keyed::<C>(wanted)?)),
        "cfb8" => wanted.streaming_cipher(Cfb8(keyed::<C>(wanted)?)),
        "ofb" => wanted.streaming_cipher(Ofb(keyed::<C>(wanted)?)),
        _ => Err(no_crate(wanted)),
    }
}

/// A type that takes the whole key.
fn keyed<K: KeyInit + KeySizeUser>(wanted: &Wanted<'_>) -> Result<K, OpenError> {
    K::new_from_slice(wanted.key).map_err(|_| wanted.no_such_key())
}

fn hmac<H: ::hmac::digest::block_api::EagerHash>(
    wanted: &Wanted<'_>,
) -> Result<Keyed<H>, OpenError> {
    Keyed::new(wanted.key).ok_or_else(|| wanted.no_such_key())
}

fn no_crate(wanted: &Wanted<'_>) -> OpenError {
    OpenError::Unsupported(format!("no RustCrypto crate of these is {}", wanted.algorithm))
}
