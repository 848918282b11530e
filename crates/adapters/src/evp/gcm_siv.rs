//! GCM-SIV of OpenSSL, which 3.0 does not have yet.

use super::messages::{some_pointer, whole};
use super::state::{FAILED_LEN, State};
use contract::raw;
use std::ffi::c_void;
use std::ptr;

/// Associated data of a GCM-SIV message. An update of no bytes drops that of the message before,
/// which OpenSSL would otherwise go on from.
///
/// # Safety
/// As the contract of `message`.
#[inline(always)]
unsafe fn associate(state: &State, m: &raw::Message) -> bool {
    // SAFETY: as the caller promises; no byte is read through the dangling pointer.
    unsafe { state.feed(ptr::dangling(), ptr::null_mut(), 0) >= 0 && state.associate(m) }
}

/// Nonce, associated data, the one update, final, tag.
pub(super) unsafe extern "C" fn encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is made there.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        state.done(
            state.begin(m.nonce)
                && associate(state, m)
                && whole(state.feed(input, output, m.len), m.len)
                && state.end(output, 0) == 0
                && state.get_tag(m.tag),
        )
    }
}

/// Nonce, expected tag, associated data, the one update, final: where the tag is compared.
pub(super) unsafe extern "C" fn decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        let decrypted = state.begin(m.nonce)
            && state.set_tag(m.tag)
            && associate(state, m)
            && whole(state.feed(input, output, m.len), m.len);
        if !decrypted {
            return state.not_done(raw::FAILED);
        }
        match state.end(output, 0) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            rest => state.done(rest == 0),
        }
    }
}
