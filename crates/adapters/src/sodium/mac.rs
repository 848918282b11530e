//! Message authentication codes: `crypto_auth_hmac*` and `crypto_onetimeauth`, which is Poly1305.

use super::absent;
use super::api::{AuthFn, AuthInitFn, FinalFn, Functions, KeyedInitFn, UpdateFn, outcome};
use crate::aligned::Aligned;
use contract::{OpenError, raw};
use model::{Algorithm, Mode, Primitive};
use std::ffi::{CStr, c_void};
use std::ptr;

/// Opens a MAC.
pub(super) fn open(
    functions: &Functions,
    algorithm: &Algorithm,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    match (algorithm.mode, algorithm.cipher) {
        (Mode::Hmac, Primitive::Sha256) => hmac(
            functions,
            "crypto_auth_hmacsha256",
            c"crypto_auth_hmacsha256_update, crypto_auth_hmacsha256_final",
            key,
        ),
        (Mode::Hmac, Primitive::Sha512) => hmac(
            functions,
            "crypto_auth_hmacsha512",
            c"crypto_auth_hmacsha512_update, crypto_auth_hmacsha512_final",
            key,
        ),
        (Mode::OneTimeMac, Primitive::Poly1305) => poly1305(functions, key),
        _ => Err(absent(algorithm)),
    }
}

struct Hmac {
    update: UpdateFn,
    finish: FinalFn,
    /// The state after both key pads: a plain structure, which each message starts as a copy of.
    keyed: Aligned,
    state: Aligned,
    state_len: usize,
}

fn hmac(
    functions: &Functions,
    prefix: &str,
    call: &'static CStr,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let state_len = functions.length(&format!("{prefix}_statebytes"))?;
    let mut keyed = Aligned::zeroed(state_len);
    // SAFETY: the types are those of crypto_auth_hmac*.h.
    let (init, update, finish) = unsafe {
        (
            functions.get::<KeyedInitFn>(&format!("{prefix}_init"))?,
            functions.get(&format!("{prefix}_update"))?,
            functions.get(&format!("{prefix}_final"))?,
        )
    };
    // SAFETY: the state has the size that the library asks for; `key` covers its length.
    if unsafe { init(keyed.as_mut_ptr(), key.as_ptr(), key.len()) } != 0 {
        return Err(OpenError::Failed(format!("{prefix}_init failed")));
    }
    let state = Aligned::zeroed(state_len);
    let state = Hmac { update, finish, keyed, state, state_len };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        message: Some(hmac_message),
        start: Some(hmac_start),
        update: Some(hmac_update),
        finish: Some(hmac_finish),
        call: call.as_ptr(),
        close: Some(close::<Hmac>),
        ..raw::Session::empty()
    })
}

impl Hmac {
    #[inline]
    fn begin(&mut self) {
        let from = self.keyed.as_ptr::<u8>();
        // SAFETY: both have `state_len` bytes and are not the same memory.
        unsafe { ptr::copy_nonoverlapping(from, self.state.as_mut_ptr(), self.state_len) }
    }
}

unsafe extern "C" fn hmac_message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `hmac` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<Hmac>(), &*m);
        state.begin();
        match (state.update)(state.state.as_mut_ptr(), m.input, m.len as u64) {
            0 => outcome((state.finish)(state.state.as_mut_ptr(), m.tag)),
            _ => raw::FAILED,
        }
    }
}

unsafe extern "C" fn hmac_start(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `hmac` made.
    unsafe { &mut *state.cast::<Hmac>() }.begin();
    raw::OK
}

unsafe extern "C" fn hmac_update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `hmac` made; the input keeps the interface's rules.
    unsafe {
        let state = &mut *state.cast::<Hmac>();
        outcome((state.update)(state.state.as_mut_ptr(), input, len as u64))
    }
}

unsafe extern "C" fn hmac_finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `hmac` made; the tag has the code's length.
    unsafe {
        let state = &mut *state.cast::<Hmac>();
        outcome((state.finish)(state.state.as_mut_ptr(), tag))
    }
}

struct Poly1305 {
    whole: AuthFn,
    init: AuthInitFn,
    update: UpdateFn,
    finish: FinalFn,
    key: Aligned,
    parts: Aligned,
}

/// A one-time key is used for one message: there is no schedule to be kept.
fn poly1305(functions: &Functions, key: &[u8]) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_onetimeauth.h.
    let state = unsafe {
        Poly1305 {
            whole: functions.get("crypto_onetimeauth")?,
            init: functions.get("crypto_onetimeauth_init")?,
            update: functions.get("crypto_onetimeauth_update")?,
            finish: functions.get("crypto_onetimeauth_final")?,
            key: Aligned::copied(key),
            parts: Aligned::zeroed(functions.length("crypto_onetimeauth_statebytes")?),
        }
    };
    Ok(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        message: Some(poly1305_message),
        start: Some(poly1305_start),
        update: Some(poly1305_update),
        finish: Some(poly1305_finish),
        call: c"crypto_onetimeauth".as_ptr(),
        close: Some(close::<Poly1305>),
        ..raw::Session::empty()
    })
}

unsafe extern "C" fn poly1305_message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `poly1305` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<Poly1305>(), &*m);
        outcome((state.whole)(m.tag, m.input, m.len as u64, state.key.as_ptr()))
    }
}

unsafe extern "C" fn poly1305_start(state: *mut c_void, _nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `poly1305` made.
    unsafe {
        let state = &mut *state.cast::<Poly1305>();
        outcome((state.init)(state.parts.as_mut_ptr(), state.key.as_ptr()))
    }
}

unsafe extern "C" fn poly1305_update(
    state: *mut c_void,
    input: *const u8,
    _output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `poly1305` made; the input keeps the interface's rules.
    unsafe {
        let state = &mut *state.cast::<Poly1305>();
        outcome((state.update)(state.parts.as_mut_ptr(), input, len as u64))
    }
}

unsafe extern "C" fn poly1305_finish(state: *mut c_void, tag: *mut u8) -> i32 {
    // SAFETY: `state` is what `poly1305` made; the tag has the code's length.
    unsafe {
        let state = &mut *state.cast::<Poly1305>();
        outcome((state.finish)(state.parts.as_mut_ptr(), tag))
    }
}

unsafe extern "C" fn close<S>(state: *mut c_void) {
    // SAFETY: `state` is the box of this type that was given away; called once.
    drop(unsafe { Box::from_raw(state.cast::<S>()) });
}
