//! EAX: every message takes the key anew.

use super::Request;
use super::aead::{AeadMode, State};
use super::api::Index;
use crate::bytes::{In, Out};
use contract::{OpenError, raw};
use std::ffi::{c_int, c_ulong, c_void};

/// `eax_init`: state, cipher, key, length, nonce, length, header, length.
type InitFn =
    unsafe extern "C" fn(*mut c_void, Index, In, c_ulong, In, c_ulong, In, c_ulong) -> c_int;
/// `eax_encrypt`, `eax_decrypt`: state, input, output, length.
type CryptFn = unsafe extern "C" fn(*mut c_void, In, Out, c_ulong) -> c_int;

/// EAX takes its key with each nonce.
struct Eax {
    cipher: Index,
    key: Vec<u8>,
    init: InitFn,
    crypt: CryptFn,
}

impl AeadMode for Eax {
    fn key(&mut self) -> &mut [u8] {
        &mut self.key
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        // SAFETY: the trait's promises.
        unsafe { (self.init)(state, self.cipher, key, key_len, nonce, 16, aad.0, aad.1 as c_ulong) }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, o, len as c_ulong) }
    }
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let decrypts = request.decrypts();
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        Eax {
            cipher,
            key: request.key.to_vec(),
            init: api.object.offered("eax_init")?,
            crypt: api.object.offered(if decrypts { "eax_decrypt" } else { "eax_encrypt" })?,
        }
    };
    let memory = || api.memory(c"eax_state", 4 * 14_232);
    let call = if decrypts {
        c"eax_init, eax_decrypt, eax_done, mem_neq"
    } else {
        c"eax_init, eax_encrypt, eax_done"
    };
    // eax_init and eax_done allocate their intermediate values.
    let flags = raw::IN_PLACE | raw::ALLOCATES;
    State::table(request, mode, "eax_done", [memory(), memory()], (flags, call))
}
