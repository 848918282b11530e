//! A session with checked lengths over the raw table of functions.

use crate::{Remote, raw};
use base::model::{Algorithm, Direction};
use std::ffi::{CStr, c_char};

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// The tag is wrong.
    Rejected,
    /// The library reported an error, or the adapter returned a code of its own.
    Error(i32),
}

impl From<i32> for Outcome {
    fn from(code: i32) -> Self {
        match code {
            raw::OK => Self::Done,
            raw::REJECTED => Self::Rejected,
            other => Self::Error(other),
        }
    }
}

/// One whole message. Lengths must fit the session's algorithm.
#[derive(Debug)]
pub struct Message<'a> {
    /// Nonce, IV, initial counter block or tweak.
    pub nonce: &'a [u8],
    /// Associated data; empty for modes without authentication.
    pub aad: &'a [u8],
    /// Message.
    pub input: &'a [u8],
    /// Result, as long as the message (digests leave it alone).
    pub output: &'a mut [u8],
    /// Tag or digest: written by encryption and digests, read by decryption.
    pub tag: &'a mut [u8],
}

/// An opened algorithm in one direction, with its key schedule done.
#[derive(Debug)]
pub struct Session {
    raw: raw::Session,
    algorithm: &'static Algorithm,
    direction: Direction,
    remote: Option<Box<dyn Remote>>,
}

impl Session {
    /// Takes over a filled-in table.
    ///
    /// # Safety
    /// The functions must keep the rules of `include/ciphermark.h` for `algorithm` and
    /// `direction`, and `raw.state` must be theirs alone until `close`.
    #[must_use]
    pub unsafe fn new(
        raw: raw::Session,
        algorithm: &'static Algorithm,
        direction: Direction,
    ) -> Self {
        Self { raw, algorithm, direction, remote: None }
    }

    /// Has batches run in a runtime's process.
    #[must_use]
    pub fn with_remote(mut self, remote: Box<dyn Remote>) -> Self {
        self.remote = Some(remote);
        self
    }

    /// Where batches run in a runtime's process: the session there.
    pub fn remote(&mut self) -> Option<&mut (dyn Remote + 'static)> {
        self.remote.as_deref_mut()
    }

    /// Whether batches run in a runtime's process.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// What was opened.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// In which direction.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The table itself, for the timing loop.
    #[must_use]
    pub fn raw(&self) -> &raw::Session {
        &self.raw
    }

    /// Whether the model `message` is offered.
    #[must_use]
    pub fn has_message(&self) -> bool {
        self.raw.message.is_some()
    }

    /// Whether the model `stream` is offered.
    #[must_use]
    pub fn has_stream(&self) -> bool {
        self.raw.start.is_some() && self.raw.update.is_some()
    }

    /// Whether a digest or MAC can be taken in parts.
    #[must_use]
    pub fn has_parts(&self) -> bool {
        self.has_stream() && self.raw.finish.is_some()
    }

    /// Whether output may be input.
    #[must_use]
    pub fn in_place(&self) -> bool {
        self.raw.flags & raw::IN_PLACE != 0
    }

    /// Whether each update of a data-unit mode raises the tweak by one.
    #[must_use]
    pub fn next_unit(&self) -> bool {
        self.raw.flags & raw::NEXT_UNIT != 0
    }

    /// Whether the library's interface copies every message.
    #[must_use]
    pub fn copies(&self) -> bool {
        self.raw.flags & raw::COPIES != 0
    }

    /// Whether the library's interface allocates memory for every message.
    #[must_use]
    pub fn allocates(&self) -> bool {
        self.raw.flags & raw::ALLOCATES != 0
    }

    /// Messages in work at once in the timed loop: one, unless the session has `drain`.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        if self.raw.drain.is_some() { self.raw.in_flight } else { 1 }
    }

    /// The library's functions that the model `message` calls, in order, as the adapter says.
    #[must_use]
    pub fn calls(&self) -> Option<String> {
        // SAFETY: `new`'s contract: null or a string that lives as long as the library.
        unsafe { text(self.raw.call) }
    }

    /// The library's functions that set a new key, as the adapter says.
    #[must_use]
    pub fn rekey_calls(&self) -> Option<String> {
        // SAFETY: `new`'s contract: null or a string that lives as long as the library.
        unsafe { text(self.raw.rekey_call) }
    }

    /// Whether the session takes a new key.
    #[must_use]
    pub fn has_rekey(&self) -> bool {
        self.raw.rekey.is_some()
    }

    /// Sets a new key for the messages that follow.
    ///
    /// # Panics
    /// When the key's length is wrong or the session takes no new key.
    pub fn rekey(&mut self, key: &[u8]) -> Outcome {
        assert_eq!(key.len(), self.algorithm.key_len, "key length");
        let f = self.raw.rekey.expect("the session takes a new key");
        // SAFETY: `new`'s contract; the key has the algorithm's length.
        unsafe { f(self.raw.state, key.as_ptr()) }.into()
    }

    /// One whole message, complete when this returns.
    ///
    /// # Panics
    /// When a length does not fit the algorithm, or `message` is not offered: a mistake of the
    /// caller, never of the library.
    pub fn message(&mut self, m: Message<'_>) -> Outcome {
        let digest = self.direction == Direction::Digest;
        assert!(digest || m.output.len() == m.input.len(), "output is as long as input");
        let (input, len, output) = (m.input.as_ptr(), m.input.len(), m.output.as_mut_ptr());
        self.call(m.nonce, m.aad, (input, output, len), m.tag)
    }

    /// One whole message, output over input.
    ///
    /// # Panics
    /// As [`Session::message`], and when the session does not work in place.
    pub fn message_in_place(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        buffer: &mut [u8],
        tag: &mut [u8],
    ) -> Outcome {
        assert!(self.in_place(), "the session works in place");
        let (pointer, len) = (buffer.as_mut_ptr(), buffer.len());
        self.call(nonce, aad, (pointer.cast_const(), pointer, len), tag)
    }

    fn call(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        (input, output, len): (*const u8, *mut u8, usize),
        tag: &mut [u8],
    ) -> Outcome {
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length");
        assert_eq!(tag.len(), self.algorithm.tag_len, "tag length");
        let message = raw::Message {
            nonce: nonce.as_ptr(),
            aad: aad.as_ptr(),
            aad_len: aad.len(),
            input,
            len,
            output,
            tag: tag.as_mut_ptr(),
        };
        // SAFETY: `new`'s contract; every pointer covers the length that the contract names; each
        // message is completed before the next.
        unsafe { self.raw.complete(&message) }.into()
    }

    /// Begins a stream under a nonce.
    ///
    /// # Panics
    /// When the nonce's length is wrong or `stream` is not offered.
    pub fn start(&mut self, nonce: &[u8]) -> Outcome {
        assert_eq!(nonce.len(), self.algorithm.nonce_len, "nonce length");
        let f = self.raw.start.expect("the model `stream` is offered");
        // SAFETY: `new`'s contract; the nonce has the algorithm's length.
        unsafe { f(self.raw.state, nonce.as_ptr()) }.into()
    }

    /// Takes a part of the message of a digest or MAC.
    ///
    /// # Panics
    /// When parts are not offered.
    pub fn update_digest(&mut self, part: &[u8]) -> Outcome {
        assert!(self.has_parts(), "the digest can be taken in parts");
        let f = self.raw.update.expect("parts are offered");
        // SAFETY: `new`'s contract; a digest has input and no output.
        unsafe { f(self.raw.state, part.as_ptr(), std::ptr::null_mut(), part.len()) }.into()
    }

    /// Ends the message of a digest or MAC that was taken in parts.
    ///
    /// # Panics
    /// When the tag's length is wrong or parts are not offered.
    pub fn finish(&mut self, tag: &mut [u8]) -> Outcome {
        assert_eq!(tag.len(), self.algorithm.tag_len, "tag length");
        let f = self.raw.finish.expect("parts are offered");
        // SAFETY: `new`'s contract; the tag has the algorithm's length.
        unsafe { f(self.raw.state, tag.as_mut_ptr()) }.into()
    }

    /// Continues the stream, output over input.
    ///
    /// # Panics
    /// When `stream` is not offered or the session does not work in place.
    pub fn update_in_place(&mut self, buffer: &mut [u8]) -> Outcome {
        assert!(self.in_place(), "the session works in place");
        let f = self.raw.update.expect("the model `stream` is offered");
        let pointer = buffer.as_mut_ptr();
        // SAFETY: `new`'s contract; input and output are the same buffer of `len` bytes.
        unsafe { f(self.raw.state, pointer.cast_const(), pointer, buffer.len()) }.into()
    }
}

// SAFETY: the rules of `include/ciphermark.h`, which `new` asks for: a session may be used by
// another thread than the one that opened it, by one at a time, which `&mut self` sees to.
unsafe impl Send for Session {}

/// A C string; `None` where there is none.
///
/// # Safety
/// `pointer` is null or a NUL-terminated string.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: not null, so NUL-terminated.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(close) = self.raw.close {
            // SAFETY: `new`'s contract; called once, the state is not used afterwards.
            unsafe { close(self.raw.state) }
        }
    }
}
