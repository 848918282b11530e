//! Ciphers and authenticated modes behind C functions.

use crate::pointers::{array, buffer, slice, write};
use crate::{Buffer, Bytes, Refusal, raw};
use std::ffi::{CStr, c_void};

/// A mode under a key whose schedule is done. Each call is one whole message.
pub trait Mode: 'static {
    /// IV, initial counter block, tweak or nonce.
    type Nonce: Bytes;
    /// No bytes for modes without authentication.
    type Tag: Bytes;
    /// What the session says of itself.
    const FLAGS: u32 = raw::IN_PLACE;
    /// The library's functions that `encrypt` and `decrypt` call.
    const CALLS: [&'static CStr; 2];
    /// The library's functions that [`Mode::rekeyed`] calls; `None` where it is not there.
    const REKEY: Option<&'static CStr> = None;

    /// The same mode under another key of the same length, as an application makes it for each key.
    /// `None` when the library does not take the key.
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
    fn encrypt(
        &mut self,
        nonce: &Self::Nonce,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
    ) -> Result<Self::Tag, Refusal>;

    /// One message.
    ///
    /// # Errors
    /// [`Refusal::Tag`] when the tag is wrong, [`Refusal::Failed`] when the library does not take
    /// the message.
    fn decrypt(
        &mut self,
        nonce: &Self::Nonce,
        aad: &[u8],
        buffer: Buffer<'_, '_>,
        tag: &Self::Tag,
    ) -> Result<(), Refusal>;
}

/// A mode whose library can continue over several calls.
pub trait Streaming: Mode {
    /// An encryption that has begun.
    type Encryptor: Update;
    /// A decryption that has begun.
    type Decryptor: Update;

    /// Begins; outside the clock.
    fn start_encrypting(&self, nonce: &Self::Nonce) -> Self::Encryptor;
    /// Begins; outside the clock.
    fn start_decrypting(&self, nonce: &Self::Nonce) -> Self::Decryptor;
}

/// A stream that has been started.
pub trait Update: 'static {
    /// Continues it.
    ///
    /// # Errors
    /// [`Refusal::Failed`] when the library does not take a piece of this length.
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal>;
}

/// A mode with the stream that was started over it, if any (`S` is `()` where there are none).
struct State<M, S> {
    mode: M,
    stream: Option<S>,
    key_len: usize,
}

/// Messages only.
pub(crate) fn messages<M: Mode>(mode: M, key_len: usize, decrypt: bool) -> raw::Session {
    session::<M, ()>(mode, key_len, decrypt)
}

/// Messages and streams.
pub(crate) fn messages_and_streams<M: Streaming>(
    mode: M,
    key_len: usize,
    decrypt: bool,
) -> raw::Session {
    if decrypt {
        raw::Session {
            start: Some(start_decrypting::<M>),
            update: Some(update::<M, M::Decryptor>),
            ..session::<M, M::Decryptor>(mode, key_len, decrypt)
        }
    } else {
        raw::Session {
            start: Some(start_encrypting::<M>),
            update: Some(update::<M, M::Encryptor>),
            ..session::<M, M::Encryptor>(mode, key_len, decrypt)
        }
    }
}

fn session<M: Mode, S>(mode: M, key_len: usize, decrypt: bool) -> raw::Session {
    let state = Box::new(State::<M, S> { mode, stream: None, key_len });
    let message: raw::MessageFn =
        if decrypt { decrypt_message::<M, S> } else { encrypt_message::<M, S> };
    raw::Session {
        state: Box::into_raw(state).cast(),
        flags: M::FLAGS,
        message: Some(message),
        call: M::CALLS[usize::from(decrypt)].as_ptr(),
        close: Some(close::<M, S>),
        rekey: M::REKEY.map(|_| rekey::<M, S> as raw::RekeyFn),
        rekey_call: M::REKEY.map_or(std::ptr::null(), CStr::as_ptr),
        ..raw::Session::empty()
    }
}

unsafe extern "C" fn rekey<M: Mode, S>(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<M, S>>() };
    // SAFETY: the crate's note; keys have the length that was opened.
    match state.mode.rekeyed(unsafe { slice(key, state.key_len) }) {
        Some(mode) => {
            state.mode = mode;
            raw::OK
        }
        None => raw::FAILED,
    }
}

unsafe extern "C" fn encrypt_message<M: Mode, S>(
    state: *mut c_void,
    message: *const raw::Message,
) -> i32 {
    // SAFETY: the crate's note.
    let (state, m) = unsafe { (&mut *state.cast::<State<M, S>>(), &*message) };
    // SAFETY: the crate's note.
    let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
    // SAFETY: the crate's note.
    let buffer = unsafe { buffer(m.input, m.output, m.len) };
    match state.mode.encrypt(nonce, aad, buffer) {
        Ok(tag) => {
            // SAFETY: the crate's note.
            unsafe { write(&tag, m.tag) };
            raw::OK
        }
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn decrypt_message<M: Mode, S>(
    state: *mut c_void,
    message: *const raw::Message,
) -> i32 {
    // SAFETY: the crate's note.
    let (state, m) = unsafe { (&mut *state.cast::<State<M, S>>(), &*message) };
    // SAFETY: the crate's note.
    let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
    // SAFETY: the crate's note.
    let (buffer, tag) = unsafe { (buffer(m.input, m.output, m.len), array(m.tag)) };
    match state.mode.decrypt(nonce, aad, buffer, tag) {
        Ok(()) => raw::OK,
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn start_encrypting<M: Streaming>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<M, M::Encryptor>>() };
    // SAFETY: the crate's note.
    let nonce = unsafe { array(nonce) };
    state.stream = Some(state.mode.start_encrypting(nonce));
    raw::OK
}

unsafe extern "C" fn start_decrypting<M: Streaming>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<M, M::Decryptor>>() };
    // SAFETY: the crate's note.
    let nonce = unsafe { array(nonce) };
    state.stream = Some(state.mode.start_decrypting(nonce));
    raw::OK
}

unsafe extern "C" fn update<M: Mode, S: Update>(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the crate's note.
    let state = unsafe { &mut *state.cast::<State<M, S>>() };
    // SAFETY: the crate's note.
    let buffer = unsafe { buffer(input, output, len) };
    let Some(stream) = &mut state.stream else { return raw::FAILED };
    match stream.update(buffer) {
        Ok(()) => raw::OK,
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn close<M: Mode, S>(state: *mut c_void) {
    // SAFETY: made by `session` with `Box::into_raw`, and this is the last call.
    drop(unsafe { Box::from_raw(state.cast::<State<M, S>>()) });
}
