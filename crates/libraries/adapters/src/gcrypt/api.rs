//! The functions and numbers of `gcrypt.h` that the adapter uses.

use crate::family::functions;
use contract::loader::{LoadError, SharedObject};
use std::ffi::{CStr, c_char, c_int, c_void};

/// `gcry_cipher_hd_t`, `gcry_md_hd_t` or `gcry_mac_hd_t`, opaque.
pub(super) type Handle = *mut c_void;
/// `gcry_error_t`: 0, or a source in bits 24..31 and a code in the low 16 bits.
pub(super) type Error = u32;
/// `gcry_cipher_encrypt` and `gcry_cipher_decrypt`: handle, out, outsize, in, inlen.
pub(super) type CryptFn =
    unsafe extern "C" fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
/// `gcry_cipher_setkey`, `_setiv`, `_setctr`, `_authenticate`, `_checktag` and `gcry_mac_setkey`,
/// `_setiv`, `_write`: handle, bytes, length.
pub(super) type BytesFn = unsafe extern "C" fn(Handle, *const c_void, usize) -> Error;
/// `gcry_cipher_gettag`: handle, buffer, length.
pub(super) type GetTagFn = unsafe extern "C" fn(Handle, *mut c_void, usize) -> Error;
/// `gcry_cipher_ctl` and `gcry_mac_ctl`: handle, command, buffer, length.
pub(super) type CtlFn = unsafe extern "C" fn(Handle, c_int, *mut c_void, usize) -> Error;

type OpenFn = unsafe extern "C" fn(*mut Handle, c_int, c_int, u32) -> Error;
/// `gcry_cipher_close`, `gcry_md_close`, `gcry_mac_close`.
pub(super) type CloseFn = unsafe extern "C" fn(Handle);
type StrErrorFn = unsafe extern "C" fn(Error) -> *const c_char;

/// `enum gcry_ctl_cmds`
pub(super) mod ctl {
    use std::ffi::c_int;

    pub(in super::super) const RESET: c_int = 4;
    pub(in super::super) const FINALIZE: c_int = 5;
    pub(in super::super) const DISABLE_SECMEM: c_int = 37;
    pub(in super::super) const INITIALIZATION_FINISHED: c_int = 38;
    pub(in super::super) const INITIALIZATION_FINISHED_P: c_int = 39;
    pub(in super::super) const SET_CCM_LENGTHS: c_int = 69;
    pub(in super::super) const SET_TAGLEN: c_int = 75;
    pub(in super::super) const SET_DECRYPTION_TAG: c_int = 80;
}

/// `gpg_err_code_t`, the low 16 bits of an [`Error`].
pub(super) mod err {
    pub(in super::super) const DIGEST_ALGO: u32 = 5;
    pub(in super::super) const CHECKSUM: u32 = 10;
    pub(in super::super) const CIPHER_ALGO: u32 = 12;
    pub(in super::super) const NOT_SUPPORTED: u32 = 60;
    pub(in super::super) const NOT_IMPLEMENTED: u32 = 69;
    pub(in super::super) const INV_CIPHER_MODE: u32 = 71;
    pub(in super::super) const MAC_ALGO: u32 = 197;
}

/// The code within an error.
pub(super) fn error_code(error: Error) -> u32 {
    error & 0xffff
}

functions! {
    /// `gcry_cipher_*`, and what errors are in words.
    struct CipherApi {
        open: OpenFn = "gcry_cipher_open",
        close: CloseFn = "gcry_cipher_close",
        setkey: BytesFn = "gcry_cipher_setkey",
        setiv: BytesFn = "gcry_cipher_setiv",
        setctr: BytesFn = "gcry_cipher_setctr",
        authenticate: BytesFn = "gcry_cipher_authenticate",
        encrypt: CryptFn = "gcry_cipher_encrypt",
        decrypt: CryptFn = "gcry_cipher_decrypt",
        gettag: GetTagFn = "gcry_cipher_gettag",
        checktag: BytesFn = "gcry_cipher_checktag",
        ctl: CtlFn = "gcry_cipher_ctl",
        strerror: StrErrorFn = "gcry_strerror",
    }
}

functions! {
    /// `gcry_md_*`: digests.
    struct MdApi {
        /// Handle, algorithm, flags.
        open: unsafe extern "C" fn(*mut Handle, c_int, u32) -> Error = "gcry_md_open",
        close: CloseFn = "gcry_md_close",
        /// Algorithm, digest, buffer, length.
        hash_buffer: unsafe extern "C" fn(c_int, *mut c_void, *const c_void, usize) = "gcry_md_hash_buffer",
        reset: unsafe extern "C" fn(Handle) = "gcry_md_reset",
        write: unsafe extern "C" fn(Handle, *const c_void, usize) = "gcry_md_write",
        /// Handle, algorithm; the digest stays the handle's.
        read: unsafe extern "C" fn(Handle, c_int) -> *const u8 = "gcry_md_read",
    }
}

functions! {
    /// `gcry_mac_*`: message authentication codes.
    struct MacApi {
        /// Handle, algorithm, flags, context.
        open: unsafe extern "C" fn(*mut Handle, c_int, u32, *mut c_void) -> Error = "gcry_mac_open",
        close: CloseFn = "gcry_mac_close",
        setkey: BytesFn = "gcry_mac_setkey",
        setiv: BytesFn = "gcry_mac_setiv",
        ctl: CtlFn = "gcry_mac_ctl",
        write: BytesFn = "gcry_mac_write",
        /// Handle, buffer, its length in and the code's out.
        read: unsafe extern "C" fn(Handle, *mut c_void, *mut usize) -> Error = "gcry_mac_read",
    }
}

/// The library's functions.
#[derive(Clone, Copy)]
pub(super) struct Api {
    pub(super) cipher: CipherApi,
    /// `None` when one of the functions is missing.
    pub(super) md: Option<MdApi>,
    /// `None` before 1.6, which brought them.
    pub(super) mac: Option<MacApi>,
}

impl Api {
    pub(super) fn load(object: &SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of gcrypt.h for the symbols named.
        unsafe {
            Ok(Self {
                cipher: CipherApi::load(object)?,
                md: MdApi::load(object).ok(),
                mac: MacApi::load(object).ok(),
            })
        }
    }

    /// The library's words for an error.
    pub(super) fn words(&self, error: Error) -> String {
        // SAFETY: takes any number.
        let text = unsafe { (self.cipher.strerror)(error) };
        if text.is_null() {
            return format!("error {error:#x}");
        }
        // SAFETY: gcry_strerror gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
