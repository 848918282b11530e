//! GMAC: GCM whose message is all associated data.

use super::aead::{BytesFn, DoneFn, TAG};
use super::api::{Api, Index, calls, close, given};
use super::gcm::{self, ResetFn};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use std::ffi::{c_int, c_ulong, c_void};

struct State {
    message: Aligned,
    stream: Aligned,
    reset: ResetFn,
    add_iv: BytesFn,
    add_aad: BytesFn,
    done: DoneFn,
}

pub(super) fn open(api: &Api, cipher: Index, key: &[u8]) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let state = unsafe {
        State {
            message: gcm::memory(api, cipher, key)?,
            stream: gcm::memory(api, cipher, key)?,
            reset: api.object.offered("gcm_reset")?,
            add_iv: api.object.offered("gcm_add_iv")?,
            add_aad: api.object.offered("gcm_add_aad")?,
            done: api.object.offered("gcm_done")?,
        }
    };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: Some(finish),
        call: c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_done".as_ptr(),
        close: Some(close::<State>),
        ..raw::Session::empty()
    })
}

impl State {
    /// # Safety
    /// `tag` covers 16 bytes.
    #[inline]
    unsafe fn end(&self, context: *mut c_void, tag: *mut u8) -> c_int {
        let mut len = TAG as c_ulong;
        // SAFETY: the caller's promise.
        unsafe { (self.done)(context, tag, &raw mut len) }
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        let context = state.message.context();
        calls!(
            (state.reset)(context),
            (state.add_iv)(context, m.nonce, 12),
            (state.add_aad)(context, m.input, m.len as c_ulong),
            state.end(context, m.tag),
        )
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        let context = state.stream.context();
        calls!((state.reset)(context), (state.add_iv)(context, nonce, 12))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; `input` covers `len` bytes.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.add_aad)(state.stream.context(), input, len as c_ulong))
    }
}

unsafe extern "C" fn finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `open` made; `tag` has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.end(state.stream.context(), tag))
    }
}
