//! GCM and CCM: one call a message under a key schedule that is made once.

use super::api::{
    CCM_WRONG_TAG, Context, GCM_WRONG_TAG, calls, close, done, given, lengths, verdict,
};
use contract::{OpenError, raw};
use loader::SharedObject;
use model::{Direction, Mode};
use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// `wc_AesGcmSetKey`, `wc_AesCcmSetKey`: context, key, length.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, *const u8, u32) -> c_int;
/// `wc_AesGcmEncrypt`, `wc_AesCcmEncrypt` and their inverses: context, output, input, length,
/// nonce, length, tag, length, associated data, length.
type CryptFn = unsafe extern "C" fn(
    *mut c_void,
    *mut u8,
    *const u8,
    u32,
    *const u8,
    u32,
    *mut u8,
    u32,
    *const u8,
    u32,
) -> c_int;
/// `wc_AesGcmEncryptInit`, `wc_AesGcmDecryptInit`: context, key (null: as it is), length, nonce,
/// length.
type BeginFn = unsafe extern "C" fn(*mut c_void, *const u8, u32, *const u8, u32) -> c_int;
/// `wc_AesGcmEncryptUpdate`, `wc_AesGcmDecryptUpdate`: context, output, input, length, associated
/// data, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, *mut u8, *const u8, u32, *const u8, u32) -> c_int;

/// Bytes of nonces and tags here.
const NONCE: u32 = 12;
const TAG: u32 = 16;

struct State {
    message: Context,
    set_key: SetKeyFn,
    key_len: u32,
    crypt: CryptFn,
    wrong_tag: c_int,
    stream: Option<Stream>,
}

/// GCM in parts, which only builds with WOLFSSL_AESGCM_STREAM have.
struct Stream {
    context: Context,
    begin: BeginFn,
    update: UpdateFn,
}

pub(super) fn open(
    object: &SharedObject,
    mode: Mode,
    direction: Direction,
    key: &[u8],
) -> Result<raw::Session, OpenError> {
    let (set_key, crypt, call, wrong_tag) = match (mode, direction) {
        (Mode::Gcm, Direction::Decrypt) => {
            ("wc_AesGcmSetKey", "wc_AesGcmDecrypt", c"wc_AesGcmDecrypt", GCM_WRONG_TAG)
        }
        (Mode::Gcm, _) => {
            ("wc_AesGcmSetKey", "wc_AesGcmEncrypt", c"wc_AesGcmEncrypt", GCM_WRONG_TAG)
        }
        (_, Direction::Decrypt) => {
            ("wc_AesCcmSetKey", "wc_AesCcmDecrypt", c"wc_AesCcmDecrypt", CCM_WRONG_TAG)
        }
        _ => ("wc_AesCcmSetKey", "wc_AesCcmEncrypt", c"wc_AesCcmEncrypt", CCM_WRONG_TAG),
    };
    // SAFETY: the type is that of aes.h for the symbols named.
    let crypt = unsafe { object.offered(crypt)? };
    let message = keyed(object, set_key, key)?;
    // SAFETY: the type is that of aes.h for both symbols.
    let (rekey_call, set_key) = (set_key_words(mode), unsafe { object.offered(set_key)? });
    let key_len = u32::try_from(key.len()).expect("keys are a few bytes");
    // The lengths of a CCM message go into its first block: there is no stream of it.
    let stream = match mode {
        Mode::Gcm => Stream::new(object, direction, key)?,
        _ => None,
    };
    let streams = stream.is_some();
    let state = State { message, set_key, key_len, crypt, wrong_tag, stream };
    Ok(raw::Session {
        state: given(state),
        flags: raw::IN_PLACE,
        message: Some(self::message),
        start: streams.then_some(start),
        update: streams.then_some(update),
        finish: None,
        call: call.as_ptr(),
        close: Some(close::<State>),
        rekey: Some(rekey),
        rekey_call: rekey_call.as_ptr(),
        ..raw::Session::empty()
    })
}

fn set_key_words(mode: Mode) -> &'static CStr {
    if mode == Mode::Gcm { c"wc_AesGcmSetKey" } else { c"wc_AesCcmSetKey" }
}

unsafe extern "C" fn rekey(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the key has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        calls!((state.set_key)(state.message.pointer(), key, state.key_len))
    }
}

/// A context with its key schedule and, for GCM, the tables of its hash.
fn keyed(object: &SharedObject, set_key: &str, key: &[u8]) -> Result<Context, OpenError> {
    let context = Context::aes(object)?;
    let len = u32::try_from(key.len()).expect("keys are a few bytes");
    // SAFETY: the type is that of aes.h for both symbols; the key covers its length.
    let code =
        unsafe { object.offered::<SetKeyFn>(set_key)?(context.pointer(), key.as_ptr(), len) };
    done(set_key, code)?;
    Ok(context)
}

impl Stream {
    fn new(
        object: &SharedObject,
        direction: Direction,
        key: &[u8],
    ) -> Result<Option<Self>, OpenError> {
        let (begin, update) = match direction {
            Direction::Decrypt => ("wc_AesGcmDecryptInit", "wc_AesGcmDecryptUpdate"),
            _ => ("wc_AesGcmEncryptInit", "wc_AesGcmEncryptUpdate"),
        };
        // SAFETY: the types are those of aes.h for the symbols named.
        let functions =
            unsafe { object.function::<BeginFn>(begin).zip(object.function::<UpdateFn>(update)) };
        let Some((begin, update)) = functions else { return Ok(None) };
        let context = keyed(object, "wc_AesGcmSetKey", key)?;
        Ok(Some(Self { context, begin, update }))
    }
}

unsafe extern "C" fn message(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `open` made; the message keeps the interface's rules.
    unsafe {
        let (state, m) = (&*state.cast::<State>(), &*m);
        lengths!(len = m.len, aad_len = m.aad_len);
        let code = (state.crypt)(
            state.message.pointer(),
            m.output,
            m.input,
            len,
            m.nonce,
            NONCE,
            m.tag,
            TAG,
            m.aad,
            aad_len,
        );
        verdict(code, state.wrong_tag)
    }
}

unsafe extern "C" fn start(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `open` made; the nonce has the algorithm's length.
    unsafe {
        let state = &*state.cast::<State>();
        let Some(stream) = &state.stream else { return raw::FAILED };
        calls!((stream.begin)(stream.context.pointer(), ptr::null(), 0, nonce, NONCE))
    }
}

unsafe extern "C" fn update(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    // SAFETY: `state` is what `open` made; the buffers keep the interface's rules.
    unsafe {
        let state = &*state.cast::<State>();
        let Some(stream) = &state.stream else { return raw::FAILED };
        lengths!(len = len);
        calls!((stream.update)(stream.context.pointer(), output, input, len, ptr::null(), 0))
    }
}
