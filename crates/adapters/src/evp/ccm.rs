//! CCM: the message's length comes first, and its tag is compared in the one update.

use super::messages::{some_pointer, whole};
use super::state::{FAILED_LEN, State};
use contract::raw;
use std::ffi::c_void;
use std::ptr;

/// What the three bytes of length that a nonce of 12 bytes leaves can say (NIST SP 800-38C A.1).
/// OpenSSL is not asked for more: it would fail at the update, and leave a context whose next
/// messages fail too, because `CRYPTO_ccm128_encrypt` returns with the flags of its nonce cut off.
const CCM_MAX_LEN: usize = (1 << 24) - 1;

/// Total length and associated data of a CCM message. The data's update is made even when there
/// is none: after a rejected message it is what AWS-LC begins the next one with.
///
/// # Safety
/// As the contract of `message`.
#[inline(always)]
unsafe fn associate(state: &State, m: &raw::Message) -> bool {
    // SAFETY: as the caller promises; a null input and output announce the length.
    unsafe {
        m.len <= CCM_MAX_LEN
            && state.feed(ptr::null(), ptr::null_mut(), m.len) >= 0
            && state.feed(some_pointer(m.aad.cast_mut()), ptr::null_mut(), m.aad_len) >= 0
    }
}

/// Nonce, total length, associated data, the one update, tag. CCM's final does nothing.
pub(super) unsafe extern "C" fn encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is made there.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        state.done(
            state.begin(m.nonce)
                && associate(state, m)
                && whole(state.feed(input, output, m.len), m.len)
                && state.get_tag(m.tag),
        )
    }
}

/// Nonce, expected tag, total length, associated data, the one update: where the tag is compared.
pub(super) unsafe extern "C" fn decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`. An empty message needs its update: the tag is read there.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*message);
        if !(state.begin(m.nonce) && state.set_tag(m.tag) && associate(state, m)) {
            return state.not_done(raw::FAILED);
        }
        let (input, output) = (some_pointer(m.input.cast_mut()), some_pointer(m.output));
        match state.feed(input, output, m.len) {
            FAILED_LEN => state.not_done(raw::REJECTED),
            all => state.done(whole(all, m.len)),
        }
    }
}
