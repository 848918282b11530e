//! GMAC: GCM whose message is all associated data.

use super::Request;
use super::aead::{BytesFn, DoneFn, TAG};
use super::api::{Index, outcome};
use super::gcm::{self, ResetFn};
use crate::aligned::Aligned;
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ffi::{c_int, c_ulong, c_void};

struct State {
    message: Aligned,
    stream: Aligned,
    reset: ResetFn,
    add_iv: BytesFn,
    add_aad: BytesFn,
    done: DoneFn,
}

pub(super) fn open(request: &Request<'_>, cipher: Index) -> Result<raw::Session, OpenError> {
    let api = request.library;
    // SAFETY: the types are those of tomcrypt_mac.h for the symbols named.
    let state = unsafe {
        State {
            message: gcm::memory(request, cipher)?,
            stream: gcm::memory(request, cipher)?,
            reset: api.object.offered("gcm_reset")?,
            add_iv: api.object.offered("gcm_add_iv")?,
            add_aad: api.object.offered("gcm_add_aad")?,
            done: api.object.offered("gcm_done")?,
        }
    };
    Ok(Table::new(state, raw::IN_PLACE, c"gcm_reset, gcm_add_iv, gcm_add_aad, gcm_done")
        .parts()
        .raw())
}

impl State {
    /// # Safety
    /// `tag` covers 16 bytes.
    #[inline]
    unsafe fn end(&self, context: *mut c_void, tag: *mut u8) -> c_int {
        let mut len = TAG as c_ulong;
        // SAFETY: the caller's promise.
        unsafe { (self.done)(context, tag, &raw mut len) }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        let context = self.message.context();
        calls!(
            (self.reset)(context),
            (self.add_iv)(context, m.nonce, 12),
            (self.add_aad)(context, m.input, m.len as c_ulong),
            self.end(context, m.tag),
        )
    }

    fn start(&mut self, nonce) {
        let context = self.stream.context();
        calls!((self.reset)(context), (self.add_iv)(context, nonce, 12))
    }

    fn update(&mut self, input, _output, len) {
        calls!((self.add_aad)(self.stream.context(), input, len as c_ulong))
    }

    fn finish(&mut self, tag) {
        calls!(self.end(self.stream.context(), tag))
    }
}
