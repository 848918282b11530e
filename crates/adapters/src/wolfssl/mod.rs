//! wolfCrypt, the library below wolfSSL, through its public C functions. `README.md` beside this
//! file says which, and why.

mod api;
mod cipher;
mod digest;
mod gmac;
mod keyed;
mod one_shot;
#[cfg(test)]
mod tests;
mod xchacha;
mod xts;

use crate::family::{self, Attached, Family};
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use std::ffi::{CStr, c_char, c_int};

/// Attaches a wolfSSL of any version.
///
/// # Errors
/// [`LoadError::Unusable`] when the library does not initialise.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    initialise(&object)?;
    // Builds with --enable-cryptonly leave every function out that would tell.
    let version = text(&object, "wolfSSL_lib_version").unwrap_or_else(|| "unknown".to_owned());
    let build = [("configure", "wolfSSL_configure_args"), ("flags", "wolfSSL_global_cflags")];
    let fact = |(name, symbol): (&str, &str)| Some(format!("{name}: {}", text(&object, symbol)?));
    let build = build.into_iter().filter_map(fact).collect();
    family::library((name, "wolfssl"), &version, build, Wolfssl { object })
}

/// The manual asks for `wolfCrypt_Init` before anything else where wolfSSL_Init is not called.
fn initialise(object: &SharedObject) -> Result<(), LoadError> {
    type InitFn = unsafe extern "C" fn() -> c_int;
    // SAFETY: the type is that of wc_port.h.
    match unsafe { object.function::<InitFn>("wolfCrypt_Init") } {
        // SAFETY: takes nothing; later calls only count.
        Some(init) => match unsafe { init() } {
            0 => Ok(()),
            code => Err(object.unusable(format!("wolfCrypt_Init returned {code}"))),
        },
        None => Ok(()),
    }
}

/// What a function without arguments says, on one line; `None` where it is not there or silent.
fn text(object: &SharedObject, symbol: &str) -> Option<String> {
    type TextFn = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the type is that of ssl.h and logging.h for the symbols that are asked for.
    let text = unsafe { object.function::<TextFn>(symbol)?() };
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, so a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

struct Wolfssl {
    object: SharedObject,
}

type Request<'a> = family::Request<'a, Wolfssl>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Wolfssl {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (cipher, mode) {
            _ if kind == Kind::Digest => digest::open(request),
            (_, Mode::Hmac) => digest::open_hmac(request),
            (Primitive::Poly1305, _) => digest::open_poly1305(request),
            (Primitive::Aes, Mode::Xts) => xts::open(request),
            (Primitive::Aes, Mode::Gcm | Mode::Ccm) => keyed::open(request),
            (Primitive::Aes, Mode::Eax | Mode::Siv | Mode::GcmSiv)
            | (Primitive::ChaCha20, Mode::Poly1305) => one_shot::open(request),
            (Primitive::XChaCha20, _) => xchacha::open(request),
            (Primitive::Aes, Mode::Gmac) => gmac::open(request),
            _ => cipher::open(request),
        }
    }
}
