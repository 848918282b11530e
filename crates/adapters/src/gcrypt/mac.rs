//! Message authentication codes: `gcry_mac_*`.

use super::api::{Error, MacApi, ctl};
use super::handle::Opened;
use super::names;
use super::outcome::outcome;
use crate::family::{calls, operations};
use base::model::{Algorithm, Mode};
use contract::{Table, raw};
use std::ffi::{c_int, c_void};
use std::ptr;

/// A MAC with its key set. Streams have a handle of their own, because setiv does not make a GMAC
/// forget a message that was not finished; it does make it forget one that was.
pub(super) struct State {
    mac: MacApi,
    message: Opened,
    stream: Opened,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Why a MAC could not be opened.
pub(super) struct OpenFailure {
    pub(super) call: &'static str,
    pub(super) error: Error,
}

impl State {
    /// Opens a MAC and sets its key, which for HMAC hashes both key pads.
    pub(super) fn open(
        mac: MacApi,
        number: c_int,
        algorithm: &Algorithm,
        key: &[u8],
    ) -> Result<Self, OpenFailure> {
        let open = || {
            let mut handle = ptr::null_mut();
            // SAFETY: `handle` is writable; flags 0: ordinary memory; no context is needed.
            let error = unsafe { (mac.gcry_mac_open)(&raw mut handle, number, 0, ptr::null_mut()) };
            if error != 0 {
                return Err(OpenFailure { call: "gcry_mac_open", error });
            }
            let opened = Opened { handle, close: mac.gcry_mac_close };
            // SAFETY: `key` covers its length.
            match unsafe { (mac.gcry_mac_setkey)(handle, key.as_ptr().cast(), key.len()) } {
                0 => Ok(opened),
                error => Err(OpenFailure { call: "gcry_mac_setkey", error }),
            }
        };
        let (message, stream) = (open()?, open()?);
        let (nonce_len, tag_len) = (algorithm.nonce_len, algorithm.tag_len);
        Ok(Self { mac, message, stream, key_len: key.len(), nonce_len, tag_len })
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self, mode: Mode) -> raw::Session {
        // The inner digest of an HMAC is moved through memory allocated for it.
        let flags = if mode == Mode::Hmac { raw::ALLOCATES } else { 0 };
        let call = names::mac_calls(mode);
        let table = Table::new(self, flags, call).parts().rekeys(c"gcry_mac_setkey").raw();
        if mode != Mode::Gmac {
            return table;
        }
        raw::Session { message: Some(message_with_nonce), start: Some(start_with_nonce), ..table }
    }

    #[inline]
    fn reset(&self, handle: &Opened) -> Error {
        // SAFETY: the command takes no buffer.
        unsafe { (self.mac.gcry_mac_ctl)(handle.handle, ctl::RESET, ptr::null_mut(), 0) }
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    unsafe fn set_nonce(&self, handle: &Opened, nonce: *const u8) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.mac.gcry_mac_setiv)(handle.handle, nonce.cast(), self.nonce_len) }
    }

    /// # Safety
    /// `input` covers `len` bytes.
    #[inline]
    unsafe fn write(&self, handle: &Opened, input: *const u8, len: usize) -> Error {
        // SAFETY: the caller's promise.
        unsafe { (self.mac.gcry_mac_write)(handle.handle, input.cast(), len) }
    }

    /// # Safety
    /// `tag` has the algorithm's length.
    #[inline]
    unsafe fn read(&self, handle: &Opened, tag: *mut u8) -> Error {
        let mut len = self.tag_len;
        // SAFETY: the caller's promise.
        unsafe { (self.mac.gcry_mac_read)(handle.handle, tag.cast(), &raw mut len) }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(
            self.reset(&self.message),
            self.write(&self.message, m.input, m.len),
            self.read(&self.message, m.tag),
        )
    }

    fn start(&mut self, _nonce) {
        outcome(self.reset(&self.stream))
    }

    fn update(&mut self, input, _output, len) {
        outcome(self.write(&self.stream, input, len))
    }

    fn finish(&mut self, tag) {
        outcome(self.read(&self.stream, tag))
    }

    fn rekey(&mut self, key) {
        calls!((self.mac.gcry_mac_setkey)(self.message.handle, key.cast(), self.key_len))
    }
}

unsafe extern "C" fn message_with_nonce(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the session's own state; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.set_nonce(&state.message, m.nonce),
            state.write(&state.message, m.input, m.len),
            state.read(&state.message, m.tag),
        )
    }
}

unsafe extern "C" fn start_with_nonce(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: the session's own state; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!(state.reset(&state.stream), state.set_nonce(&state.stream, nonce))
    }
}
