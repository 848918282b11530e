//! ChaCha20 by `CRYPTO_chacha_20`: BoringSSL and AWS-LC, which have no `EVP_CIPHER` of it. One
//! call takes key, nonce and counter; there is nothing to set up, and no stream.

use contract::raw;
use loader::SharedObject;
use std::ffi::c_void;

/// `CRYPTO_chacha_20(out, in, in_len, key, nonce, counter)`
type ChachaFn = unsafe extern "C" fn(*mut u8, *const u8, usize, *const u8, *const u8, u32);

struct State {
    chacha: ChachaFn,
    key: [u8; 32],
}

/// `None` when the library does not have it. LibreSSL's function of that name takes a nonce of 8
/// bytes; the other functions of its ChaCha tell it apart.
pub(super) fn session(object: &SharedObject, key: [u8; 32]) -> Option<raw::Session> {
    if object.has("ChaCha_set_key") {
        return None;
    }
    // SAFETY: the type is that of chacha.h.
    let chacha = unsafe { object.function("CRYPTO_chacha_20") }?;
    Some(raw::Session {
        state: Box::into_raw(Box::new(State { chacha, key })).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        call: c"CRYPTO_chacha_20".as_ptr(),
        close: Some(close),
        ..raw::Session::empty()
    })
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

/// The whole message from block 0.
unsafe extern "C" fn message(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`; the nonce has 12 bytes.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        (s.chacha)(m.output, m.input, m.len, s.key.as_ptr(), m.nonce, 0);
    }
    raw::OK
}
