//! XTS, which only the AES module has: a function for a whole data unit.
//!
//! Not in place: where the unit ends within a block, the function writes the bytes that are stolen over
//! the input before it reads it (every version tried; README.md). A stream is in place, so there is none.

use super::context::Context;
use super::{Missing, Request, calls, done};
use contract::raw;
use model::Primitive;
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_aes_xts_setkey_enc`: context, both keys, bits of both.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, *const u8, c_uint) -> c_int;
/// `mbedtls_aes_crypt_xts`: context, direction, length, tweak, input, output.
type XtsFn =
    unsafe extern "C" fn(*mut c_void, c_int, usize, *const u8, *const u8, *mut u8) -> c_int;

struct State {
    context: Context,
    set_key: SetKeyFn,
    key_bits: c_uint,
    call: XtsFn,
    way: c_int,
}

/// Opens XTS.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, Missing> {
    if request.algorithm.cipher != Primitive::Aes {
        return Err(Missing::Function);
    }
    let mut context = Context::new(request, "mbedtls_aes_xts")?;
    let way = if request.decrypts() { "dec" } else { "enc" };
    // SAFETY: aes.h; the keys have so many bits.
    let (code, set_key, call) = unsafe {
        let set_key: SetKeyFn = request.function(&format!("mbedtls_aes_xts_setkey_{way}"))?;
        let code = set_key(context.get(), request.key.as_ptr(), request.key_bits());
        (code, set_key, request.function::<XtsFn>("mbedtls_aes_crypt_xts")?)
    };
    done(c"mbedtls_aes_xts_setkey", code)?;
    let state = State { context, set_key, key_bits: request.key_bits(), call, way: request.way() };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        message: Some(message),
        call: c"mbedtls_aes_crypt_xts".as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"mbedtls_aes_xts_setkey_enc or _dec".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the keys have so many bits.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!((state.set_key)(state.context.get(), key, state.key_bits))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        calls!((state.call)(state.context.get(), state.way, m.len, m.nonce, m.input, m.output))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
