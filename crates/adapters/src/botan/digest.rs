//! Digests and message authentication codes.

use super::api::{AskFn, BytesFn, Code, FinalFn, HandleFn, Object};
use super::{Request, outcome};
use crate::family::{calls, operations};
use base::model::Mode;
use contract::{OpenError, Table, raw};
use std::ffi::CStr;

/// What begins a message.
#[derive(Clone, Copy)]
enum Begin {
    /// Nothing: the object is ready after the message before.
    Nothing,
    /// The nonce (GMAC).
    Nonce(BytesFn, usize),
    /// The key, which is good for one message only (Poly1305).
    Key(BytesFn),
}

/// What ends a message that was begun and not finished.
#[derive(Clone, Copy)]
enum Discard {
    /// `botan_hash_clear`
    Clear(HandleFn),
    /// `botan_mac_clear` would take the key as well: the message is finished, and its tag dropped.
    Finish,
}

struct State {
    message: Object,
    stream: Object,
    begin: Begin,
    update: BytesFn,
    finish: FinalFn,
    discard: Discard,
    key: Vec<u8>,
    /// Sets a MAC's key.
    set_key: Option<BytesFn>,
    /// A stream was begun and not finished.
    open: bool,
}

/// Opens a hash function.
pub(super) fn open_hash(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let object = || {
        let hash = request.object(name, api.botan_hash_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.botan_hash_init)(handle, name, 0) }
        })?;
        fits(request, &hash, api.botan_hash_output_length).map(|()| hash)
    };
    let state = State {
        message: object()?,
        stream: object()?,
        begin: Begin::Nothing,
        update: api.botan_hash_update,
        finish: api.botan_hash_final,
        discard: Discard::Clear(api.botan_hash_clear),
        key: Vec::new(),
        set_key: None,
        open: false,
    };
    Ok(session(state, c"botan_hash_update, botan_hash_final"))
}

/// Opens a message authentication code.
pub(super) fn open_mac(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let object = || {
        let mac = request.object(name, api.botan_mac_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.botan_mac_init)(handle, name, 0) }
        })?;
        // SAFETY: the key covers its length.
        let code =
            unsafe { (api.botan_mac_set_key)(mac.handle, request.key.as_ptr(), request.key.len()) };
        request.done("botan_mac_set_key", code)?;
        fits(request, &mac, api.botan_mac_output_length).map(|()| mac)
    };
    let (begin, call) = match (request.algorithm.mode, api.botan_mac_set_nonce) {
        (Mode::OneTimeMac, _) => (
            Begin::Key(api.botan_mac_set_key),
            c"botan_mac_set_key, botan_mac_update, botan_mac_final",
        ),
        (Mode::Gmac, Some(set_nonce)) => (
            Begin::Nonce(set_nonce, request.algorithm.nonce_len),
            c"botan_mac_set_nonce, botan_mac_update, botan_mac_final",
        ),
        _ => (Begin::Nothing, c"botan_mac_update, botan_mac_final"),
    };
    let state = State {
        message: object()?,
        stream: object()?,
        begin,
        update: api.botan_mac_update,
        finish: api.botan_mac_final,
        discard: Discard::Finish,
        key: request.key.to_vec(),
        set_key: Some(api.botan_mac_set_key),
        open: false,
    };
    Ok(session(state, call))
}

/// The `_final` functions are told no length: what they write must be the algorithm's.
fn fits(request: &Request<'_>, object: &Object, length: AskFn) -> Result<(), OpenError> {
    let mut len = 0;
    // SAFETY: the result is writable.
    let code = unsafe { length(object.handle, &raw mut len) };
    request.done("asking for the output's length", code)?;
    if len == request.algorithm.tag_len {
        return Ok(());
    }
    Err(OpenError::Failed(format!("{} has {len} bytes of output", request.algorithm)))
}

fn session(state: State, call: &'static CStr) -> raw::Session {
    let rekeys = state.set_key.is_some();
    let table = Table::new(state, raw::IN_PLACE, call).parts();
    if rekeys { table.rekeys(c"botan_mac_set_key").raw() } else { table.raw() }
}

impl State {
    /// # Safety
    /// The nonce has the algorithm's length.
    #[inline]
    unsafe fn begin(&self, object: &Object, nonce: *const u8) -> Code {
        match self.begin {
            Begin::Nothing => 0,
            // SAFETY: the caller's.
            Begin::Nonce(set, len) => unsafe { set(object.handle, nonce, len) },
            // SAFETY: the key covers its length.
            Begin::Key(set) => unsafe { set(object.handle, self.key.as_ptr(), self.key.len()) },
        }
    }

    /// Ends the stream that was not finished.
    fn discard_stream(&self) -> Code {
        let mut tag = [0; 64];
        match self.discard {
            // SAFETY: a handle of a hash function.
            Discard::Clear(clear) => unsafe { clear(self.stream.handle) },
            // SAFETY: no tag is longer than sixty-four bytes (`fits`).
            Discard::Finish => unsafe { (self.finish)(self.stream.handle, tag.as_mut_ptr()) },
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        calls!(
            self.begin(&self.message, m.nonce),
            (self.update)(self.message.handle, m.input, m.len),
            (self.finish)(self.message.handle, m.tag),
        )
    }

    fn start(&mut self, nonce) {
        if std::mem::replace(&mut self.open, true) {
            let code = self.discard_stream();
            if code != 0 {
                return outcome(code);
            }
        }
        calls!(self.begin(&self.stream, nonce))
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.update)(self.stream.handle, input, len))
    }

    fn finish(&mut self, tag) {
        self.open = false;
        calls!((self.finish)(self.stream.handle, tag))
    }

    fn rekey(&mut self, key) {
        let Some(set_key) = self.set_key else { return raw::FAILED };
        let len = self.key.len();
        if let Begin::Key(_) = self.begin {
            // It is set before each message.
            self.key.as_mut_ptr().copy_from_nonoverlapping(key, len);
            return raw::OK;
        }
        calls!(set_key(self.message.handle, key, len))
    }
}
