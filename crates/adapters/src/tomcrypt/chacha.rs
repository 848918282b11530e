//! ChaCha20, alone and with Poly1305.

use super::aead::{AeadMode, DoneFn, comparison};
use super::api::{Api, OK, calls, close, given};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::{c_int, c_ulong, c_void};

/// `chacha_setup`: state, key, length, rounds.
type SetupFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong, c_int) -> c_int;
/// `chacha_ivctr32`: state, nonce of 96 bits, length, block counter.
type SetNonceFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong, u32) -> c_int;
/// `chacha_crypt`, `chacha20poly1305_encrypt`, `_decrypt`: state, input, length, output.
type CryptFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong, *mut u8) -> c_int;
/// `chacha20poly1305_init`, `_setiv`, `_add_aad`: state, bytes, length.
type BytesFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong) -> c_int;

struct State {
    setup: SetupFn,
    message: Aligned,
    stream: Aligned,
    set_nonce: SetNonceFn,
    crypt: CryptFn,
}

pub(super) fn open(api: &Api, key: &[u8]) -> Result<raw::Session, OpenError> {
    let keyed = || {
        let memory = api.memory(c"chacha_state", 4 * 152);
        // SAFETY: the type is that of tomcrypt_cipher.h; the key covers its length. 20 rounds.
        let error = unsafe {
            let setup = api.object.offered::<SetupFn>("chacha_setup")?;
            setup(memory.context(), key.as_ptr(), key.len() as c_ulong, 20)
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
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: None,
        call: c"chacha_ivctr32, chacha_crypt".as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: c"chacha_setup".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has 32 bytes.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.setup)(state.message.context(), key, 32, 20))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let context = state.message.context();
        calls!(
            (state.set_nonce)(context, m.nonce, 12, 0),
            (state.crypt)(context, m.input, m.len as c_ulong, m.output),
        )
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.set_nonce)(state.stream.context(), nonce, 12, 0))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.crypt)(state.stream.context(), input, len as c_ulong, output))
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
    done: DoneFn,
}

impl AeadMode for ChaChaPoly {
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
        // SAFETY: the trait's promises.
        unsafe {
            let error = (self.init)(state, self.key.as_ptr(), self.key.len() as c_ulong);
            if error != OK {
                return error;
            }
            let error = (self.set_nonce)(state, nonce, 12);
            if error != OK || len == 0 {
                return error;
            }
            (self.add_aad)(state, aad, len as c_ulong)
        }
    }

    #[inline]
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.crypt)(state, i, len as c_ulong, o) }
    }

    #[inline]
    unsafe fn done(&self, state: *mut c_void, tag: *mut u8, len: *mut c_ulong) -> c_int {
        // SAFETY: the trait's promises.
        unsafe { (self.done)(state, tag, len) }
    }
}

pub(super) fn open_aead(
    api: &Api,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let decrypts = direction == Direction::Decrypt;
    let crypt = if decrypts { "chacha20poly1305_decrypt" } else { "chacha20poly1305_encrypt" };
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let mode = unsafe {
        ChaChaPoly {
            key: key.try_into().expect("ChaCha20 has keys of 32 bytes"),
            init: api.object.offered("chacha20poly1305_init")?,
            set_nonce: api.object.offered("chacha20poly1305_setiv")?,
            add_aad: api.object.offered("chacha20poly1305_add_aad")?,
            crypt: api.object.offered(crypt)?,
            done: api.object.offered("chacha20poly1305_done")?,
        }
    };
    let memory = || api.memory(c"chacha20poly1305_state", 4 * 264);
    let state = super::aead::State {
        mode,
        message: memory(),
        stream: memory(),
        not_equal: comparison(api, direction)?,
    };
    let call = if decrypts {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_decrypt, chacha20poly1305_done, mem_neq"
    } else {
        c"chacha20poly1305_init, chacha20poly1305_setiv, chacha20poly1305_add_aad, \
          chacha20poly1305_encrypt, chacha20poly1305_done"
    };
    Ok(state.into_session(raw::IN_PLACE, call))
}
