//! The functions of the family, with the types that `evp.h` and `err.h` give them.

use super::params::Param;
use crate::bytes::{In, Out};
use contract::loader::{LoadError, SharedObject};
use model::Direction;
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

/// The functions that every library of the family has, and two that only newer ones have.
#[derive(Clone, Copy)]
pub(super) struct Api {
    pub(super) new: unsafe extern "C" fn() -> Ctx,
    pub(super) free: unsafe extern "C" fn(Ctx),
    pub(super) ctrl: CtrlFn,
    pub(super) set_padding: unsafe extern "C" fn(Ctx, c_int) -> c_int,
    encrypt: Calls,
    decrypt: Calls,
    /// `EVP_CIPHER_CTX_copy(to, from)`
    pub(super) copy: Option<unsafe extern "C" fn(Ctx, Ctx) -> c_int>,
    /// `EVP_CIPHER_CTX_set_params(ctx, params)`, from OpenSSL 3 on.
    pub(super) set_params: Option<unsafe extern "C" fn(Ctx, *const Param) -> c_int>,
    pub(super) errors: Errors,
}

impl Api {
    pub(super) fn load(object: &SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of evp.h, which have not changed since OpenSSL 0.9.7.
        unsafe {
            Ok(Self {
                new: object.required("EVP_CIPHER_CTX_new")?,
                free: object.required("EVP_CIPHER_CTX_free")?,
                ctrl: object.required("EVP_CIPHER_CTX_ctrl")?,
                set_padding: object.required("EVP_CIPHER_CTX_set_padding")?,
                encrypt: Calls {
                    init: object.required("EVP_EncryptInit_ex")?,
                    update: object.required("EVP_EncryptUpdate")?,
                    finish: object.required("EVP_EncryptFinal_ex")?,
                },
                decrypt: Calls {
                    init: object.required("EVP_DecryptInit_ex")?,
                    update: object.required("EVP_DecryptUpdate")?,
                    finish: object.required("EVP_DecryptFinal_ex")?,
                },
                copy: object.function("EVP_CIPHER_CTX_copy"),
                set_params: object.function("EVP_CIPHER_CTX_set_params"),
                errors: Errors::load(object),
            })
        }
    }

    pub(super) fn calls(&self, direction: Direction) -> Calls {
        if direction == Direction::Decrypt { self.decrypt } else { self.encrypt }
    }
}

/// The library's queue of errors, one per thread. A failed call leaves entries there, and a queue
/// that is not emptied is one that the application would not have.
#[derive(Clone, Copy)]
pub(super) struct Errors {
    get: Option<unsafe extern "C" fn() -> c_ulong>,
    peek_last: Option<unsafe extern "C" fn() -> c_ulong>,
    words: Option<unsafe extern "C" fn(c_ulong, *mut c_char, usize)>,
    clear: Option<unsafe extern "C" fn()>,
}

/// BoringSSL and AWS-LC return 32 bits; the rest of the register says nothing.
const CODE_BITS: c_ulong = 0xffff_ffff;

impl Errors {
    fn load(object: &SharedObject) -> Self {
        // SAFETY: the types are those of err.h.
        unsafe {
            Self {
                get: object.function("ERR_get_error"),
                peek_last: object.function("ERR_peek_last_error"),
                words: object.function("ERR_error_string_n"),
                clear: object.function("ERR_clear_error"),
            }
        }
    }

    /// Empties the queue.
    #[cold]
    pub(super) fn clear(&self) {
        if let Some(clear) = self.clear {
            // SAFETY: takes nothing.
            unsafe { clear() }
        }
    }

    /// The reason number of the newest error (`ERR_GET_REASON`), 0 when the queue is empty.
    #[cold]
    pub(super) fn last_reason(&self) -> c_ulong {
        // SAFETY: takes nothing.
        self.peek_last.map_or(0, |peek| unsafe { peek() } & 0xfff)
    }

    /// Empties the queue and gives the words of its first error, which is the cause of the others.
    #[cold]
    pub(super) fn take(&self) -> String {
        // SAFETY: takes nothing.
        let code = self.get.map_or(0, |get| unsafe { get() } & CODE_BITS);
        self.clear();
        let Some(words) = self.words.filter(|_| code != 0) else {
            return "no reason given".to_owned();
        };
        let mut text: [c_char; 256] = [0; 256];
        // SAFETY: writes at most the length that it is given, the NUL included.
        unsafe { words(code, text.as_mut_ptr(), text.len()) };
        // SAFETY: NUL-terminated, as just said.
        unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy().into_owned()
    }
}
