//! The memory that timed operations work on: one input region, one output region, placed anew for
//! every visit, so that a case's samples cover many relative placements and not a lucky one.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};

/// A cache line: the finest placement that is tried. Applications' buffers come from allocators
/// that give at least 16 bytes; what finer misalignment costs is another question than speed.
const LINE: usize = 64;
/// A page: placements beyond one page repeat what the caches' index bits see.
const PAGE: usize = 4096;
/// Lines in a page, the number of placements of each region.
const PLACES: usize = PAGE / LINE;

/// Input and output memory.
#[derive(Debug)]
pub struct Arena {
    input: Region,
    output: Region,
}

impl Arena {
    /// Memory for at most so many bytes of input (all messages of a set together) and of output.
    ///
    /// # Panics
    /// When the memory cannot be had.
    #[must_use]
    pub fn new(input_len: usize, output_len: usize) -> Self {
        Self { input: Region::new(input_len), output: Region::new(output_len) }
    }

    /// Makes room for so many bytes; what was in the regions is lost when they grow.
    pub fn reserve(&mut self, input_len: usize, output_len: usize) {
        if input_len > self.input.capacity {
            self.input = Region::new(input_len);
        }
        if output_len > self.output.capacity {
            self.output = Region::new(output_len);
        }
    }

    /// The two regions at a placement that `roll` picks: any number, each use of its bits is
    /// reduced to a line within a page.
    pub(crate) fn place(&mut self, roll: u64, len: (usize, usize)) -> (&mut [u8], &mut [u8]) {
        let (input_at, output_at) = (roll as usize % PLACES, (roll >> 32) as usize % PLACES);
        (self.input.slice(input_at * LINE, len.0), self.output.slice(output_at * LINE, len.1))
    }
}

/// Page-aligned memory with a page to spare for placement.
#[derive(Debug)]
struct Region {
    base: *mut u8,
    capacity: usize,
}

impl Region {
    fn new(capacity: usize) -> Self {
        let layout = Self::layout(capacity);
        // SAFETY: the layout is never empty: it has a page to spare.
        let base = unsafe { alloc_zeroed(layout) };
        if base.is_null() {
            handle_alloc_error(layout);
        }
        Self { base, capacity }
    }

    fn layout(capacity: usize) -> Layout {
        Layout::from_size_align(capacity + PAGE, PAGE).expect("sizes are at most tens of megabytes")
    }

    fn slice(&mut self, at: usize, len: usize) -> &mut [u8] {
        assert!(at < PAGE && len <= self.capacity, "placement within the region");
        // SAFETY: `at + len` is at most `capacity + PAGE`, all of it allocated and zeroed; the
        // borrow of `self` keeps the slice unique.
        unsafe { std::slice::from_raw_parts_mut(self.base.add(at), len) }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: allocated with this very layout in `new`.
        unsafe { dealloc(self.base, Self::layout(self.capacity)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_differ_and_stay_within_the_regions() {
        let mut arena = Arena::new(100, 200);
        let (a, b) = arena.place(1 | (3 << 32), (100, 200));
        assert_eq!((a.len(), b.len()), (100, 200));
        assert_eq!((a.as_ptr() as usize % PAGE, b.as_ptr() as usize % PAGE), (64, 192));
        a.fill(1);
        b.fill(2);
        let (a, _) = arena.place(0, (100, 200));
        assert_eq!(a.as_ptr() as usize % PAGE, 0);
    }
}
