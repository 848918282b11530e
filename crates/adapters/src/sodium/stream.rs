//! ChaCha20 alone: `crypto_stream_chacha20_ietf_xor`.

use super::absent;
use super::api::{Functions, XorFn, outcome};
use contract::{OpenError, raw};
use model::{Algorithm, Mode, Primitive};
use std::ffi::{CStr, c_void};

const CALL: &CStr = c"crypto_stream_chacha20_ietf_xor";

struct State {
    xor: XorFn,
    key: [u8; 32],
}

/// Opens the cipher; encryption and decryption are the same.
pub(super) fn open(
    functions: &Functions,
    algorithm: &Algorithm,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    if (algorithm.cipher, algorithm.mode) != (Primitive::ChaCha20, Mode::Stream) {
        return Err(absent(algorithm));
    }
    let key = key
        .try_into()
        .map_err(|_| OpenError::Failed(format!("{algorithm} takes a key of 32 bytes")))?;
    // SAFETY: the type is that of crypto_stream_chacha20.h.
    let xor = unsafe { functions.get_named(CALL)? };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(State { xor, key })).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        call: CALL.as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"none: the key is an argument of each message".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has 32 bytes.
    unsafe { (*state.cast::<State>()).key = key.cast::<[u8; 32]>().read() };
    raw::OK
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        outcome((state.xor)(m.output, m.input, m.len as u64, m.nonce, state.key.as_ptr()))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
