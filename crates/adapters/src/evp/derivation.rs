//! Key derivation: `PKCS5_PBKDF2_HMAC` and `EVP_PBE_scrypt`, which every library of the family has in some form; `HKDF`
//! of BoringSSL and those after it; `EVP_KDF` of OpenSSL 3 for HKDF and, since 3.2, Argon2.

use crate::derivation::{Derive, done, session};
use crate::evp::digest::find_digest;
use crate::evp::{Errors, Evp, Method, Offer, Param, Ways, find_method};
use crate::family::{In, Object, Out, Request};
use crate::random;
use base::model::{Mode, Primitive, RANDOM};
use contract::{functions, raw};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

/// `PKCS5_PBKDF2_HMAC` of OpenSSL and LibreSSL: passphrase and its length, salt and its length, iterations, digest, bytes
/// of output, output.
type Pbkdf2Fn =
    unsafe extern "C" fn(In, c_int, In, c_int, c_int, *const c_void, c_int, Out) -> c_int;
/// The same of BoringSSL and AWS-LC.
type Pbkdf2SizeFn =
    unsafe extern "C" fn(In, usize, In, usize, u32, *const c_void, usize, Out) -> c_int;
/// `EVP_PBE_scrypt`: passphrase, salt, N, r, p, most memory, output.
type ScryptFn = unsafe extern "C" fn(In, usize, In, usize, u64, u64, u64, u64, Out, usize) -> c_int;
/// `HKDF`: output, digest, secret, salt, info.
type HkdfFn =
    unsafe extern "C" fn(Out, usize, *const c_void, In, usize, In, usize, In, usize) -> c_int;

functions! {
    /// Of kdf.h, from OpenSSL 3 on.
    struct EvpKdf {
        EVP_KDF_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_KDF_free: fn(*mut c_void);
        EVP_KDF_CTX_new: fn(*mut c_void) -> *mut c_void;
        EVP_KDF_CTX_free: fn(*mut c_void);
        EVP_KDF_derive: fn(*mut c_void, Out, usize, *const Param) -> c_int;
    }
}

const KDF: Ways = Ways { fetch: "EVP_KDF_fetch", free: "EVP_KDF_free", by_name: "" };

impl Request<'_, Evp> {
    pub(super) fn derivation(&self) -> Offer {
        match (self.algorithm.mode, self.algorithm.cipher) {
            (Mode::Pbkdf2, _) => self.pbkdf2().map(Ok),
            (Mode::MemoryHard, Primitive::Scrypt) => self.scrypt().map(Ok),
            (Mode::MemoryHard, Primitive::Argon2d { passes }) => self.argon2(c"ARGON2D", passes),
            (Mode::MemoryHard, Primitive::Argon2i { passes }) => self.argon2(c"ARGON2I", passes),
            (Mode::MemoryHard, Primitive::Argon2id { passes }) => self.argon2(c"ARGON2ID", passes),
            (Mode::Hkdf, _) => self.hkdf().map(Ok).or_else(|| self.evp_hkdf()),
            _ => None,
        }
    }

    fn digest_below(&self) -> Option<Method> {
        let (name, len) = match self.algorithm.cipher {
            Primitive::Sha1 => ("sha1", 20),
            Primitive::Sha256 => ("sha256", 32),
            Primitive::Sha512 => ("sha512", 64),
            _ => return None,
        };
        find_digest(&self.library.object, self.library.api.errors, name, len)
    }

    /// Whether the provider that was chosen lacks what a function outside `EVP_KDF` and `EVP_RAND` fetches for itself.
    fn is_lacking(&self, ways: &Ways, name: &CStr) -> bool {
        let lacks =
            self.library.has_chosen && find_method(&self.library.object, ways, name, "").is_none();
        self.library.api.errors.clear();
        lacks
    }

    fn pbkdf2(&self) -> Option<raw::Session> {
        if self.is_lacking(&KDF, c"PBKDF2") {
            return None;
        }
        let (object, errors) = (&self.library.object, self.library.api.errors);
        let (md, call) = (self.digest_below()?, c"PKCS5_PBKDF2_HMAC");
        if self.has_sizes() {
            // SAFETY: the type is that of these two's evp.h.
            let f = unsafe { object.function::<Pbkdf2SizeFn>("PKCS5_PBKDF2_HMAC") }?;
            return Some(session(self, call, move |d: &Derive<'_>| {
                let (key, len) = (d.key.as_ptr(), d.key.len());
                let Some(cost) = d.cost() else { return raw::FAILED };
                // SAFETY: every pointer covers the length beside it; a digest of this library.
                let code =
                    unsafe { f(key, len, d.salt, d.salt_len, cost, md.as_ptr(), d.out_len, d.out) };
                checked(errors, code)
            }));
        }
        // SAFETY: the type is that of evp.h, where the passphrase is a `char *`.
        let f = unsafe { object.function::<Pbkdf2Fn>("PKCS5_PBKDF2_HMAC") }?;
        Some(session(self, call, move |d: &Derive<'_>| {
            let [len, salt_len, out_len] =
                [d.key.len(), d.salt_len, d.out_len].map(Derive::len::<c_int>);
            let Some(cost) = d.cost() else { return raw::FAILED };
            // SAFETY: every pointer covers the length beside it; a digest of this library.
            let code = unsafe {
                f(d.key.as_ptr(), len, d.salt, salt_len, cost, md.as_ptr(), out_len, d.out)
            };
            checked(errors, code)
        }))
    }

    fn scrypt(&self) -> Option<raw::Session> {
        if self.is_lacking(&KDF, c"SCRYPT") {
            return None;
        }
        let errors = self.library.api.errors;
        // SAFETY: the type is that of evp.h.
        let f = unsafe { self.library.object.function::<ScryptFn>("EVP_PBE_scrypt") }?;
        Some(session(self, c"EVP_PBE_scrypt", move |d: &Derive<'_>| {
            let (key, len, n) = (d.key.as_ptr(), d.key.len(), d.kib() as u64);
            // Its own bound is 32 MiB; beside N blocks it has some more.
            let most = 2 * d.cost as u64 + (1 << 20);
            // SAFETY: every pointer covers the length beside it.
            let code = unsafe { f(key, len, d.salt, d.salt_len, n, 8, 1, most, d.out, d.out_len) };
            checked(errors, code)
        }))
    }

    fn hkdf(&self) -> Option<raw::Session> {
        let (md, errors) = (self.digest_below()?, self.library.api.errors);
        // SAFETY: the type is that of hkdf.h.
        let f = unsafe { self.library.object.function::<HkdfFn>("HKDF") }?;
        Some(session(self, c"HKDF", move |d: &Derive<'_>| {
            let (key, len, md) = (d.key.as_ptr(), d.key.len(), md.as_ptr());
            // SAFETY: every pointer covers the length beside it; a digest of this library.
            let code =
                unsafe { f(d.out, d.out_len, md, key, len, d.salt, d.salt_len, d.info, d.cost) };
            checked(errors, code)
        }))
    }

    fn evp_hkdf(&self) -> Offer {
        if ["3.0.", "3.1."].iter().any(|old| self.library.product.version.starts_with(old)) {
            // In a confined worker 3.0.19 reads at address 0 here, and in a program of its own it does not.
            return None;
        }
        let digest: &'static CStr = match self.algorithm.cipher {
            Primitive::Sha256 => c"sha256",
            _ => c"sha512",
        };
        self.evp_kdf(c"HKDF", move |kdf, d| {
            let params = [
                Param::text(c"digest", digest),
                Param::bytes(c"key", d.key.as_ptr(), d.key.len()),
                Param::bytes(c"salt", d.salt, d.salt_len),
                Param::bytes(c"info", d.info, d.cost),
                Param::END,
            ];
            kdf.derive(d, &params)
        })
    }

    fn argon2(&self, name: &'static CStr, passes: u8) -> Offer {
        self.evp_kdf(name, move |kdf, d| {
            let (passes, lanes, kib) = (usize::from(passes), 1, d.kib());
            let params = [
                Param::bytes(c"pass", d.key.as_ptr(), d.key.len()),
                Param::bytes(c"salt", d.salt, d.salt_len),
                Param::number(c"iter", &passes),
                Param::number(c"lanes", &lanes),
                Param::number(c"threads", &lanes),
                Param::number(c"memcost", &kib),
                Param::END,
            ];
            kdf.derive(d, &params)
        })
    }

    fn evp_kdf(&self, name: &CStr, derive: impl Fn(&Kdf, &Derive<'_>) -> bool + 'static) -> Offer {
        let errors = self.library.api.errors;
        let kdf = Kdf::fetch(EvpKdf::of(&self.library.object).ok()?, name);
        errors.clear();
        let kdf = kdf?;
        Some(Ok(session(self, c"EVP_KDF_derive", move |d: &Derive<'_>| {
            checked(errors, c_int::from(derive(&kdf, d)))
        })))
    }
}

impl Request<'_, Evp> {
    /// `RAND_bytes`
    pub(super) fn random(&self) -> Option<raw::Session> {
        /// Of OpenSSL and LibreSSL.
        type BytesFn = unsafe extern "C" fn(Out, c_int) -> c_int;
        /// Of BoringSSL and AWS-LC.
        type BytesSizeFn = unsafe extern "C" fn(Out, usize) -> c_int;
        /// The kind of generator that `RAND_bytes` makes by default.
        const RAND: Ways = Ways { fetch: "EVP_RAND_fetch", free: "EVP_RAND_free", by_name: "" };
        if self.algorithm.name != RANDOM || self.is_lacking(&RAND, c"CTR-DRBG") {
            return None;
        }
        let (object, errors, call) = (&self.library.object, self.library.api.errors, c"RAND_bytes");
        if self.has_sizes() {
            // SAFETY: the type is that of these two's rand.h.
            let f = unsafe { object.function::<BytesSizeFn>("RAND_bytes") }?;
            return Some(random::session(call, move |out, len| {
                // SAFETY: the output covers its length.
                checked(errors, unsafe { f(out, len) })
            }));
        }
        // SAFETY: the type is that of rand.h.
        let f = unsafe { object.function::<BytesFn>("RAND_bytes") }?;
        Some(random::session(call, move |out, len| {
            // SAFETY: the output covers its length, which is at most some MiB.
            checked(errors, unsafe { f(out, len as c_int) })
        }))
    }

    /// Whether functions take lengths as `size_t`, where OpenSSL's take `int`.
    fn has_sizes(&self) -> bool {
        matches!(self.library.product.title.as_str(), "BoringSSL" | "AWS-LC")
    }
}

fn checked(errors: Errors, code: c_int) -> i32 {
    if code <= 0 {
        errors.clear();
    }
    done(code > 0)
}

/// A context, which all calls share.
struct Kdf {
    functions: EvpKdf,
    ctx: Object,
}

impl Kdf {
    /// `None` where the library has no such function.
    fn fetch(functions: EvpKdf, name: &CStr) -> Option<Self> {
        // SAFETY: the default context and properties, and a NUL-terminated name; the context keeps the method.
        let raw = unsafe {
            let kdf = (functions.EVP_KDF_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null());
            if kdf.is_null() {
                return None;
            }
            let raw = (functions.EVP_KDF_CTX_new)(kdf);
            (functions.EVP_KDF_free)(kdf);
            raw
        };
        Some(Self { functions, ctx: Object::of(raw, functions.EVP_KDF_CTX_free)? })
    }

    fn derive(&self, d: &Derive<'_>, params: &[Param]) -> bool {
        // SAFETY: a context of ours; the list ends with `END`, and what it points to outlives the call.
        unsafe {
            (self.functions.EVP_KDF_derive)(self.ctx.raw, d.out, d.out_len, params.as_ptr()) > 0
        }
    }
}
