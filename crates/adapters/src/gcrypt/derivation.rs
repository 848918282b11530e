//! Key derivation: `gcry_kdf_derive`, and for Argon2 `gcry_kdf_open` and what follows it, which 1.10 brought.

use crate::derivation::{Derive, session};
use crate::gcrypt::{Error, Handle, Request, absent, digest_number, missing};
use base::model::{Mode, Primitive};
use contract::{OpenError, functions, raw};
use std::ffi::{c_int, c_uint, c_ulong, c_void};
use std::ptr;

/// `GCRY_KDF_ITERSALTED_S2K`, `GCRY_KDF_PBKDF2`, `GCRY_KDF_SCRYPT`, `GCRY_KDF_ARGON2`
const S2K: c_int = 19;
const PBKDF2: c_int = 34;
const SCRYPT: c_int = 48;
const ARGON2: c_int = 64;

functions! {
    /// Of gcrypt.h.
    pub(super) struct KdfApi
    required {
        /// Passphrase and its length, function, hash or N, salt and its length, iterations, length of the key, key.
        gcry_kdf_derive: fn(*const c_void, usize, c_int, c_int, *const c_void, usize, c_ulong, usize, *mut c_void) -> Error;
    }
    optional {
        /// Handle, function, variant, numbers and how many, passphrase, salt, key, associated data.
        gcry_kdf_open: fn(*mut Handle, c_int, c_int, *const c_ulong, c_uint, *const c_void, usize, *const c_void, usize, *const c_void, usize, *const c_void, usize) -> Error;
        /// Handle, what threads are made with.
        gcry_kdf_compute: fn(Handle, *const c_void) -> Error;
        /// Handle, length, key.
        gcry_kdf_final: fn(Handle, usize, *mut c_void) -> Error;
        gcry_kdf_close: fn(Handle);
    }
}

impl Request<'_> {
    pub(super) fn derivation(&self) -> Result<raw::Session, OpenError> {
        let none = || absent(self.algorithm);
        let api = self.library.kdf.ok_or_else(|| missing("gcry_kdf_derive"))?;
        let number = || digest_number(self.algorithm).ok_or_else(none);
        match (self.algorithm.mode, self.algorithm.cipher) {
            (Mode::Pbkdf2, _) => {
                let hash = number()?;
                self.simple(api, move |d| Some((PBKDF2, hash, d.cost()?)))
            }
            (Mode::S2k, _) => {
                let hash = number()?;
                self.simple(api, move |d| Some((S2K, hash, d.cost()?)))
            }
            // N, and p in the iterations' place; r is 8.
            (Mode::MemoryHard, Primitive::Scrypt) => {
                self.simple(api, |d| Some((SCRYPT, d.kib().try_into().ok()?, 1)))
            }
            (Mode::MemoryHard, Primitive::Argon2d { passes }) => self.argon2(api, 0, passes),
            (Mode::MemoryHard, Primitive::Argon2i { passes }) => self.argon2(api, 1, passes),
            (Mode::MemoryHard, Primitive::Argon2id { passes }) => self.argon2(api, 2, passes),
            _ => Err(none()),
        }
    }

    /// One call; `numbers` are function, hash or N, and iterations.
    fn simple(
        &self,
        api: KdfApi,
        numbers: impl Fn(&Derive<'_>) -> Option<(c_int, c_int, c_ulong)> + 'static,
    ) -> Result<raw::Session, OpenError> {
        Ok(session(self, c"gcry_kdf_derive", move |d: &Derive<'_>| {
            let Some((function, hash, iterations)) = numbers(d) else { return raw::FAILED };
            let (key, len, salt, out) =
                (d.key.as_ptr().cast(), d.key.len(), d.salt.cast(), d.out.cast());
            // SAFETY: every pointer covers the length beside it.
            let error = unsafe {
                (api.gcry_kdf_derive)(
                    key, len, function, hash, salt, d.salt_len, iterations, d.out_len, out,
                )
            };
            done(error)
        }))
    }

    fn argon2(&self, api: KdfApi, variant: c_int, passes: u8) -> Result<raw::Session, OpenError> {
        let lacking = || missing("gcry_kdf_open");
        let open = api.gcry_kdf_open.ok_or_else(lacking)?;
        let compute = api.gcry_kdf_compute.ok_or_else(lacking)?;
        let finish = api.gcry_kdf_final.ok_or_else(lacking)?;
        let close = api.gcry_kdf_close.ok_or_else(lacking)?;
        let call = c"gcry_kdf_open, gcry_kdf_compute, gcry_kdf_final, gcry_kdf_close";
        Ok(session(self, call, move |d: &Derive<'_>| {
            let numbers: [c_ulong; 4] =
                [d.out_len as c_ulong, c_ulong::from(passes), d.kib() as c_ulong, 1];
            let (key, len, salt) = (d.key.as_ptr().cast(), d.key.len(), d.salt.cast());
            let mut handle = ptr::null_mut();
            // SAFETY: every pointer covers the length beside it; neither key nor associated data; no threads; the handle
            // is closed once.
            unsafe {
                let error = open(
                    &raw mut handle,
                    ARGON2,
                    variant,
                    numbers.as_ptr(),
                    4,
                    key,
                    len,
                    salt,
                    d.salt_len,
                    ptr::null(),
                    0,
                    ptr::null(),
                    0,
                );
                if error != 0 {
                    return done(error);
                }
                let computed = compute(handle, ptr::null());
                let error =
                    if computed == 0 { finish(handle, d.out_len, d.out.cast()) } else { computed };
                close(handle);
                done(error)
            }
        }))
    }
}

fn done(error: Error) -> i32 {
    if error == 0 { raw::OK } else { raw::FAILED }
}
