//! Memory for contexts that a library leaves to its caller to allocate.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Zeroed bytes on a cache line's boundary, which no vector type of any context exceeds.
///
/// Their number is for the caller to choose well above what the library needs: where the loaded
/// library does not tell the size, it depends on the options of a build whose headers are not here.
/// Pages that are never touched cost nothing.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    layout: Layout,
}

impl Memory {
    /// # Panics
    /// When `len` is 0.
    pub(crate) fn zeroed(len: usize) -> Self {
        assert!(len > 0, "a context has a size");
        let layout = Layout::from_size_align(len, 64).expect("a context is far below isize::MAX");
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        match NonNull::new(start) {
            Some(start) => Self { start, layout },
            None => handle_alloc_error(layout),
        }
    }

    /// Where the library's context begins.
    #[inline]
    pub(crate) fn context(&self) -> *mut c_void {
        self.start.as_ptr().cast()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout, freed once.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zeroed_and_lies_on_a_cache_lines_boundary() {
        for len in [1, 63, 4096, 100_000] {
            let memory = Memory::zeroed(len);
            assert_eq!(memory.context() as usize % 64, 0);
            // SAFETY: the memory has `len` bytes, which nothing else refers to.
            let bytes = unsafe { std::slice::from_raw_parts(memory.context().cast::<u8>(), len) };
            assert!(bytes.iter().all(|b| *b == 0));
        }
    }
}
