//! The functions of `aegis128l.h` and its five sisters, which differ in the prefix only.

use contract::OpenError;
use loader::SharedObject;
use std::ffi::c_int;

/// `*_encrypt_detached`: ciphertext, tag, its length, message, length, associated data, length,
/// nonce, key.
pub(super) type EncryptFn = unsafe extern "C" fn(
    *mut u8,
    *mut u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *const u8,
) -> c_int;
/// `*_decrypt_detached`: message, ciphertext, length, tag, its length, associated data, length,
/// nonce, key.
pub(super) type DecryptFn = unsafe extern "C" fn(
    *mut u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *const u8,
) -> c_int;
/// `*_state_init`: state, associated data, length, nonce, key.
pub(super) type InitFn = unsafe extern "C" fn(*mut u8, *const u8, usize, *const u8, *const u8);
/// `*_state_encrypt_update` and `*_state_decrypt_update`: state, output, input, length.
pub(super) type UpdateFn = unsafe extern "C" fn(*mut u8, *mut u8, *const u8, usize) -> c_int;

/// One variant's functions.
pub(super) struct Functions {
    pub(super) encrypt: EncryptFn,
    pub(super) decrypt: DecryptFn,
    pub(super) stream: Option<Stream>,
}

/// The incremental functions, which write as many bytes as they are given.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub(super) init: InitFn,
    pub(super) encrypt: UpdateFn,
    pub(super) decrypt: UpdateFn,
}

impl Functions {
    /// # Errors
    /// [`OpenError::Unsupported`] when the variant is not exported.
    pub(super) fn find(object: &SharedObject, prefix: &str) -> Result<Self, OpenError> {
        let symbol = |suffix: &str| format!("{prefix}_{suffix}");
        let missing = |suffix: &str| {
            OpenError::Unsupported(format!("this libaegis does not export `{}`", symbol(suffix)))
        };
        // SAFETY: the types are those of the variant's header, in every version.
        unsafe {
            Ok(Self {
                encrypt: object
                    .function(&symbol("encrypt_detached"))
                    .ok_or_else(|| missing("encrypt_detached"))?,
                decrypt: object
                    .function(&symbol("decrypt_detached"))
                    .ok_or_else(|| missing("decrypt_detached"))?,
                stream: Stream::find(object, prefix),
            })
        }
    }
}

impl Stream {
    /// Up to 0.3 at least, functions of the same names took two arguments more, for output that
    /// lags behind, and ended in `*_detached_final`; `*_state_decrypt_final` came with the change.
    fn find(object: &SharedObject, prefix: &str) -> Option<Self> {
        let symbol = |suffix: &str| format!("{prefix}_state_{suffix}");
        if object.has(&symbol("encrypt_detached_final")) || !object.has(&symbol("decrypt_final")) {
            return None;
        }
        // SAFETY: the types are those of the variant's header in the versions that get here.
        unsafe {
            Some(Self {
                init: object.function(&symbol("init"))?,
                encrypt: object.function(&symbol("encrypt_update"))?,
                decrypt: object.function(&symbol("decrypt_update"))?,
            })
        }
    }
}
