//! `EVP_MAC`: OpenSSL 3 on.

use crate::bytes::{In, Out};
use crate::evp::api::Errors;
use crate::evp::cipher;
use crate::evp::params::Param;
use crate::evp::parts::{self, Parts};
use base::model::{Algorithm, Mode};
use contract::{functions, raw};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;

/// `EVP_MAC_CTX *`
type Ctx = *mut c_void;

functions! {
    /// Of evp.h, from OpenSSL 3 on.
    pub(in crate::evp) struct EvpMac {
        EVP_MAC_fetch: fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
        EVP_MAC_free: fn(*mut c_void);
        EVP_MAC_CTX_new: fn(*mut c_void) -> Ctx;
        EVP_MAC_CTX_free: fn(Ctx);
        EVP_MAC_init: fn(Ctx, In, usize, *const Param) -> c_int;
        EVP_MAC_update: fn(Ctx, In, usize) -> c_int;
        EVP_MAC_final: fn(Ctx, Out, *mut usize, usize) -> c_int;
    }
}

impl EvpMac {
    /// Does the key schedule; `None` when the library was built without the algorithm.
    ///
    /// # Errors
    /// Which call failed, with the library's reason.
    pub(in crate::evp) fn session(
        &self,
        errors: Errors,
        algorithm: &Algorithm,
        key: &[u8],
    ) -> Option<Result<raw::Session, String>> {
        let (name, anew, parameter) = match algorithm.mode {
            Mode::Hmac => {
                (c"HMAC", Anew::Nothing, Some((c"digest", algorithm.name.replace("hmac-", ""))))
            }
            Mode::Gmac => (c"GMAC", Anew::Nonce, Some((c"cipher", cipher::gcm_of(algorithm)))),
            Mode::OneTimeMac => (c"POLY1305", Anew::Key, None),
            _ => return None,
        };
        let Some(ctx) = self.context(name) else {
            errors.clear();
            return None;
        };
        let mut state = State {
            ctx,
            functions: *self,
            anew,
            nonce_len: algorithm.nonce_len,
            tag_len: algorithm.tag_len,
            key: key.to_vec(),
        };
        let call = c"EVP_MAC_init, EVP_MAC_update, EVP_MAC_final";
        Some(state.set_up(errors, parameter).map(|()| parts::session(state, errors, call)))
    }

    fn context(&self, name: &CStr) -> Option<Ctx> {
        // SAFETY: the default library context, a NUL-terminated name, no properties. The context
        // holds a reference of its own to what was fetched.
        let ctx = unsafe {
            let mac = (self.EVP_MAC_fetch)(ptr::null_mut(), name.as_ptr(), ptr::null());
            if mac.is_null() {
                return None;
            }
            let ctx = (self.EVP_MAC_CTX_new)(mac);
            (self.EVP_MAC_free)(mac);
            ctx
        };
        (!ctx.is_null()).then_some(ctx)
    }
}

/// What a message has that the one before it had not.
#[derive(Clone, Copy)]
enum Anew {
    Nothing,
    Nonce,
    /// OpenSSL takes a Poly1305 key for one message only.
    Key,
}

struct State {
    ctx: Ctx,
    functions: EvpMac,
    anew: Anew,
    nonce_len: usize,
    tag_len: usize,
    key: Vec<u8>,
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_MAC_CTX_new and is freed nowhere else.
        unsafe { (self.functions.EVP_MAC_CTX_free)(self.ctx) }
    }
}

impl State {
    /// Gives the context its digest or cipher, and its key.
    fn set_up(
        &mut self,
        errors: Errors,
        parameter: Option<(&'static CStr, String)>,
    ) -> Result<(), String> {
        let value = parameter
            .as_ref()
            .map(|(_, value)| CString::new(value.as_str()).expect("names have no NUL"));
        let first = parameter.zip(value.as_ref()).map(|((key, _), v)| Param::text(key, v));
        let params = [first.unwrap_or(Param::END), Param::END];
        // SAFETY: the key covers its length; the list ends with `END`, and its text outlives the
        // call.
        let code = unsafe {
            (self.functions.EVP_MAC_init)(
                self.ctx,
                self.key.as_ptr(),
                self.key.len(),
                params.as_ptr(),
            )
        };
        if code > 0 { Ok(()) } else { Err(format!("EVP_MAC_init: {}", errors.take())) }
    }
}

impl Parts for State {
    /// Keeps key and parameters but for what the MAC has anew for each message.
    #[inline(always)]
    unsafe fn begin(&mut self, nonce: *const u8) -> bool {
        let (mut key, mut key_len, mut params) = (ptr::null(), 0, [Param::END, Param::END]);
        match self.anew {
            Anew::Nothing => {}
            Anew::Nonce => params[0] = Param::bytes(c"iv", nonce, self.nonce_len),
            Anew::Key => (key, key_len) = (self.key.as_ptr(), self.key.len()),
        }
        // SAFETY: the key covers its length, the nonce too; the list ends with `END`.
        unsafe { (self.functions.EVP_MAC_init)(self.ctx, key, key_len, params.as_ptr()) > 0 }
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.EVP_MAC_update)(self.ctx, input, len) > 0 }
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        let mut len = 0;
        // SAFETY: as the caller promises.
        let code =
            unsafe { (self.functions.EVP_MAC_final)(self.ctx, tag, &raw mut len, self.tag_len) };
        code > 0 && len == self.tag_len
    }
}
