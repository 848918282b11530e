//! Digests and HMAC: `send` of the message, `recv` of the digest.

use super::socket::{Transform, whole};
use crate::family::operations;
use base::model::{Algorithm, Primitive};
use contract::{OpenError, Table, raw};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::slice;

/// SHA-512's, SHA3-512's and BLAKE2b's.
const LONGEST_DIGEST: usize = 64;

pub(super) struct State {
    operations: OwnedFd,
    /// Keeps the key alive as long as the socket.
    _transform: Transform,
    len: usize,
    /// The kernel writes CRCs with the least significant byte first.
    reversed: bool,
    /// Parts of a message have been sent and its digest not yet taken.
    under_way: bool,
}

/// Opens a digest; an HMAC's key is set.
pub(super) fn open(transform: Transform, algorithm: &Algorithm) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(State::new(transform, operations, algorithm).into_session())
}

impl State {
    pub(super) fn new(transform: Transform, operations: OwnedFd, algorithm: &Algorithm) -> Self {
        Self {
            operations,
            _transform: transform,
            len: algorithm.tag_len,
            reversed: algorithm.cipher == Primitive::Crc32c,
            under_way: false,
        }
    }

    pub(super) fn into_session(self) -> raw::Session {
        Table::new(self, 0, c"send, recv").parts().raw()
    }

    /// # Safety
    /// `input` covers `len` bytes.
    #[inline]
    unsafe fn send(&mut self, input: *const u8, len: usize, more: bool) -> Result<(), i32> {
        let flags = if more { libc::MSG_MORE } else { 0 };
        // SAFETY: the caller's promise.
        whole(unsafe { libc::send(self.operations.as_raw_fd(), input.cast(), len, flags) }, len)
    }

    /// Ends a message that is under way.
    ///
    /// # Safety
    /// `tag` has the digest's length.
    #[inline]
    unsafe fn take(&mut self, tag: *mut u8) -> Result<(), i32> {
        let fd = self.operations.as_raw_fd();
        self.under_way = false;
        // SAFETY: the caller's promise.
        unsafe {
            whole(libc::recv(fd, tag.cast(), self.len, 0), self.len)?;
            if self.reversed {
                slice::from_raw_parts_mut(tag, self.len).reverse();
            }
        }
        Ok(())
    }

    /// A message that was begun and not finished is finished, and its digest thrown away: what the
    /// kernel makes of it is of no interest.
    #[cold]
    fn drop_message(&mut self) {
        let mut unused = [0; LONGEST_DIGEST];
        // SAFETY: no digest is longer than the buffer.
        let _ = unsafe { self.take(unused.as_mut_ptr()) };
    }
}

fn outcome(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(raw::OK)
}

operations! { impl for State;
    fn message(&mut self, m) {
        if self.under_way {
            self.drop_message();
        }
        match self.send(m.input, m.len, false) {
            Ok(()) => outcome(self.take(m.tag)),
            Err(code) => code,
        }
    }

    fn start(&mut self, _nonce) {
        if self.under_way {
            self.drop_message();
        }
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        self.under_way = true;
        outcome(self.send(input, len, true))
    }

    fn finish(&mut self, tag) {
        // A message without a part is the empty one.
        match if self.under_way { Ok(()) } else { self.send(tag, 0, true) } {
            Ok(()) => outcome(self.take(tag)),
            Err(code) => code,
        }
    }
}
