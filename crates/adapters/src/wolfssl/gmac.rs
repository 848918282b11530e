//! GMAC in one call under a key schedule that is made once.

use super::api::{Context, calls, close, done, given, lengths};
use contract::{OpenError, raw};
use loader::SharedObject;
use std::ffi::{c_int, c_void};

/// `wc_GmacSetKey`: context, key, length.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, *const u8, u32) -> c_int;
/// `wc_GmacUpdate`: context, nonce, length, message, length, tag, length.
type UpdateFn =
    unsafe extern "C" fn(*mut c_void, *const u8, u32, *const u8, u32, *mut u8, u32) -> c_int;

struct State {
    gmac: Context,
    update: UpdateFn,
}

pub(super) fn open(object: &SharedObject, key: &[u8]) -> Result<raw::Session, OpenError> {
    // struct Gmac is a struct Aes in all versions, and is initialised as one.
    let gmac = Context::aes(object)?;
    let len = u32::try_from(key.len()).expect("keys are a few bytes");
    // SAFETY: the types are those of aes.h for the symbols named; the key covers its length.
    let (code, update) = unsafe {
        let set_key = object.offered::<SetKeyFn>("wc_GmacSetKey")?;
        (set_key(gmac.pointer(), key.as_ptr(), len), object.offered("wc_GmacUpdate")?)
    };
    done("wc_GmacSetKey", code)?;
    // wc_GmacUpdate makes the whole tag: there is nothing to stream with.
    Ok(raw::Session {
        state: given(State { gmac, update }),
        flags: raw::IN_PLACE,
        message: Some(message),
        call: c"wc_GmacUpdate".as_ptr(),
        close: Some(close::<State>),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        lengths!(len = m.len);
        calls!((state.update)(state.gmac.pointer(), m.nonce, 12, m.input, len, m.tag, 16))
    }
}
