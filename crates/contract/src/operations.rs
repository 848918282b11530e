//! A session's table of C functions, made out of a type in Rust.

use crate::raw;
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;

/// A session's state and what can be done with it. [`Table`] makes C functions of it, one set for each type: between the
/// timing loop's call and the function here there is nothing.
///
/// # Safety
/// Callers keep the rules of `include/ciphermark.h` for the algorithm and the direction that the session is opened for.
#[expect(clippy::missing_safety_doc, reason = "the trait has it for all functions")]
pub trait Operations: Sized {
    /// One whole message.
    unsafe fn message(&mut self, m: &raw::Message) -> i32;

    /// One whole message in sessions that are made with [`Table::decrypts`].
    unsafe fn decrypt(&mut self, _m: &raw::Message) -> i32 {
        raw::FAILED
    }

    /// Begins a stream; where it has no nonce, there is nothing to begin.
    unsafe fn start(&mut self, _nonce: *const u8) -> i32 {
        raw::OK
    }

    /// Continues the stream.
    unsafe fn update(&mut self, _input: *const u8, _output: *mut u8, _len: usize) -> i32 {
        raw::FAILED
    }

    /// Ends the stream with its tag.
    unsafe fn finish(&mut self, _tag: *mut u8) -> i32 {
        raw::FAILED
    }

    /// Sets a new key.
    unsafe fn rekey(&mut self, _key: *const u8) -> i32 {
        raw::FAILED
    }
}

/// The C functions. Methods of a trait, because the compiler makes those beside the type's own functions and so puts
/// the two into one.
trait ForC: Operations {
    unsafe extern "C" fn c_message(state: *mut c_void, m: *const raw::Message) -> i32 {
        // SAFETY: the state of this type that `Table::new` gave away; the rest is the caller's.
        unsafe { (*state.cast::<Self>()).message(&*m) }
    }

    unsafe extern "C" fn c_decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).decrypt(&*m) }
    }

    unsafe extern "C" fn c_start(state: *mut c_void, nonce: *const u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).start(nonce) }
    }

    unsafe extern "C" fn c_update(
        state: *mut c_void,
        input: *const u8,
        output: *mut u8,
        len: usize,
    ) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).update(input, output, len) }
    }

    unsafe extern "C" fn c_finish(state: *mut c_void, tag: *mut u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).finish(tag) }
    }

    unsafe extern "C" fn c_rekey(state: *mut c_void, key: *const u8) -> i32 {
        // SAFETY: as above.
        unsafe { (*state.cast::<Self>()).rekey(key) }
    }

    unsafe extern "C" fn c_close(state: *mut c_void) {
        // SAFETY: the box that `Table::new` gave away; this is the last call.
        drop(unsafe { Box::from_raw(state.cast::<Self>()) });
    }
}

impl<S: Operations> ForC for S {}

/// A table in the making. It offers whole messages, and what is added to that.
#[derive(Debug)]
#[must_use]
pub struct Table<S> {
    raw: raw::Session,
    state: PhantomData<S>,
}

impl<S: Operations> Table<S> {
    /// A table that owns its state; `call` names the library's functions that a message calls.
    pub fn new(state: S, flags: u32, call: &'static CStr) -> Self {
        let raw = raw::Session {
            state: Box::into_raw(Box::new(state)).cast(),
            flags,
            message: Some(S::c_message),
            call: call.as_ptr(),
            close: Some(S::c_close),
            ..raw::Session::empty()
        };
        Self { raw, state: PhantomData }
    }

    /// Messages go through [`Operations::decrypt`] where `decrypts`.
    pub fn decrypts(mut self, decrypts: bool) -> Self {
        if decrypts {
            self.raw.message = Some(S::c_decrypt);
        }
        self
    }

    /// With streams.
    pub fn streams(self) -> Self {
        self.streams_if(true)
    }

    /// With streams where `streams`.
    pub fn streams_if(mut self, streams: bool) -> Self {
        self.raw.start = streams.then_some(S::c_start);
        self.raw.update = streams.then_some(S::c_update);
        self
    }

    /// Digests and MACs: with streams that end in a tag.
    pub fn parts(self) -> Self {
        self.parts_if(true)
    }

    /// As [`Table::parts`], where `parts`.
    pub fn parts_if(mut self, parts: bool) -> Self {
        self.raw.finish = parts.then_some(S::c_finish);
        self.streams_if(parts)
    }

    /// With new keys; `call` names the library's functions that set one.
    pub fn rekeys(mut self, call: &'static CStr) -> Self {
        self.raw.rekey = Some(S::c_rekey);
        self.raw.rekey_call = call.as_ptr();
        self
    }

    /// The table.
    #[must_use]
    pub fn raw(self) -> raw::Session {
        self.raw
    }
}
