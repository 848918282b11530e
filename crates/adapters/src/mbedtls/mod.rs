//! Mbed TLS through the functions of its modules. `README.md` beside this file says which, and why.

mod aead;
mod block;
mod chacha;
mod context;
mod digest;
mod gcm;
#[cfg(test)]
mod tests;
mod xts;

use crate::family::{self, Attached, Family};
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, raw};
use std::ffi::{CString, c_char, c_int, c_uint};

/// Configuration options that change the speed of what is measured.
const OPTIONS: [&str; 10] = [
    "MBEDTLS_HAVE_ASM",
    "MBEDTLS_AESNI_C",
    "MBEDTLS_AES_ROM_TABLES",
    "MBEDTLS_AES_FEWER_TABLES",
    "MBEDTLS_GCM_LARGE_TABLE",
    "MBEDTLS_BLOCK_CIPHER_NO_DECRYPT",
    "MBEDTLS_CAMELLIA_SMALL_MEMORY",
    "MBEDTLS_SHA256_SMALLER",
    "MBEDTLS_SHA512_SMALLER",
    "MBEDTLS_HAVE_SSE2",
];

/// Attaches an Mbed TLS of version 2 or 3.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when it does not say its version.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    type NumberFn = unsafe extern "C" fn() -> c_uint;
    // SAFETY: version.h: takes nothing, gives major, minor and patch in a byte each, and a zero.
    let number = unsafe { object.exported::<NumberFn>("mbedtls_version_get_number")?() };
    let [major, minor, patch, _] = number.to_be_bytes();
    let (version, build) = (format!("{major}.{minor}.{patch}"), build(&object));
    family::library((name, "mbedtls"), &version, build, Mbedtls { object, major })
}

/// Which options it was built with, where it was built to say so.
fn build(object: &SharedObject) -> Vec<String> {
    type CheckFn = unsafe extern "C" fn(*const c_char) -> c_int;
    // SAFETY: version.h.
    let Some(check) = (unsafe { object.function::<CheckFn>("mbedtls_version_check_feature") })
    else {
        return Vec::new();
    };
    let has = |option: &&&str| {
        let option = CString::new(**option).expect("options have no NUL");
        // SAFETY: a NUL-terminated string; 0 for yes.
        unsafe { check(option.as_ptr()) == 0 }
    };
    OPTIONS.iter().filter(has).map(|option| (*option).to_owned()).collect()
}

struct Mbedtls {
    object: SharedObject,
    major: u8,
}

type Request<'a> = family::Request<'a, Mbedtls>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Mbedtls {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (mode, kind) {
            (Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Cfb8 | Mode::Ofb | Mode::Ctr, _) => {
                block::open(request)
            }
            (Mode::Xts, _) => xts::open(request),
            (Mode::Gcm | Mode::Gmac, _) => gcm::open(request),
            (Mode::Ccm, _) => aead::open_ccm(request),
            (Mode::Poly1305, _) if cipher == Primitive::ChaCha20 => aead::open_chachapoly(request),
            (Mode::Stream, _) => chacha::open(request),
            (Mode::Hmac | Mode::OneTimeMac, _) | (Mode::None, Kind::Digest) => {
                digest::open(request)
            }
            _ => Err(request.none()),
        }
    }
}

impl Request<'_> {
    /// `MBEDTLS_AES_ENCRYPT` or `_DECRYPT`, which every module but ChaCha20-Poly1305 numbers alike.
    fn way(&self) -> c_int {
        c_int::from(!self.decrypts())
    }

    /// A function of the library's.
    ///
    /// # Safety
    /// As [`SharedObject::exported`].
    unsafe fn function<F: Copy>(&self, symbol: &str) -> Result<F, OpenError> {
        // SAFETY: the caller's.
        Ok(unsafe { self.library.object.exported(symbol) }?)
    }

    /// That this build has no such algorithm.
    fn none(&self) -> OpenError {
        self.absent(&format!("Mbed TLS {} as it was built", self.version))
    }

    /// Bits of the key, both keys of XTS together.
    fn key_bits(&self) -> c_uint {
        c_uint::try_from(self.key.len() * 8).expect("keys are a few bytes")
    }

    /// The block cipher's part of the symbols.
    fn cipher_name(&self) -> Result<&'static str, OpenError> {
        Ok(match self.algorithm.cipher {
            Primitive::Aes => "aes",
            Primitive::Camellia => "camellia",
            Primitive::Aria => "aria",
            Primitive::TripleDes => "des3",
            _ => return Err(self.none()),
        })
    }

    /// The block cipher in `mbedtls_cipher_id_t`, which lost two members before ARIA in version 3.
    fn cipher_id(&self) -> Result<c_int, OpenError> {
        Ok(match (self.algorithm.cipher, self.library.major) {
            (Primitive::Aes, _) => 2,
            (Primitive::Camellia, _) => 5,
            (Primitive::Aria, ..=2) => 8,
            (Primitive::Aria, _) => 6,
            _ => return Err(self.none()),
        })
    }
}

/// 0, or an error that ends the opening.
fn done(call: &str, code: c_int) -> Result<(), OpenError> {
    if code == 0 {
        Ok(())
    } else {
        Err(OpenError::Failed(format!("{call}: error -{:#06x}", -code)))
    }
}

/// The library's code as the interface's: errors are negative, so that none is one of the
/// interface's own numbers.
#[inline]
fn outcome(code: c_int) -> i32 {
    if code <= 0 { code } else { raw::FAILED }
}
