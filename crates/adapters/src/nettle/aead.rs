//! The authenticated modes whose tag lies where the caller wants it: GCM, CCM, OCB, EAX and
//! ChaCha20-Poly1305.

use super::Request;
use super::api::{AeadMeta, EqualFn, meta};
use super::parts::{Ccm, Described, Keyed, Ocb, Steps};
use contract::raw;
use model::{Mode, Primitive};
use std::ffi::{CStr, c_void};

/// Bytes of every tag here.
const TAG_LEN: usize = 16;

struct State<S> {
    steps: S,
    equal: EqualFn,
    decrypts: bool,
}

/// Opens a mode, by its description where the library has one, else by the mode's functions over a
/// block cipher.
pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    if request.algorithm.tag_len != TAG_LEN {
        return None;
    }
    let described = description(request).and_then(|aead| Described::new(request, aead));
    let (mode, described_words, words) = words(request)?;
    match (described, request.algorithm.mode) {
        // The key stream would lose what is left of a block at the end of each update.
        (Some(steps), Mode::Poly1305) => session(request, steps, described_words, false),
        (Some(steps), _) => session(request, steps, described_words, true),
        (None, Mode::Ccm) => session(request, Ccm::new(request, request.cipher()?)?, words, false),
        (None, Mode::Ocb) => session(request, Ocb::new(request, request.cipher()?)?, words, true),
        (None, Mode::Gcm | Mode::Eax) => {
            session(request, Keyed::new(request, request.cipher()?, mode)?, words, true)
        }
        _ => None,
    }
}

fn description(request: &Request<'_>) -> Option<&'static AeadMeta> {
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Poly1305, Primitive::ChaCha20) => meta(request.object, "nettle_chacha_poly1305"),
        (Mode::Gcm, _) => meta(request.object, &format!("nettle_gcm_{}", request.cipher_name()?)),
        (Mode::Eax, _) => meta(request.object, &format!("nettle_eax_{}", request.cipher_name()?)),
        _ => None,
    }
}

/// The mode's part of the symbols, and the calls for readers: of a description, of the mode.
fn words(request: &Request<'_>) -> Option<(&'static str, &'static CStr, &'static CStr)> {
    let described =
        c"nettle_aead.set_nonce, nettle_aead.update, nettle_aead.encrypt, nettle_aead.digest";
    let described_back = c"nettle_aead.set_nonce, nettle_aead.update, nettle_aead.decrypt, nettle_aead.digest, nettle_memeql_sec";
    let (mode, [forwards, backwards]) = match request.algorithm.mode {
        Mode::Gcm => (
            "gcm",
            [
                c"nettle_gcm_set_iv, nettle_gcm_update, nettle_gcm_encrypt, nettle_gcm_digest",
                c"nettle_gcm_set_iv, nettle_gcm_update, nettle_gcm_decrypt, nettle_gcm_digest, nettle_memeql_sec",
            ],
        ),
        Mode::Eax => (
            "eax",
            [
                c"nettle_eax_set_nonce, nettle_eax_update, nettle_eax_encrypt, nettle_eax_digest",
                c"nettle_eax_set_nonce, nettle_eax_update, nettle_eax_decrypt, nettle_eax_digest, nettle_memeql_sec",
            ],
        ),
        Mode::Ocb => (
            "ocb",
            [
                c"nettle_ocb_set_nonce, nettle_ocb_update, nettle_ocb_encrypt, nettle_ocb_digest",
                c"nettle_ocb_set_nonce, nettle_ocb_update, nettle_ocb_decrypt, nettle_ocb_digest, nettle_memeql_sec",
            ],
        ),
        Mode::Ccm => (
            "ccm",
            [
                c"nettle_ccm_set_nonce, nettle_ccm_update, nettle_ccm_encrypt, nettle_ccm_digest",
                c"nettle_ccm_set_nonce, nettle_ccm_update, nettle_ccm_decrypt, nettle_ccm_digest, nettle_memeql_sec",
            ],
        ),
        Mode::Poly1305 => ("", [described, described_back]),
        _ => return None,
    };
    Some(if request.decrypts() {
        (mode, described_back, backwards)
    } else {
        (mode, described, forwards)
    })
}

fn session<S: Steps>(
    request: &Request<'_>,
    steps: S,
    call: &'static CStr,
    streams: bool,
) -> Option<raw::Session> {
    // SAFETY: memops.h.
    let equal = unsafe { request.function::<EqualFn>("nettle_memeql_sec")? };
    let state = State { steps, equal, decrypts: request.decrypts() };
    Some(raw::Session {
        state: Box::into_raw(Box::new(state)).cast(),
        flags: raw::IN_PLACE,
        message: Some(message::<S>),
        start: streams.then_some(start::<S>),
        update: streams.then_some(update::<S>),
        call: call.as_ptr(),
        close: Some(close::<S>),
        rekey: Some(rekey::<S>),
        rekey_call: c"the set_key functions of cipher and mode".as_ptr(),
        ..raw::Session::empty()
    })
}

/// The library makes tags and leaves comparing them to its callers, for which it has a function.
unsafe extern "C" fn message<S: Steps>(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: `state` is what `session` made; the message keeps the header's rules.
    unsafe {
        let (state, m) = (&mut *state.cast::<State<S>>(), &*m);
        state.steps.begin(m.nonce, (m.aad, m.aad_len), m.len);
        state.steps.crypt(m.input, m.output, m.len);
        if !state.decrypts {
            state.steps.digest(m.tag);
            return raw::OK;
        }
        let mut tag = [0; TAG_LEN];
        state.steps.digest(tag.as_mut_ptr());
        match (state.equal)(tag.as_ptr().cast(), m.tag.cast_const().cast(), TAG_LEN) {
            0 => raw::REJECTED,
            _ => raw::OK,
        }
    }
}

unsafe extern "C" fn rekey<S: Steps>(state: *mut c_void, key: *const u8) -> i32 {
    // SAFETY: `state` is what `session` made; the key has the algorithm's length.
    unsafe { (*state.cast::<State<S>>()).steps.rekey(key) };
    raw::OK
}

unsafe extern "C" fn start<S: Steps>(state: *mut c_void, nonce: *const u8) -> i32 {
    // SAFETY: `state` is what `session` made; the nonce has the algorithm's length.
    unsafe { (*state.cast::<State<S>>()).steps.begin(nonce, (nonce, 0), 0) };
    raw::OK
}

/// Only the last part of a message may end within a block: the library would end the process.
unsafe extern "C" fn update<S: Steps>(
    state: *mut c_void,
    input: *const u8,
    output: *mut u8,
    len: usize,
) -> i32 {
    if !len.is_multiple_of(16) {
        return raw::FAILED;
    }
    // SAFETY: `state` is what `session` made; the buffers keep the header's rules.
    unsafe { (*state.cast::<State<S>>()).steps.crypt(input, output, len) };
    raw::OK
}

unsafe extern "C" fn close<S: Steps>(state: *mut c_void) {
    // SAFETY: `state` is the box that `session` gave away; called once.
    drop(unsafe { Box::from_raw(state.cast::<State<S>>()) });
}
