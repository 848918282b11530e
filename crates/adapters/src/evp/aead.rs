//! `EVP_AEAD` of BoringSSL and its descendants, for what they do not have as an `EVP_CIPHER`.

use super::api::Errors;
use crate::loader::SharedObject;
use contract::raw;
use model::{Algorithm, Direction};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;

/// The getter of the one algorithm that is taken from here.
pub(super) const CHACHA20_POLY1305: &str = "EVP_aead_chacha20_poly1305";

/// `CIPHER_R_BAD_DECRYPT`: the tag is wrong, as against "too large" and the like.
const BAD_DECRYPT: c_ulong = 101;

/// `EVP_AEAD_CTX *`
type Ctx = *mut c_void;
type GetterFn = unsafe extern "C" fn() -> *const c_void;
type NewFn = unsafe extern "C" fn(*const c_void, *const u8, usize, usize) -> Ctx;
type FreeFn = unsafe extern "C" fn(Ctx);

/// `EVP_AEAD_CTX_seal_scatter(ctx, out, out_tag, out_tag_len, max_out_tag_len, nonce, nonce_len,
/// in, in_len, extra_in, extra_in_len, ad, ad_len)`
type SealFn = unsafe extern "C" fn(
    Ctx,
    *mut u8,
    *mut u8,
    *mut usize,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;

/// `EVP_AEAD_CTX_open_gather(ctx, out, nonce, nonce_len, in, in_len, in_tag, in_tag_len, ad,
/// ad_len)`
type OpenFn = unsafe extern "C" fn(
    Ctx,
    *mut u8,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
) -> c_int;

/// The functions that keep the tag apart from the ciphertext.
#[derive(Clone, Copy)]
pub(super) struct Aead {
    getter: GetterFn,
    new: NewFn,
    free: FreeFn,
    seal: SealFn,
    open: OpenFn,
}

impl Aead {
    /// `None` when one is missing.
    pub(super) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of aead.h.
        unsafe {
            Some(Self {
                getter: object.function(CHACHA20_POLY1305)?,
                new: object.function("EVP_AEAD_CTX_new")?,
                free: object.function("EVP_AEAD_CTX_free")?,
                seal: object.function("EVP_AEAD_CTX_seal_scatter")?,
                open: object.function("EVP_AEAD_CTX_open_gather")?,
            })
        }
    }

    /// Does the key schedule.
    ///
    /// # Errors
    /// The library's reason.
    pub(super) fn open(
        &self,
        errors: Errors,
        algorithm: &Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<raw::Session, String> {
        // SAFETY: the getter takes nothing; `key` covers its length.
        let ctx =
            unsafe { (self.new)((self.getter)(), key.as_ptr(), key.len(), algorithm.tag_len) };
        if ctx.is_null() {
            return Err(format!("EVP_AEAD_CTX_new: {}", errors.take()));
        }
        let Algorithm { nonce_len, tag_len, .. } = *algorithm;
        let state = State { ctx, functions: *self, nonce_len, tag_len, errors };
        let encrypts = direction == Direction::Encrypt;
        Ok(raw::Session {
            state: Box::into_raw(Box::new(state)).cast(),
            flags: raw::IN_PLACE,
            message: Some(if encrypts { encrypt } else { decrypt }),
            // The interface takes whole messages only.
            start: None,
            update: None,
            close: Some(close),
            ..raw::Session::empty()
        })
    }
}

struct State {
    ctx: Ctx,
    functions: Aead,
    nonce_len: usize,
    tag_len: usize,
    errors: Errors,
}

impl Drop for State {
    fn drop(&mut self) {
        // SAFETY: the context came from EVP_AEAD_CTX_new and is freed nowhere else.
        unsafe { (self.functions.free)(self.ctx) }
    }
}

impl State {
    #[cold]
    fn failed(&self) -> i32 {
        self.errors.clear();
        raw::FAILED
    }

    #[cold]
    fn not_opened(&self) -> i32 {
        let rejected = self.errors.last_reason() == BAD_DECRYPT;
        self.errors.clear();
        if rejected { raw::REJECTED } else { raw::FAILED }
    }
}

/// Frees the state.
unsafe extern "C" fn close(state: *mut c_void) {
    // SAFETY: `open` made it of a box; the contract has `close` called once, last.
    drop(unsafe { Box::from_raw(state.cast::<State>()) });
}

/// One call seals the whole message.
unsafe extern "C" fn encrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`; no extra input.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        let mut tag_len = 0;
        let code = (s.functions.seal)(
            s.ctx,
            m.output,
            m.tag,
            &raw mut tag_len,
            s.tag_len,
            m.nonce,
            s.nonce_len,
            m.input,
            m.len,
            ptr::null(),
            0,
            m.aad,
            m.aad_len,
        );
        if code == 1 && tag_len == s.tag_len { raw::OK } else { s.failed() }
    }
}

/// One call opens the whole message.
unsafe extern "C" fn decrypt(state: *mut c_void, message: *const raw::Message) -> i32 {
    // SAFETY: the contract of `message`.
    unsafe {
        let (s, m) = (&*state.cast::<State>(), &*message);
        let code = (s.functions.open)(
            s.ctx,
            m.output,
            m.nonce,
            s.nonce_len,
            m.input,
            m.len,
            m.tag,
            s.tag_len,
            m.aad,
            m.aad_len,
        );
        if code == 1 { raw::OK } else { s.not_opened() }
    }
}
