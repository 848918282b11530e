//! Zeroed memory on a 64-byte boundary, for the states that a library has its caller allocate.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::NonNull;

/// The widest alignment that any library asks of its caller: a cache line, a 512-bit vector.
const ALIGN: usize = 64;

/// Memory for a state whose size is known at run time only, if at all: pages that are never touched
/// cost nothing, so the size may lie well above what any build of the library needs.
#[derive(Debug)]
pub(crate) struct Aligned {
    start: NonNull<u8>,
    layout: Layout,
}

impl Aligned {
    /// At least `len` bytes, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        let size = len.max(1).next_multiple_of(ALIGN);
        let layout = Layout::from_size_align(size, ALIGN).expect("a state is below isize::MAX");
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start) {
            Some(start) => Self { start, layout },
            None => handle_alloc_error(layout),
        }
    }

    /// These bytes, then zeroes up to the next boundary.
    pub(crate) fn copied(bytes: &[u8]) -> Self {
        let copy = Self::zeroed(bytes.len());
        // SAFETY: the memory is new and has room for as many bytes.
        unsafe { copy.start.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        copy
    }

    /// Writes so many bytes over its beginning.
    ///
    /// # Safety
    /// `bytes` has `len` bytes, and no more than there is room for.
    #[inline]
    pub(crate) unsafe fn overwrite(&mut self, bytes: *const u8, len: usize) {
        // SAFETY: the caller's promise; the memory is ours alone.
        unsafe { self.start.as_ptr().copy_from_nonoverlapping(bytes, len) };
    }

    /// For the library to write.
    pub(crate) fn as_mut_ptr<T>(&mut self) -> *mut T {
        self.start.as_ptr().cast()
    }

    /// For the library to read.
    pub(crate) fn as_ptr<T>(&self) -> *const T {
        self.start.as_ptr().cast_const().cast()
    }

    /// The library's own, which it reads and writes while nothing here looks at it.
    #[inline]
    pub(crate) fn context(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }
}

impl Drop for Aligned {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout, freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_lies_on_a_boundary_and_holds_what_was_copied() {
        let bytes: Vec<u8> = (0..100).collect();
        let copy = Aligned::copied(&bytes);
        assert_eq!(copy.as_ptr::<u8>() as usize % ALIGN, 0);
        // SAFETY: two lines hold 100 bytes and 28 zeroes.
        let held = unsafe { std::slice::from_raw_parts(copy.as_ptr::<u8>(), 128) };
        assert_eq!((&held[..100], &held[100..]), (&bytes[..], &[0; 28][..]));
    }

    #[test]
    fn large_memory_is_zeroed_and_empty_memory_has_an_address() {
        let large = Aligned::zeroed(1 << 20);
        // SAFETY: the memory has as many bytes, which nothing else refers to.
        let held = unsafe { std::slice::from_raw_parts(large.as_ptr::<u8>(), 1 << 20) };
        assert!(held.iter().all(|b| *b == 0));
        assert_eq!(Aligned::zeroed(0).context() as usize % ALIGN, 0);
    }
}
