//! The functions and numbers of `botan/ffi.h` that the adapter uses.

use crate::bytes::{In, Out};
use crate::family::functions;
use contract::loader::{LoadError, SharedObject};
use std::ffi::{CStr, c_char, c_int, c_void};

/// `botan_cipher_t`, `botan_block_cipher_t`, `botan_hash_t`, `botan_mac_t`: opaque.
pub(super) type Handle = *mut c_void;
/// 0, or one of `enum BOTAN_FFI_ERROR`, all of which are negative.
pub(super) type Code = c_int;

/// `botan_cipher_init`, `botan_hash_init`, `botan_mac_init`: handle, name, flags.
pub(super) type InitFn = unsafe extern "C" fn(*mut Handle, *const c_char, u32) -> Code;
/// `botan_block_cipher_init`: handle, name.
pub(super) type BlockInitFn = unsafe extern "C" fn(*mut Handle, *const c_char) -> Code;
/// `_destroy`, `_clear`, `_reset`, `botan_block_cipher_block_size`.
pub(super) type HandleFn = unsafe extern "C" fn(Handle) -> Code;
/// `_set_key`, `_start`, `_set_associated_data`, `_update`, `_set_nonce`: handle, bytes, length.
pub(super) type BytesFn = unsafe extern "C" fn(Handle, In, usize) -> Code;
/// `_final`: handle, output.
pub(super) type FinalFn = unsafe extern "C" fn(Handle, Out) -> Code;
/// `_output_length`, `botan_cipher_get_update_granularity`: handle, result.
pub(super) type AskFn = unsafe extern "C" fn(Handle, *mut usize) -> Code;
/// `botan_cipher_valid_nonce_length`: handle, length; 1 for yes.
pub(super) type ValidFn = unsafe extern "C" fn(Handle, usize) -> Code;
/// `botan_block_cipher_encrypt_blocks`: handle, in, out, blocks.
pub(super) type BlocksFn = unsafe extern "C" fn(Handle, In, Out, usize) -> Code;
/// `botan_cipher_update`: handle, flags, output, its size, bytes written, input, its size, bytes
/// consumed.
pub(super) type UpdateFn =
    unsafe extern "C" fn(Handle, u32, Out, usize, *mut usize, In, usize, *mut usize) -> Code;

/// `BOTAN_CIPHER_INIT_FLAG_ENCRYPT`
pub(super) const ENCRYPT: u32 = 0;
/// `BOTAN_CIPHER_INIT_FLAG_DECRYPT`
pub(super) const DECRYPT: u32 = 1;
/// `BOTAN_CIPHER_UPDATE_FLAG_FINAL`
pub(super) const FINAL: u32 = 1;
/// `BOTAN_FFI_ERROR_BAD_MAC`
pub(super) const BAD_MAC: Code = -2;
/// `BOTAN_FFI_ERROR_NOT_IMPLEMENTED`
pub(super) const NOT_IMPLEMENTED: Code = -40;

functions! {
    /// The functions that every version has.
    struct Functions {
        cipher_init: InitFn = "botan_cipher_init",
        cipher_destroy: HandleFn = "botan_cipher_destroy",
        cipher_reset: HandleFn = "botan_cipher_reset",
        cipher_set_key: BytesFn = "botan_cipher_set_key",
        cipher_set_aad: BytesFn = "botan_cipher_set_associated_data",
        cipher_start: BytesFn = "botan_cipher_start",
        cipher_update: UpdateFn = "botan_cipher_update",
        cipher_granularity: AskFn = "botan_cipher_get_update_granularity",
        cipher_valid_nonce: ValidFn = "botan_cipher_valid_nonce_length",
        block_init: BlockInitFn = "botan_block_cipher_init",
        block_destroy: HandleFn = "botan_block_cipher_destroy",
        block_size: HandleFn = "botan_block_cipher_block_size",
        block_set_key: BytesFn = "botan_block_cipher_set_key",
        block_encrypt: BlocksFn = "botan_block_cipher_encrypt_blocks",
        block_decrypt: BlocksFn = "botan_block_cipher_decrypt_blocks",
        hash_init: InitFn = "botan_hash_init",
        hash_destroy: HandleFn = "botan_hash_destroy",
        hash_clear: HandleFn = "botan_hash_clear",
        hash_output_length: AskFn = "botan_hash_output_length",
        hash_update: BytesFn = "botan_hash_update",
        hash_final: FinalFn = "botan_hash_final",
        mac_init: InitFn = "botan_mac_init",
        mac_destroy: HandleFn = "botan_mac_destroy",
        mac_output_length: AskFn = "botan_mac_output_length",
        mac_set_key: BytesFn = "botan_mac_set_key",
        mac_update: BytesFn = "botan_mac_update",
        mac_final: FinalFn = "botan_mac_final",
    }
}

/// The library's functions.
#[derive(Clone, Copy)]
pub(super) struct Api {
    functions: Functions,
    /// Since 3.0.
    pub(super) mac_set_nonce: Option<BytesFn>,
    /// Since 2.8.
    error_description: Option<unsafe extern "C" fn(Code) -> *const c_char>,
}

impl std::ops::Deref for Api {
    type Target = Functions;

    fn deref(&self) -> &Functions {
        &self.functions
    }
}

impl Api {
    pub(super) fn load(object: &SharedObject) -> Result<Self, LoadError> {
        // SAFETY: the types are those of ffi.h for the symbols named.
        unsafe {
            Ok(Self {
                functions: Functions::load(object)?,
                mac_set_nonce: object.function("botan_mac_set_nonce"),
                error_description: object.function("botan_error_description"),
            })
        }
    }

    /// The library's words for an error.
    pub(super) fn words(&self, code: Code) -> String {
        let Some(describe) = self.error_description else { return format!("error {code}") };
        // SAFETY: takes any number.
        let text = unsafe { describe(code) };
        if text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: botan_error_description gives a static NUL-terminated string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

/// A handle; destroyed when dropped.
pub(super) struct Object {
    pub(super) handle: Handle,
    destroy: HandleFn,
}

impl Object {
    /// Takes over a handle that an `_init` function has just filled in.
    pub(super) fn new(handle: Handle, destroy: HandleFn) -> Self {
        Self { handle, destroy }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: the handle came from the `_init` function that `destroy` belongs to, and is
        // destroyed nowhere else. What it returns can no longer matter.
        unsafe { (self.destroy)(self.handle) };
    }
}
