//! OCB, version 3 (RFC 7253): every message takes the key anew.

use super::Request;
use super::aead::{AeadMode, BytesFn, State, TAG};
use super::api::{Index, OK};
use crate::bytes::{In, Out};
use contract::{OpenError, raw};
use std::ffi::{c_int, c_ulong, c_void};

/// `ocb3_init`: state, cipher, key, length, nonce, length, length of the tag.
type InitFn = unsafe extern "C" fn(*mut c_void, Index, In, c_ulong, In, c_ulong, c_ulong) -> c_int;
/// `ocb3_encrypt`, `ocb3_encrypt_last` and the same of decryption: state, input, length, output.
type CryptFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int;

/// OCB takes its key with each nonce.
struct Ocb {
    cipher: Index,
    key: Vec<u8>,
    init: InitFn,
    add_aad: BytesFn,
    part: CryptFn,
    last: CryptFn,
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
            let error = (self.init)(state, self.cipher, key, key_len, nonce, 12, TAG as c_ulong);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.add_aad)(state, aad.0, aad.1 as c_ulong)
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
    let api = request.library;
    let decrypts = request.decrypts();
    let (part, last) = if decrypts {
        ("ocb3_decrypt", "ocb3_decrypt_last")
    } else {
        ("ocb3_encrypt", "ocb3_encrypt_last")
    };
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        Ocb {
            cipher,
            key: request.key.to_vec(),
            init: api.object.offered("ocb3_init")?,
            add_aad: api.object.offered("ocb3_add_aad")?,
            part: api.object.offered(part)?,
            last: api.object.offered(last)?,
        }
    };
    let memory = || api.memory(c"ocb3_state", 4 * 9544);
    let memories = [memory(), memory()];
    // Encryption reads each block of plaintext again, for the checksum, after it has written the
    // ciphertext: in place the tag would be wrong.
    let how = if decrypts {
        (raw::IN_PLACE, c"ocb3_init, ocb3_add_aad, ocb3_decrypt_last, ocb3_done, mem_neq")
    } else {
        (0, c"ocb3_init, ocb3_add_aad, ocb3_encrypt_last, ocb3_done")
    };
    State::table(request, mode, "ocb3_done", memories, how)
}
