//! What digests and MACs have in common: a message is begun, fed and ended.

use super::api::Errors;
use crate::family::operations;
use contract::{Table, raw};
use std::ffi::CStr;

/// A context of a digest or MAC. Inlined into the functions of the session, which are made for
/// each kind of context.
pub(super) trait Parts {
    /// Begins a message.
    ///
    /// # Safety
    /// `nonce` has the algorithm's length; it may be null where that is 0.
    unsafe fn begin(&mut self, nonce: *const u8) -> bool;

    /// Takes a part of it.
    ///
    /// # Safety
    /// `input` has `len` bytes.
    unsafe fn feed(&mut self, input: *const u8, len: usize) -> bool;

    /// Ends it.
    ///
    /// # Safety
    /// `tag` has room for the algorithm's tag.
    unsafe fn end(&mut self, tag: *mut u8) -> bool;
}

/// The table for the timing loop; `close` there drops the parts.
pub(super) fn session<P: Parts>(parts: P, errors: Errors, call: &'static CStr) -> raw::Session {
    Table::new(InParts { parts, errors }, raw::IN_PLACE, call).parts().raw()
}

struct InParts<P> {
    parts: P,
    /// The library's queue of errors.
    errors: Errors,
}

#[inline(always)]
fn done(errors: &Errors, done: bool) -> i32 {
    if done { raw::OK } else { failed(errors) }
}

#[cold]
fn failed(errors: &Errors) -> i32 {
    errors.clear();
    raw::FAILED
}

operations! { impl[P: Parts] for InParts<P>;
    fn message(&mut self, m) {
        let parts = &mut self.parts;
        let all = parts.begin(m.nonce) && parts.feed(m.input, m.len) && parts.end(m.tag);
        done(&self.errors, all)
    }

    fn start(&mut self, nonce) {
        let begun = self.parts.begin(nonce);
        done(&self.errors, begun)
    }

    fn update(&mut self, input, _output, len) {
        let fed = self.parts.feed(input, len);
        done(&self.errors, fed)
    }

    fn finish(&mut self, tag) {
        let ended = self.parts.end(tag);
        done(&self.errors, ended)
    }
}
