//! GCM: the key schedule and the tables of its hash are made once.

use super::Request;
use super::aead::{AeadMode, BytesFn, State};
use super::api::{Index, OK};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use contract::{OpenError, raw};
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `gcm_init`: state, cipher, key, length.
type InitFn = unsafe extern "C" fn(*mut c_void, Index, In, c_int) -> c_int;
/// `gcm_reset`: state.
pub(super) type ResetFn = unsafe extern "C" fn(*mut c_void) -> c_int;
/// `gcm_process`: state, plaintext, length, ciphertext, direction (0 encrypts).
type ProcessFn = unsafe extern "C" fn(*mut c_void, Out, c_ulong, Out, c_int) -> c_int;

struct Gcm {
    init: InitFn,
    cipher: Index,
    key_len: c_int,
    reset: ResetFn,
    add_iv: BytesFn,
    add_aad: BytesFn,
    process: ProcessFn,
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
        unsafe { (self.init)(state, self.cipher, key, self.key_len) }
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        // SAFETY: the trait's promises.
        unsafe {
            let error = (self.reset)(state);
            if error != OK {
                return error;
            }
            let error = (self.add_iv)(state, nonce, 12);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.add_aad)(state, aad.0, aad.1 as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        let (plain, cipher) = if self.decrypts { (o, i.cast_mut()) } else { (i.cast_mut(), o) };
        // SAFETY: the trait's promises; the input of the direction is only read.
        unsafe { (self.process)(state, plain, len as c_ulong, cipher, c_int::from(self.decrypts)) }
    }
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let decrypts = request.decrypts();
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        Gcm {
            init: api.object.offered("gcm_init")?,
            cipher,
            key_len: request.key_len(),
            reset: api.object.offered("gcm_reset")?,
            add_iv: api.object.offered("gcm_add_iv")?,
            add_aad: api.object.offered("gcm_add_aad")?,
            process: api.object.offered("gcm_process")?,
            decrypts,
        }
    };
    let memories = [memory(request, cipher)?, memory(request, cipher)?];
    let call = if decrypts {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done, mem_neq"
    } else {
        c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_process, gcm_done"
    };
    State::table(request, mode, "gcm_done", memories, (raw::IN_PLACE, call))
}

/// A state of GCM with its key schedule and its tables (64 KiB) made.
pub(super) fn memory(request: &Request<'_>, cipher: Index) -> Result<Aligned, OpenError> {
    let (api, key, len) = (request.library, request.key.as_ptr(), request.key_len());
    // Four times the size in 1.18.2, which the tables dominate.
    let memory = api.memory(c"gcm_state", 4 * 69_904);
    // SAFETY: the type is that of tomcrypt_mac.h; the key covers its length.
    let error =
        unsafe { api.object.offered::<InitFn>("gcm_init")?(memory.context(), cipher, key, len) };
    api.done("gcm_init", error)?;
    Ok(memory)
}
