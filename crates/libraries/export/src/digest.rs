//! Digests and MACs behind C functions.

use crate::pointers::{array, slice, write};
use crate::{Bytes, Refusal, raw};
use std::ffi::{CStr, c_void};

/// A digest, or a MAC under its key. Each call is one whole message.
pub trait Digest: 'static {
    /// No bytes where there is none.
    type Nonce: Bytes;
    /// Digest or tag.
    type Tag: Bytes;
    /// What the session says of itself.
    const FLAGS: u32 = 0;
    /// The library's functions that `digest` calls.
    const CALL: &'static CStr;
    /// The library's functions that [`Digest::rekeyed`] calls; `None` where it is not there.
    const REKEY: Option<&'static CStr> = None;

    /// The same MAC under another key of the same length; `None` when the library does not take it.
    fn rekeyed(&self, _key: &[u8]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// One message.
    ///
    /// # Errors
    /// [`Refusal::Failed`] when the library does not take it.
    fn digest(&mut self, nonce: &Self::Nonce, input: &[u8]) -> Result<Self::Tag, Refusal>;
}

/// A digest whose library can take a message in pieces.
pub trait StreamingDigest: Digest {
    /// A message that has begun.
    type Started: 'static;

    /// Begins a message.
    fn start(&self) -> Self::Started;
    /// Takes a piece of any length.
    fn update(started: &mut Self::Started, input: &[u8]);
    /// Ends the message.
    fn finish(started: Self::Started) -> Self::Tag;
}

/// A digest with the message that was begun, if any (`S` is `()` where there are no pieces).
struct State<D, S> {
    digest: D,
    started: Option<S>,
    key_len: usize,
}

/// Messages only.
pub(crate) fn messages<D: Digest>(digest: D, key_len: usize) -> raw::Session {
    session::<D, ()>(digest, key_len)
}

/// Messages, whole and in pieces.
pub(crate) fn messages_and_pieces<D: StreamingDigest>(digest: D, key_len: usize) -> raw::Session {
    raw::Session {
        start: Some(start::<D>),
        update: Some(update::<D>),
        finish: Some(finish::<D>),
        ..session::<D, D::Started>(digest, key_len)
    }
}

fn session<D: Digest, S>(digest: D, key_len: usize) -> raw::Session {
    let state = Box::new(State::<D, S> { digest, started: None, key_len });
    raw::Session {
        state: Box::into_raw(state).cast(),
        flags: D::FLAGS,
        message: Some(message::<D, S>),
        call: D::CALL.as_ptr(),
        close: Some(close::<D, S>),
        rekey: D::REKEY.map(|_| rekey::<D, S> as raw::RekeyFn),
        rekey_call: D::REKEY.map_or(std::ptr::null(), CStr::as_ptr),
        ..raw::Session::empty()
    }
}

unsafe extern "C" fn rekey<D: Digest, S>(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<D, S>>() };
    // SAFETY: the crate's note; keys have the length that was opened.
    match state.digest.rekeyed(unsafe { slice(key, state.key_len) }) {
        Some(digest) => {
            state.digest = digest;
            raw::OK
        }
        None => raw::FAILED,
    }
}

unsafe extern "C" fn message<D: Digest, S>(
    state: *mut c_void,
    message: *const raw::Message,
) -> i32 {
    // SAFETY: the crate's note.
    let (state, m) = unsafe { (&mut *state.cast::<State<D, S>>(), &*message) };
    // SAFETY: the crate's note.
    let (nonce, input) = unsafe { (array(m.nonce), slice(m.input, m.len)) };
    match state.digest.digest(nonce, input) {
        Ok(tag) => {
            // SAFETY: the crate's note.
            unsafe { write(&tag, m.tag) };
            raw::OK
        }
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn start<D: StreamingDigest>(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<D, D::Started>>() };
    state.started = Some(state.digest.start());
    raw::OK
}

unsafe extern "C" fn update<D: StreamingDigest>(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<D, D::Started>>() };
    let Some(started) = &mut state.started else { return raw::FAILED };
    // SAFETY: the crate's note.
    D::update(started, unsafe { slice(input, len) });
    raw::OK
}

unsafe extern "C" fn finish<D: StreamingDigest>(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<D, D::Started>>() };
    let Some(started) = state.started.take() else { return raw::FAILED };
    // SAFETY: the crate's note.
    unsafe { write(&D::finish(started), tag) };
    raw::OK
}

unsafe extern "C" fn close<D: Digest, S>(state: *mut c_void) {
    // SAFETY: made by `session` with `Box::into_raw`, and this is the last call.
    drop(unsafe { Box::from_raw(state.cast::<State<D, S>>()) });
}
