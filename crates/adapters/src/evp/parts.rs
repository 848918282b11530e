//! What digests and MACs have in common: a message is begun, fed and ended.

use super::api::Errors;
use contract::raw;
use std::ffi::{CStr, c_void};

/// A context of a digest or MAC. Inlined into the functions of the session, which are made for
/// each kind of context.
pub(super) trait Parts {
    /// Begins a message.
    ///
    /// # Safety
    /// `nonce` has the algorithm's length; it may be null where that is 0.
    unsafe fn begin(&mut self, nonce: *const u8) -> bool;

    /// Takes a part of it.
    ///
    /// # Safety
    /// `input` has `len` bytes.
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool;

    /// Ends it.
    ///
    /// # Safety
    /// `tag` has room for the algorithm's tag.
    unsafe fn end(&mut self, tag: *mut u8) -> bool;

    /// The library's queue of errors.
    fn errors(&self) -> Errors;
}

/// The table for the timing loop; `close` there drops the parts.
pub(super) fn session<P: Parts>(parts: P, call: &'static CStr) -> raw::Session {
    raw::Session {
        state: Box::into_raw(Box::new(parts)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message::<P>),
        start: Some(start::<P>),
        update: Some(update::<P>),
        finish: Some(finish::<P>),
        call: call.as_ptr(),
        close: Some(close::<P>),
        ..raw::Session::empty()
    }
}

#[inline(always)]
fn done(parts: &impl Parts, done: bool) -> i32 {
    if done { raw::OK } else { failed(parts) }
}

#[cold]
fn failed(parts: &impl Parts) -> i32 {
    parts.errors().clear();
    raw::FAILED
}

unsafe extern "C" fn message<P: Parts>(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (parts, m) = (&mut *state.cast::<P>(), &*message);
        let all = parts.begin(m.nonce) && parts.feed(m.input, m.len) && parts.end(m.tag);
        done(parts, all)
    }
}

unsafe extern "C" fn start<P: Parts>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the contract of `start`.
    unsafe {
        let parts = &mut *state.cast::<P>();
        let begun = parts.begin(nonce);
        done(parts, begun)
    }
}

unsafe extern "C" fn update<P: Parts>(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the contract of `update`.
    unsafe {
        let parts = &mut *state.cast::<P>();
        let fed = parts.feed(input, len);
        done(parts, fed)
    }
}

unsafe extern "C" fn finish<P: Parts>(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: the contract of `finish`.
    unsafe {
        let parts = &mut *state.cast::<P>();
        let ended = parts.end(tag);
        done(parts, ended)
    }
}

unsafe extern "C" fn close<P: Parts>(state: *mut c_void) {
    // SAFETY: `session` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<P>()) });
}
