//! From an algorithm to its implementation. Digests, checksums and message authentication codes are here,
//! too.
//!
//! Which implementation an algorithm has.

use crate::reference;
use crate::reference::aead::{Aegis, Aegis128, Aegis256, Siv};
use crate::reference::block::{BlockCipher, Cbc, Cfb, Ctr, Ecb, Ofb, Segments, Xts};
use crate::reference::ciphers::{AnyCipher, choosing_key};
use crate::reference::{Implementation, aead};
use ::aead::{AeadInOut, KeyInit};
use aes::{Aes128, Aes256};
use aes_gcm::AesGcm;
use base::model::{Algorithm, Mode, Primitive};
use cipher::consts::U12;
use des::TdesEde3;
use hmac::digest::block_api::EagerHash;
use hmac::{Hmac, Mac};
use sha2::digest::Digest;

/// What encrypts under the key.
pub(crate) fn implementation(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Implementation> {
    if let Some(parts) = algorithm.composite {
        return reference::composite(parts, key);
    }
    let mode = algorithm.mode;
    match (algorithm.cipher, key.len()) {
        (Primitive::Aes, 16) if mode == Mode::GcmSiv => Box::new(aead::gcm_siv::<Aes128>(key)),
        (Primitive::Aes, _) if mode == Mode::GcmSiv => Box::new(aead::gcm_siv::<Aes256>(key)),
        (cipher @ (Primitive::Aes | Primitive::Camellia | Primitive::Aria | Primitive::Sm4), _) => {
            block_128(cipher, mode, key)
        }
        (Primitive::TripleDes, _) => {
            block(TdesEde3::new_from_slice(key).expect("the key has 24 bytes"), mode)
        }
        (Primitive::ChaCha20, _) if mode == Mode::Stream => Box::new(aead::chacha20(key)),
        (Primitive::ChaCha20, _) => Box::new(aead::chacha20_poly1305(key)),
        (Primitive::XChaCha20, _) => Box::new(aead::xchacha20_poly1305(key)),
        (Primitive::Aegis128 { lanes: 1 }, _) => Box::new(Aegis::<Aegis128, 1>::new(key)),
        (Primitive::Aegis128 { lanes: 2 }, _) => Box::new(Aegis::<Aegis128, 2>::new(key)),
        (Primitive::Aegis128 { .. }, _) => Box::new(Aegis::<Aegis128, 4>::new(key)),
        (Primitive::Aegis256 { lanes: 1 }, _) => Box::new(Aegis::<Aegis256, 1>::new(key)),
        (Primitive::Aegis256 { lanes: 2 }, _) => Box::new(Aegis::<Aegis256, 2>::new(key)),
        (Primitive::Aegis256 { .. }, _) => Box::new(Aegis::<Aegis256, 4>::new(key)),
        (other, _) => unreachable!("{other:?} does not encrypt"),
    }
}

/// The modes that ask for blocks of 128 bits, then the others.
fn block_128(cipher: Primitive, mode: Mode, key: &[u8]) -> Box<dyn Implementation> {
    let (first, second) = key.split_at(key.len() / 2);
    if mode == Mode::Xts {
        let [data, tweak] = [first, second].map(|half| AnyCipher::keyed(cipher, half));
        return Box::new(Xts::new(data, tweak));
    }
    if mode == Mode::Siv {
        let [mac, ctr] = [first, second].map(|half| choosing_key(cipher, half));
        return Box::new(Siv::new(&mac, &ctr));
    }
    let key = choosing_key(cipher, key);
    let cipher = AnyCipher::new(&key);
    match mode {
        Mode::Gcm => Box::new(aead::gcm(cipher)),
        Mode::Ccm => Box::new(aead::ccm(cipher)),
        Mode::Ocb => Box::new(aead::ocb(cipher)),
        Mode::Eax => Box::new(aead::eax(cipher, &key)),
        _ => block(cipher, mode),
    }
}

/// The modes of NIST SP 800-38A.
fn block<C: BlockCipher>(cipher: C, mode: Mode) -> Box<dyn Implementation> {
    match mode {
        Mode::Ecb => Box::new(Ecb(cipher)),
        Mode::Cbc => Box::new(Cbc(cipher)),
        Mode::Cfb => Box::new(Cfb(cipher)),
        Mode::Cfb8 => Box::new(Segments::<C, 8>(cipher)),
        Mode::Cfb1 => Box::new(Segments::<C, 1>(cipher)),
        Mode::Ofb => Box::new(Ofb(cipher)),
        Mode::Ctr => Box::new(Ctr(cipher)),
        _ => unreachable!("{mode:?} is not a mode over one key of any block cipher"),
    }
}

// Digests, checksums and message authentication codes over the crates: what writes a tag and
// nothing else.

/// Writes the tag of a message; lengths have been checked.
pub(crate) type Tagger = Box<dyn Fn(&[u8], &[u8], &mut [u8]) + Send + Sync>;

/// What computes an algorithm's tag from nonce and message.
pub(crate) fn tagger(algorithm: &Algorithm, key: &[u8]) -> Tagger {
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
