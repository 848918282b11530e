//! ChaCha20, alone and with Poly1305.

use super::Request;
use super::aead::{self, AeadMode, BytesFn};
use super::api::{OK, outcome};
use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_ulong, c_void};

/// `chacha_setup`: state, key, length, rounds.
type SetupFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, c_int) -> c_int;
/// `chacha_ivctr32`: state, nonce of 96 bits, length, block counter.
type SetNonceFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, u32) -> c_int;
/// `chacha_crypt`, `chacha20poly1305_encrypt`, `_decrypt`: state, input, length, output.
type CryptFn = unsafe extern "C" fn(*mut c_void, In, c_ulong, Out) -> c_int;

struct State {
    setup: SetupFn,
    message: Aligned,
    stream: Aligned,
    set_nonce: SetNonceFn,
    crypt: CryptFn,
}

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let keyed = || {
        let memory = api.memory(c"chacha_state", 4 * 152);
        // SAFETY: the type is that of tomcrypt_cipher.h; the key covers its length. 20 rounds.
        let error = unsafe {
            let setup = api.object.offered::<SetupFn>("chacha_setup")?;
            setup(memory.context(), request.key.as_ptr(), request.key.len() as c_ulong, 20)
        };
        api.done("chacha_setup", error)?;
        Ok(memory)
    };
    // SAFETY: the types are those of tomcrypt_cipher.h for the symbols named.
    let state = unsafe {
        State {
            setup: api.object.offered("chacha_setup")?,
            message: keyed()?,
            stream: keyed()?,
            set_nonce: api.object.offered("chacha_ivctr32")?,
            crypt: api.object.offered("chacha_crypt")?,
        }
    };
    Ok(Table::new(state, raw::IN_PLACE, c"chacha_ivctr32, chacha_crypt")
        .streams()
        .rekeys(c"chacha_setup")
        .raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.set_nonce)(context, m.nonce, 12, 0),
            (self.crypt)(context, m.input, m.len as c_ulong, m.output),
        )
    }

    fn start(&mut self, nonce) {
        calls!((self.set_nonce)(self.stream.context(), nonce, 12, 0))
    }

    fn update(&mut self, input, output, len) {
        calls!((self.crypt)(self.stream.context(), input, len as c_ulong, output))
    }

    fn rekey(&mut self, key) {
        calls!((self.setup)(self.message.context(), key, 32, 20))
    }
}

/// Its end wipes the key out of the state, so that every message begins with the key again; there
/// is no schedule to it.
struct ChaChaPoly {
    key: [u8; 32],
    init: BytesFn,
    set_nonce: BytesFn,
    add_aad: BytesFn,
    crypt: CryptFn,
}

impl AeadMode for ChaChaPoly {
    fn key(&mut self) -> &mut [u8] {
        &mut self.key
    }

    #[inline]
    unsafe fn begin(&self, state: *mut c_void, nonce: *const u8, aad: (*const u8, usize)) -> c_int {
        // SAFETY: the trait's promises.
        unsafe {
            let error = (self.init)(state, self.key.as_ptr(), self.key.len() as c_ulong);
            if error != OK {
                return error;
            }
            let error = (self.set_nonce)(state, nonce, 12);
            if error != OK || aad.1 == 0 {
                return error;
            }
            (self.add_aad)(state, aad.0, aad.1 as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, len as c_ulong, o) }
    }
}

pub(super) fn open_aead(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let api = request.library;
    let decrypts = request.decrypts();
    let crypt = if decrypts { "chacha20poly1305_decrypt" } else { "chacha20poly1305_encrypt" };
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        ChaChaPoly {
            key: request.key.try_into().expect("ChaCha20 has keys of 32 bytes"),
            init: api.object.offered("chacha20poly1305_init")?,
            set_nonce: api.object.offered("chacha20poly1305_setiv")?,
            add_aad: api.object.offered("chacha20poly1305_add_aad")?,
            crypt: api.object.offered(crypt)?,
        }
    };
    let memory = || api.memory(c"chacha20poly1305_state", 4 * 264);
    let call = if decrypts {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_decrypt, chacha20poly1305_done, mem_neq"
    } else {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_encrypt, chacha20poly1305_done"
    };
    let memories = [memory(), memory()];
    let how = (raw::IN_PLACE, call);
    aead::State::table(request, mode, "chacha20poly1305_done", memories, how)
}
