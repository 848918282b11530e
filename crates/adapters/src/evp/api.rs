//! The functions of the family, with the types that `evp.h` and `err.h` give them.

use super::params::Param;
use crate::bytes::{In, Out};
use base::model::Direction;
use contract::functions;
use contract::loader::{Missing, SharedObject};
use std::ffi::{CStr, c_char, c_int, c_ulong, c_void};

/// `EVP_CIPHER_CTX *`
pub(super) type Ctx = *mut c_void;
/// `const EVP_CIPHER *`
pub(super) type CipherPtr = *const c_void;

/// `EVP_EncryptInit_ex(ctx, cipher, engine, key, iv)`
pub(super) type InitFn = unsafe extern "C" fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
/// `EVP_EncryptUpdate(ctx, out, out_len, in, in_len)`
pub(super) type UpdateFn = unsafe extern "C" fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
/// `EVP_EncryptFinal_ex(ctx, out, out_len)`
pub(super) type FinalFn = unsafe extern "C" fn(Ctx, Out, *mut c_int) -> c_int;
/// `EVP_CIPHER_CTX_ctrl(ctx, type, arg, pointer)`
pub(super) type CtrlFn = unsafe extern "C" fn(Ctx, c_int, c_int, *mut c_void) -> c_int;

/// Numbers for `EVP_CIPHER_CTX_ctrl`: the same in every library of the family and in every mode.
pub(super) mod ctrl {
    use std::ffi::c_int;

    /// `EVP_CTRL_AEAD_SET_IVLEN`
    pub(in super::super) const SET_IVLEN: c_int = 0x9;
    /// `EVP_CTRL_AEAD_GET_TAG`
    pub(in super::super) const GET_TAG: c_int = 0x10;
    /// `EVP_CTRL_AEAD_SET_TAG`
    pub(in super::super) const SET_TAG: c_int = 0x11;
}

/// What an application calls in one direction.
#[derive(Clone, Copy)]
pub(super) struct Calls {
    pub(super) init: InitFn,
    pub(super) update: UpdateFn,
    pub(super) finish: FinalFn,
}

functions! {
    /// The functions that every library of the family has, with types that have not changed since
    /// OpenSSL 0.9.7, and two that only newer ones have.
    pub(super) struct Functions
    required {
        EVP_CIPHER_CTX_new: fn() -> Ctx;
        EVP_CIPHER_CTX_free: fn(Ctx);
        EVP_CIPHER_CTX_ctrl: fn(Ctx, c_int, c_int, *mut c_void) -> c_int;
        EVP_CIPHER_CTX_set_padding: fn(Ctx, c_int) -> c_int;
        EVP_EncryptInit_ex: fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
        EVP_EncryptUpdate: fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
        EVP_EncryptFinal_ex: fn(Ctx, Out, *mut c_int) -> c_int;
        EVP_DecryptInit_ex: fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
        EVP_DecryptUpdate: fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
        EVP_DecryptFinal_ex: fn(Ctx, Out, *mut c_int) -> c_int;
    }
    optional {
        /// To, from.
        EVP_CIPHER_CTX_copy: fn(Ctx, Ctx) -> c_int;
        /// From OpenSSL 3 on.
        EVP_CIPHER_CTX_set_params: fn(Ctx, *const Param) -> c_int;
    }
}

/// What the adapter calls of `evp.h`, and the queue of errors.
#[derive(Clone, Copy)]
pub(super) struct Api {
    pub(super) f: Functions,
    pub(super) errors: Errors,
}

impl Api {
    pub(super) fn of(object: &SharedObject) -> Result<Self, Missing> {
        Ok(Self { f: Functions::of(object)?, errors: Errors::of(object)? })
    }

    pub(super) fn calls(&self, direction: Direction) -> Calls {
        let f = &self.f;
        let (init, update, finish) = match direction {
            Direction::Decrypt => {
                (f.EVP_DecryptInit_ex, f.EVP_DecryptUpdate, f.EVP_DecryptFinal_ex)
            }
            _ => (f.EVP_EncryptInit_ex, f.EVP_EncryptUpdate, f.EVP_EncryptFinal_ex),
        };
        Calls { init, update, finish }
    }
}

functions! {
    /// The library's queue of errors, one per thread. A failed call leaves entries there, and a queue
    /// that is not emptied is one that the application would not have.
    pub(super) struct Errors
    required {}
    optional {
        ERR_get_error: fn() -> c_ulong;
        ERR_peek_last_error: fn() -> c_ulong;
        ERR_error_string_n: fn(c_ulong, *mut c_char, usize);
        ERR_clear_error: fn();
    }
}

/// BoringSSL and AWS-LC return 32 bits; the rest of the register says nothing.
const CODE_BITS: c_ulong = 0xffff_ffff;

impl Errors {
    /// Empties the queue.
    #[cold]
    pub(super) fn clear(&self) {
        if let Some(clear) = self.ERR_clear_error {
            // SAFETY: takes nothing.
            unsafe { clear() }
        }
    }

    /// The reason number of the newest error (`ERR_GET_REASON`), 0 when the queue is empty.
    #[cold]
    pub(super) fn last_reason(&self) -> c_ulong {
        // SAFETY: takes nothing.
        self.ERR_peek_last_error.map_or(0, |peek| unsafe { peek() } & 0xfff)
    }

    /// Empties the queue and gives the words of its first error, which is the cause of the others.
    #[cold]
    pub(super) fn take(&self) -> String {
        // SAFETY: takes nothing.
        let code = self.ERR_get_error.map_or(0, |get| unsafe { get() } & CODE_BITS);
        self.clear();
        let Some(words) = self.ERR_error_string_n.filter(|_| code != 0) else {
            return "no reason given".to_owned();
        };
        let mut text: [c_char; 256] = [0; 256];
        // SAFETY: writes at most the length that it is given, the NUL included.
        unsafe { words(code, text.as_mut_ptr(), text.len()) };
        // SAFETY: NUL-terminated, as just said.
        unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
    }
}
