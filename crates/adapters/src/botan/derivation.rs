//! Key derivation: `botan_pwdhash`, which 2.8 brought, and `botan_kdf` for HKDF.

use super::{NOT_IMPLEMENTED, Request, outcome};
use crate::derivation::{Derive, session};
use base::model::{Mode, Primitive};
use contract::{OpenError, raw};
use std::ffi::{CString, c_char};

/// Three numbers by what a call is to cost.
type Numbers = Box<dyn Fn(&Derive<'_>) -> [usize; 3]>;

pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let hash = match request.algorithm.cipher {
        Primitive::Sha1 => "SHA-1",
        Primitive::Sha256 => "SHA-256",
        _ => "SHA-512",
    };
    let argon2 = |passes: u8| -> Numbers { Box::new(move |d| [d.kib(), passes.into(), 1]) };
    let (name, numbers): (String, Numbers) =
        match (request.algorithm.mode, request.algorithm.cipher) {
            (Mode::Hkdf, _) => return hkdf(request, hash),
            (Mode::Pbkdf2, _) => (format!("PBKDF2({hash})"), Box::new(|d| [d.cost, 0, 0])),
            (Mode::S2k, _) => (format!("OpenPGP-S2K({hash})"), Box::new(|d| [d.cost, 0, 0])),
            (Mode::MemoryHard, Primitive::Scrypt) => {
                ("Scrypt".to_owned(), Box::new(|d| [d.kib(), 8, 1]))
            }
            (Mode::MemoryHard, Primitive::Argon2d { passes }) => {
                ("Argon2d".to_owned(), argon2(passes))
            }
            (Mode::MemoryHard, Primitive::Argon2i { passes }) => {
                ("Argon2i".to_owned(), argon2(passes))
            }
            (Mode::MemoryHard, Primitive::Argon2id { passes }) => {
                ("Argon2id".to_owned(), argon2(passes))
            }
            _ => return Err(request.absent("Botan's C interface")),
        };
    let f = request.api().botan_pwdhash.ok_or_else(|| request.absent("this Botan"))?;
    let name = CString::new(name).expect("names have no NUL");
    let derive = move |d: &Derive<'_>| {
        let ([first, second, third], name) = (numbers(d), name.as_ptr());
        let (key, len): (*const c_char, _) = (d.key.as_ptr().cast(), d.key.len());
        // SAFETY: every pointer covers the length beside it; a NUL-terminated name.
        unsafe { f(name, first, second, third, d.out, d.out_len, key, len, d.salt, d.salt_len) }
    };
    // Builds leave functions out, and nothing but a call says which.
    let (salt, mut out) = ([0; 16], [0; 32]);
    let (salt, salt_len, out, out_len) = (salt.as_ptr(), salt.len(), out.as_mut_ptr(), out.len());
    let least = Derive { key: request.key, salt, salt_len, info: salt, cost: LEAST, out, out_len };
    match derive(&least) {
        NOT_IMPLEMENTED => Err(request.absent("this build of Botan")),
        _ => Ok(session(request, c"botan_pwdhash", move |d: &Derive<'_>| outcome(derive(d)))),
    }
}

/// A cost that all take: the least memory of Argon2.
const LEAST: usize = 8192;

fn hkdf(request: &Request<'_>, hash: &str) -> Result<raw::Session, OpenError> {
    let f = request.api().botan_kdf.ok_or_else(|| request.absent("this Botan"))?;
    let name = CString::new(format!("HKDF({hash})")).expect("names have no NUL");
    Ok(session(request, c"botan_kdf", move |d: &Derive<'_>| {
        let (name, key, len) = (name.as_ptr(), d.key.as_ptr(), d.key.len());
        // SAFETY: every pointer covers the length beside it; a NUL-terminated name.
        outcome(unsafe { f(name, d.out, d.out_len, key, len, d.salt, d.salt_len, d.info, d.cost) })
    }))
}
