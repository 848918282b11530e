//! HMAC by `HMAC_CTX`: OpenSSL before 3, LibreSSL, BoringSSL, AWS-LC.

use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::evp::api::Errors;
use crate::evp::method::Method;
use crate::evp::parts::{self, Parts};
use contract::loader::SharedObject;
use contract::raw;
use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

/// `HMAC_CTX *`
type Ctx = *mut c_void;

/// The functions of one library.
#[derive(Clone, Copy)]
pub(in crate::evp) struct Hmac {
    making: Making,
    /// `HMAC_Init_ex(ctx, key, key_len, md, engine)`; the length is an `int` or a `size_t`, which
    /// differ in nothing that is passed here.
    init: unsafe extern "C" fn(Ctx, In, usize, *const c_void, *mut c_void) -> c_int,
    update: unsafe extern "C" fn(Ctx, In, usize) -> c_int,
    finish: unsafe extern "C" fn(Ctx, Out, *mut c_uint) -> c_int,
}

/// How a context is made and freed.
#[derive(Clone, Copy)]
enum Making {
    /// By the library: `HMAC_CTX_new`, `HMAC_CTX_free`.
    New(unsafe extern "C" fn() -> Ctx, unsafe extern "C" fn(Ctx)),
    /// In memory of the caller's, before OpenSSL 1.1.0: `HMAC_CTX_init`, `HMAC_CTX_cleanup`.
    Init(unsafe extern "C" fn(Ctx), unsafe extern "C" fn(Ctx)),
}

/// Bytes for an `HMAC_CTX`, whose size only the header knows: under 300 in OpenSSL 1.0.2.
const CTX_LEN: usize = 2048;

impl Hmac {
    /// `None` when one is missing.
    pub(in crate::evp) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of hmac.h.
        unsafe {
            let new = object.function("HMAC_CTX_new").zip(object.function("HMAC_CTX_free"));
            let init = object.function("HMAC_CTX_init").zip(object.function("HMAC_CTX_cleanup"));
            Some(Self {
                making: new
                    .map(|(new, free)| Making::New(new, free))
                    .or_else(|| init.map(|(init, cleanup)| Making::Init(init, cleanup)))?,
                init: object.function("HMAC_Init_ex")?,
                update: object.function("HMAC_Update")?,
                finish: object.function("HMAC_Final")?,
            })
        }
    }

    /// Does the key schedule: the digest's states behind the inner and the outer pad.
    ///
    /// # Errors
    /// Which call failed, with the library's reason.
    pub(in crate::evp) fn session(
        &self,
        errors: Errors,
        digest: Method,
        tag_len: usize,
        key: &[u8],
    ) -> Result<raw::Session, String> {
        let room = Aligned::zeroed(CTX_LEN);
        // SAFETY: `room` is large enough for any context.
        let ctx = unsafe {
            match self.making {
                Making::New(new, _) => new(),
                Making::Init(init, _) => {
                    init(room.context());
                    room.context()
                }
            }
        };
        if ctx.is_null() {
            return Err(format!("HMAC_CTX_new: {}", errors.take()));
        }
        let state = State { ctx, functions: *self, tag_len, _room: room, _digest: digest };
        // SAFETY: a fresh context; the key covers its length; no engine.
        let code = unsafe {
            let digest = state._digest.as_ptr();
            (self.init)(ctx, key.as_ptr(), key.len(), digest, ptr::null_mut())
        };
        if code != 1 {
            return Err(format!("HMAC_Init_ex: {}", errors.take()));
        }
        Ok(parts::session(state, errors, c"HMAC_Init_ex, HMAC_Update, HMAC_Final"))
    }
}

struct State {
    ctx: Ctx,
    functions: Hmac,
    tag_len: usize,
    /// Where `ctx` points with [`Making::Init`].
    _room: Aligned,
    /// The context points to it.
    _digest: Method,
}

impl Drop for State {
    fn drop(&mut self) {
        let (Making::New(_, free) | Making::Init(_, free)) = self.functions.making;
        // SAFETY: made by the function that this one belongs to, and freed nowhere else.
        unsafe { free(self.ctx) }
    }
}

impl Parts for State {
    /// No key and no digest keep those that were set, and nothing of them is computed again.
    #[inline(always)]
    unsafe fn begin(&mut self, _nonce: *const u8) -> bool {
        let Hmac { init, .. } = self.functions;
        // SAFETY: a context of ours, with its key.
        unsafe { init(self.ctx, ptr::null(), 0, ptr::null(), ptr::null_mut()) == 1 }
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.update)(self.ctx, input, len) == 1 }
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        let mut len: c_uint = 0;
        // SAFETY: as the caller promises; the digest has `tag_len` bytes.
        let code = unsafe { (self.functions.finish)(self.ctx, tag, &raw mut len) };
        code == 1 && len as usize == self.tag_len
    }
}
