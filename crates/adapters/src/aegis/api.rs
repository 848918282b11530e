//! The functions of `aegis128l.h` and its five sisters, which differ in the prefix only.

use crate::bytes::{In, Out};
use contract::OpenError;
use contract::loader::SharedObject;
use std::ffi::c_int;

/// `*_encrypt_detached`: ciphertext, tag, its length, message, length, associated data, length,
/// nonce, key.
pub(super) type EncryptFn =
    unsafe extern "C" fn(Out, Out, usize, In, usize, In, usize, In, In) -> c_int;
/// `*_decrypt_detached`: message, ciphertext, length, tag, its length, associated data, length,
/// nonce, key.
pub(super) type DecryptFn =
    unsafe extern "C" fn(Out, In, usize, In, usize, In, usize, In, In) -> c_int;
/// `*_state_init`: state, associated data, length, nonce, key.
pub(super) type InitFn = unsafe extern "C" fn(Out, In, usize, In, In);
/// `*_state_encrypt_update` and `*_state_decrypt_update`: state, output, input, length.
pub(super) type UpdateFn = unsafe extern "C" fn(Out, Out, In, usize) -> c_int;

/// One variant's functions.
pub(super) struct Functions {
    pub(super) encrypt: EncryptFn,
    pub(super) decrypt: DecryptFn,
    pub(super) stream: Option<Stream>,
}

/// The incremental functions of a direction, which write as many bytes as they are given.
#[derive(Clone, Copy)]
pub(super) struct Stream {
    pub(super) init: InitFn,
    pub(super) update: UpdateFn,
}

impl Functions {
    /// # Errors
    /// [`OpenError::Unsupported`] when the variant is not exported.
    pub(super) fn find(
        object: &SharedObject,
        prefix: &str,
        decrypts: bool,
    ) -> Result<Self, OpenError> {
        // SAFETY: the types are those of the variant's header, in every version.
        unsafe {
            Ok(Self {
                encrypt: object.exported(&format!("{prefix}_encrypt_detached"))?,
                decrypt: object.exported(&format!("{prefix}_decrypt_detached"))?,
                stream: Stream::find(object, prefix, decrypts),
            })
        }
    }
}

impl Stream {
    /// Up to 0.3 at least, functions of the same names took two arguments more, for output that
    /// lags behind, and ended in `*_detached_final`; `*_state_decrypt_final` came with the change.
    fn find(object: &SharedObject, prefix: &str, decrypts: bool) -> Option<Self> {
        let symbol = |suffix: &str| format!("{prefix}_state_{suffix}");
        if object.has(&symbol("encrypt_detached_final")) || !object.has(&symbol("decrypt_final")) {
            return None;
        }
        let update = if decrypts { "decrypt_update" } else { "encrypt_update" };
        // SAFETY: the types are those of the variant's header in the versions that get here.
        unsafe {
            Some(Self {
                init: object.function(&symbol("init"))?,
                update: object.function(&symbol(update))?,
            })
        }
    }
}
