//! OCB, version 3 (RFC 7253): every message takes the key anew.

use super::Request;
use super::aead::{AeadMode, State, TAG};
use super::api::{Index, OK};
use crate::bytes::{In, Out};
use contract::{OpenError, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};

functions! {
    /// OCB's, of tomcrypt_mac.h.
    struct Functions {
        /// State, cipher, key, length, nonce, length, length of the tag.
        ocb3_init: fn(*mut c_void, Index, In, c_ulong, In, c_ulong, c_ulong) -> c_int;
        /// State, bytes, length.
        ocb3_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, input, length, output.
        ocb3_encrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_encrypt_last: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_decrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        ocb3_decrypt_last: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        /// State, tag, its length.
        ocb3_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}
type CryptFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int;

/// OCB takes its key with each nonce.
struct Ocb {
    f: Functions,
    part: CryptFn,
    last: CryptFn,
    cipher: Index,
    key: Vec<u8>,
}

impl AeadMode for Ocb {
    fn key(&mut self) -> &mut [u8] {
        &mut self.key
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        // SAFETY: the trait's promises.
        unsafe {
            let (init, cipher) = (self.f.ocb3_init, self.cipher);
            let error = init(state, cipher, key, key_len, nonce, 12, TAG as c_ulong);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.f.ocb3_add_aad)(state, aad.0, aad.1 as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.part)(state, i, len as c_ulong, o) }
    }

    #[inline]
    unsafe fn last(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.last)(state, i, len as c_ulong, o) }
    }
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = Functions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let (part, last) = match decrypts {
        true => (f.ocb3_decrypt, f.ocb3_decrypt_last),
        false => (f.ocb3_encrypt, f.ocb3_encrypt_last),
    };
    let mode = Ocb { f, part, last, cipher, key: request.key.to_vec() };
    let memory = || request.library.memory(c"ocb3_state", 4 * 9544);
    let memories = [memory(), memory()];
    // Encryption reads each block of plaintext again, for the checksum, after it has written the
    // ciphertext: in place the tag would be wrong.
    let how = if decrypts {
        (raw::IN_PLACE, c"ocb3_init, ocb3_add_aad, ocb3_decrypt_last, ocb3_done, mem_neq")
    } else {
        (0, c"ocb3_init, ocb3_add_aad, ocb3_encrypt_last, ocb3_done")
    };
    State::table(request, mode, f.ocb3_done, memories, how)
}
