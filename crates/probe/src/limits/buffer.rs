//! Page-aligned memory for the probes.

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::ptr::NonNull;

/// Memory of its own mapping, all of it touched.
#[derive(Debug)]
pub(super) struct Buffer {
    base: NonNull<c_void>,
    len: usize,
}

impl Buffer {
    /// # Panics
    /// When the memory cannot be had.
    pub(super) fn new(len: usize) -> Self {
        Self::try_new(len).expect("memory for the probes")
    }

    pub(super) fn try_new(len: usize) -> std::io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: a new mapping anywhere, which `Drop` takes away.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), len, protection, flags)? };
        // Huge pages where the system gives them: what is measured is the memory's bandwidth and not
        // that of page tables. Where it refuses, small pages do.
        // SAFETY: advice about the mapping just made changes none of its bytes.
        let _ = unsafe { madvise(base, len, Advice::LinuxHugepage) };
        // SAFETY: the mapping is `len` writable bytes.
        unsafe { base.cast::<u8>().write_bytes(1, len) };
        let base = NonNull::new(base).expect("a mapping is not at address 0");
        Ok(Self { base, len })
    }

    pub(super) fn start(&self) -> *mut u8 {
        self.base.as_ptr().cast()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, which nobody else has.
        let _ = unsafe { munmap(self.base.as_ptr(), self.len) };
    }
}
