//! ChaCha20, alone and with Poly1305.

use super::Request;
use super::aead::{self, AeadMode};
use super::api::{OK, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, functions, raw};
use std::ffi::{c_int, c_ulong, c_void};

functions! {
    /// ChaCha20's, of tomcrypt_cipher.h.
    struct Functions {
        /// State, key, length, rounds.
        chacha_setup: fn(*mut c_void, In, c_ulong, c_int) -> c_int;
        /// State, nonce of 96 bits, length, block counter.
        chacha_ivctr32: fn(*mut c_void, In, c_ulong, u32) -> c_int;
        /// State, input, length, output.
        chacha_crypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
    }
}

functions! {
    /// ChaCha20-Poly1305's, of tomcrypt_mac.h.
    struct AeadFunctions {
        /// State, bytes, length.
        chacha20poly1305_init: fn(*mut c_void, In, c_ulong) -> c_int;
        chacha20poly1305_setiv: fn(*mut c_void, In, c_ulong) -> c_int;
        chacha20poly1305_add_aad: fn(*mut c_void, In, c_ulong) -> c_int;
        /// State, input, length, output.
        chacha20poly1305_encrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        chacha20poly1305_decrypt: fn(*mut c_void, In, c_ulong, Out) -> c_int;
        /// State, tag, its length.
        chacha20poly1305_done: fn(*mut c_void, Out, *mut c_ulong) -> c_int;
    }
}

struct State {
    f: Functions,
    message: Aligned,
    stream: Aligned,
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let f = Functions::of(&api.object)?;
    let keyed = || {
        let memory = api.memory(c"chacha_state", 4 * 152);
        let (key, len) = (request.key.as_ptr(), request.key.len() as c_ulong);
        // SAFETY: the key covers its length. 20 rounds.
        let error = unsafe { (f.chacha_setup)(memory.context(), key, len, 20) };
        api.done("chacha_setup", error).map(|()| memory)
    };
    let state = State { f, message: keyed()?, stream: keyed()? };
    let table = Table::new(state, raw::IN_PLACE, c"chacha_ivctr32, chacha_crypt").streams();
    Ok(table.rekeys(c"chacha_setup").raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.f.chacha_ivctr32)(context, m.nonce, 12, 0),
            (self.f.chacha_crypt)(context, m.input, m.len as c_ulong, m.output),
        )
    }

    fn start(&mut self, nonce) {
        calls!((self.f.chacha_ivctr32)(self.stream.context(), nonce, 12, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.f.chacha_crypt)(self.stream.context(), input, len as c_ulong, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.f.chacha_setup)(self.message.context(), key, 32, 20))
    }
}

/// Its end wipes the key out of the state, so that every message begins with the key again; there
/// is no schedule to it.
struct ChaChaPoly {
    key: [u8; 32],
    f: AeadFunctions,
    crypt: unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int,
}

impl AeadMode for ChaChaPoly {
    fn key(&mut self) -> &mut [u8] {
        &mut self.key
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        // SAFETY: the trait's promises.
        unsafe {
            let error =
                (self.f.chacha20poly1305_init)(state, self.key.as_ptr(), self.key.len() as c_ulong);
            if error != OK {
                return error;
            }
            let error = (self.f.chacha20poly1305_setiv)(state, nonce, 12);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.f.chacha20poly1305_add_aad)(state, aad.0, aad.1 as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, len as c_ulong, o) }
    }
}

pub(super) fn open_aead(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let f = AeadFunctions::of(&request.library.object)?;
    let decrypts = request.decrypts();
    let crypt = if decrypts { f.chacha20poly1305_decrypt } else { f.chacha20poly1305_encrypt };
    let key = request.key.try_into().expect("ChaCha20 has keys of 32 bytes");
    let mode = ChaChaPoly { key, f, crypt };
    let memory = || request.library.memory(c"chacha20poly1305_state", 4 * 264);
    let call = if decrypts {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_decrypt, chacha20poly1305_done, mem_neq"
    } else {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_encrypt, chacha20poly1305_done"
    };
    let memories = [memory(), memory()];
    let how = (raw::IN_PLACE, call);
    aead::State::table(request, mode, f.chacha20poly1305_done, memories, how)
}
