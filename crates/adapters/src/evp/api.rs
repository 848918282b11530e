//! The functions of the family with the types of its headers, `OSSL_PARAM`, and how a method (`EVP_CIPHER`,
//! `EVP_MD`) is found: outside the clock, by the newest of the three ways that the library has.

use crate::family::{In, Out};
use base::model::Direction;
use contract::functions;
use contract::loader::{Missing, SharedObject};
use std::ffi::{CStr, c_char, c_int, c_uint, c_ulong, c_void};
use std::ptr;

/// `EVP_CIPHER_CTX *`
pub(crate) type Ctx = *mut c_void;
/// `const EVP_CIPHER *`
pub(crate) type CipherPtr = *const c_void;

/// `EVP_EncryptInit_ex(ctx, cipher, engine, key, iv)`
pub(crate) type InitFn = unsafe extern "C" fn(Ctx, CipherPtr, *mut c_void, In, In) -> c_int;
/// `EVP_EncryptUpdate(ctx, out, out_len, in, in_len)`
pub(crate) type UpdateFn = unsafe extern "C" fn(Ctx, Out, *mut c_int, In, c_int) -> c_int;
/// `EVP_EncryptFinal_ex(ctx, out, out_len)`
pub(crate) type FinalFn = unsafe extern "C" fn(Ctx, Out, *mut c_int) -> c_int;
/// `EVP_CIPHER_CTX_ctrl(ctx, type, arg, pointer)`
pub(crate) type CtrlFn = unsafe extern "C" fn(Ctx, c_int, c_int, *mut c_void) -> c_int;

/// Numbers for `EVP_CIPHER_CTX_ctrl`: the same in every library of the family and in every mode.
pub(crate) mod ctrl {
    use std::ffi::c_int;

    /// `EVP_CTRL_AEAD_SET_IVLEN`
    pub(crate) const SET_IVLEN: c_int = 0x9;
    /// `EVP_CTRL_AEAD_GET_TAG`
    pub(crate) const GET_TAG: c_int = 0x10;
    /// `EVP_CTRL_AEAD_SET_TAG`
    pub(crate) const SET_TAG: c_int = 0x11;
}

/// What an application calls in one direction.
#[derive(Clone, Copy)]
pub(crate) struct Calls {
    pub(crate) init: InitFn,
    pub(crate) update: UpdateFn,
    pub(crate) finish: FinalFn,
}

functions! {
    /// The functions that every library of the family has, with types that have not changed since
    /// OpenSSL 0.9.7, and two that only newer ones have.
    pub(crate) struct Functions
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
pub(crate) struct Api {
    pub(crate) f: Functions,
    pub(crate) errors: Errors,
}

impl Api {
    pub(crate) fn of(object: &SharedObject) -> Result<Self, Missing> {
        Ok(Self { f: Functions::of(object)?, errors: Errors::of(object)? })
    }

    pub(crate) fn calls(&self, direction: Direction) -> Calls {
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
    pub(crate) struct Errors
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
    pub(crate) fn clear(&self) {
        if let Some(clear) = self.ERR_clear_error {
            // SAFETY: takes nothing.
            unsafe { clear() }
        }
    }

    /// The reason number of the newest error (`ERR_GET_REASON`), 0 when the queue is empty.
    #[cold]
    pub(crate) fn last_reason(&self) -> c_ulong {
        // SAFETY: takes nothing.
        self.ERR_peek_last_error.map_or(0, |peek| unsafe { peek() } & 0xfff)
    }

    /// Empties the queue and gives the words of its first error, which is the cause of the others.
    #[cold]
    pub(crate) fn take(&self) -> String {
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

/// A method of the library; freed when dropped if it was fetched.
pub(crate) struct Method {
    pointer: *const c_void,
    free: Option<FreeFn>,
}

type FreeFn = unsafe extern "C" fn(*mut c_void);

impl Method {
    pub(crate) fn as_ptr(&self) -> *const c_void {
        self.pointer
    }

    fn lasting(pointer: *const c_void) -> Option<Self> {
        (!pointer.is_null()).then_some(Self { pointer, free: None })
    }
}

impl Drop for Method {
    fn drop(&mut self) {
        if let Some(free) = self.free {
            // SAFETY: fetched, so ours to free; contexts that use it hold references of their own.
            unsafe { free(self.pointer.cast_mut()) }
        }
    }
}

/// The names of the functions that find one kind of method.
pub(crate) struct Ways {
    pub(crate) fetch: &'static str,
    pub(crate) free: &'static str,
    pub(crate) by_name: &'static str,
}

/// The method of that name, or by that getter in libraries that fetch nothing.
pub(crate) fn find_method(
    object: &SharedObject,
    ways: &Ways,
    name: &CStr,
    getter: &str,
) -> Option<Method> {
    if object.has("OSSL_PROVIDER_load") {
        // What no provider has is not there, though a getter by its name may be.
        return fetch(object, ways, name);
    }
    by_name(object, ways, name).or_else(|| by_getter(object, getter))
}

/// OpenSSL 3 on. Its documentation asks for one explicit fetch instead of the implicit one that
/// every initialisation with a name or a getter's method would do again. BoringSSL's
/// `EVP_MD_fetch` is another name of `EVP_get_digestbyname`, whose table lacks SHA-3: it is not
/// used.
fn fetch(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type FetchFn = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
    // SAFETY: the types are those of evp.h, the same for every kind of method.
    let (fetch, free) =
        unsafe { (object.function::<FetchFn>(ways.fetch)?, object.function::<FreeFn>(ways.free)?) };
    // SAFETY: the default library context, no properties.
    let pointer = unsafe { fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    (!pointer.is_null()).then_some(Method { pointer, free: Some(free) })
}

fn by_name(object: &SharedObject, ways: &Ways, name: &CStr) -> Option<Method> {
    type ByNameFn = unsafe extern "C" fn(*const c_char) -> *const c_void;
    // SAFETY: the type is that of evp.h.
    let by_name = unsafe { object.function::<ByNameFn>(ways.by_name) }?;
    // SAFETY: a NUL-terminated name; the result is static.
    Method::lasting(unsafe { by_name(name.as_ptr()) })
}

/// `EVP_aes_128_gcm()` and its like: BoringSSL's tables of names have only a part of what it has.
fn by_getter(object: &SharedObject, getter: &str) -> Option<Method> {
    type GetterFn = unsafe extern "C" fn() -> *const c_void;
    // SAFETY: the type is that of evp.h for every getter.
    let getter = unsafe { object.function::<GetterFn>(getter) }?;
    // SAFETY: takes nothing; the result is static.
    Method::lasting(unsafe { getter() })
}

// `OSSL_PARAM`: how OpenSSL 3 on is told what has no function of its own.

/// `OSSL_PARAM` of params.h, which is public and the same since OpenSSL 3.0.
#[repr(C)]
pub(crate) struct Param {
    key: *const c_char,
    data_type: c_uint,
    data: *mut c_void,
    data_size: usize,
    return_size: usize,
}

/// `OSSL_PARAM_UTF8_STRING`
const UTF8_STRING: c_uint = 4;
/// `OSSL_PARAM_OCTET_STRING`
const OCTET_STRING: c_uint = 5;
/// `OSSL_PARAM_UNMODIFIED`
const UNMODIFIED: usize = usize::MAX;

impl Param {
    /// A text. Both must outlive the call that it is passed to.
    pub(crate) fn text(key: &'static CStr, text: &CStr) -> Self {
        let data = text.as_ptr().cast_mut().cast();
        Self::new(key, UTF8_STRING, data, text.count_bytes())
    }

    /// `len` bytes, which are only read and must outlive the call that they are passed to.
    #[inline(always)]
    pub(crate) fn bytes(key: &'static CStr, bytes: *const u8, len: usize) -> Self {
        Self::new(key, OCTET_STRING, bytes.cast_mut().cast(), len)
    }

    /// What stands behind the last one.
    pub(crate) const END: Self = Self {
        key: ptr::null(),
        data_type: 0,
        data: ptr::null_mut(),
        data_size: 0,
        return_size: 0,
    };

    #[inline(always)]
    fn new(key: &'static CStr, data_type: c_uint, data: *mut c_void, data_size: usize) -> Self {
        Self { key: key.as_ptr(), data_type, data, data_size, return_size: UNMODIFIED }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_param_has_the_layout_of_params_h() {
        assert_eq!(size_of::<Param>(), 40);
        assert_eq!(std::mem::offset_of!(Param, data), 16);
        assert_eq!(std::mem::offset_of!(Param, return_size), 32);
    }
}
