//! The functions and numbers of `botan/ffi.h` that the adapter uses.

use crate::bytes::{In, Out};
use contract::functions;
use std::ffi::{CStr, c_char, c_int, c_void};

/// `botan_cipher_t`, `botan_block_cipher_t`, `botan_hash_t`, `botan_mac_t`: opaque.
pub(super) type Handle = *mut c_void;
/// 0, or one of `enum BOTAN_FFI_ERROR`, all of which are negative.
pub(super) type Code = c_int;

/// `_destroy`, `_clear`, `_reset`, `botan_block_cipher_block_size`.
pub(super) type HandleFn = unsafe extern "C" fn(Handle) -> Code;
/// `_set_key`, `_start`, `_set_associated_data`, `_update`, `_set_nonce`: handle, bytes, length.
pub(super) type BytesFn = unsafe extern "C" fn(Handle, In, usize) -> Code;
/// `_final`: handle, output.
pub(super) type FinalFn = unsafe extern "C" fn(Handle, Out) -> Code;
/// `_output_length`, `botan_cipher_get_update_granularity`: handle, result.
pub(super) type AskFn = unsafe extern "C" fn(Handle, *mut usize) -> Code;
/// `botan_block_cipher_encrypt_blocks`: handle, in, out, blocks.
pub(super) type BlocksFn = unsafe extern "C" fn(Handle, In, Out, usize) -> Code;
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
    /// The library's functions.
    pub(super) struct Api
    required {
        /// Handle, name, flags.
        botan_cipher_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_cipher_destroy: fn(Handle) -> Code;
        botan_cipher_reset: fn(Handle) -> Code;
        botan_cipher_set_key: fn(Handle, In, usize) -> Code;
        botan_cipher_set_associated_data: fn(Handle, In, usize) -> Code;
        botan_cipher_start: fn(Handle, In, usize) -> Code;
        /// Handle, flags, output, its size, bytes written, input, its size, bytes consumed.
        botan_cipher_update: fn(Handle, u32, Out, usize, *mut usize, In, usize, *mut usize) -> Code;
        botan_cipher_get_update_granularity: fn(Handle, *mut usize) -> Code;
        /// Handle, length; 1 for yes.
        botan_cipher_valid_nonce_length: fn(Handle, usize) -> Code;
        botan_block_cipher_init: fn(*mut Handle, *const c_char) -> Code;
        botan_block_cipher_destroy: fn(Handle) -> Code;
        botan_block_cipher_block_size: fn(Handle) -> Code;
        botan_block_cipher_set_key: fn(Handle, In, usize) -> Code;
        botan_block_cipher_encrypt_blocks: fn(Handle, In, Out, usize) -> Code;
        botan_block_cipher_decrypt_blocks: fn(Handle, In, Out, usize) -> Code;
        botan_hash_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_hash_destroy: fn(Handle) -> Code;
        botan_hash_clear: fn(Handle) -> Code;
        botan_hash_output_length: fn(Handle, *mut usize) -> Code;
        botan_hash_update: fn(Handle, In, usize) -> Code;
        botan_hash_final: fn(Handle, Out) -> Code;
        botan_mac_init: fn(*mut Handle, *const c_char, u32) -> Code;
        botan_mac_destroy: fn(Handle) -> Code;
        botan_mac_output_length: fn(Handle, *mut usize) -> Code;
        botan_mac_set_key: fn(Handle, In, usize) -> Code;
        botan_mac_update: fn(Handle, In, usize) -> Code;
        botan_mac_final: fn(Handle, Out) -> Code;
    }
    optional {
        /// Since 3.0.
        botan_mac_set_nonce: fn(Handle, In, usize) -> Code;
        /// Since 2.8.
        botan_error_description: fn(Code) -> *const c_char;
    }
}

impl Api {
    /// The library's words for an error.
    pub(super) fn words(&self, code: Code) -> String {
        let Some(describe) = self.botan_error_description else { return format!("error {code}") };
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
