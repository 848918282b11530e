//! Poly1305 by `CRYPTO_poly1305_*`: LibreSSL, BoringSSL, AWS-LC.

use crate::aligned::Aligned;
use crate::bytes::{In, Out};
use crate::evp::api::Errors;
use crate::evp::parts::{self, Parts};
use contract::{functions, raw};
use std::ffi::c_void;

/// `poly1305_state *`
type Ctx = *mut c_void;

functions! {
    /// Of poly1305.h; none of them can fail.
    pub(in crate::evp) struct Poly1305 {
        CRYPTO_poly1305_init: fn(Ctx, In);
        CRYPTO_poly1305_update: fn(Ctx, In, usize);
        CRYPTO_poly1305_finish: fn(Ctx, Out);
    }
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
        unsafe { (self.functions.CRYPTO_poly1305_init)(self.room.context(), self.key.as_ptr()) };
        true
    }

    #[inline(always)]
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        unsafe { (self.functions.CRYPTO_poly1305_update)(self.room.context(), input, len) };
        true
    }

    #[inline(always)]
    unsafe fn end(&mut self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises; a tag has 16 bytes.
        unsafe { (self.functions.CRYPTO_poly1305_finish)(self.room.context(), tag) };
        true
    }
}
