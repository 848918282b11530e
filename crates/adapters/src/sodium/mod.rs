//! libsodium through its public C functions. `README.md` beside this file says which, and why.

mod aead;
mod api;
mod digest;
mod mac;
mod stream;
#[cfg(test)]
mod tests;

use crate::family::{self, Attached, Family};
use api::Functions;
use base::model::{Algorithm, Kind, Mode, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, raw};
use std::ffi::{CStr, c_char, c_int};

/// Attaches a libsodium of any version.
///
/// # Errors
/// [`contract::loader::LoadError::Unusable`] when a function that every version has is missing, or the library does
/// not initialise.
pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    type InitFn = unsafe extern "C" fn() -> c_int;
    type VersionFn = unsafe extern "C" fn() -> *const c_char;
    // SAFETY: the types are those of sodium/core.h and sodium/version.h.
    let (init, version) = unsafe {
        (
            object.exported::<InitFn>("sodium_init")?,
            object.exported::<VersionFn>("sodium_version_string")?,
        )
    };
    // It picks the implementations for this CPU: before it, everything runs, but slowly. SAFETY:
    // may be called any number of times; 1 says that it has been called before.
    if unsafe { init() } < 0 {
        return Err(object.unusable("sodium_init failed"));
    }
    // SAFETY: gives a static NUL-terminated string.
    let version = unsafe { CStr::from_ptr(version()) }.to_string_lossy().into_owned();
    let build = build(&object);
    family::library((name, "libsodium"), &version, build, Functions::new(object))
}

/// What the library says of its build, and which CPU features it found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    type IntFn = unsafe extern "C" fn() -> c_int;
    let ask = |symbol: &str| {
        // SAFETY: these functions take nothing and return an int, in every version.
        unsafe { object.function::<IntFn>(symbol).map(|f| f()) }
    };
    let mut lines = Vec::new();
    if let Some(minimal) = ask("sodium_library_minimal") {
        lines.push(format!("minimal: {}", if minimal == 0 { "no" } else { "yes" }));
    }
    let features = "neon armcrypto sse2 sse3 ssse3 sse41 avx avx2 avx512f pclmul aesni rdrand";
    let found =
        features.split_whitespace().filter(|f| ask(&format!("sodium_runtime_has_{f}")) == Some(1));
    let found: Vec<&str> = found.collect();
    lines.push(format!("cpu features: {}", found.join(" ")));
    lines
}

type Request<'a> = family::Request<'a, Functions>;

// SAFETY: each module's functions follow the library's headers for what it opens.
unsafe impl Family for Functions {
    fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
        match request.algorithm.kind {
            Kind::Aead => aead::open(request),
            Kind::Cipher => stream::open(request),
            Kind::Digest => digest::open(request),
            Kind::Mac => mac::open(request),
            _ => Err(absent(request.algorithm)),
        }
    }
}

/// What no version has.
fn absent(algorithm: &Algorithm) -> OpenError {
    let why = match (algorithm.cipher, algorithm.mode) {
        (Primitive::Aes, Mode::Gcm) => ": its AES-GCM takes keys of 256 bits only",
        (Primitive::Aes, _) => ": its only AES mode is GCM",
        _ => "",
    };
    OpenError::Unsupported(format!("libsodium has no {algorithm}{why}"))
}
