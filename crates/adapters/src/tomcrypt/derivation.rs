//! Key derivation: `pkcs_5_alg2`, `hkdf`.

use super::{Index, OK, Request};
use crate::derivation::{Derive, done, session};
use crate::family::{In, Out};
use base::model::Mode;
use contract::{OpenError, raw};
use std::ffi::{c_int, c_ulong};

/// `pkcs_5_alg2`: passphrase, salt, iterations, hash, output, its length.
type Pbkdf2Fn =
    unsafe extern "C" fn(In, c_ulong, In, c_ulong, c_int, Index, Out, *mut c_ulong) -> c_int;
/// `hkdf`: hash, salt, info, key, output.
type HkdfFn =
    unsafe extern "C" fn(Index, In, c_ulong, In, c_ulong, In, c_ulong, Out, c_ulong) -> c_int;

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let (api, absent) = (request.library, || request.absent("LibTomCrypt"));
    let hash = || api.hash(request.algorithm.cipher).ok_or_else(absent);
    match request.algorithm.mode {
        Mode::Pbkdf2 => pbkdf2(request, hash()?),
        Mode::Hkdf => hkdf(request, hash()?),
        _ => Err(absent()),
    }
}

fn pbkdf2(request: &Request<'_>, hash: Index) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of tomcrypt_pkcs.h.
    let f: Pbkdf2Fn = unsafe { request.library.object.exported("pkcs_5_alg2") }?;
    Ok(session(request, c"pkcs_5_alg2", move |d: &Derive<'_>| {
        let Some(cost) = d.cost() else { return raw::FAILED };
        let (len, salt_len) = (d.key.len() as c_ulong, d.salt_len as c_ulong);
        let mut out_len = d.out_len as c_ulong;
        // SAFETY: every pointer covers the length beside it; a registered hash.
        let code = unsafe {
            f(d.key.as_ptr(), len, d.salt, salt_len, cost, hash, d.out, &raw mut out_len)
        };
        done(code == OK)
    }))
}

fn hkdf(request: &Request<'_>, hash: Index) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of tomcrypt_misc.h.
    let f: HkdfFn = unsafe { request.library.object.exported("hkdf") }?;
    Ok(session(request, c"hkdf", move |d: &Derive<'_>| {
        let [len, salt_len, info_len, out_len] =
            [d.key.len(), d.salt_len, d.cost, d.out_len].map(|len| len as c_ulong);
        let key = d.key.as_ptr();
        // SAFETY: every pointer covers the length beside it; a registered hash.
        let code = unsafe { f(hash, d.salt, salt_len, d.info, info_len, key, len, d.out, out_len) };
        done(code == OK)
    }))
}
