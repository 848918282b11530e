//! Authenticated modes that are begun, fed and ended with a tag: what GCM, EAX, OCB and
//! ChaCha20-Poly1305 have in common.

use super::api::{Api, NotEqualFn, OK, close, given, outcome};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::Direction;
use std::ffi::{CStr, c_int, c_ulong, c_void};

/// `gcm_add_iv`, `gcm_add_aad`, `ocb3_add_aad`: state, bytes, length.
pub(super) type BytesFn = unsafe extern "C" fn(*mut c_void, *const u8, c_ulong) -> c_int;
/// `gcm_done`, `eax_done`, `ocb3_done`: state, tag, room for it and length.
pub(super) type DoneFn = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_ulong) -> c_int;

/// Bytes of every tag here.
pub(super) const TAG: usize = 16;

/// What differs between the modes. Every function returns the library's error code.
///
/// # Safety
/// Of each function: `state` is a state of the mode, nonces have the algorithm's length, buffers
/// cover their lengths and are the same or do not overlap.
pub(super) trait AeadMode {
    /// What [`AeadMode::rekey`] calls.
    const REKEY: &'static CStr = c"none: the key is an argument of each message";

    /// Sets a new key, which has the algorithm's length.
    unsafe fn rekey(&mut self, state: *mut c_void, key: *const u8) -> c_int;
    unsafe fn begin(
        &self,
        state: *mut c_void,
        nonce: *const u8,
        aad: *const u8,
        len: usize,
    ) -> c_int;
    unsafe fn part(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int;
    /// The part that no other follows.
    unsafe fn last(&self, state: *mut c_void, i: *const u8, o: *mut u8, len: usize) -> c_int {
        // SAFETY: the same promises.
        unsafe { self.part(state, i, o, len) }
    }
    unsafe fn done(&self, state: *mut c_void, tag: *mut u8, len: *mut c_ulong) -> c_int;
}

/// An opened authenticated mode. Streams have a state of their own.
pub(super) struct State<M> {
    pub(super) mode: M,
    pub(super) message: Aligned,
    pub(super) stream: Aligned,
    /// Decryption: how tags are compared, because the library only ever makes them.
    pub(super) not_equal: Option<NotEqualFn>,
}

impl<M: AeadMode> State<M> {
    pub(super) fn into_session(self, flags: u32, call: &'static CStr) -> raw::Session {
        raw::Session {
            state: given(self),
            flags,
            message: Some(message::<M>),
            start: Some(start::<M>),
            update: Some(update::<M>),
            finish: None,
            call: call.as_ptr(),
            close: Some(close::<Self>),
            rekey: Some(rekey::<M>),
            rekey_call: M::REKEY.as_ptr(),
            ..raw::Session::empty()
        }
    }

    /// # Safety
    /// `tag` covers 16 bytes, writable for encryption.
    #[inline]
    unsafe fn end(&self, tag: *mut u8) -> i32 {
        let (mut own, mut len) = ([0; TAG], TAG as c_ulong);
        let state = self.message.context();
        // SAFETY: the caller's promise; both places have room for the tag.
        unsafe {
            let Some(not_equal) = self.not_equal else {
                return outcome(self.mode.done(state, tag, &raw mut len));
            };
            let error = self.mode.done(state, own.as_mut_ptr(), &raw mut len);
            if error != OK {
                return outcome(error);
            }
            let differ = not_equal(own.as_ptr().cast(), tag.cast(), TAG) != 0;
            if differ { raw::REJECTED } else { raw::OK }
        }
    }
}

/// How a direction ends: encryption with the tag, decryption with a comparison.
pub(super) fn comparison(api: &Api, direction: Direction) -> Result<Option<NotEqualFn>, OpenError> {
    match direction {
        Direction::Decrypt => api.not_equal().map(Some),
        _ => Ok(None),
    }
}

unsafe extern "C" fn rekey<M: AeadMode>(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the key has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State<M>>();
        let context = state.message.context();
        outcome(state.mode.rekey(context, key))
    }
}

unsafe extern "C" fn message<M: AeadMode>(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `into_session` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State<M>>(), &*m);
        let context = state.message.context();
        let error = state.mode.begin(context, m.nonce, m.aad, m.aad_len);
        if error != OK {
            return outcome(error);
        }
        let error = state.mode.last(context, m.input, m.output, m.len);
        if error != OK {
            return outcome(error);
        }
        state.end(m.tag)
    }
}

unsafe extern "C" fn start<M: AeadMode>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `into_session` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State<M>>();
        outcome(state.mode.begin(state.stream.context(), nonce, nonce, 0))
    }
}

unsafe extern "C" fn update<M: AeadMode>(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `into_session` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State<M>>();
        outcome(state.mode.part(state.stream.context(), input, output, len))
    }
}
