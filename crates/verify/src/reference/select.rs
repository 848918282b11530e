//! Which implementation an algorithm has.

use super::aegis::{Aegis, Aegis128, Aegis256};
use super::any::{AnyCipher, choosing_key};
use super::block::{BlockCipher, Cbc, Cfb, Ctr, Ecb, Ofb};
use super::segments::Segments;
use super::siv::Siv;
use super::xts::Xts;
use super::{Implementation, aead, composite};
use ::aead::KeyInit;
use aes::{Aes128, Aes256};
use base::model::{Algorithm, Mode, Primitive};
use des::TdesEde3;

/// What encrypts under the key.
pub(super) fn implementation(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Implementation> {
    if let Some(parts) = algorithm.composite {
        return composite::composite(parts, key);
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
