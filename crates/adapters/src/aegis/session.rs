//! What runs inside the clock.

use super::api::{Functions, Stream, UpdateFn};
use crate::aligned::Aligned;
use contract::raw;
use model::{Algorithm, Direction};
use std::ffi::{CStr, c_void};
use std::ptr;

/// Bytes for an incremental state. The library exports no function that tells the size, and the
/// headers' largest, of AEGIS-128X4, has grown to 832: this is several times that.
const STATE_LEN: usize = 4096;

struct State {
    functions: Functions,
    key: Aligned,
    key_len: usize,
    tag_len: usize,
    stream: Aligned,
}

/// The table for the timing loop; `close` there frees the state. AEGIS has no key schedule: key
/// and nonce go into its state together.
pub(super) fn open(
    functions: Functions,
    algorithm: &Algorithm,
    direction: Direction,
    key: &[u8],
    call: &'static CStr,
) -> raw::Session {
    let encrypts = direction == Direction::Encrypt;
    let streams = functions.stream.is_some();
    let (message, update): (raw::MessageFn, raw::UpdateFn) = if encrypts {
        (message_encrypt, update_encrypt)
    } else {
        (message_decrypt, update_decrypt)
    };
    let state = State {
        functions,
        key: Aligned::copied(key),
        key_len: key.len(),
        tag_len: algorithm.tag_len,
        stream: Aligned::zeroed(STATE_LEN),
    };
    raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: streams.then_some(start as raw::StartFn),
        update: streams.then_some(update),
        call: call.as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"none: the key is an argument of each message".as_ptr(),
        ..raw::Session::empty()
    }
}

/// Each message takes its key as an argument.
unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        state.key.overwrite(key, state.key_len);
    }
    raw::OK
}

unsafe extern "C" fn message_encrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    let result = unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        (state.functions.encrypt)(
            m.output,
            m.tag,
            state.tag_len,
            m.input,
            m.len,
            m.aad,
            m.aad_len,
            m.nonce,
            state.key.as_ptr(),
        )
    };
    if result == 0 { raw::OK } else { raw::FAILED }
}

/// The only error of decryption under a tag length that the library knows is a wrong tag.
unsafe extern "C" fn message_decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    let result = unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        (state.functions.decrypt)(
            m.output,
            m.input,
            m.len,
            m.tag,
            state.tag_len,
            m.aad,
            m.aad_len,
            m.nonce,
            state.key.as_ptr(),
        )
    };
    if result == 0 { raw::OK } else { raw::REJECTED }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length; no associated
    // data.
    unsafe {
        let state = &mut *state.cast::<State>();
        let Some(stream) = state.functions.stream else { return raw::FAILED };
        (stream.init)(state.stream.as_mut_ptr(), ptr::null(), 0, nonce, state.key.as_ptr());
    }
    raw::OK
}

unsafe extern "C" fn update_encrypt(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the caller's promises are `update`'s.
    unsafe { update(state, |stream| stream.encrypt, (input, output, len)) }
}

unsafe extern "C" fn update_decrypt(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: the caller's promises are `update`'s.
    unsafe { update(state, |stream| stream.decrypt, (input, output, len)) }
}

/// # Safety
/// `state` is what `open` made; the buffers keep the interface's rules.
#[inline]
unsafe fn update(
    state: *mut c_void,
    choose: impl Fn(Stream) -> UpdateFn,
    (input, output, len): (*const u8, *mut u8, usize),
) -> i32 {
    // SAFETY: the caller's promise; the state was begun by `start`.
    let result = unsafe {
        let state = &mut *state.cast::<State>();
        let Some(stream) = state.functions.stream else { return raw::FAILED };
        choose(stream)(state.stream.as_mut_ptr(), output, input, len)
    };
    if result == 0 { raw::OK } else { raw::FAILED }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
