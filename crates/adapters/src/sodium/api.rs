//! Finding the functions of `sodium.h`, one by one: what a version lacks is no reason to refuse
//! the rest.

use crate::bytes::{In, Out};
use contract::OpenError;
use contract::loader::SharedObject;
use std::ffi::{c_int, c_ulonglong};

/// `*_encrypt_detached` and `*_encrypt_detached_afternm`: ciphertext, tag, its length, message,
/// length, associated data, length, nothing, nonce, key or its schedule.
pub(super) type EncryptFn = unsafe extern "C" fn(
    Out,
    Out,
    *mut c_ulonglong,
    In,
    c_ulonglong,
    In,
    c_ulonglong,
    In,
    In,
    In,
) -> c_int;
/// `*_decrypt_detached` and `*_decrypt_detached_afternm`: message, nothing, ciphertext, length,
/// tag, associated data, length, nonce, key or its schedule.
pub(super) type DecryptFn =
    unsafe extern "C" fn(Out, Out, In, c_ulonglong, In, In, c_ulonglong, In, In) -> c_int;
/// `crypto_aead_aes256gcm_beforenm`: schedule, key.
pub(super) type ScheduleFn = unsafe extern "C" fn(Out, In) -> c_int;
/// `crypto_stream_chacha20_ietf_xor`: output, input, length, nonce, key.
pub(super) type XorFn = unsafe extern "C" fn(Out, In, c_ulonglong, In, In) -> c_int;
/// `crypto_hash_*`: digest, message, length.
pub(super) type HashFn = unsafe extern "C" fn(Out, In, c_ulonglong) -> c_int;
/// `crypto_hash_*_init`: state.
pub(super) type InitFn = unsafe extern "C" fn(Out) -> c_int;
/// `*_update`: state, part, length.
pub(super) type UpdateFn = unsafe extern "C" fn(Out, In, c_ulonglong) -> c_int;
/// `*_final`: state, digest.
pub(super) type FinalFn = unsafe extern "C" fn(Out, Out) -> c_int;
/// `crypto_generichash`: digest, length, message, length, key, length.
pub(super) type GenericHashFn =
    unsafe extern "C" fn(Out, usize, In, c_ulonglong, In, usize) -> c_int;
/// `crypto_generichash_init`: state, key, length, length of the digest.
pub(super) type GenericInitFn = unsafe extern "C" fn(Out, In, usize, usize) -> c_int;
/// `crypto_generichash_final`: state, digest, length.
pub(super) type GenericFinalFn = unsafe extern "C" fn(Out, Out, usize) -> c_int;
/// `crypto_auth_hmac*_init`: state, key, length.
pub(super) type KeyedInitFn = unsafe extern "C" fn(Out, In, usize) -> c_int;
/// `crypto_onetimeauth`: tag, message, length, key.
pub(super) type AuthFn = unsafe extern "C" fn(Out, In, c_ulonglong, In) -> c_int;
/// `crypto_onetimeauth_init`: state, key.
pub(super) type AuthInitFn = unsafe extern "C" fn(Out, In) -> c_int;

type SizeFn = unsafe extern "C" fn() -> usize;
type AskFn = unsafe extern "C" fn() -> c_int;

/// The loaded library's functions by name.
pub(super) struct Functions(SharedObject);

impl Functions {
    pub(super) fn new(object: SharedObject) -> Self {
        Self(object)
    }

    /// A function by its name.
    ///
    /// # Errors
    /// [`OpenError::Unsupported`] when this version or build does not export it.
    ///
    /// # Safety
    /// `F` must be the type that `sodium.h` gives the symbol.
    pub(super) unsafe fn get<F: Copy>(&self, symbol: &str) -> Result<F, OpenError> {
        // SAFETY: the caller vouches for the type.
        Ok(unsafe { self.0.exported(symbol)? })
    }

    /// What a function without arguments says of a length: `*_statebytes`, `*_abytes`.
    pub(super) fn length(&self, symbol: &str) -> Result<usize, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns a size_t.
        unsafe { Ok(self.get::<SizeFn>(symbol)?()) }
    }

    /// What a function without arguments answers: `*_is_available`.
    pub(super) fn ask(&self, symbol: &str) -> Result<bool, OpenError> {
        // SAFETY: every function of such a name takes nothing and returns an int.
        unsafe { Ok(self.get::<AskFn>(symbol)?() == 1) }
    }
}

/// What the library's functions return as a code of the interface: 0, or -1.
#[inline]
pub(super) fn outcome(result: c_int) -> i32 {
    if result == 0 { contract::raw::OK } else { contract::raw::FAILED }
}
