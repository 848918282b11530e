//! Where a batch lies: memory that is placed anew for every visit, and the places that operations walk through.
//!
//! The memory that timed operations work on: one input region, one output region, placed anew for
//! every visit, so that a case's samples cover many relative placements and not a lucky one.

use crate::arch::Walk;
use crate::batch::MessageSet;
use crate::batch::timed::Stacks;
use crate::fault::GuardedBuffer;
use base::model::{Algorithm, Direction};

/// A cache line: the finest placement that is tried. Applications' buffers come from allocators
/// that give at least 16 bytes; what finer misalignment costs is another question than speed.
pub(crate) const LINE: usize = 64;
const PAGE: usize = 4096;
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
    pub fn new() -> Self {
        Self {
            input: Region::default(),
            output: Region::default(),
            walk: WalkMemory::default(),
            stacks: Stacks::new(),
        }
    }

    pub(crate) fn walk(&mut self) -> (&mut WalkMemory, &mut Stacks) {
        (&mut self.walk, &mut self.stacks)
    }

    /// The two regions at a placement that `roll` picks (any number, each use of its bits is reduced
    /// to a line of so many pages), grown where they are too small, and the stacks.
    pub(crate) fn place(
        &mut self,
        roll: u64,
        input_len: usize,
        output_len: usize,
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
        input_len: usize,
        output_len: usize,
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

// Memory that operations walk through: fresh input and output for each, over a working set of a
// size that is asked for.

/// The memory to walk through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkSize {
    /// As many places as fit so many bytes, a power of two.
    Within(usize),
    /// Enough places for so many bytes, a power of two, of which no cache holds any: before each
    /// batch so many other bytes are read.
    Cold {
        /// Bytes of the places.
        at_least: usize,
        /// Bytes that are read in between: enough to push everything else out of the caches.
        evict: usize,
    },
}

/// What one operation touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of input, with the tag where it is read or the output lies over the input.
    pub input: usize,
    /// Bytes of output, with the tag where it is written; none in place.
    pub output: usize,
}

impl Place {
    /// The place of an operation of an algorithm on `size` bytes.
    pub fn of(algorithm: &Algorithm, direction: Direction, size: usize, in_place: bool) -> Self {
        let (tag, decrypts) = (algorithm.tag_len, direction == Direction::Decrypt);
        let message = if algorithm.writes_output() { size } else { 0 };
        let (input, output) = match (in_place, decrypts) {
            (true, _) => (size + tag, 0),
            (false, true) => (size + tag, message),
            (false, false) => (size, message + tag),
        };
        let lines = |bytes: usize| bytes.next_multiple_of(LINE);
        Self { input: lines(input), output: lines(output) }
    }

    pub fn bytes(&self) -> usize {
        self.input + self.output
    }

    pub fn count(&self, size: WalkSize) -> Option<usize> {
        match size {
            WalkSize::Within(bytes) => (bytes / self.bytes()).checked_ilog2().map(|n| 1 << n),
            WalkSize::Cold { at_least, .. } => {
                Some(at_least.div_ceil(self.bytes()).next_power_of_two())
            }
        }
    }
}

pub(crate) struct Places<'a> {
    set: MessageSet<'a>,
    input: &'a mut [u8],
    output: &'a mut [u8],
    evict: Option<&'a [u8]>,
    place: Place,
    count: usize,
    /// Which message belongs to the places of each residue.
    messages: Vec<usize>,
    decrypts: bool,
    in_place: bool,
    writes: bool,
    tag_len: usize,
}

/// The message of each residue of a place's number: descriptor number `i` is used with the place that comes `i`
/// operations after the first, and so with all places of its residue.
fn in_order(walk: &Walk, residues: usize) -> Vec<usize> {
    let (mut messages, mut at) = (vec![0; residues], walk.place);
    for message in 0..residues {
        at = walk.after(at);
        messages[at as usize % residues] = message;
    }
    messages
}

impl<'a> Places<'a> {
    /// Lays the places out and says how to walk through them.
    pub(crate) fn new(
        memory: &'a mut WalkMemory,
        set: MessageSet<'a>,
        algorithm: &Algorithm,
        direction: Direction,
        count: usize,
        evict: Option<usize>,
        roll: u64,
    ) -> (Self, Walk) {
        let place = Place::of(algorithm, direction, set.size, set.in_place);
        let (input, output, evict) =
            memory.lay_out(roll, count * place.input, count * place.output, evict);
        let (decrypts, writes) = (direction == Direction::Decrypt, algorithm.writes_output());
        let walk = Walk {
            place: (roll >> 16) & (count as u64 - 1),
            mask: count as u64 - 1,
            input: input.as_mut_ptr(),
            input_stride: place.input,
            ..Walk::NONE
        };
        let beside = |base: *mut u8, at: usize| base.wrapping_add(at);
        let walk = if set.in_place {
            Walk {
                output: walk.input,
                output_stride: place.input,
                tag: beside(walk.input, set.size),
                tag_stride: place.input,
                ..walk
            }
        } else {
            let output_at = output.as_mut_ptr();
            let (tag, tag_stride) = if decrypts {
                (beside(walk.input, set.size), place.input)
            } else {
                (beside(output_at, if writes { set.size } else { 0 }), place.output)
            };
            Walk { output: output_at, output_stride: place.output, tag, tag_stride, ..walk }
        };
        let (tag_len, in_place) = (algorithm.tag_len, set.in_place);
        let messages = in_order(&walk, set.count().min(count));
        let places = Self {
            set,
            input,
            output,
            evict,
            place,
            count,
            messages,
            decrypts,
            in_place,
            writes,
            tag_len,
        };
        (places, walk)
    }

    pub(crate) fn messages(&self) -> usize {
        self.messages.len()
    }

    /// Operations that walk through all of the memory once.
    pub(crate) fn round(&self) -> u32 {
        u32::try_from(self.count).unwrap_or(u32::MAX)
    }

    pub(crate) fn in_place(&self) -> bool {
        self.in_place
    }

    pub(crate) fn is_cold(&self) -> bool {
        self.evict.is_some()
    }

    /// Writes what the next operations need, and a byte over what they are to write: all of the
    /// memory where a cache is to hold it, which brings it there; else only what will be used, which
    /// is then pushed out of the caches.
    pub(crate) fn prepare(&mut self, walk: &Walk, ops: usize, poison: u8) {
        if self.is_cold() {
            let mut at = walk.place;
            for _ in 0..ops.min(self.count) {
                at = walk.after(at);
                self.fill(at as usize, poison);
            }
        } else {
            (0..self.count).for_each(|at| self.fill(at, poison));
        }
        if let Some(evict) = self.evict {
            let sum = evict.iter().step_by(LINE).fold(0_u8, |sum, b| sum.wrapping_add(*b));
            std::hint::black_box(sum);
        }
    }

    fn fill(&mut self, at: usize, poison: u8) {
        let message = self.messages[at % self.messages.len()];
        let size = self.set.size;
        let input = &mut self.input[at * self.place.input..][..self.place.input];
        input[..size].copy_from_slice(&self.set.inputs[message * size..][..size]);
        if self.decrypts && self.tag_len > 0 {
            input[size..][..self.tag_len].copy_from_slice(&self.set.tags[message]);
        } else if self.in_place {
            input[size..].fill(poison);
        }
        self.output[at * self.place.output..][..self.place.output].fill(poison);
    }

    pub(crate) fn output(&self, at: usize) -> &[u8] {
        if self.in_place {
            &self.input[at * self.place.input..][..self.set.size]
        } else if self.writes {
            &self.output[at * self.place.output..][..self.set.size]
        } else {
            &[]
        }
    }

    pub(crate) fn tag(&self, at: usize) -> &[u8] {
        let (size, len) = (self.set.size, self.tag_len);
        if self.decrypts || self.in_place {
            &self.input[at * self.place.input + size..][..len]
        } else {
            let after = if self.writes { size } else { 0 };
            &self.output[at * self.place.output + after..][..len]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_differ_and_regions_grow_as_needed() {
        let mut arena = Arena::new();
        let (a, b, _) = arena.place(1 | (3 << 32), 100, 200);
        assert_eq!((a.len(), b.len()), (100, 200));
        assert_eq!((a.as_ptr() as usize % PAGE, b.as_ptr() as usize % PAGE), (64, 192));
        a.fill(1);
        b.fill(2);
        let (a, ..) = arena.place(0, 5000, 200);
        assert_eq!(a.as_ptr() as usize % PAGE, 0);
    }

    fn place(name: &str, direction: Direction, size: usize, in_place: bool) -> Place {
        Place::of(Algorithm::find(name).unwrap(), direction, size, in_place)
    }

    #[test]
    fn a_place_holds_message_and_tag_on_lines_of_its_own() {
        let gcm = |direction, in_place| place("aes-256-gcm", direction, 1024, in_place);
        let lines = |input, output| Place { input, output };
        assert_eq!(gcm(Direction::Encrypt, false), lines(1024, 1088));
        assert_eq!(gcm(Direction::Decrypt, false), lines(1088, 1024));
        assert_eq!(gcm(Direction::Decrypt, true), lines(1088, 0));
        assert_eq!(place("sha256", Direction::Digest, 100, false), lines(128, 64));
    }

    #[test]
    fn places_fill_a_cache_by_at_least_three_eighths_and_memory_wholly() {
        let each = place("aes-256-ctr", Direction::Encrypt, 1024, false);
        let count = |bytes| each.count(WalkSize::Within(bytes));
        assert_eq!(count(24 << 10), Some(8));
        assert_eq!(count(2048), Some(1));
        assert_eq!(count(2047), None);
        let cold = WalkSize::Cold { at_least: 128 << 20, evict: 1 };
        assert_eq!(each.count(cold), Some(64 << 10));
    }
}
