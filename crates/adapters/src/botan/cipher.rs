//! Modes without a tag.

use super::api::{Api, Code, FINAL, Object};
use super::{Request, calls};
use contract::{OpenError, raw};
use model::Mode;
use std::ffi::c_void;

/// An opened cipher.
struct State {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
    /// XTS streams: the tweak of every data unit.
    tweak: [u8; 16],
}

impl State {
    /// # Safety
    /// The nonce has the algorithm's length.
    #[inline]
    unsafe fn begin(&self, nonce: *const u8) -> Code {
        // SAFETY: the caller's.
        unsafe { (self.api.cipher_start)(self.cipher.handle, nonce, self.nonce_len) }
    }

    /// The whole input in one call. A call that ends a message is the only one that takes every
    /// length, and modes without a tag go on from where it ended until the next nonce.
    ///
    /// # Safety
    /// Input and output cover `len` bytes.
    #[inline]
    unsafe fn crypt(&self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        // CBC decryption takes no bytes for a broken message: with padding it would be one.
        if len == 0 {
            return raw::OK;
        }
        let (mut written, mut consumed) = (0, 0);
        // SAFETY: the caller's; the two results are ours.
        let code = unsafe {
            (self.api.cipher_update)(
                self.cipher.handle,
                FINAL,
                output,
                len,
                &raw mut written,
                input,
                len,
                &raw mut consumed,
            )
        };
        match code {
            0 if (written, consumed) == (len, len) => raw::OK,
            0 => raw::FAILED,
            code => super::outcome(code),
        }
    }
}

/// Opens a mode without a tag.
pub(super) fn open(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let cipher = request.cipher(name)?;
    let nonce_len = request.algorithm.nonce_len;
    let key_len = request.key.len();
    let state = State { api: *request.api(), cipher, key_len, nonce_len, tweak: [0; 16] };
    let (start, update): (raw::StartFn, raw::UpdateFn) = match request.algorithm.mode {
        Mode::Xts => (start_units, update_unit),
        _ => (start, update),
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE | request.forced(),
        message: Some(message),
        start: Some(start),
        update: Some(update),
        call: c"botan_cipher_start, botan_cipher_update".as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"botan_cipher_set_key".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let code = state.begin(m.nonce);
        if code != 0 {
            return super::outcome(code);
        }
        state.crypt(m.input, m.output, m.len)
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.api.cipher_reset)(state.cipher.handle), state.begin(nonce))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the header's rules.
    unsafe { (*state.cast::<State>()).crypt(input, output, len) }
}

/// Each update of XTS is a data unit of its own, which begins with its tweak.
unsafe extern "C" fn start_units(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; a tweak has sixteen bytes.
    unsafe { (*state.cast::<State>()).tweak = nonce.cast::<[u8; 16]>().read_unaligned() };
    raw::OK
}

unsafe extern "C" fn update_unit(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the header's rules.
    unsafe {
        let state = &*state.cast::<State>();
        let code = state.begin(state.tweak.as_ptr());
        if code != 0 {
            return super::outcome(code);
        }
        state.crypt(input, output, len)
    }
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.api.cipher_set_key)(state.cipher.handle, key, state.key_len))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
