//! Memory with a page on either side that faults: an access past it kills the process, which is
//! the one proof against overruns that needs no cooperation of the library.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};

/// Writable memory between two inaccessible pages, zeroed at first.
///
/// A library that is handed [`GuardedBuffer::tail`] faults on the first byte it touches past the
/// end, one that is handed [`GuardedBuffer::head`] on the first byte before the beginning.
#[derive(Debug)]
pub struct GuardedBuffer {
    /// First writable byte, one page into the mapping.
    data: NonNull<u8>,
    /// Writable bytes, whole pages.
    len: usize,
    /// Bytes of one guard page.
    page: usize,
}

// SAFETY: a buffer owns its mapping, as a `Vec` owns its memory.
unsafe impl Send for GuardedBuffer {}

impl GuardedBuffer {
    /// Maps at least `capacity` writable bytes, rounded up to whole pages, and two guard pages.
    ///
    /// # Panics
    /// When the kernel grants no memory, as every allocation does.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let page = rustix::param::page_size();
        let len = capacity.max(1).next_multiple_of(page);
        // SAFETY: a fresh private mapping at an address of the kernel's choice.
        let base = unsafe {
            mmap_anonymous(null_mut(), len + 2 * page, ProtFlags::empty(), MapFlags::PRIVATE)
        }
        .expect("the kernel grants memory for a guarded buffer");
        // SAFETY: one page into a mapping of at least three pages, so in bounds and not null.
        let data = unsafe { NonNull::new_unchecked(base.cast::<u8>().add(page)) };
        // From here on the drop of `buffer` unmaps, also when the next call fails.
        let buffer = Self { data, len, page };
        // SAFETY: exactly the pages between the first and the last page of our own mapping.
        unsafe {
            mprotect(
                data.as_ptr().cast::<c_void>(),
                len,
                MprotectFlags::READ | MprotectFlags::WRITE,
            )
        }
        .expect("the kernel opens pages of our own mapping");
        buffer
    }

    /// Bytes that can be written, the rounded-up capacity.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.len
    }

    /// All of the writable memory, page-aligned: both ends touch a guard page.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `len` bytes from `data` are readable, initialised (anonymous pages are zero),
        // and owned by `self`, which is borrowed for as long as the slice lives.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// All of the writable memory, page-aligned: both ends touch a guard page.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as `as_slice`, and borrowed uniquely.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }

    /// The last `len` bytes: the byte after them is in a guard page.
    ///
    /// # Panics
    /// When `len` is more than [`GuardedBuffer::capacity`].
    #[must_use]
    pub fn tail(&mut self, len: usize) -> &mut [u8] {
        let start = self.len.checked_sub(len).expect("len is within the capacity");
        &mut self.as_mut_slice()[start..]
    }

    /// The first `len` bytes: the byte before them is in a guard page.
    ///
    /// # Panics
    /// When `len` is more than [`GuardedBuffer::capacity`].
    #[must_use]
    pub fn head(&mut self, len: usize) -> &mut [u8] {
        &mut self.as_mut_slice()[..len]
    }
}

impl Drop for GuardedBuffer {
    fn drop(&mut self) {
        // SAFETY: the whole mapping that `new` made; nothing can borrow from it any more.
        let unmapped = unsafe {
            munmap(self.data.as_ptr().sub(self.page).cast::<c_void>(), self.len + 2 * self.page)
        };
        debug_assert!(unmapped.is_ok(), "our own mapping can be unmapped: {unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    fn the_tail_ends_where_the_memory_ends_and_the_head_begins_where_it_begins() {
        let mut buffer = GuardedBuffer::new(5000);
        assert!(buffer.capacity() >= 5000 && buffer.capacity().is_multiple_of(buffer.page));
        buffer.tail(7).fill(1);
        buffer.head(3).fill(2);
        let all = buffer.as_slice();
        assert_eq!(all[..4], [2, 2, 2, 0]);
        assert_eq!(all[all.len() - 8..], [0, 1, 1, 1, 1, 1, 1, 1]);
        assert_eq!(all.as_ptr().align_offset(buffer.page), 0);
    }

    #[test]
    fn a_buffer_of_no_bytes_still_has_an_address() {
        let mut buffer = GuardedBuffer::new(0);
        assert!(buffer.tail(0).is_empty() && buffer.head(0).is_empty());
        assert_eq!(buffer.capacity(), buffer.page);
    }

    /// Not a test by itself: the children of the test below run it and die of it.
    #[test]
    #[ignore = "child: faults on purpose, for the test below"]
    fn touch_a_guard_page() {
        let mut buffer = GuardedBuffer::new(1);
        let at = match std::env::var("TOUCH").as_deref() {
            Ok("after") => buffer.tail(16).as_mut_ptr().wrapping_add(16),
            Ok("before") => buffer.head(16).as_mut_ptr().wrapping_sub(1),
            Ok(_) => buffer.tail(16).as_mut_ptr().wrapping_add(15),
            // Nobody's child: of all ignored tests.
            Err(_) => return,
        };
        // SAFETY: none for two of the three: that this faults is what the child is for. The third
        // is the tail's last byte.
        unsafe { at.write_volatile(1) };
    }

    #[test]
    fn a_process_that_touches_a_guard_page_dies_of_a_segmentation_fault() {
        for (touch, signal) in
            [("after", Some(libc::SIGSEGV)), ("before", Some(libc::SIGSEGV)), ("last", None)]
        {
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--ignored", "--exact", "guard::tests::touch_a_guard_page"])
                .env("TOUCH", touch)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.signal(), signal, "{touch}: {status}");
            assert_eq!(status.success(), signal.is_none(), "{touch}: {status}");
        }
    }
}
