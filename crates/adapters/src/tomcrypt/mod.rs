//! LibTomCrypt through its public C functions. `README.md` beside this file says which, and why.

mod aead;
mod api;
mod ccm;
mod chacha;
mod digest;
mod eax;
mod gcm;
mod gmac;
mod modes;
mod ocb;
mod xts;

use crate::family::{self, Attached, Family};
use api::Api;
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use std::ffi::{CStr, c_char};

/// Attaches a LibTomCrypt.
///
/// # Errors
/// [`LoadError::Unusable`] when it does not say who it is, or takes no cipher.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let (version, build) = settings(&object)?;
    family::library((name, "libtomcrypt"), &version, build, Api::load(object)?)
}

/// Version and build facts out of `crypt_build_settings`: "LibTomCrypt 1.18.2 (www.libtom.net)",
/// then lines of `name: value` and lists of what is built in, which `list` shows anyway.
fn settings(object: &SharedObject) -> Result<(String, Vec<String>), LoadError> {
    // SAFETY: tomcrypt_misc.h declares `extern const char *crypt_build_settings`; what is asked
    // for here is the address of that variable.
    let text = unsafe { object.exported::<*const *const c_char>("crypt_build_settings")? };
    // SAFETY: a variable of the library's that points to a static NUL-terminated string.
    let text = unsafe { CStr::from_ptr(*text) }.to_string_lossy().into_owned();
    let version = text.split_whitespace().nth(1).unwrap_or_default();
    if !text.starts_with("LibTomCrypt ") || version.is_empty() {
        return Err(object.unusable("crypt_build_settings names no version"));
    }
    let facts = text.lines().skip(2).map(str::trim_end);
    let is_fact = |line: &&str| {
        !line.starts_with(' ') && line.split_once(": ").is_some_and(|(_, value)| !value.is_empty())
    };
    // The last paragraph is one list of options over several lines of two spaces.
    let options = text
        .split("Various others:")
        .nth(1)
        .map(|list| format!("options: {}", list.split_whitespace().collect::<Vec<_>>().join(" ")));
    let build = facts.filter(is_fact).map(str::to_owned).chain(options).collect();
    Ok((version.to_owned(), build))
}

type Request<'a> = family::Request<'a, Api>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Api {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let Algorithm { cipher, mode, kind, .. } = *request.algorithm;
        match (cipher, mode) {
            _ if kind == Kind::Digest => digest::open(request),
            (_, Mode::Hmac) => digest::open_hmac(request),
            (Primitive::Poly1305, _) => digest::open_poly1305(request),
            (Primitive::ChaCha20, Mode::Stream) => chacha::open(request),
            (Primitive::ChaCha20, Mode::Poly1305) => chacha::open_aead(request),
            _ => block(request),
        }
    }
}

/// A mode of a registered block cipher.
fn block(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let absent = || request.absent("LibTomCrypt");
    let cipher = request.library.cipher(request.algorithm.cipher).ok_or_else(absent)?;
    match request.algorithm.mode {
        Mode::Ecb | Mode::Cbc | Mode::Cfb | Mode::Ofb | Mode::Ctr => modes::open(request, cipher),
        Mode::Xts => xts::open(request, cipher),
        Mode::Gcm => gcm::open(request, cipher),
        Mode::Eax => eax::open(request, cipher),
        Mode::Ocb => ocb::open(request, cipher),
        Mode::Ccm => ccm::open(request, cipher),
        Mode::Gmac => gmac::open(request, cipher),
        _ => Err(absent()),
    }
}
