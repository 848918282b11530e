//! Modes behind the C functions of `include/ciphermark.h`, one set per type and direction, so that
//! between the timing loop and the crate's own call there is nothing but the call.
//!
//! What every `SAFETY` note below leans on: ciphermark calls a session's functions with the state
//! that the session carries, one at a time, until `close`; pointers cover the lengths that the
//! header gives them, may be null where that length is zero, and input and output are the same
//! buffer or do not overlap.

use crate::mode::{Buffer, Mode, Streaming, Update};
use cipher::Array;
use cipher::array::ArraySize;
use contract::raw;
use std::ffi::c_void;
use std::ptr::NonNull;

/// A mode with the stream that was started over it, if any (`S` is `()` where there are none).
struct State<M, S> {
    mode: M,
    stream: Option<S>,
}

/// Messages only.
pub(crate) fn messages<M: Mode>(mode: M, decrypt: bool) -> raw::Session {
    session::<M, ()>(
        mode,
        if decrypt { decrypt_message::<M, ()> } else { encrypt_message::<M, ()> },
    )
}

/// Messages and streams.
pub(crate) fn messages_and_streams<M: Streaming>(mode: M, decrypt: bool) -> raw::Session {
    if decrypt {
        raw::Session {
            start: Some(start_decrypting::<M>),
            update: Some(update::<M, M::Decryptor>),
            ..session::<M, M::Decryptor>(mode, decrypt_message::<M, M::Decryptor>)
        }
    } else {
        raw::Session {
            start: Some(start_encrypting::<M>),
            update: Some(update::<M, M::Encryptor>),
            ..session::<M, M::Encryptor>(mode, encrypt_message::<M, M::Encryptor>)
        }
    }
}

fn session<M: Mode, S>(mode: M, message: raw::MessageFn) -> raw::Session {
    let state = Box::new(State::<M, S> { mode, stream: None });
    raw::Session {
        state: Box::into_raw(state).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: None,
        update: None,
        close: Some(close::<M, S>),
        ..raw::Session::empty()
    }
}

unsafe extern "C" fn encrypt_message<M: Mode, S>(
    state: *mut c_void,
    message: *const raw::Message,
) -> i32 {
    // SAFETY: the module's note.
    let (state, m) = unsafe { (&*state.cast::<State<M, S>>(), &*message) };
    // SAFETY: the module's note.
    let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
    // SAFETY: the module's note.
    let buffer = unsafe { buffer(m.input, m.output, m.len) };
    match state.mode.encrypt(nonce, aad, buffer) {
        Ok(tag) => {
            // SAFETY: the module's note; a copy of no bytes needs no more than a pointer.
            unsafe { std::ptr::copy_nonoverlapping(tag.as_ptr(), filled(m.tag), tag.len()) };
            raw::OK
        }
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn decrypt_message<M: Mode, S>(
    state: *mut c_void,
    message: *const raw::Message,
) -> i32 {
    // SAFETY: the module's note.
    let (state, m) = unsafe { (&*state.cast::<State<M, S>>(), &*message) };
    // SAFETY: the module's note.
    let (nonce, aad) = unsafe { (array(m.nonce), slice(m.aad, m.aad_len)) };
    // SAFETY: the module's note.
    let (buffer, tag) = unsafe { (buffer(m.input, m.output, m.len), array(m.tag)) };
    match state.mode.decrypt(nonce, aad, buffer, tag) {
        Ok(()) => raw::OK,
        Err(refusal) => refusal as i32,
    }
}

unsafe extern "C" fn start_encrypting<M: Streaming>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the module's note.
    let state = unsafe { &mut *state.cast::<State<M, M::Encryptor>>() };
    // SAFETY: the module's note.
    let nonce = unsafe { array(nonce) };
    state.stream = Some(state.mode.start_encrypting(nonce));
    raw::OK
}

unsafe extern "C" fn start_decrypting<M: Streaming>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the module's note.
    let state = unsafe { &mut *state.cast::<State<M, M::Decryptor>>() };
    // SAFETY: the module's note.
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
    // SAFETY: the module's note.
    let state = unsafe { &mut *state.cast::<State<M, S>>() };
    // SAFETY: the module's note.
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

/// The bytes behind a pointer.
///
/// # Safety
/// As the module's note says, for as long as the result is used.
unsafe fn array<'a, N: ArraySize>(pointer: *const u8) -> &'a Array<u8, N> {
    // SAFETY: an array of bytes has no alignment and the same layout as the bytes.
    unsafe { &*pointer_or_dangling::<Array<u8, N>>(pointer, N::USIZE) }
}

/// The bytes behind a pointer.
///
/// # Safety
/// As for [`array`].
unsafe fn slice<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(pointer_or_dangling(pointer, len), len) }
}

/// The message's buffers.
///
/// # Safety
/// As for [`array`].
unsafe fn buffer<'a>(input: *const u8, output: *mut u8, len: usize) -> Buffer<'a, 'a> {
    if len == 0 {
        return Buffer::from(&mut [][..]);
    }
    // SAFETY: the caller's.
    unsafe { Buffer::from_raw(input, output, len) }
}

/// References need a pointer even to no bytes, C callers may pass null for them.
fn pointer_or_dangling<T>(pointer: *const u8, len: usize) -> *const T {
    if len == 0 { NonNull::dangling().as_ptr() } else { pointer.cast() }
}

/// A pointer to copy to, as for [`pointer_or_dangling`].
fn filled(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() { NonNull::dangling().as_ptr() } else { pointer }
}
