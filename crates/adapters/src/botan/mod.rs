//! Botan through its C interface, as the library `botan-c`. Its C++ classes are `botan` (`attach/botan`). `README.md` beside this file says which functions, and why.

mod aead;
mod api;
mod block;
mod cipher;
mod digest;
mod gmac;
mod names;
#[cfg(test)]
mod tests;

use crate::family::{self, Attached, Family};
use api::{Api, Code, Handle, HandleFn, NOT_IMPLEMENTED, Object};
use base::model::Mode;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use names::Name;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// Attaches a Botan of any version from 2.0 on.
///
/// # Errors
/// [`LoadError::Unusable`] when a function is missing.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    let api = Api::of(&object)?;
    let (major, version, build) = version(&object)?;
    family::library((name, "botan-c"), &version, build, Botan { api, major })
}

/// Major number, version, and the library's own words on which release this is.
fn version(object: &SharedObject) -> Result<(u32, String, Vec<String>), LoadError> {
    type NumberFn = unsafe extern "C" fn() -> u32;
    type TextFn = unsafe extern "C" fn() -> *const c_char;
    let number = |name: &str| -> Result<u32, LoadError> {
        // SAFETY: ffi.h: takes nothing, gives a number.
        Ok(unsafe { object.exported::<NumberFn>(name)?() })
    };
    let major = number("botan_version_major")?;
    let minor = number("botan_version_minor")?;
    let patch = number("botan_version_patch")?;
    // SAFETY: ffi.h: takes nothing, gives a static NUL-terminated string.
    let text = unsafe {
        let text = object.exported::<TextFn>("botan_version_string")?();
        CStr::from_ptr(text).to_string_lossy().into_owned()
    };
    let interface = format!("C interface {}", number("botan_ffi_api_version")?);
    Ok((major, format!("{major}.{minor}.{patch}"), vec![text, interface]))
}

struct Botan {
    api: Api,
    major: u32,
}

type Request<'a> = family::Request<'a, Botan>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Botan {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        let algorithm = request.algorithm;
        let name = names::name(algorithm).ok_or_else(|| {
            OpenError::Unsupported(format!("Botan has no name for {algorithm} in its C interface"))
        })?;
        match name {
            Name::Block(name) => block::open(request, &name),
            Name::Cipher(name) if algorithm.takes_aad() => aead::open(request, &name),
            Name::Cipher(name) => cipher::open(request, &name),
            Name::Hash(name) => digest::open_hash(request, name),
            Name::Mac(_)
                if algorithm.mode == Mode::Gmac && request.api().botan_mac_set_nonce.is_none() =>
            {
                gmac::open(request)
            }
            Name::Mac(name) => digest::open_mac(request, &name),
        }
    }
}

/// What sets a cipher's new key.
const SET_KEY: &CStr = c"botan_cipher_set_key";

impl Request<'_> {
    fn api(&self) -> &Api {
        &self.library.api
    }

    /// The handle that an `_init` function fills in.
    fn object(
        &self,
        name: &str,
        destroy: HandleFn,
        init: impl FnOnce(*mut Handle, *const c_char) -> Code,
    ) -> Result<Object, OpenError> {
        let text = CString::new(name).expect("names have no NUL");
        let mut handle = ptr::null_mut();
        match init(&raw mut handle, text.as_ptr()) {
            0 => Ok(Object::new(handle, destroy)),
            NOT_IMPLEMENTED => {
                Err(OpenError::Unsupported(format!("Botan {} has no {name}", self.version)))
            }
            code => Err(self.failed(name, code)),
        }
    }

    /// A keyed handle of `botan_cipher_*`.
    fn cipher(&self, name: &str) -> Result<Object, OpenError> {
        let (api, key) = (self.api(), self.key);
        let flags = if self.decrypts() { api::DECRYPT } else { api::ENCRYPT };
        let object = self.object(name, api.botan_cipher_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated.
            unsafe { (api.botan_cipher_init)(handle, name, flags) }
        })?;
        // SAFETY: the key covers its length.
        let code = unsafe { (api.botan_cipher_set_key)(object.handle, key.as_ptr(), key.len()) };
        self.done("botan_cipher_set_key", code)?;
        let len = self.algorithm.nonce_len;
        // SAFETY: a handle and a number.
        if unsafe { (api.botan_cipher_valid_nonce_length)(object.handle, len) } != 1 {
            return Err(OpenError::Unsupported(format!(
                "{name} of Botan {} takes no nonce of {len} bytes, so it has no {}",
                self.version, self.algorithm
            )));
        }
        Ok(object)
    }

    fn done(&self, call: &str, code: Code) -> Result<(), OpenError> {
        if code == 0 { Ok(()) } else { Err(self.failed(call, code)) }
    }

    fn failed(&self, call: &str, code: Code) -> OpenError {
        OpenError::Failed(format!("{call}: {}", self.api().words(code)))
    }

    /// What the library's interface forces on every message that goes through `botan_cipher_*`:
    /// the message is copied into the object's own buffer and out of it again; and memory is
    /// allocated, by every call in Botan 2, by some modes in Botan 3. README.md has the counts.
    fn forced(&self) -> u32 {
        let mode = self.algorithm.mode;
        let allocates = self.library.major < 3
            || matches!(mode, Mode::Ccm | Mode::Ocb | Mode::Eax | Mode::Siv | Mode::GcmSiv)
            || (mode == Mode::Poly1305 && self.algorithm.nonce_len == 24);
        raw::COPIES | if allocates { raw::ALLOCATES } else { 0 }
    }
}

/// An error code as the interface's: a wrong tag is told from other errors, all of which are
/// negative, so that none is one of the interface's own numbers.
#[inline]
fn outcome(code: Code) -> i32 {
    match code {
        0 => raw::OK,
        api::BAD_MAC => raw::REJECTED,
        code if code < 0 => code,
        _ => raw::FAILED,
    }
}
