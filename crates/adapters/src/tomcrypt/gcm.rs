//! GCM: the key schedule and the tables of its hash are made once.

use super::Request;
use super::aead::{AeadMode, State};
use super::api::{Index, OK};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use contract::{OpenError, functions, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};

functions! {
    /// GCM's, of tomcrypt_mac.h.
    pub(super) struct Functions {
        /// State, cipher, key, length.
        gcm_init: fn(*mut c_void, Index, In, c_int) -> c_int;
        gcm_reset: fn(*mut c_void) -> c_int;
        /// State, bytes, length.
        gcm_add_iv: fn(*mut c_void, In, c_ulong) -> c_int;
        gcm_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, plaintext, length, ciphertext, direction (0 encrypts).
        gcm_process: fn(*mut c_void, Out, c_ulong, Out, c_int) -> c_int;
        /// State, tag, its length.
        gcm_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

struct Gcm {
    f: Functions,
    cipher: Index,
    key_len: c_int,
    decrypts: bool,
}

impl AeadMode for Gcm {
    const REKEY: &'static CStr = c"gcm_init";

    fn key(&mut self) -> &mut [u8] {
        &mut []
    }

    #[inline]
    unsafe fn rekey(&mut self, state: *mut c_void, key: *const u8) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.f.gcm_init)(state, self.cipher, key, self.key_len) }
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        // SAFETY: the trait's promises.
        unsafe {
            let error = (self.f.gcm_reset)(state);
            if error != OK {
                return error;
            }
            let error = (self.f.gcm_add_iv)(state, nonce, 12);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.f.gcm_add_aad)(state, aad.0, aad.1 as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        let (plain, cipher) = if self.decrypts { (o, i.cast_mut()) } else { (i.cast_mut(), o) };
        let way = c_int::from(self.decrypts);
        // SAFETY: the trait's promises; the input of the direction is only read.
        unsafe { (self.f.gcm_process)(state, plain, len as c_ulong, cipher, way) }
    }
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = Functions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let mode = Gcm { f, cipher, key_len: request.key_len(), decrypts };
    let memories = [memory(request, &f, cipher)?, memory(request, &f, cipher)?];
    let call = if decrypts {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done, mem_neq"
    } else {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done"
    };
    State::table(request, mode, f.gcm_done, memories, (raw::IN_PLACE, call))
}

/// A state of GCM with its key schedule and its tables (64 KiB) made.
pub(super) fn memory(
    request: &Request<'_>,
    f: &Functions,
    cipher: Index,
) -> Result<Aligned, OpenError> {
    let (api, key, len) = (request.library, request.key.as_ptr(), request.key_len());
    // Four times the size in 1.18.2, which the tables dominate.
    let memory = api.memory(c"gcm_state", 4 * 69_904);
    // SAFETY: the key covers its length.
    let error = unsafe { (f.gcm_init)(memory.context(), cipher, key, len) };
    api.done("gcm_init", error)?;
    Ok(memory)
}
