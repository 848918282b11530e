//! EAX: every message takes the key anew.

use super::Request;
use super::aead::{AeadMode, State};
use super::api::Index;
use crate::bytes::{In, Out};
use contract::{OpenError, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};

functions! {
    /// EAX's, of tomcrypt_mac.h.
    struct Functions {
        /// State, cipher, key, length, nonce, length, header, length.
        eax_init: fn(*mut c_void, Index, In, c_ulong, In, c_ulong, In, c_ulong) -> c_int;
        /// State, input, output, length.
        eax_encrypt: fn(*mut c_void, In, Out, c_ulong) -> c_int;
        eax_decrypt: fn(*mut c_void, In, Out, c_ulong) -> c_int;
        /// State, tag, its length.
        eax_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

/// EAX takes its key with each nonce.
struct Eax {
    f: Functions,
    crypt: unsafe extern "C" fn(*mut c_void, In, Out, c_ulong) -> c_int,
    cipher: Index,
    key: Vec<u8>,
}

impl AeadMode for Eax {
    fn key(&mut self) -> &mut [u8] {
        &mut self.key
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        let (key, key_len) = (self.key.as_ptr(), self.key.len() as c_ulong);
        let (init, cipher) = (self.f.eax_init, self.cipher);
        // SAFETY: the trait's promises.
        unsafe { init(state, cipher, key, key_len, nonce, 16, aad.0, aad.1 as c_ulong) }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, o, len as c_ulong) }
    }
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let f = Functions::of(&request.library.object)?;
    let (crypt, call) = match request.decrypts() {
        true => (f.eax_decrypt, c"eax_init, eax_decrypt, eax_done, mem_neq"),
        false => (f.eax_encrypt, c"eax_init, eax_encrypt, eax_done"),
    };
    let mode = Eax { f, crypt, cipher, key: request.key.to_vec() };
    let memory = || request.library.memory(c"eax_state", 4 * 14_232);
    // eax_init and eax_done allocate their intermediate values.
    let flags = raw::IN_PLACE | raw::ALLOCATES;
    State::table(request, mode, f.eax_done, [memory(), memory()], (flags, call))
}
