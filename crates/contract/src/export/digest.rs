//! Digests and MACs behind C functions.

use crate::export::pointers::{array, slice, write};
use crate::export::{Bytes, Done, code, raw};
use crate::{Operations, Table};
use std::ffi::CStr;

/// A digest, or a MAC under its key. Each call is one whole message.
pub trait Digest: 'static {
    /// No bytes where there is none.
    type Nonce: Bytes;
    /// Digest or tag.
    type Tag: Bytes;
    /// What the session says of itself.
    const FLAGS: u32 = 0;
    /// The library's functions that `digest` calls.
    const CALL: &'static CStr;
    /// The library's functions that [`Digest::rekeyed`] calls; `None` where it is not there.
    const REKEY: Option<&'static CStr> = None;

    /// The same MAC under another key of the same length; `None` when the library does not take it.
    fn rekeyed(&self, _key: &[u8]) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// One message.
    ///
    /// # Errors
    /// [`crate::export::Refusal::Failed`] when the library does not take it.
    fn digest(&mut self, nonce: &Self::Nonce, input: &[u8]) -> Done<Self::Tag>;
}

/// A digest whose library can take a message in pieces.
pub trait StreamingDigest: Digest {
    /// A message that has begun.
    type Started: 'static;

    /// Begins a message.
    fn start(&self) -> Self::Started;
    /// Takes a piece of any length.
    fn update(started: &mut Self::Started, input: &[u8]);
    /// Ends the message.
    fn finish(started: Self::Started) -> Self::Tag;
}

/// How a digest takes pieces; `()` where it does not.
trait Pieces<D: Digest>: Sized {
    fn start(digest: &D) -> Option<Self>;
    fn update(&mut self, input: &[u8]);
    fn finish(self) -> Option<D::Tag>;
}

impl<D: Digest> Pieces<D> for () {
    fn start(_: &D) -> Option<Self> {
        None
    }

    fn update(&mut self, _: &[u8]) {}

    fn finish(self) -> Option<D::Tag> {
        None
    }
}

struct Started<S>(S);

impl<D: StreamingDigest> Pieces<D> for Started<D::Started> {
    fn start(digest: &D) -> Option<Self> {
        Some(Self(digest.start()))
    }

    fn update(&mut self, input: &[u8]) {
        D::update(&mut self.0, input);
    }

    fn finish(self) -> Option<D::Tag> {
        Some(D::finish(self.0))
    }
}

/// A digest with the message that was begun, if any.
struct State<D, S> {
    digest: D,
    started: Option<S>,
    key_len: usize,
}

/// Messages only.
pub(crate) fn messages<D: Digest>(digest: D, key_len: usize) -> raw::Session {
    table::<D, ()>(digest, key_len).raw()
}

/// Messages, whole and in pieces.
pub(crate) fn messages_and_pieces<D: StreamingDigest>(digest: D, key_len: usize) -> raw::Session {
    table::<D, Started<D::Started>>(digest, key_len).parts().raw()
}

fn table<D: Digest, S: Pieces<D>>(digest: D, key_len: usize) -> Table<State<D, S>> {
    let table = Table::new(State { digest, started: None, key_len }, D::FLAGS, D::CALL);
    match D::REKEY {
        Some(call) => table.rekeys(call),
        None => table,
    }
}

impl<D: Digest, S: Pieces<D>> Operations for State<D, S> {
    #[inline(always)]
    unsafe fn message(&mut self, m: &raw::Message) -> i32 {
        // SAFETY: the crate's note.
        let (nonce, input) = unsafe { (array(m.nonce), slice(m.input, m.len)) };
        // SAFETY: the crate's note.
        code(self.digest.digest(nonce, input).map(|tag| unsafe { write(&tag, m.tag) }))
    }

    unsafe fn start(&mut self, _nonce: *const u8) -> i32 {
        self.started = S::start(&self.digest);
        raw::OK
    }

    #[inline(always)]
    unsafe fn update(&mut self, input: *const u8, _output: *mut u8, len: usize) -> i32 {
        let Some(started) = &mut self.started else { return raw::FAILED };
        // SAFETY: the crate's note.
        started.update(unsafe { slice(input, len) });
        raw::OK
    }

    #[inline(always)]
    unsafe fn finish(&mut self, tag: *mut u8) -> i32 {
        let Some(made) = self.started.take().and_then(S::finish) else { return raw::FAILED };
        // SAFETY: the crate's note.
        unsafe { write(&made, tag) };
        raw::OK
    }

    #[inline(always)]
    unsafe fn rekey(&mut self, key: *const u8) -> i32 {
        // SAFETY: the crate's note; keys have the length that was opened.
        let Some(digest) = self.digest.rekeyed(unsafe { slice(key, self.key_len) }) else {
            return raw::FAILED;
        };
        self.digest = digest;
        raw::OK
    }
}
