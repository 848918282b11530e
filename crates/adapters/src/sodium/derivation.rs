//! Key derivation: `crypto_pwhash` for Argon2, scrypt by its own parameters, and `crypto_kdf_hkdf_*`, which 1.0.19
//! brought.

use super::{Request, absent, outcome};
use crate::derivation::{Derive, session};
use crate::family::{In, Out};
use base::model::{Mode, Primitive};
use contract::{OpenError, raw};
use std::ffi::{CStr, c_char, c_int, c_ulonglong};

/// `crypto_pwhash`: output, passphrase, salt, passes, memory, variant.
type PwhashFn = unsafe extern "C" fn(
    Out,
    c_ulonglong,
    *const c_char,
    c_ulonglong,
    In,
    c_ulonglong,
    usize,
    c_int,
) -> c_int;
/// `crypto_pwhash_scryptsalsa208sha256_ll`: passphrase, salt, N, r, p, output.
type ScryptFn = unsafe extern "C" fn(In, usize, In, usize, u64, u32, u32, Out, usize) -> c_int;
/// `crypto_kdf_hkdf_*_extract`: the extracted key, salt, key.
type ExtractFn = unsafe extern "C" fn(Out, In, usize, In, usize) -> c_int;
/// `crypto_kdf_hkdf_*_expand`: output, context, the extracted key.
type ExpandFn = unsafe extern "C" fn(Out, usize, *const c_char, usize, In) -> c_int;

/// `crypto_pwhash_ALG_ARGON2I13` and `_ARGON2ID13`
const ARGON2I: c_int = 1;
const ARGON2ID: c_int = 2;
/// `crypto_pwhash_SALTBYTES`
const SALT: usize = 16;
/// SHA-512's.
const LONGEST_PRK: usize = 64;

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    match (request.algorithm.mode, request.algorithm.cipher) {
        (Mode::MemoryHard, Primitive::Scrypt) => scrypt(request),
        (Mode::MemoryHard, Primitive::Argon2i { passes }) => argon2(request, ARGON2I, passes),
        (Mode::MemoryHard, Primitive::Argon2id { passes }) => argon2(request, ARGON2ID, passes),
        (Mode::Hkdf, Primitive::Sha256) => {
            let call = c"crypto_kdf_hkdf_sha256_extract, crypto_kdf_hkdf_sha256_expand";
            hkdf(request, "sha256", call)
        }
        (Mode::Hkdf, Primitive::Sha512) => {
            let call = c"crypto_kdf_hkdf_sha512_extract, crypto_kdf_hkdf_sha512_expand";
            hkdf(request, "sha512", call)
        }
        _ => Err(absent(request.algorithm)),
    }
}

fn argon2(request: &Request<'_>, variant: c_int, passes: u8) -> Result<raw::Session, OpenError> {
    if request.algorithm.nonce_len != SALT {
        return Err(OpenError::Unsupported(format!("libsodium takes salts of {SALT} bytes only")));
    }
    // SAFETY: the type is that of crypto_pwhash.h.
    let f: PwhashFn = unsafe { request.library.get("crypto_pwhash") }?;
    Ok(session(request, c"crypto_pwhash", move |d: &Derive<'_>| {
        let (key, len) = (d.key.as_ptr().cast(), d.key.len() as c_ulonglong);
        let (out_len, passes) = (d.out_len as c_ulonglong, c_ulonglong::from(passes));
        // SAFETY: every pointer covers the length beside it, the salt that of all salts.
        outcome(unsafe { f(d.out, out_len, key, len, d.salt, passes, d.cost, variant) })
    }))
}

fn scrypt(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let name = c"crypto_pwhash_scryptsalsa208sha256_ll";
    // SAFETY: the type is that of crypto_pwhash_scryptsalsa208sha256.h.
    let f: ScryptFn = unsafe { request.library.get(crate::family::symbol(name)) }?;
    Ok(session(request, name, move |d: &Derive<'_>| {
        let (key, len, n) = (d.key.as_ptr(), d.key.len(), d.kib() as u64);
        // SAFETY: every pointer covers the length beside it.
        outcome(unsafe { f(key, len, d.salt, d.salt_len, n, 8, 1, d.out, d.out_len) })
    }))
}

fn hkdf(request: &Request<'_>, hash: &str, call: &'static CStr) -> Result<raw::Session, OpenError> {
    // SAFETY: the types are those of crypto_kdf_hkdf_sha256.h and _sha512.h.
    let (extract, expand): (ExtractFn, ExpandFn) = unsafe {
        (
            request.library.get(&format!("crypto_kdf_hkdf_{hash}_extract"))?,
            request.library.get(&format!("crypto_kdf_hkdf_{hash}_expand"))?,
        )
    };
    Ok(session(request, call, move |d: &Derive<'_>| {
        let (mut prk, key, len) = ([0; LONGEST_PRK], d.key.as_ptr(), d.key.len());
        // SAFETY: every pointer covers the length beside it; the extracted key has room for either hash's.
        let code = unsafe {
            match extract(prk.as_mut_ptr(), d.salt, d.salt_len, key, len) {
                0 => expand(d.out, d.out_len, d.info.cast(), d.cost, prk.as_ptr()),
                code => code,
            }
        };
        outcome(code)
    }))
}
