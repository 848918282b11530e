//! Digests: `gcry_md_*`.

use super::api::{Error, MdApi};
use super::handle::Opened;
use crate::family::operations;
use contract::{Table, raw};
use std::ffi::c_int;
use std::ptr;

/// A digest.
pub(super) struct State {
    md: MdApi,
    /// For streams; a whole message needs none.
    stream: Opened,
    algorithm: c_int,
    len: usize,
}

impl State {
    /// Opens a digest of `len` bytes, which says whether the library has it.
    pub(super) fn open(md: MdApi, algorithm: c_int, len: usize) -> Result<Self, Error> {
        let mut handle = ptr::null_mut();
        // SAFETY: `handle` is writable; flags 0: ordinary memory, no HMAC.
        match unsafe { (md.gcry_md_open)(&raw mut handle, algorithm, 0) } {
            0 => {
                Ok(Self { md, stream: Opened { handle, close: md.gcry_md_close }, algorithm, len })
            }
            error => Err(error),
        }
    }

    /// The table for the timing loop; `close` there frees the state.
    pub(super) fn into_session(self) -> raw::Session {
        Table::new(self, 0, c"gcry_md_hash_buffer").parts().raw()
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        (self.md.gcry_md_hash_buffer)(self.algorithm, m.tag.cast(), m.input.cast(), m.len);
        raw::OK
    }

    fn start(&mut self, _nonce) {
        (self.md.gcry_md_reset)(self.stream.handle);
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        (self.md.gcry_md_write)(self.stream.handle, input.cast(), len);
        raw::OK
    }

    fn finish(&mut self, tag) {
        let digest = (self.md.gcry_md_read)(self.stream.handle, self.algorithm);
        if digest.is_null() {
            return raw::FAILED;
        }
        ptr::copy_nonoverlapping(digest, tag, self.len);
        raw::OK
    }
}
