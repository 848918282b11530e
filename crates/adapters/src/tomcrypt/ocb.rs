//! OCB, version 3 (RFC 7253): every message takes the key anew.

use super::aead::{AeadMode, BytesFn, DoneFn, State, TAG, comparison};
use super::api::{Api, Index, OK};
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::{c_int, c_ulong, c_void};

/// `ocb3_init`: state, cipher, key, length, nonce, length, length of the tag.
type InitFn = unsafe extern "C" fn(
    *mut c_void,
    Index,
    *const u8,
    c_ulong,
    *const u8,
    c_ulong,
    c_ulong,
) -> c_int;
/// `ocb3_encrypt`, `ocb3_encrypt_last` and the same of decryption: state, input, length, output.
type CryptFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;

/// OCB takes its key with each nonce.
struct Ocb {
    cipher: Index,
    key: Vec<u8>,
    init: InitFn,
    add_aad: BytesFn,
    part: CryptFn,
    last: CryptFn,
    done: DoneFn,
}

impl AeadMode for Ocb {
    #[inline]
    unsafe fn rekey(&mut self, _: *mut c_void, key: *const u8) -> c_int {
        let len = self.key.len();
        // SAFETY: the trait's promises.
        unsafe { self.key.as_mut_ptr().copy_from_nonoverlapping(key, len) };
        OK
    }

    #[inline]
    unsafe fn begin(
        &self,
        state: *mut c_void,
        nonce: *const u8,
        aad: *const u8,
        len: usize,
    ) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        // SAFETY: the trait's promises.
        unsafe {
            let error = (self.init)(state, self.cipher, key, key_len, nonce, 12, TAG as c_ulong);
            if error != OK || len == 0 {
                return error;
            }
            (self.add_aad)(state, aad, len as c_ulong)
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

    #[inline]
    unsafe fn done(&self, state: *mut c_void, tag: *mut u8, len: *mut c_ulong) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag, len) }
    }
}

pub(super) fn open(
    api: &Api,
    cipher: Index,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let decrypts = direction == Direction::Decrypt;
    let (part, last) = if decrypts {
        ("ocb3_decrypt", "ocb3_decrypt_last")
    } else {
        ("ocb3_encrypt", "ocb3_encrypt_last")
    };
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        Ocb {
            cipher,
            key: key.to_vec(),
            init: api.object.offered("ocb3_init")?,
            add_aad: api.object.offered("ocb3_add_aad")?,
            part: api.object.offered(part)?,
            last: api.object.offered(last)?,
            done: api.object.offered("ocb3_done")?,
        }
    };
    let memory = || api.memory(c"ocb3_state", 4 * 9544);
    let not_equal = comparison(api, direction)?;
    let state = State { mode, message: memory(), stream: memory(), not_equal };
    Ok(if decrypts {
        let call = c"ocb3_init, ocb3_add_aad, ocb3_decrypt_last, ocb3_done, mem_neq";
        state.into_session(raw::IN_PLACE, call)
    } else {
        // Encryption reads each block of plaintext again, for the checksum, after it has written
        // the ciphertext: in place the tag would be wrong.
        state.into_session(0, c"ocb3_init, ocb3_add_aad, ocb3_encrypt_last, ocb3_done")
    })
}
