//! GNU Nettle through its public C functions. `README.md` beside this file says which, and why.

mod aead;
mod api;
mod block;
mod chacha;
mod digest;
mod joined;
mod parts;
#[cfg(test)]
mod tests;
mod xts;

use crate::aligned::Aligned;
use api::{CipherMeta, meta};
use contract::{Identity, Library, OpenError, Session, raw};
use loader::{LoadError, SharedObject};
use model::{Algorithm, Direction, Kind, Mode, Primitive};
use std::ffi::c_int;

/// Attaches a Nettle of any version from 3.0 on.
///
/// # Errors
/// [`LoadError::Unusable`] when it does not say its version.
pub(crate) fn attach(
    object: SharedObject,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    type NumberFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: version.h: both take nothing and give a number.
    let (major, minor) = unsafe {
        (
            object.required::<NumberFn>("nettle_version_major")?(),
            object.required::<NumberFn>("nettle_version_minor")?(),
        )
    };
    let identity = Identity {
        name: name.unwrap_or("nettle").to_owned(),
        version: format!("{major}.{minor}"),
        build: Vec::new(),
    };
    Ok(Box::new(Nettle { identity, object, major }))
}

struct Nettle {
    identity: Identity,
    object: SharedObject,
    major: c_int,
}

impl Library for Nettle {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        if !Direction::of(algorithm.kind).contains(&direction) {
            return Err(OpenError::Unsupported(format!(
                "{algorithm} has no direction {direction}"
            )));
        }
        if key.len() != algorithm.key_len {
            return Err(OpenError::Failed(format!(
                "{algorithm} takes {} bytes of key",
                algorithm.key_len
            )));
        }
        let request =
            Request { object: &self.object, major: self.major, algorithm, direction, key };
        let raw = open(&request).ok_or_else(|| {
            let version = &self.identity.version;
            OpenError::Unsupported(match algorithm.mode {
                Mode::OneTimeMac => format!(
                    "Nettle {version} exports Poly1305 only as Poly1305-AES, not under a one-time key ({algorithm})"
                ),
                _ => format!("Nettle {version} has no {algorithm}"),
            })
        })?;
        // SAFETY: the functions keep the header's rules for what was opened, and the state is
        // theirs alone.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
    }
}

/// What is to be opened.
struct Request<'a> {
    object: &'a SharedObject,
    major: c_int,
    algorithm: &'static Algorithm,
    direction: Direction,
    key: &'a [u8],
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
    fn decrypts(&self) -> bool {
        self.direction == Direction::Decrypt
    }

    /// A function of the library's.
    ///
    /// # Safety
    /// As [`SharedObject::function`].
    unsafe fn function<F: Copy>(&self, symbol: &str) -> Option<F> {
        // SAFETY: the caller's.
        unsafe { self.object.function(symbol) }
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
        let cipher: &CipherMeta = meta(self.object, &format!("nettle_{}", self.cipher_name()?))?;
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
