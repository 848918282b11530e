//! Poly1305 by `CRYPTO_poly1305_*`: LibreSSL, BoringSSL, AWS-LC.

use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::evp::api::Errors;
use crate::evp::parts::{self, Parts};
use contract::loader::SharedObject;
use contract::raw;
use std::ffi::c_void;

/// `poly1305_state *`
type Ctx = *mut c_void;

/// The functions of one library; none of them can fail.
#[derive(Clone, Copy)]
pub(in crate::evp) struct Poly1305 {
    init: unsafe extern "C" fn(Ctx, In),
    update: unsafe extern "C" fn(Ctx, In, usize),
    finish: unsafe extern "C" fn(Ctx, Out),
}

/// Bytes for a `poly1305_state`, whose size only the header knows: 512 in BoringSSL and AWS-LC, 144
/// in LibreSSL.
const STATE_LEN: usize = 4096;

struct State {
    room: Aligned,
    functions: Poly1305,
    key: [u8; 32],
}

impl Poly1305 {
    /// `None` when one is missing.
    pub(in crate::evp) fn load(object: &SharedObject) -> Option<Self> {
        // SAFETY: the types are those of poly1305.h.
        unsafe {
            Some(Self {
                init: object.function("CRYPTO_poly1305_init")?,
                update: object.function("CRYPTO_poly1305_update")?,
                finish: object.function("CRYPTO_poly1305_finish")?,
            })
        }
    }

    /// The key is taken in anew for each message: it is made for one alone (RFC 8439 §2.5).
    pub(in crate::evp) fn session(&self, errors: Errors, key: [u8; 32]) -> raw::Session {
        let state = State { room: Aligned::zeroed(STATE_LEN), functions: *self, key };
        let call = c"CRYPTO_poly1305_init, CRYPTO_poly1305_update, CRYPTO_poly1305_finish";
        parts::session(state, errors, call)
    }
}

impl Parts for State {
    #[inline(always)]
    unsafe fn begin(&mut self, _nonce: *const u8) -> bool {
        // SAFETY: the room holds any state; the key has 32 bytes.
        unsafe { (self.functions.init)(self.room.context(), self.key.as_ptr()) };
        true
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.update)(self.room.context(), input, len) };
        true
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises; a tag has 16 bytes.
        unsafe { (self.functions.finish)(self.room.context(), tag) };
        true
    }
}
