//! GCM, and GMAC, which is GCM without a message.

use super::context::Context;
use super::{Missing, Request, calls, done};
use contract::raw;
use model::Mode;
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_gcm_setkey`: context, cipher, key, bits.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, c_int, *const u8, c_uint) -> c_int;
/// `mbedtls_gcm_crypt_and_tag`: context, direction, length, IV, associated data, input, output, tag.
type SealFn = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
    usize,
    *mut u8,
) -> c_int;
/// `mbedtls_gcm_auth_decrypt`: context, length, IV, associated data, tag, input, output.
type OpenFn = unsafe extern "C" fn(
    *mut c_void,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    *mut u8,
) -> c_int;
/// `mbedtls_gcm_starts` of version 2: context, direction, IV, associated data.
type OldStartFn =
    unsafe extern "C" fn(*mut c_void, c_int, *const u8, usize, *const u8, usize) -> c_int;
/// `mbedtls_gcm_update` of version 2: context, length, input, output.
type OldUpdateFn = unsafe extern "C" fn(*mut c_void, usize, *const u8, *mut u8) -> c_int;
/// `mbedtls_gcm_starts` since version 3: context, direction, IV.
type StartFn = unsafe extern "C" fn(*mut c_void, c_int, *const u8, usize) -> c_int;
/// `mbedtls_gcm_update` since version 3: context, input, output, how much came out.
type UpdateFn =
    unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut u8, usize, *mut usize) -> c_int;

/// `MBEDTLS_ERR_GCM_AUTH_FAILED`
const AUTH_FAILED: c_int = -0x12;
/// `MBEDTLS_GCM_ENCRYPT`
const ENCRYPT: c_int = 1;

#[derive(Clone, Copy)]
enum Stream {
    /// Version 2, which takes whole blocks until the last.
    Old(OldStartFn, OldUpdateFn),
    New(StartFn, UpdateFn),
}

struct State {
    context: Context,
    set_key: SetKeyFn,
    id: c_int,
    key_bits: c_uint,
    seal: SealFn,
    open: OpenFn,
    stream: Stream,
    way: c_int,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens GCM or GMAC.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, Missing> {
    let mac = request.algorithm.mode == Mode::Gmac;
    let state = state(request)?;
    let (message, call): (raw::MessageFn, _) = match (mac, request.decrypts()) {
        (true, _) => (authenticate, c"mbedtls_gcm_crypt_and_tag"),
        (false, false) => (encrypt, c"mbedtls_gcm_crypt_and_tag"),
        (false, true) => (decrypt, c"mbedtls_gcm_auth_decrypt"),
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message),
        start: (!mac).then_some(start),
        update: (!mac).then_some(update),
        call: call.as_ptr(),
        close: Some(close),
        rekey: Some(rekey),
        rekey_call: c"mbedtls_gcm_setkey".as_ptr(),
        ..raw::Session::empty()
    })
}

fn state(request: &Request<'_>) -> Result<State, Missing> {
    let id = request.cipher_id()?;
    let mut context = Context::new(request, "mbedtls_gcm")?;
    // SAFETY: gcm.h of the version; the key has so many bits.
    let (code, set_key, seal, open, stream) = unsafe {
        let set_key: SetKeyFn = request.function("mbedtls_gcm_setkey")?;
        let stream = if request.major < 3 {
            Stream::Old(
                request.function("mbedtls_gcm_starts")?,
                request.function("mbedtls_gcm_update")?,
            )
        } else {
            Stream::New(
                request.function("mbedtls_gcm_starts")?,
                request.function("mbedtls_gcm_update")?,
            )
        };
        (
            set_key(context.get(), id, request.key.as_ptr(), request.key_bits()),
            set_key,
            request.function::<SealFn>("mbedtls_gcm_crypt_and_tag")?,
            request.function::<OpenFn>("mbedtls_gcm_auth_decrypt")?,
            stream,
        )
    };
    set_key_done(code)?;
    Ok(State {
        context,
        set_key,
        id,
        key_bits: request.key_bits(),
        seal,
        open,
        stream,
        way: request.way(),
        nonce_len: request.algorithm.nonce_len,
        tag_len: request.algorithm.tag_len,
    })
}

/// A cipher that was not built in is an input that is wrong.
fn set_key_done(code: c_int) -> Result<(), Missing> {
    /// `MBEDTLS_ERR_GCM_BAD_INPUT`
    const BAD_INPUT: c_int = -0x14;
    match code {
        BAD_INPUT => Err(Missing::Function),
        code => done(c"mbedtls_gcm_setkey", code),
    }
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has so many bits.
    unsafe {
        let state = &mut *state.cast::<State>();
        calls!((state.set_key)(state.context.get(), state.id, key, state.key_bits))
    }
}

unsafe extern "C" fn encrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        calls!((state.seal)(
            state.context.get(),
            ENCRYPT,
            m.len,
            m.nonce,
            state.nonce_len,
            m.aad,
            m.aad_len,
            m.input,
            m.output,
            state.tag_len,
            m.tag,
        ))
    }
}

unsafe extern "C" fn decrypt(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: as in `encrypt`.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        let code = (state.open)(
            state.context.get(),
            m.len,
            m.nonce,
            state.nonce_len,
            m.aad,
            m.aad_len,
            m.tag,
            state.tag_len,
            m.input,
            m.output,
        );
        if code == AUTH_FAILED { raw::REJECTED } else { super::outcome(code) }
    }
}

/// The message is the associated data; there is nothing to read or write beside it.
unsafe extern "C" fn authenticate(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: as in `encrypt`.
    unsafe {
        let (state, m) = (&mut *state.cast::<State>(), &*m);
        calls!((state.seal)(
            state.context.get(),
            ENCRYPT,
            0,
            m.nonce,
            state.nonce_len,
            m.input,
            m.len,
            std::ptr::null(),
            std::ptr::null_mut(),
            state.tag_len,
            m.tag,
        ))
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &mut *state.cast::<State>();
        let context = state.context.get();
        match state.stream {
            Stream::Old(start, _) => {
                calls!(start(context, state.way, nonce, state.nonce_len, std::ptr::null(), 0))
            }
            Stream::New(start, _) => calls!(start(context, state.way, nonce, state.nonce_len)),
        }
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
        let context = state.context.get();
        match state.stream {
            // It would take the rest for the last of the message, and say nothing.
            Stream::Old(..) if !len.is_multiple_of(16) => raw::FAILED,
            Stream::Old(_, update) => calls!(update(context, len, input, output)),
            Stream::New(_, update) => {
                let mut written = 0;
                let code = update(context, input, len, output, len, &raw mut written);
                if code == 0 && written != len { raw::FAILED } else { super::outcome(code) }
            }
        }
    }
}

unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `state` is the box that `open` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}
