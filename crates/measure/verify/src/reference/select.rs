//! Which implementation an algorithm has.

use super::aegis::{Aegis, Aegis128, Aegis256};
use super::block::{BlockCipher, BlockCipher128, Cbc, Cfb, Ctr, Ecb, Ofb};
use super::segments::Segments;
use super::siv::Siv;
use super::xts::Xts;
use super::{Implementation, aead, composite};
use ::aead::KeyInit;
use aes::{Aes128, Aes192, Aes256};
use aes_siv::siv::CmacSiv;
use aria::{Aria128, Aria192, Aria256};
use camellia::{Camellia128, Camellia192, Camellia256};
use des::TdesEde3;
use model::{Algorithm, Mode, Primitive};
use sm4::Sm4;

/// What encrypts under the key.
pub(super) fn implementation(algorithm: &Algorithm, key: &[u8]) -> Box<dyn Implementation> {
    if let Some(parts) = algorithm.composite {
        return composite::composite(parts, key);
    }
    let mode = algorithm.mode;
    // Of two keys, each has half the length.
    let one_key = if matches!(mode, Mode::Xts | Mode::Siv) { key.len() / 2 } else { key.len() };
    match (algorithm.cipher, one_key) {
        (Primitive::Aes, 16) => block_128::<Aes128>(mode, key),
        (Primitive::Aes, 24) => block_128::<Aes192>(mode, key),
        (Primitive::Aes, _) => block_128::<Aes256>(mode, key),
        (Primitive::Camellia, 16) => block_128::<Camellia128>(mode, key),
        (Primitive::Camellia, 24) => block_128::<Camellia192>(mode, key),
        (Primitive::Camellia, _) => block_128::<Camellia256>(mode, key),
        (Primitive::Aria, 16) => block_128::<Aria128>(mode, key),
        (Primitive::Aria, 24) => block_128::<Aria192>(mode, key),
        (Primitive::Aria, _) => block_128::<Aria256>(mode, key),
        (Primitive::Sm4, _) => block_128::<Sm4>(mode, key),
        (Primitive::TripleDes, _) => block::<TdesEde3>(mode, key),
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
fn block_128<C: BlockCipher128>(mode: Mode, key: &[u8]) -> Box<dyn Implementation>
where
    CmacSiv<C>: KeyInit,
{
    match mode {
        Mode::Xts => Box::new(Xts::<C>::new(key)),
        Mode::Siv => Box::new(Siv::<C>::new(key)),
        Mode::Gcm => Box::new(aead::gcm(cipher::<C>(key))),
        Mode::Ccm => Box::new(aead::ccm(cipher::<C>(key))),
        Mode::Ocb => Box::new(aead::ocb(cipher::<C>(key))),
        Mode::Eax => Box::new(aead::eax(cipher::<C>(key), key)),
        Mode::GcmSiv => Box::new(aead::gcm_siv(cipher::<C>(key))),
        _ => block::<C>(mode, key),
    }
}

/// The modes of NIST SP 800-38A.
fn block<C: BlockCipher>(mode: Mode, key: &[u8]) -> Box<dyn Implementation> {
    let cipher = cipher::<C>(key);
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

fn cipher<C: KeyInit>(key: &[u8]) -> C {
    C::new_from_slice(key).expect("the key length chose the cipher")
}
