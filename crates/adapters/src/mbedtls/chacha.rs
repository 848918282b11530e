//! ChaCha20.

use super::context::Context;
use super::{Missing, Request, calls, done};
use contract::raw;
use std::ffi::{c_int, c_void};

/// `mbedtls_chacha20_setkey`: context, key.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, *const u8) -> c_int;
/// `mbedtls_chacha20_starts`: context, nonce, block counter.
type StartFn = unsafe extern "C" fn(*mut c_void, *const u8, u32) -> c_int;
/// `mbedtls_chacha20_update`: context, length, input, output.
type UpdateFn = unsafe extern "C" fn(*mut c_void, usize, *const u8, *mut u8) -> c_int;

struct State {
    context: Context,
    set_key: SetKeyFn,
    start: StartFn,
    update: UpdateFn,
}

/// Opens ChaCha20.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, Missing> {
    let mut context = Context::new(request, "mbedtls_chacha20")?;
    // SAFETY: chacha20.h; the key has 32 bytes.
    let (code, set_key, start_fn, update_fn) = unsafe {
        let set_key: SetKeyFn = request.function("mbedtls_chacha20_setkey")?;
        (
            set_key(context.get(), request.key.as_ptr()),
            set_key,
            request.function::<StartFn>("mbedtls_chacha20_starts")?,
            request.function::<UpdateFn>("mbedtls_chacha20_update")?,
        )
    };
    done(c"mbedtls_chacha20_setkey", code)?;
    let state = State { context, set_key, start: start_fn, update: update_fn };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: Some(start),
        update: Some(update),
        call: c"mbedtls_chacha20_starts, mbedtls_chacha20_update".as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"mbedtls_chacha20_setkey".as_ptr(),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has 32 bytes.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!((state.set_key)(state.context.get(), key))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        let context = state.context.get();
        calls!(
            (state.start)(context, m.nonce, 0),
            (state.update)(context, m.len, m.input, m.output),
        )
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has twelve bytes.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!((state.start)(state.context.get(), nonce, 0))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the header's rules.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!((state.update)(state.context.get(), len, input, output))
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
