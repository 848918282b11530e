//! The authenticated modes whose tag lies where the caller wants it: GCM, CCM, OCB, EAX and
//! ChaCha20-Poly1305.

use super::Request;
use super::api::{AeadMeta, EqualFn, meta};
use super::ccm::Ccm;
use super::parts::{Described, Keyed, Ocb, Steps};
use crate::family::{c_concat, operations};
use base::model::{Mode, Primitive};
use contract::{Table, raw};
use std::ffi::CStr;

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
        (Mode::Poly1305, Primitive::ChaCha20) => {
            meta(&request.library.object, "nettle_chacha_poly1305")
        }
        (Mode::Gcm, _) => {
            meta(&request.library.object, &format!("nettle_gcm_{}", request.cipher_name()?))
        }
        (Mode::Eax, _) => {
            meta(&request.library.object, &format!("nettle_eax_{}", request.cipher_name()?))
        }
        _ => None,
    }
}

/// The mode's part of the symbols, and the calls for readers: of a description, of the mode.
fn words(request: &Request<'_>) -> Option<(&'static str, &'static CStr, &'static CStr)> {
    macro_rules! calls {
        ($of:literal, $begin:literal) => {
            [
                c_concat!($of, $begin, ", ", $of, "update, ", $of, "encrypt, ", $of, "digest"),
                c_concat!(
                    $of,
                    $begin,
                    ", ",
                    $of,
                    "update, ",
                    $of,
                    "decrypt, ",
                    $of,
                    "digest, ",
                    "nettle_memeql_sec"
                ),
            ]
        };
    }
    let described = calls!("nettle_aead.", "set_nonce");
    let (mode, calls) = match request.algorithm.mode {
        Mode::Gcm => ("gcm", calls!("nettle_gcm_", "set_iv")),
        Mode::Eax => ("eax", calls!("nettle_eax_", "set_nonce")),
        Mode::Ocb => ("ocb", calls!("nettle_ocb_", "set_nonce")),
        Mode::Ccm => ("ccm", calls!("nettle_ccm_", "set_nonce")),
        Mode::Poly1305 => ("", described),
        _ => return None,
    };
    let way = usize::from(request.decrypts());
    Some((mode, described[way], calls[way]))
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
    Some(
        Table::new(state, raw::IN_PLACE, call)
            .streams_if(streams)
            .rekeys(c"the set_key functions of cipher and mode")
            .raw(),
    )
}

operations! { impl[S: Steps] for State<S>;
    /// The library makes tags and leaves comparing them to its callers, for which it has a function.
    fn message(&mut self, m) {
        self.steps.begin(m.nonce, (m.aad, m.aad_len), m.len);
        self.steps.crypt(m.input, m.output, m.len);
        if !self.decrypts {
            self.steps.digest(m.tag);
            return raw::OK;
        }
        let mut tag = [0; TAG_LEN];
        self.steps.digest(tag.as_mut_ptr());
        match (self.equal)(tag.as_ptr().cast(), m.tag.cast_const().cast(), TAG_LEN) {
            0 => raw::REJECTED,
            _ => raw::OK,
        }
    }

    fn start(&mut self, nonce) {
        self.steps.begin(nonce, (nonce, 0), 0);
        raw::OK
    }

    /// Only the last part of a message may end within a block: the library would end the process.
    fn update(&mut self, input, output, len) {
        if !len.is_multiple_of(16) {
            return raw::FAILED;
        }
        self.steps.crypt(input, output, len);
        raw::OK
    }

    fn rekey(&mut self, key) {
        self.steps.rekey(key);
        raw::OK
    }
}
