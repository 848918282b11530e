//! GMAC by GCM's `EVP_CIPHER`: a message of associated data alone. For libraries without
//! `EVP_MAC`.

use crate::evp::api::Api;
use crate::evp::calls;
use crate::evp::context::Context;
use crate::evp::messages;
use crate::evp::state::State;
use contract::raw;
use model::{Algorithm, Direction};
use std::ffi::c_void;
use std::ptr;

/// The table for the timing loop; `close` there frees the context.
pub(in crate::evp) fn session(api: &Api, context: Context, algorithm: &Algorithm) -> raw::Session {
    let state = State::new(api, context, algorithm, Direction::Digest);
    raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(messages::start),
        update: Some(update),
        finish: Some(finish),
        call: calls::cipher(algorithm.mode, Direction::Digest).as_ptr(),
        close: Some(messages::close),
        ..raw::Session::empty()
    }
}

/// Nonce, associated data, final, tag.
unsafe extern "C" fn message(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        let done = s.begin(m.nonce)
            && (m.len == 0 || s.feed(m.input, ptr::null_mut(), m.len) >= 0)
            && s.end(ptr::dangling_mut(), 0) == 0
            && s.get_tag(m.tag);
        s.done(done)
    }
}

/// Continues the associated data.
pub(in crate::evp) unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the contract of `update`.
    unsafe {
        let s = &*state.cast::<State>();
        s.done(len == 0 || s.feed(input, ptr::null_mut(), len) >= 0)
    }
}

/// Final, tag.
pub(in crate::evp) unsafe extern "C" fn finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: the contract of `finish`.
    unsafe {
        let s = &*state.cast::<State>();
        s.done(s.end(ptr::dangling_mut(), 0) == 0 && s.get_tag(tag))
    }
}
