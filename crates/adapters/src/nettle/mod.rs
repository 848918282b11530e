//! GNU Nettle through its public C functions. `README.md` beside this file says which, and why.

mod aead;
mod api;
mod block;
mod ccm;
mod chacha;
mod digest;
mod joined;
mod parts;
#[cfg(test)]
mod tests;
mod xts;

use crate::aligned::Aligned;
use crate::family::{self, Attached, Family};
use api::{CipherMeta, meta};
use base::model::{Kind, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, raw};
use std::ffi::c_int;

/// Attaches a Nettle of any version from 3.0 on.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when it does not say its version.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    type NumberFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: version.h: both take nothing and give a number.
    let (major, minor) = unsafe {
        (
            object.exported::<NumberFn>("nettle_version_major")?(),
            object.exported::<NumberFn>("nettle_version_minor")?(),
        )
    };
    let version = format!("{major}.{minor}");
    family::library((name, "nettle"), &version, Vec::new(), Nettle { object, major })
}

struct Nettle {
    object: SharedObject,
    major: c_int,
}

type Request<'a> = family::Request<'a, Nettle>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Nettle {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let version = request.version;
        open(request).ok_or_else(|| match request.algorithm.mode {
            Mode::OneTimeMac => OpenError::Unsupported(format!(
                "Nettle {version} exports Poly1305 only as Poly1305-AES, not under a one-time key ({})",
                request.algorithm
            )),
            _ => request.absent(&format!("Nettle {version}")),
        })
    }
}

/// `None`: the library lacks one of the functions, or has no such algorithm.
fn open(request: &Request<'_>) -> Option<raw::Session> {
    match (request.algorithm.mode, request.algorithm.kind) {
        (Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Cfb8 | Mode::Ctr, _) => block::open(request),
        (Mode::Xts, _) => xts::open(request),
        (Mode::Stream, _) => chacha::open(request),
        (Mode::Gcm | Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Poly1305, _) => aead::open(request),
        (Mode::Siv | Mode::GcmSiv, _) => joined::open(request),
        (Mode::Hmac | Mode::Gmac, _) | (Mode::None, Kind::Digest) => digest::open(request),
        _ => None,
    }
}

impl Request<'_> {
    /// A function of the library's.
    ///
    /// # Safety
    /// As [`SharedObject::function`].
    unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: the caller's.
        unsafe { self.library.object.function(symbol) }
    }

    /// Bits of the block cipher's key.
    fn key_bits(&self) -> usize {
        let keys = if matches!(self.algorithm.mode, Mode::Xts | Mode::Siv) { 2 } else { 1 };
        self.algorithm.key_len / keys * 8
    }

    /// The library's word for the block cipher: `aes256`.
    fn cipher_name(&self) -> Option<String> {
        let bits = self.key_bits();
        Some(match self.algorithm.cipher {
            Primitive::Aes => format!("aes{bits}"),
            Primitive::Camellia => format!("camellia{bits}"),
            Primitive::Sm4 => "sm4".to_owned(),
            _ => return None,
        })
    }

    /// The block cipher's description.
    fn cipher(&self) -> Option<&'static CipherMeta> {
        let cipher: &CipherMeta =
            meta(&self.library.object, &format!("nettle_{}", self.cipher_name()?))?;
        (cipher.key_size as usize * 8 == self.key_bits()).then_some(cipher)
    }
}

/// A block cipher's key schedule.
fn schedule(cipher: &CipherMeta, set_key: api::SetFn, key: &[u8]) -> Aligned {
    assert!(key.len() >= cipher.key_size as usize, "the key is the cipher's");
    let mut context = Aligned::zeroed(cipher.context_size as usize);
    // SAFETY: the context has the size that the library says, the key as well.
    unsafe { set_key(context.as_mut_ptr(), key.as_ptr()) };
    context
}

/// Zeroed memory for a struct whose size only the headers tell, and which differs from version to
/// version: four times the largest one that is used (`struct gcm_key` of Nettle 3, 4096 bytes).
fn plenty() -> Aligned {
    Aligned::zeroed(16 << 10)
}
