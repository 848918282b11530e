//! Digests: `gcry_md_*`.

use super::api::{Error, MdApi};
use super::handle::Opened;
use contract::raw;
use std::ffi::{c_int, c_void};
use std::ptr;

/// A digest.
pub(super) struct State {
    md: MdApi,
    /// For streams; a whole message needs none.
    stream: Opened,
    algorithm: c_int,
    len: usize,
}

impl State {
    /// Opens a digest of `len` bytes, which says whether the library has it.
    pub(super) fn open(md: MdApi, algorithm: c_int, len: usize) -> Result<Self, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is writable; flags 0: ordinary memory, no HMAC.
        match unsafe { (md.open)(&raw mut handle, algorithm, 0) } {
            0 => Ok(Self { md, stream: Opened { handle, close: md.close }, algorithm, len }),
            error => Err(error),
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self) -> raw::Session {
        raw::Session {
            state: Box::into_raw(Box::new(self)).cast(),
            message: Some(message),
            start: Some(start),
            update: Some(update),
            finish: Some(finish),
            call: c"gcry_md_hash_buffer".as_ptr(),
            close: Some(close),
            ..raw::Session::empty()
        }
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        (state.md.hash_buffer)(state.algorithm, m.tag.cast(), m.input.cast(), m.len);
    }
    raw::OK
}

unsafe extern "C" fn start(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made.
    unsafe {
        let state = &*state.cast::<State>();
        (state.md.reset)(state.stream.handle);
    }
    raw::OK
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `into_session` made; the input keeps the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        (state.md.write)(state.stream.handle, input.cast(), len);
    }
    raw::OK
}

unsafe extern "C" fn finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the handle's digest has the algorithm's length,
    // as has the tag.
    unsafe {
        let state = &*state.cast::<State>();
        let digest = (state.md.read)(state.stream.handle, state.algorithm);
        if digest.is_null() {
            return raw::FAILED;
        }
        ptr::copy_nonoverlapping(digest, tag, state.len);
    }
    raw::OK
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `into_session` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
