//! Key derivation: `wc_PBKDF2`, `wc_scrypt`, `wc_HKDF`, and `wc_Argon2`, which 5.9.4 brought.

use super::Request;
use crate::derivation::{Derive, done, session};
use crate::family::{In, Out};
use base::model::{Mode, Primitive};
use contract::{OpenError, raw};
use std::ffi::c_int;

/// `wc_PBKDF2`: output, passphrase, salt, iterations, bytes of output, hash.
type Pbkdf2Fn = unsafe extern "C" fn(Out, In, c_int, In, c_int, c_int, c_int, c_int) -> c_int;
/// `wc_scrypt`: output, passphrase, salt, binary logarithm of N, r, p, bytes of output.
type ScryptFn =
    unsafe extern "C" fn(Out, In, c_int, In, c_int, c_int, c_int, c_int, c_int) -> c_int;
/// `wc_Argon2`: variant, output, passphrase, salt, lanes, memory in KiB, passes.
type Argon2Fn = unsafe extern "C" fn(c_int, Out, u32, In, u32, In, u32, u32, u32, u32) -> c_int;
/// `wc_HKDF`: hash, key, salt, info, output.
type HkdfFn = unsafe extern "C" fn(c_int, In, u32, In, u32, In, u32, Out, u32) -> c_int;

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    // enum wc_HashType
    let hash = match request.algorithm.cipher {
        Primitive::Sha1 => 4,
        Primitive::Sha256 => 6,
        _ => 8,
    };
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::Pbkdf2, _) => pbkdf2(request, hash),
        (Mode::Hkdf, _) => hkdf(request, hash),
        (Mode::MemoryHard, Primitive::Scrypt) => scrypt(request),
        // enum wc_Argon2Type
        (Mode::MemoryHard, Primitive::Argon2d { passes }) => argon2(request, 0, passes),
        (Mode::MemoryHard, Primitive::Argon2i { passes }) => argon2(request, 1, passes),
        (Mode::MemoryHard, Primitive::Argon2id { passes }) => argon2(request, 2, passes),
        _ => Err(request.absent("wolfCrypt")),
    }
}

fn pbkdf2(request: &Request<'_>, hash: c_int) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of pwdbased.h.
    let f: Pbkdf2Fn = unsafe { request.library.object.exported("wc_PBKDF2") }?;
    Ok(session(request, c"wc_PBKDF2", move |d: &Derive<'_>| {
        let Some(cost) = d.cost() else { return raw::FAILED };
        let [len, salt_len, out_len] = lengths(d);
        // SAFETY: every pointer covers the length beside it.
        let code = unsafe { f(d.out, d.key.as_ptr(), len, d.salt, salt_len, cost, out_len, hash) };
        done(code == 0)
    }))
}

fn scrypt(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of pwdbased.h.
    let f: ScryptFn = unsafe { request.library.object.exported("wc_scrypt") }?;
    Ok(session(request, c"wc_scrypt", move |d: &Derive<'_>| {
        let [len, salt_len, out_len] = lengths(d);
        let log_n = d.kib().ilog2() as c_int;
        // SAFETY: every pointer covers the length beside it.
        let code = unsafe { f(d.out, d.key.as_ptr(), len, d.salt, salt_len, log_n, 8, 1, out_len) };
        done(code == 0)
    }))
}

fn argon2(request: &Request<'_>, variant: c_int, passes: u8) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of argon2.h.
    let f: Argon2Fn = unsafe { request.library.object.exported("wc_Argon2") }?;
    Ok(session(request, c"wc_Argon2", move |d: &Derive<'_>| {
        let [len, salt_len, out_len, kib] =
            [d.key.len(), d.salt_len, d.out_len, d.kib()].map(Derive::len::<u32>);
        let (key, passes) = (d.key.as_ptr(), u32::from(passes));
        // SAFETY: every pointer covers the length beside it.
        let code =
            unsafe { f(variant, d.out, out_len, key, len, d.salt, salt_len, 1, kib, passes) };
        done(code == 0)
    }))
}

fn hkdf(request: &Request<'_>, hash: c_int) -> Result<raw::Session, OpenError> {
    // SAFETY: the type is that of hmac.h.
    let f: HkdfFn = unsafe { request.library.object.exported("wc_HKDF") }?;
    Ok(session(request, c"wc_HKDF", move |d: &Derive<'_>| {
        let Some(info_len) = d.cost() else { return raw::FAILED };
        let (key, len, salt_len) =
            (d.key.as_ptr(), Derive::len(d.key.len()), Derive::len(d.salt_len));
        let out_len = Derive::len(d.out_len);
        // SAFETY: every pointer covers the length beside it.
        let code = unsafe { f(hash, key, len, d.salt, salt_len, d.info, info_len, d.out, out_len) };
        done(code == 0)
    }))
}

/// Of passphrase, salt and output.
fn lengths(d: &Derive<'_>) -> [c_int; 3] {
    [d.key.len(), d.salt_len, d.out_len].map(Derive::len)
}
