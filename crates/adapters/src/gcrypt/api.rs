//! The functions and numbers of `gcrypt.h` that the adapter uses.

use loader::{LoadError, SharedObject};
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

/// The library's functions.
#[derive(Clone, Copy)]
pub(super) struct Api {
    pub(super) open: OpenFn,
    pub(super) close: CloseFn,
    pub(super) setkey: BytesFn,
    pub(super) setiv: BytesFn,
    pub(super) setctr: BytesFn,
    pub(super) authenticate: BytesFn,
    pub(super) encrypt: CryptFn,
    pub(super) decrypt: CryptFn,
    pub(super) gettag: GetTagFn,
    pub(super) checktag: BytesFn,
    pub(super) ctl: CtlFn,
    /// `None` when one of the functions is missing.
    pub(super) md: Option<MdApi>,
    /// `None` before 1.6, which brought them.
    pub(super) mac: Option<MacApi>,
    strerror: StrErrorFn,
}

/// `gcry_md_*`: digests.
#[derive(Clone, Copy)]
pub(super) struct MdApi {
    /// Handle, algorithm, flags.
    pub(super) open: unsafe extern "C" fn(*mut Handle, c_int, u32) -> Error,
    pub(super) close: CloseFn,
    /// Algorithm, digest, buffer, length.
    pub(super) hash_buffer: unsafe extern "C" fn(c_int, *mut c_void, *const c_void, usize),
    pub(super) reset: unsafe extern "C" fn(Handle),
    pub(super) write: unsafe extern "C" fn(Handle, *const c_void, usize),
    /// Handle, algorithm; the digest stays the handle's.
    pub(super) read: unsafe extern "C" fn(Handle, c_int) -> *const u8,
}

/// `gcry_mac_*`: message authentication codes.
#[derive(Clone, Copy)]
pub(super) struct MacApi {
    /// Handle, algorithm, flags, context.
    pub(super) open: unsafe extern "C" fn(*mut Handle, c_int, u32, *mut c_void) -> Error,
    pub(super) close: CloseFn,
    pub(super) setkey: BytesFn,
    pub(super) setiv: BytesFn,
    pub(super) ctl: CtlFn,
    pub(super) write: BytesFn,
    /// Handle, buffer, its length in and the code's out.
    pub(super) read: unsafe extern "C" fn(Handle, *mut c_void, *mut usize) -> Error,
}

impl MdApi {
    fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of gcrypt.h for the symbols named.
        unsafe {
            Some(Self {
                open: object.function("gcry_md_open")?,
                close: object.function("gcry_md_close")?,
                hash_buffer: object.function("gcry_md_hash_buffer")?,
                reset: object.function("gcry_md_reset")?,
                write: object.function("gcry_md_write")?,
                read: object.function("gcry_md_read")?,
            })
        }
    }
}

impl MacApi {
    fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of gcrypt.h for the symbols named.
        unsafe {
            Some(Self {
                open: object.function("gcry_mac_open")?,
                close: object.function("gcry_mac_close")?,
                setkey: object.function("gcry_mac_setkey")?,
                setiv: object.function("gcry_mac_setiv")?,
                ctl: object.function("gcry_mac_ctl")?,
                write: object.function("gcry_mac_write")?,
                read: object.function("gcry_mac_read")?,
            })
        }
    }
}

impl Api {
    pub(super) fn load(object: &SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of gcrypt.h for the symbols named.
        unsafe {
            Ok(Self {
                open: object.required("gcry_cipher_open")?,
                close: object.required("gcry_cipher_close")?,
                setkey: object.required("gcry_cipher_setkey")?,
                setiv: object.required("gcry_cipher_setiv")?,
                setctr: object.required("gcry_cipher_setctr")?,
                authenticate: object.required("gcry_cipher_authenticate")?,
                encrypt: object.required("gcry_cipher_encrypt")?,
                decrypt: object.required("gcry_cipher_decrypt")?,
                gettag: object.required("gcry_cipher_gettag")?,
                checktag: object.required("gcry_cipher_checktag")?,
                ctl: object.required("gcry_cipher_ctl")?,
                md: MdApi::load(object),
                mac: MacApi::load(object),
                strerror: object.required("gcry_strerror")?,
            })
        }
    }

    /// The library's words for an error.
    pub(super) fn words(&self, error: Error) -> String {
        // SAFETY: takes any number.
        let text = unsafe { (self.strerror)(error) };
        if text.is_null() {
            return format!("error {error:#x}");
        }
        // SAFETY: gcry_strerror gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}
