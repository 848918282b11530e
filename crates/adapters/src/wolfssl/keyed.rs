//! GCM and CCM: one call a message under a key schedule that is made once.

use super::Request;
use super::api::{CCM_WRONG_TAG, Context, GCM_WRONG_TAG, done, lengths, outcome, verdict};
use crate::bytes::{In, Out};
use crate::family::{calls, operations, symbol};
use base::model::Mode;
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_void};
use std::ptr;

/// `wc_AesGcmSetKey`, `wc_AesCcmSetKey`: context, key, length.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, In, u32) -> c_int;
/// `wc_AesGcmEncrypt`, `wc_AesCcmEncrypt` and their inverses: context, output, input, length,
/// nonce, length, tag, length, associated data, length.
type CryptFn = unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32, Out, u32, In, u32) -> c_int;
/// `wc_AesGcmEncryptInit`, `wc_AesGcmDecryptInit`: context, key (null: as it is), length, nonce,
/// length.
type BeginFn = unsafe extern "C" fn(*mut c_void, In, u32, In, u32) -> c_int;
/// `wc_AesGcmEncryptUpdate`, `wc_AesGcmDecryptUpdate`: context, output, input, length, associated
/// data, length.
type UpdateFn = unsafe extern "C" fn(*mut c_void, Out, In, u32, In, u32) -> c_int;

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

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let object = &request.library.object;
    let gcm = request.algorithm.mode == Mode::Gcm;
    let (set_key_words, wrong_tag) =
        if gcm { (c"wc_AesGcmSetKey", GCM_WRONG_TAG) } else { (c"wc_AesCcmSetKey", CCM_WRONG_TAG) };
    let call = match (gcm, request.decrypts()) {
        (true, true) => c"wc_AesGcmDecrypt",
        (true, false) => c"wc_AesGcmEncrypt",
        (false, true) => c"wc_AesCcmDecrypt",
        (false, false) => c"wc_AesCcmEncrypt",
    };
    let set_key = symbol(set_key_words);
    let message = keyed(request, set_key)?;
    // SAFETY: the types are those of aes.h for the symbols named.
    let (crypt, set_key) = unsafe { (object.exported(symbol(call))?, object.exported(set_key)?) };
    let key_len = request.key_len();
    // The lengths of a CCM message go into its first block: there is no stream of it.
    let stream = if gcm { Stream::new(request)? } else { None };
    let streams = stream.is_some();
    let state = State { message, set_key, key_len, crypt, wrong_tag, stream };
    Ok(Table::new(state, raw::IN_PLACE, call).streams_if(streams).rekeys(set_key_words).raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        lengths!(len = m.len, aad_len = m.aad_len);
        let (context, tag, aad) = (self.message.pointer(), m.tag, m.aad);
        let code =
            (self.crypt)(context, m.output, m.input, len, m.nonce, NONCE, tag, TAG, aad, aad_len);
        verdict(code, self.wrong_tag)
    }

    fn start(&mut self, nonce) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        calls!((stream.begin)(stream.context.pointer(), ptr::null(), 0, nonce, NONCE))
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = &self.stream else { return raw::FAILED };
        lengths!(len = len);
        calls!((stream.update)(stream.context.pointer(), output, input, len, ptr::null(), 0))
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.message.pointer(), key, self.key_len))
    }
}

/// A context with its key schedule and, for GCM, the tables of its hash.
fn keyed(request: &Request<'_>, set_key: &str) -> Result<Context, OpenError> {
    let (object, key, len) = (&request.library.object, request.key.as_ptr(), request.key_len());
    let context = Context::aes(object)?;
    // SAFETY: the type is that of aes.h for both symbols; the key covers its length.
    let code = unsafe { object.exported::<SetKeyFn>(set_key)?(context.pointer(), key, len) };
    done(set_key, code)?;
    Ok(context)
}

impl Stream {
    fn new(request: &Request<'_>) -> Result<Option<Self>, OpenError> {
        let object = &request.library.object;
        let (begin, update) = if request.decrypts() {
            ("wc_AesGcmDecryptInit", "wc_AesGcmDecryptUpdate")
        } else {
            ("wc_AesGcmEncryptInit", "wc_AesGcmEncryptUpdate")
        };
        // SAFETY: the types are those of aes.h for the symbols named.
        let functions =
            unsafe { object.function::<BeginFn>(begin).zip(object.function::<UpdateFn>(update)) };
        let Some((begin, update)) = functions else { return Ok(None) };
        let context = keyed(request, "wc_AesGcmSetKey")?;
        Ok(Some(Self { context, begin, update }))
    }
}
