//! What digests and MACs have in common: a message is begun, fed and ended.

use super::api::Errors;
use contract::{Operations, Table, raw};
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

impl<P: Parts> Operations for InParts<P> {
    #[inline(always)]
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        let parts = &mut self.parts;
        // SAFETY: the caller keeps the header's rules.
        let all = unsafe { parts.begin(m.nonce) && parts.feed(m.input, m.len) && parts.end(m.tag) };
        done(&self.errors, all)
    }

    #[inline(always)]
    unsafe fn start(&mut self, nonce: *const u8) -> i32 {
        // SAFETY: the caller keeps the header's rules.
        let begun = unsafe { self.parts.begin(nonce) };
        done(&self.errors, begun)
    }

    #[inline(always)]
    unsafe fn update(&mut self, input: *const u8, _output: *mut u8, len: usize) -> i32 {
        // SAFETY: the caller keeps the header's rules.
        let fed = unsafe { self.parts.feed(input, len) };
        done(&self.errors, fed)
    }

    #[inline(always)]
    unsafe fn finish(&mut self, tag: *mut u8) -> i32 {
        // SAFETY: the caller keeps the header's rules.
        let ended = unsafe { self.parts.end(tag) };
        done(&self.errors, ended)
    }
}
