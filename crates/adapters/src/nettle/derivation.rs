//! Key derivation: `nettle_pbkdf2_hmac_*`; `nettle_hkdf_extract` and `nettle_hkdf_expand` over HMAC.

use super::Request;
use crate::derivation::{Derive, session};
use crate::family::{Aligned, In, Out};
use base::model::{Mode, Primitive};
use contract::raw;
use std::ffi::{CStr, c_uint, c_void};

/// `nettle_pbkdf2_hmac_*`: passphrase behind its length, iterations, salt behind its length, output behind its length.
type Pbkdf2Fn = unsafe extern "C" fn(usize, In, c_uint, usize, In, usize, Out);
/// `nettle_hmac_*_set_key`: context, key behind its length.
type SetKeyFn = unsafe extern "C" fn(*mut c_void, usize, In);
/// `nettle_hkdf_extract`: keyed context, its functions, length of the digest, key behind its length, the extracted key.
type ExtractFn =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, usize, usize, In, Out);
/// `nettle_hkdf_expand`: the same, then info behind its length, output behind its length.
type ExpandFn =
    unsafe extern "C" fn(*mut c_void, *const c_void, *const c_void, usize, usize, In, usize, Out);

/// More than three states of SHA-512 take.
const CONTEXT: usize = 4 << 10;

pub(super) fn open(request: &Request<'_>) -> Option<raw::Session> {
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Pbkdf2, Primitive::Sha1) => pbkdf2(request, c"nettle_pbkdf2_hmac_sha1"),
        (Mode::Pbkdf2, Primitive::Sha256) => pbkdf2(request, c"nettle_pbkdf2_hmac_sha256"),
        (Mode::Pbkdf2, Primitive::Sha512) => pbkdf2(request, c"nettle_pbkdf2_hmac_sha512"),
        // From 4.0 on its functions have other types.
        (Mode::Hkdf, Primitive::Sha256) if request.library.major < 4 => {
            hkdf(request, "nettle_hmac_sha256", 32)
        }
        (Mode::Hkdf, Primitive::Sha512) if request.library.major < 4 => {
            hkdf(request, "nettle_hmac_sha512", 64)
        }
        _ => None,
    }
}

fn pbkdf2(request: &Request<'_>, name: &'static CStr) -> Option<raw::Session> {
    // SAFETY: the type is that of pbkdf2.h.
    let f: Pbkdf2Fn = unsafe { request.function(crate::family::symbol(name)) }?;
    Some(session(request, name, move |d: &Derive<'_>| {
        let Some(cost) = d.cost() else { return raw::FAILED };
        // SAFETY: every pointer covers the length beside it.
        unsafe { f(d.key.len(), d.key.as_ptr(), cost, d.salt_len, d.salt, d.out_len, d.out) };
        raw::OK
    }))
}

fn hkdf(request: &Request<'_>, name: &str, len: usize) -> Option<raw::Session> {
    // SAFETY: the types are those of hmac.h and hkdf.h; of `_update` and `_digest` the address is handed on alone.
    let (set_key, update, digest, extract, expand) = unsafe {
        (
            request.function::<SetKeyFn>(&format!("{name}_set_key"))?,
            request.function::<unsafe extern "C" fn()>(&format!("{name}_update"))?,
            request.function::<unsafe extern "C" fn()>(&format!("{name}_digest"))?,
            request.function::<ExtractFn>("nettle_hkdf_extract")?,
            request.function::<ExpandFn>("nettle_hkdf_expand")?,
        )
    };
    let context = Aligned::zeroed(CONTEXT);
    let call =
        c"nettle_hmac_*_set_key, nettle_hkdf_extract, nettle_hmac_*_set_key, nettle_hkdf_expand";
    Some(session(request, call, move |d: &Derive<'_>| {
        let (context, mut prk) = (context.context(), [0; 64]);
        let (update, digest) = (update as *const c_void, digest as *const c_void);
        // SAFETY: a context of HMAC, keyed before each use; every pointer covers the length beside it; the extracted key
        // has room for either digest.
        unsafe {
            set_key(context, d.salt_len, d.salt);
            extract(context, update, digest, len, d.key.len(), d.key.as_ptr(), prk.as_mut_ptr());
            set_key(context, len, prk.as_ptr());
            expand(context, update, digest, len, d.cost, d.info, d.out_len, d.out);
        }
        raw::OK
    }))
}
