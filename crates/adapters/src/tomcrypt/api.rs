//! What of `tomcrypt.h` every part of the adapter uses: error codes, registered descriptors, sizes.

use crate::aligned::Aligned;
use base::model::Primitive;
use contract::loader::{LoadError, SharedObject};
use contract::{OpenError, raw};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// Number of a registered cipher or hash.
pub(super) type Index = c_int;
/// `mem_neq`: two memories, length; 0 when they are equal, in constant time.
pub(super) type NotEqualFn = unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int;
/// `register_cipher`, `register_hash`: descriptor; its index, or -1.
type RegisterFn = unsafe extern "C" fn(*const c_void) -> Index;
type GetSizeFn = unsafe extern "C" fn(*const c_char, *mut c_uint) -> c_int;
type ErrorFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// `CRYPT_OK`
pub(super) const OK: c_int = 0;
/// `CRYPT_ERROR`
pub(super) const ERROR: c_int = 1;

/// The loaded library with its ciphers and hashes registered.
pub(super) struct Api {
    pub(super) object: SharedObject,
    ciphers: Vec<(Primitive, Index)>,
    hashes: Vec<(Primitive, Index)>,
    get_size: Option<GetSizeFn>,
    error: Option<ErrorFn>,
}

impl Api {
    /// Registers what the adapter offers; until then the library answers every call with
    /// `CRYPT_INVALID_CIPHER` or `CRYPT_INVALID_HASH`.
    pub(super) fn load(object: SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of tomcrypt_cipher.h, tomcrypt_hash.h and tomcrypt_misc.h.
        let (cipher, hash, get_size, error) = unsafe {
            (
                object.exported::<RegisterFn>("register_cipher")?,
                object.exported::<RegisterFn>("register_hash")?,
                object.function::<GetSizeFn>("crypt_get_size"),
                object.function::<ErrorFn>("error_to_string"),
            )
        };
        let register = |register: RegisterFn, list: &[(Primitive, &str)]| {
            let index = |&(primitive, symbol): &(Primitive, &str)| {
                // SAFETY: the address of a descriptor, which is a constant of the library's.
                let descriptor = unsafe { object.function::<*const c_void>(symbol) }?;
                // SAFETY: a descriptor of the table's kind; the same one is registered only once.
                let index = unsafe { register(descriptor) };
                (index >= 0).then_some((primitive, index))
            };
            list.iter().filter_map(index).collect::<Vec<_>>()
        };
        let ciphers = register(
            cipher,
            &[
                (Primitive::Aes, "aes_desc"),
                (Primitive::Camellia, "camellia_desc"),
                (Primitive::TripleDes, "des3_desc"),
            ],
        );
        let hashes = register(
            hash,
            &[
                (Primitive::Sha256, "sha256_desc"),
                (Primitive::Sha384, "sha384_desc"),
                (Primitive::Sha512, "sha512_desc"),
            ],
        );
        if ciphers.is_empty() {
            return Err(object.unusable("register_cipher takes none of its ciphers"));
        }
        Ok(Self { object, ciphers, hashes, get_size, error })
    }

    pub(super) fn cipher(&self, primitive: Primitive) -> Option<Index> {
        self.ciphers.iter().find(|(p, _)| *p == primitive).map(|(_, index)| *index)
    }

    pub(super) fn hash(&self, primitive: Primitive) -> Option<Index> {
        self.hashes.iter().find(|(p, _)| *p == primitive).map(|(_, index)| *index)
    }

    /// Aligned for a state. The library tells the size of each (`crypt_get_size`, since 1.18); its
    /// answer is only ever enlarged. `at_least` is four times the size in 1.18.2, for builds
    /// without that table.
    pub(super) fn memory(&self, state: &CStr, at_least: usize) -> Aligned {
        let told = self.get_size.and_then(|get_size| {
            let mut size = 0;
            // SAFETY: a NUL-terminated name, and room for the number.
            (unsafe { get_size(state.as_ptr(), &raw mut size) } == 0).then_some(size as usize)
        });
        Aligned::zeroed(told.unwrap_or(0).max(at_least))
    }

    /// Turns a failure while opening into words.
    pub(super) fn done(&self, call: &str, error: c_int) -> Result<(), OpenError> {
        if error == OK {
            return Ok(());
        }
        let words = self.error.map(|error_to_string| {
            // SAFETY: takes any number and gives a static NUL-terminated string.
            unsafe { CStr::from_ptr(error_to_string(error)) }.to_string_lossy().into_owned()
        });
        let words = words.unwrap_or_else(|| format!("error {error}"));
        Err(OpenError::Failed(format!("{call}: {words}")))
    }

    /// The library's comparison of tags.
    pub(super) fn not_equal(&self) -> Result<NotEqualFn, OpenError> {
        // SAFETY: the type is that of tomcrypt_misc.h.
        Ok(unsafe { self.object.exported("mem_neq")? })
    }
}

/// An error code of the library's as one of the interface's: 0 is done and everything else stays as
/// it is, unless it is one of the interface's own small numbers. CRYPT_ERROR (1) among them must
/// never pass for a rejected tag.
#[inline]
pub(super) fn outcome(error: c_int) -> i32 {
    match error {
        OK => raw::OK,
        1..=3 => raw::FAILED,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_librarys_small_codes_are_not_taken_for_the_interfaces() {
        assert_eq!(outcome(OK), raw::OK);
        assert!((1..=3).all(|code| outcome(code) == raw::FAILED));
        // CRYPT_INVALID_CIPHER
        assert_eq!(outcome(10), 10);
    }
}
