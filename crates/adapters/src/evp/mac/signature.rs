//! Poly1305 by `EVP_DigestSign*`: OpenSSL 1.1.1, which has it as a kind of private key.

use crate::bytes::{In, Out};
use crate::evp::api::Errors;
use crate::evp::digest::Contexts;
use crate::evp::parts::{self, Parts};
use contract::loader::SharedObject;
use contract::{functions, raw};
use std::ffi::{c_int, c_void};
use std::ptr;

/// `EVP_PKEY_POLY1305`
const POLY1305: c_int = 1061;
/// `EVP_MD_CTX_FLAG_FINALISE`: final works on the context, not on a copy that it allocates, as
/// the documentation advises where a message does not go on behind its tag.
const FINALISE: c_int = 0x200;

/// `EVP_MD_CTX *`
type Ctx = *mut c_void;
/// `EVP_PKEY *`
type Pkey = *mut c_void;

functions! {
    /// Of evp.h; `EVP_DigestSignUpdate` is a macro for the update.
    struct Functions {
        EVP_MD_CTX_set_flags: fn(Ctx, c_int);
        EVP_PKEY_new_raw_private_key: fn(c_int, *mut c_void, In, usize) -> Pkey;
        EVP_PKEY_free: fn(Pkey);
        EVP_DigestSignInit: fn(Ctx, *mut c_void, *const c_void, *mut c_void, Pkey) -> c_int;
        EVP_DigestUpdate: fn(Ctx, In, usize) -> c_int;
        EVP_DigestSignFinal: fn(Ctx, Out, *mut usize) -> c_int;
    }
}

/// The functions of one library.
#[derive(Clone, Copy)]
pub(in crate::evp) struct DigestSign {
    contexts: Contexts,
    f: Functions,
}

impl DigestSign {
    /// `None` when one is missing.
    pub(in crate::evp) fn of(object: &SharedObject) -> Option<Self> {
        Some(Self { contexts: Contexts::load(object)?, f: Functions::of(object).ok()? })
    }

    /// Makes the key. `None` when the library has no such kind of key.
    ///
    /// # Errors
    /// Which call failed, with the library's reason.
    pub(in crate::evp) fn poly1305(
        &self,
        errors: Errors,
        key: &[u8],
        tag_len: usize,
    ) -> Option<Result<raw::Session, String>> {
        // SAFETY: no engine; the key covers its length.
        let pkey = unsafe {
            let new = self.f.EVP_PKEY_new_raw_private_key;
            new(POLY1305, ptr::null_mut(), key.as_ptr(), key.len())
        };
        if pkey.is_null() {
            errors.clear();
            return None;
        }
        let Some(ctx) = self.contexts.make() else {
            // SAFETY: just made, and not used.
            unsafe { (self.f.EVP_PKEY_free)(pkey) };
            return Some(Err(format!("EVP_MD_CTX_new: {}", errors.take())));
        };
        let state = State { ctx, pkey, functions: *self, tag_len };
        // SAFETY: a context of ours.
        unsafe { (self.f.EVP_MD_CTX_set_flags)(ctx, FINALISE) };
        let call = c"EVP_DigestSignInit, EVP_DigestUpdate, EVP_DigestSignFinal";
        Some(Ok(parts::session(state, errors, call)))
    }
}

struct State {
    ctx: Ctx,
    pkey: Pkey,
    functions: DigestSign,
    tag_len: usize,
}

impl Drop for State {
    fn drop(&mut self) {
        self.functions.contexts.free(self.ctx);
        // SAFETY: made by EVP_PKEY_new_raw_private_key and freed nowhere else.
        unsafe { (self.functions.f.EVP_PKEY_free)(self.pkey) }
    }
}

impl Parts for State {
    /// Takes the key in anew.
    #[inline(always)]
    unsafe fn begin(&mut self, _nonce: *const u8) -> bool {
        let (none, no_digest) = (ptr::null_mut(), ptr::null());
        // SAFETY: a context and a key of ours; this kind of key has no digest.
        unsafe {
            (self.functions.f.EVP_DigestSignInit)(self.ctx, none, no_digest, none, self.pkey) == 1
        }
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.f.EVP_DigestUpdate)(self.ctx, input, len) == 1 }
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        let mut len = self.tag_len;
        // SAFETY: as the caller promises.
        let code = unsafe { (self.functions.f.EVP_DigestSignFinal)(self.ctx, tag, &raw mut len) };
        code == 1 && len == self.tag_len
    }
}
