//! Digests, checksums and message authentication codes over the crates: what writes a tag and
//! nothing else.

use super::any::{AnyCipher, choosing_key};
use ::aead::{AeadInOut, KeyInit};
use aes_gcm::AesGcm;
use base::model::{Algorithm, Mode, Primitive};
use cipher::consts::U12;
use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, Mac};
use sha2::digest::Digest;

/// Writes the tag of a message; lengths have been checked.
pub(super) type Tagger = Box<dyn Fn(&[u8], &[u8], &mut [u8]) + Send + Sync>;

/// What computes an algorithm's tag from nonce and message.
pub(super) fn tagger(algorithm: &Algorithm, key: &[u8]) -> Tagger {
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => hmac::<sha2::Sha256>(key),
        (Mode::Hmac, Primitive::Sha384) => hmac::<sha2::Sha384>(key),
        (Mode::Hmac, _) => hmac::<sha2::Sha512>(key),
        (Mode::Gmac, cipher) => gmac(cipher, key),
        (Mode::OneTimeMac, _) => poly1305(key),
        (_, primitive) => digest(primitive),
    }
}

fn digest(primitive: Primitive) -> Tagger {
    match primitive {
        Primitive::Sha256 => hash::<sha2::Sha256>(),
        Primitive::Sha384 => hash::<sha2::Sha384>(),
        Primitive::Sha512 => hash::<sha2::Sha512>(),
        Primitive::Sha3_256 => hash::<sha3::Sha3_256>(),
        Primitive::Sha3_384 => hash::<sha3::Sha3_384>(),
        Primitive::Sha3_512 => hash::<sha3::Sha3_512>(),
        Primitive::Blake2b => hash::<blake2::Blake2b512>(),
        Primitive::Blake3 => {
            Box::new(|_, input, tag| tag.copy_from_slice(blake3::hash(input).as_bytes()))
        }
        // The canonical form: big-endian.
        Primitive::Xxh3 => Box::new(|_, input, tag| {
            tag.copy_from_slice(&xxhash_rust::xxh3::xxh3_64(input).to_be_bytes());
        }),
        Primitive::Crc32c => Box::new(|_, input, tag| {
            tag.copy_from_slice(&crc32c::crc32c(input).to_be_bytes());
        }),
        other => unreachable!("{other:?} is no digest"),
    }
}

fn hash<D: Digest>() -> Tagger {
    Box::new(|_, input, tag| tag.copy_from_slice(&D::digest(input)))
}

/// Keyed once; each message goes on from a copy of both pads.
fn hmac<D>(key: &[u8]) -> Tagger
where
    D: EagerHash + 'static,
    Hmac<D>: Mac + KeyInit + Clone + Send + Sync,
{
    let keyed = <Hmac<D> as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    Box::new(move |_, input, tag| {
        let made = keyed.clone().chain_update(input).finalize();
        tag.copy_from_slice(&made.into_bytes());
    })
}

/// GCM without a plaintext: the message is the associated data (NIST SP 800-38D §3).
fn gmac(cipher: Primitive, key: &[u8]) -> Tagger {
    let gcm = AesGcm::<AnyCipher, U12>::new(&choosing_key(cipher, key));
    Box::new(move |nonce, input, tag| {
        let nonce = nonce.try_into().expect("the nonce has 12 bytes");
        let made = gcm
            .encrypt_inout_detached(nonce, input, (&mut [][..]).into())
            .expect("the message is not longer than GCM allows");
        tag.copy_from_slice(&made);
    })
}

/// A last block that is not whole gets a one bit behind it, as RFC 8439 §2.5 has it.
fn poly1305(key: &[u8]) -> Tagger {
    let keyed = poly1305::Poly1305::new_from_slice(key).expect("the one-time key has 32 bytes");
    Box::new(move |_, input, tag| {
        tag.copy_from_slice(&keyed.clone().compute_unpadded(input));
    })
}
