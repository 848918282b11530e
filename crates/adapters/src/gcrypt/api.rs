//! The functions and numbers of `gcrypt.h` that the adapter uses.

use contract::functions;
use contract::loader::{Missing, SharedObject};
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

/// `gcry_cipher_close`, `gcry_md_close`, `gcry_mac_close`.
pub(super) type CloseFn = unsafe extern "C" fn(Handle);

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
    /// Ciphers, and what errors are in words.
    pub(super) struct CipherApi {
        /// Handle, cipher, mode, flags.
        gcry_cipher_open: fn(*mut Handle, c_int, c_int, u32) -> Error;
        gcry_cipher_close: fn(Handle);
        gcry_cipher_setkey: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_setiv: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_setctr: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_authenticate: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_encrypt: fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
        gcry_cipher_decrypt: fn(Handle, *mut c_void, usize, *const c_void, usize) -> Error;
        gcry_cipher_gettag: fn(Handle, *mut c_void, usize) -> Error;
        gcry_cipher_checktag: fn(Handle, *const c_void, usize) -> Error;
        gcry_cipher_ctl: fn(Handle, c_int, *mut c_void, usize) -> Error;
        gcry_strerror: fn(Error) -> *const c_char;
    }
}

functions! {
    /// Digests.
    pub(super) struct MdApi {
        /// Handle, algorithm, flags.
        gcry_md_open: fn(*mut Handle, c_int, u32) -> Error;
        gcry_md_close: fn(Handle);
        /// Algorithm, digest, buffer, length.
        gcry_md_hash_buffer: fn(c_int, *mut c_void, *const c_void, usize);
        gcry_md_reset: fn(Handle);
        gcry_md_write: fn(Handle, *const c_void, usize);
        /// Handle, algorithm; the digest stays the handle's.
        gcry_md_read: fn(Handle, c_int) -> *const u8;
    }
}

functions! {
    /// Message authentication codes.
    pub(super) struct MacApi {
        /// Handle, algorithm, flags, context.
        gcry_mac_open: fn(*mut Handle, c_int, u32, *mut c_void) -> Error;
        gcry_mac_close: fn(Handle);
        gcry_mac_setkey: fn(Handle, *const c_void, usize) -> Error;
        gcry_mac_setiv: fn(Handle, *const c_void, usize) -> Error;
        gcry_mac_ctl: fn(Handle, c_int, *mut c_void, usize) -> Error;
        gcry_mac_write: fn(Handle, *const c_void, usize) -> Error;
        /// Handle, buffer, its length in and the code's out.
        gcry_mac_read: fn(Handle, *mut c_void, *mut usize) -> Error;
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
    pub(super) fn of(object: &SharedObject) -> Result<Self, Missing> {
        let (md, mac) = (MdApi::of(object).ok(), MacApi::of(object).ok());
        Ok(Self { cipher: CipherApi::of(object)?, md, mac })
    }

    /// The library's words for an error.
    pub(super) fn words(&self, error: Error) -> String {
        // SAFETY: takes any number.
        let text = unsafe { (self.cipher.gcry_strerror)(error) };
        if text.is_null() {
            return format!("error {error:#x}");
        }
        // SAFETY: gcry_strerror gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
