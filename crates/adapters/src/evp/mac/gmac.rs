//! GMAC by GCM's `EVP_CIPHER`: a message of associated data alone. For libraries without
//! `EVP_MAC`.

use crate::evp::api::Api;
use crate::evp::calls;
use crate::evp::context::Context;
use crate::evp::state::State;
use crate::family::operations;
use base::model::{Algorithm, Direction};
use contract::{Table, raw};
use std::ptr;

/// The table for the timing loop; `close` there frees the context.
pub(in crate::evp) fn session(api: &Api, context: Context, algorithm: &Algorithm) -> raw::Session {
    let state = Gmac(State::new(api, context, algorithm, Direction::Digest));
    let call = calls::cipher(algorithm.mode, Direction::Digest);
    Table::new(state, raw::IN_PLACE, call).parts().raw()
}

/// A context of GCM.
pub(in crate::evp) struct Gmac(pub(in crate::evp) State);

impl Gmac {
    /// Associated data, where there is any.
    ///
    /// # Safety
    /// `input` has `len` bytes.
    #[inline(always)]
    unsafe fn feed(&self, input: *const u8, len: usize) -> bool {
        // SAFETY: as the caller promises.
        len == 0 || unsafe { self.0.feed(input, ptr::null_mut(), len) } >= 0
    }

    /// Final, tag.
    ///
    /// # Safety
    /// `tag` has room for the tag.
    #[inline(always)]
    unsafe fn end(&self, tag: *mut u8) -> bool {
        // SAFETY: as the caller promises.
        unsafe { self.0.end(ptr::dangling_mut(), 0) == 0 && self.0.get_tag(tag) }
    }
}

operations! { impl for Gmac;
    /// Nonce, associated data, final, tag.
    fn message(&mut self, m) {
        let done = self.0.begin(m.nonce) && self.feed(m.input, m.len) && self.end(m.tag);
        self.0.done(done)
    }

    fn start(&mut self, nonce) {
        self.0.done(self.0.begin(nonce))
    }

    fn update(&mut self, input, _output, len) {
        self.0.done(self.feed(input, len))
    }

    fn finish(&mut self, tag) {
        self.0.done(self.end(tag))
    }
}
