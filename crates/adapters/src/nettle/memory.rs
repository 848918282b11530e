//! Memory for the library's structs, which are its callers' to allocate.

use std::ffi::c_void;

/// A cache line: more than any of the library's structs asks for (16 bytes, since Nettle 4).
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// Zeroed memory for one struct. A box, so that it can be moved and stays where it is.
pub(super) struct Memory(Box<[Line]>);

impl Memory {
    /// For a struct whose size only the headers tell, and which differs from version to version:
    /// four times the largest one that is used (`struct gcm_key` of Nettle 3, 4096 bytes).
    pub(super) const PLENTY: usize = 16 << 10;

    pub(super) fn new(bytes: usize) -> Self {
        Self(vec![Line([0; 64]); bytes.div_ceil(64)].into_boxed_slice())
    }

    pub(super) fn plenty() -> Self {
        Self::new(Self::PLENTY)
    }

    #[inline]
    pub(super) fn get(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}
