//! What the adapter uses of Nettle's headers (`nettle-meta.h`, `nettle-types.h` and one for each
//! mode). Lengths come before the bytes that they count, and nothing returns an error: what is not
//! allowed is an assertion, which ends the process.

use crate::bytes::{In, Out};
use contract::loader::SharedObject;
use std::ffi::{c_char, c_int, c_uint, c_void};

/// `nettle_set_key_func`, also the type of `set_nonce`: context, bytes.
pub(super) type SetFn = unsafe extern "C" fn(*mut c_void, In);
/// `nettle_cipher_func`: context, length, destination, source; any number of blocks.
pub(super) type CipherFn = unsafe extern "C" fn(*const c_void, usize, Out, In);
/// `nettle_crypt_func`: as [`CipherFn`], with a context that changes.
pub(super) type CryptFn = unsafe extern "C" fn(*mut c_void, usize, Out, In);
/// `nettle_hash_init_func`
pub(super) type InitFn = unsafe extern "C" fn(*mut c_void);
/// `nettle_hash_update_func`: context, length, bytes.
pub(super) type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, In);
/// `nettle_memeql_sec`: 1 when equal, in constant time.
pub(super) type EqualFn = unsafe extern "C" fn(*const c_void, *const c_void, usize) -> c_int;
/// `nettle_cbc_encrypt` and its like: context, block function, size of a block, IV, length,
/// destination, source. The IV is kept up to date.
pub(super) type ModeFn = unsafe extern "C" fn(*const c_void, CipherFn, usize, Out, usize, Out, In);

/// `struct nettle_cipher`
#[repr(C)]
pub(super) struct CipherMeta {
    name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) block_size: c_uint,
    pub(super) key_size: c_uint,
    pub(super) set_encrypt_key: SetFn,
    pub(super) set_decrypt_key: SetFn,
    pub(super) encrypt: CipherFn,
    pub(super) decrypt: CipherFn,
}

/// `struct nettle_hash`
#[repr(C)]
pub(super) struct HashMeta {
    name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) digest_size: c_uint,
    block_size: c_uint,
    pub(super) init: InitFn,
    pub(super) update: UpdateFn,
    pub(super) digest: *const c_void,
}

/// `struct nettle_mac`
#[repr(C)]
pub(super) struct MacMeta {
    name: *const c_char,
    pub(super) context_size: c_uint,
    pub(super) digest_size: c_uint,
    pub(super) key_size: c_uint,
    pub(super) set_key: SetFn,
    pub(super) update: UpdateFn,
    pub(super) digest: *const c_void,
}

/// `struct nettle_aead`
#[repr(C)]
pub(super) struct AeadMeta {
    name: *const c_char,
    pub(super) context_size: c_uint,
    block_size: c_uint,
    pub(super) key_size: c_uint,
    pub(super) nonce_size: c_uint,
    pub(super) digest_size: c_uint,
    pub(super) set_encrypt_key: SetFn,
    pub(super) set_decrypt_key: SetFn,
    pub(super) set_nonce: SetFn,
    pub(super) update: UpdateFn,
    pub(super) encrypt: CryptFn,
    pub(super) decrypt: CryptFn,
    pub(super) digest: *const c_void,
}

/// `nettle_hash_digest_func`, which lost the length in Nettle 4: always the whole digest.
#[derive(Clone, Copy)]
pub(super) enum DigestFn {
    /// Nettle 2 and 3: context, length, destination.
    Part(unsafe extern "C" fn(*mut c_void, usize, Out)),
    /// Nettle 4: context, destination.
    Whole(unsafe extern "C" fn(*mut c_void, Out)),
}

impl DigestFn {
    /// # Safety
    /// `function` is a `nettle_hash_digest_func` of a Nettle of that major version.
    pub(super) unsafe fn new(function: *const c_void, major: c_int) -> Self {
        // SAFETY: the caller's; a function pointer is as large as a data pointer.
        unsafe {
            if major < 4 {
                Self::Part(std::mem::transmute::<
                    *const c_void,
                    unsafe extern "C" fn(*mut c_void, usize, Out),
                >(function))
            } else {
                Self::Whole(std::mem::transmute::<
                    *const c_void,
                    unsafe extern "C" fn(*mut c_void, Out),
                >(function))
            }
        }
    }

    /// # Safety
    /// `context` is the function's, `tag` covers `len` bytes, which is the whole digest.
    #[inline]
    pub(super) unsafe fn call(self, context: *mut c_void, len: usize, tag: *mut u8) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Self::Part(digest) => digest(context, len, tag),
                Self::Whole(digest) => digest(context, tag),
            }
        }
    }
}

/// A static struct of the library's; lives as long as it.
pub(super) fn meta<T>(object: &SharedObject, name: &str) -> Option<&'static T> {
    // SAFETY: the symbol's address is that of a struct that is never changed nor unloaded; the
    // callers name symbols of the type.
    unsafe { object.function::<*const T>(name)?.as_ref() }
}
