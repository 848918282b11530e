//! Digests and message authentication codes.

use super::api::{AskFn, BytesFn, Code, FinalFn, HandleFn, Object};
use super::{Request, calls};
use contract::{OpenError, raw};
use model::Mode;
use std::ffi::{CStr, c_void};

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
        let hash = request.object(name, api.hash_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.hash_init)(handle, name, 0) }
        })?;
        fits(request, &hash, api.hash_output_length)?;
        Ok(hash)
    };
    let state = State {
        message: object()?,
        stream: object()?,
        begin: Begin::Nothing,
        update: api.hash_update,
        finish: api.hash_final,
        discard: Discard::Clear(api.hash_clear),
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
        let mac = request.object(name, api.mac_destroy, |handle, name| {
            // SAFETY: the handle is writable, the name NUL-terminated; there are no flags.
            unsafe { (api.mac_init)(handle, name, 0) }
        })?;
        // SAFETY: the key covers its length.
        let code =
            unsafe { (api.mac_set_key)(mac.handle, request.key.as_ptr(), request.key.len()) };
        request.done("botan_mac_set_key", code)?;
        fits(request, &mac, api.mac_output_length)?;
        Ok(mac)
    };
    let (begin, call) = match (request.algorithm.mode, api.mac_set_nonce) {
        (Mode::OneTimeMac, _) => {
            (Begin::Key(api.mac_set_key), c"botan_mac_set_key, botan_mac_update, botan_mac_final")
        }
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
        update: api.mac_update,
        finish: api.mac_final,
        discard: Discard::Finish,
        key: request.key.to_vec(),
        set_key: Some(api.mac_set_key),
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
    raw::Session {
        rekey: rekeys.then_some(rekey as raw::RekeyFn),
        rekey_call: c"botan_mac_set_key".as_ptr(),
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        finish: Some(finish),
        call: call.as_ptr(),
        close: Some(close),
        ..raw::Session::empty()
    }
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

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what was opened; the key has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        let Some(set_key) = state.set_key else { return raw::FAILED };
        let len = state.key.len();
        if let Begin::Key(_) = state.begin {
            // It is set before each message.
            state.key.as_mut_ptr().copy_from_nonoverlapping(key, len);
            return raw::OK;
        }
        calls!(set_key(state.message.handle, key, len))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what was opened; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        calls!(
            state.begin(&state.message, m.nonce),
            (state.update)(state.message.handle, m.input, m.len),
            (state.finish)(state.message.handle, m.tag),
        )
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what was opened; the nonce has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        if std::mem::replace(&mut state.open, true) {
            let code = state.discard_stream();
            if code != 0 {
                return super::outcome(code);
            }
        }
        calls!(state.begin(&state.stream, nonce))
    }
}

unsafe extern "C" fn update(state: *mut c_void, input: *const u8, _: *mut u8, len: usize) -> i32 {
    // SAFETY: `state` is what was opened; the input covers its length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.update)(state.stream.handle, input, len))
    }
}

unsafe extern "C" fn finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what was opened; the tag has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        state.open = false;
        calls!((state.finish)(state.stream.handle, tag))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that was given away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
