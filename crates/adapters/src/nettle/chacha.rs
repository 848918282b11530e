//! ChaCha20 with a nonce of twelve bytes. No stream: the library drops what is left of a key stream's
//! block of 64 bytes at the end of each call, so that only the last may end within one.

use super::Request;
use super::api::{CryptFn, SetFn};
use super::plenty;
use crate::aligned::Aligned;
use contract::raw;
use std::ffi::c_void;

struct State {
    context: Aligned,
    set_key: SetFn,
    set_nonce: SetFn,
    crypt: CryptFn,
}

/// Opens ChaCha20. `chacha_crypt32`, for the 32-bit counter that goes with twelve bytes of nonce, came
/// with Nettle 3.7.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    // SAFETY: chacha.h.
    let (set_key, set_nonce, crypt) = unsafe {
        (
            request.function::<SetFn>("nettle_chacha_set_key")?,
            request.function::<SetFn>("nettle_chacha_set_nonce96")?,
            request.function::<CryptFn>("nettle_chacha_crypt32")?,
        )
    };
    let mut context = plenty();
    // SAFETY: `struct chacha_ctx` has 64 bytes; the key has 32.
    unsafe { set_key(context.as_mut_ptr(), request.key.as_ptr()) };
    Some(raw::Session {
        state: Box::into_raw(Box::new(State { context, set_key, set_nonce, crypt })).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        call: c"nettle_chacha_set_nonce96, nettle_chacha_crypt32".as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"nettle_chacha_set_key".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        (state.set_nonce)(state.context.as_mut_ptr(), m.nonce);
        (state.crypt)(state.context.as_mut_ptr(), m.len, m.output, m.input);
    }
    raw::OK
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has 32 bytes.
    unsafe {
        let state = &mut *state.cast::<State>();
        (state.set_key)(state.context.as_mut_ptr(), key);
    }
    raw::OK
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
