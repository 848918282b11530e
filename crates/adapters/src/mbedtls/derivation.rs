//! Key derivation: `mbedtls_pkcs5_pbkdf2_hmac_ext`, which 3.3 brought, `mbedtls_pkcs5_pbkdf2_hmac` before it, and
//! `mbedtls_hkdf`.

use super::{Functions, Request};
use crate::derivation::{Derive, done, session};
use crate::family::{In, Out};
use base::model::{Mode, Primitive};
use contract::{OpenError, raw};
use std::ffi::{c_int, c_uint, c_void};

/// `mbedtls_pkcs5_pbkdf2_hmac_ext`: digest, passphrase, salt, iterations, output behind its length.
type Pbkdf2Fn = unsafe extern "C" fn(c_int, In, usize, In, usize, c_uint, u32, Out) -> c_int;
/// `mbedtls_pkcs5_pbkdf2_hmac`: the same with a context that is set up for HMAC.
type Pbkdf2CtxFn =
    unsafe extern "C" fn(*mut c_void, In, usize, In, usize, c_uint, u32, Out) -> c_int;
/// `mbedtls_md_get_type`
type TypeFn = unsafe extern "C" fn(*const c_void) -> c_int;
/// `mbedtls_hkdf`: digest, salt, key, info, output.
type HkdfFn =
    unsafe extern "C" fn(*const c_void, In, usize, In, usize, In, usize, Out, usize) -> c_int;

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    match request.algorithm.mode {
        Mode::Pbkdf2 => pbkdf2(request),
        Mode::Hkdf => hkdf(request),
        _ => Err(request.none()),
    }
}

/// The library's description of the digest, which is a constant of its.
fn digest(request: &Request<'_>) -> Result<*const c_void, OpenError> {
    let name = match request.algorithm.cipher {
        Primitive::Sha1 => c"SHA1",
        Primitive::Sha256 => c"SHA256",
        _ => c"SHA512",
    };
    let f = Functions::of(&request.library.object)?;
    // SAFETY: a NUL-terminated name.
    let info = unsafe { (f.mbedtls_md_info_from_string)(name.as_ptr()) };
    if info.is_null() { Err(request.none()) } else { Ok(info) }
}

fn pbkdf2(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let info = digest(request)?;
    // SAFETY: the types are those of pkcs5.h and md.h.
    let found = unsafe {
        let object = &request.library.object;
        object
            .function::<Pbkdf2Fn>("mbedtls_pkcs5_pbkdf2_hmac_ext")
            .zip(object.function::<TypeFn>("mbedtls_md_get_type"))
    };
    if let Some((f, type_of)) = found {
        // SAFETY: a description of the library's.
        let kind = unsafe { type_of(info) };
        return Ok(session(request, c"mbedtls_pkcs5_pbkdf2_hmac_ext", move |d: &Derive<'_>| {
            let Some(cost) = d.cost() else { return raw::FAILED };
            let (key, len, out_len) = (d.key.as_ptr(), d.key.len(), Derive::len(d.out_len));
            // SAFETY: every pointer covers the length beside it.
            done(unsafe { f(kind, key, len, d.salt, d.salt_len, cost, out_len, d.out) } == 0)
        }));
    }
    // SAFETY: the type is that of pkcs5.h.
    let f: Pbkdf2CtxFn = unsafe { request.function("mbedtls_pkcs5_pbkdf2_hmac") }?;
    let mut context = super::digest_context(request, info, 1)?;
    let at = context.get();
    Ok(session(request, c"mbedtls_pkcs5_pbkdf2_hmac", move |d: &Derive<'_>| {
        // It lives as long as the session.
        let _ = &context;
        let Some(cost) = d.cost() else { return raw::FAILED };
        let (key, len, out_len) = (d.key.as_ptr(), d.key.len(), Derive::len(d.out_len));
        // SAFETY: a context that is set up for HMAC; every pointer covers the length beside it.
        let code = unsafe { f(at, key, len, d.salt, d.salt_len, cost, out_len, d.out) };
        done(code == 0)
    }))
}

fn hkdf(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let info = digest(request)?;
    // SAFETY: the type is that of hkdf.h.
    let f: HkdfFn = unsafe { request.function("mbedtls_hkdf") }?;
    Ok(session(request, c"mbedtls_hkdf", move |d: &Derive<'_>| {
        let (key, len) = (d.key.as_ptr(), d.key.len());
        // SAFETY: a description of the library's; every pointer covers the length beside it.
        let code =
            unsafe { f(info, d.salt, d.salt_len, key, len, d.info, d.cost, d.out, d.out_len) };
        done(code == 0)
    }))
}
