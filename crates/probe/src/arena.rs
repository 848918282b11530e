//! The memory that timed operations work on: one input region, one output region, placed anew for
//! every visit, so that a case's samples cover many relative placements and not a lucky one.

use crate::guard::GuardedBuffer;
use crate::stacks::Stacks;

/// A cache line: the finest placement that is tried. Applications' buffers come from allocators
/// that give at least 16 bytes; what finer misalignment costs is another question than speed.
pub(crate) const LINE: usize = 64;
/// A page.
const PAGE: usize = 4096;
/// Lines in a page.
pub(crate) const PLACES: usize = PAGE / LINE;
/// Pages that a region may begin in. Caches index by the address within a page, but some predict the
/// way, and all cores guess which loads depend on which stores, by hashes of higher bits: which two
/// buffers collide there would be drawn once for a process if they always began in the same page.
const PAGES: usize = 64;

/// Input and output memory, and the stacks that operations run on.
#[derive(Debug)]
pub struct Arena {
    input: Region,
    output: Region,
    walk: WalkMemory,
    stacks: Stacks,
}

/// Memory to walk through, and memory to read in between.
#[derive(Debug, Default)]
pub(crate) struct WalkMemory {
    input: Region,
    output: Region,
    evict: Region,
}

impl Default for Arena {
    fn default() -> Self {
        Self::new()
    }
}

impl Arena {
    /// Stacks, and memory as soon as it is asked for.
    ///
    /// # Panics
    /// When the memory cannot be had.
    #[must_use]
    pub fn new() -> Self {
        Self {
            input: Region::default(),
            output: Region::default(),
            walk: WalkMemory::default(),
            stacks: Stacks::new(),
        }
    }

    /// The memory to walk through, and the stacks.
    pub(crate) fn walk(&mut self) -> (&mut WalkMemory, &mut Stacks) {
        (&mut self.walk, &mut self.stacks)
    }

    /// The two regions at a placement that `roll` picks (any number, each use of its bits is reduced
    /// to a line of so many pages), grown where they are too small, and the stacks.
    pub(crate) fn place(
        &mut self,
        roll: u64,
        (input_len, output_len): (usize, usize),
    ) -> (&mut [u8], &mut [u8], &mut Stacks) {
        self.input.reserve(input_len);
        self.output.reserve(output_len);
        let places = PLACES * PAGES;
        let (input_at, output_at) = (roll as usize % places, (roll >> 32) as usize % places);
        (
            self.input.slice(input_at * LINE, input_len),
            self.output.slice(output_at * LINE, output_len),
            &mut self.stacks,
        )
    }
}

impl WalkMemory {
    /// Inputs and outputs of so many bytes, each beginning on a line that `roll` picks, and memory to
    /// read in between.
    pub(crate) fn lay_out(
        &mut self,
        roll: u64,
        (input_len, output_len): (usize, usize),
        evict_len: Option<usize>,
    ) -> (&mut [u8], &mut [u8], Option<&[u8]>) {
        self.input.reserve(input_len);
        self.output.reserve(output_len);
        if let Some(len) = evict_len.filter(|len| *len > self.evict.capacity) {
            self.evict.reserve(len);
            // Pages that were never written are all the same one.
            self.evict.slice(0, len).fill(1);
        }
        let (input_at, output_at) = (roll as usize % PLACES, (roll >> 32) as usize % PLACES);
        let evict = evict_len.map(|len| &*self.evict.slice(0, len));
        (
            self.input.slice(input_at * LINE, input_len),
            self.output.slice(output_at * LINE, output_len),
            evict,
        )
    }
}

/// Page-aligned memory with pages to spare for placement. What is not placed on is not touched: many
/// workers are there at once.
#[derive(Debug, Default)]
struct Region {
    /// None as long as nothing was asked for: every process of a visit has regions that it never uses.
    memory: Option<GuardedBuffer>,
    capacity: usize,
}

impl Region {
    /// Makes room; what was there is lost when it grows.
    fn reserve(&mut self, capacity: usize) {
        if self.memory.is_none() || capacity > self.capacity {
            *self = Self { memory: Some(GuardedBuffer::new(capacity + PAGES * PAGE)), capacity };
        }
    }

    fn slice(&mut self, at: usize, len: usize) -> &mut [u8] {
        assert!(at < PAGES * PAGE && len <= self.capacity, "placement within the region");
        let memory = self.memory.as_mut().expect("room was made");
        &mut memory.as_mut_slice()[at..][..len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_differ_and_regions_grow_as_needed() {
        let mut arena = Arena::new();
        let (a, b, _) = arena.place(1 | (3 << 32), (100, 200));
        assert_eq!((a.len(), b.len()), (100, 200));
        assert_eq!((a.as_ptr() as usize % PAGE, b.as_ptr() as usize % PAGE), (64, 192));
        a.fill(1);
        b.fill(2);
        let (a, ..) = arena.place(0, (5000, 200));
        assert_eq!(a.as_ptr() as usize % PAGE, 0);
    }
}
