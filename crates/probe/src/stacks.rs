//! Stacks of our own, placed anew for every batch.
//!
//! Where a library spills vectors to the stack, its speed hangs on how the stack lies: 16-byte
//! alignment is all that the calling convention gives, so a 32- or 64-byte spill may or may not
//! straddle cache lines, and which it is was drawn once when the process started. A batch is run in
//! four parts on the four possible alignments instead, so that every sample is their mean.

use crate::guard::GuardedBuffer;

/// Alignments modulo a cache line that the calling convention (16 bytes) allows.
pub(crate) const ALIGNMENTS: u32 = 4;
/// What the calling convention aligns stacks to (System V ABI AMD64 §3.2.2, AAPCS64 §6.2.3).
const STACK_ALIGN: usize = 16;
/// A cache line.
const LINE: usize = 64;
/// A page: where a stack lies within it decides what its lines share cache sets with.
const PAGE: usize = 4096;
/// Pages that a stack may begin in: as for the buffers, see `arena`.
const PAGES: usize = 64;
/// As much as a thread's default stack on Linux has room for in practice: ciphers use some
/// kilobytes, and what runs over hits the guard page.
const STACK_LEN: usize = 1 << 20;

/// Memory for a stack with a guard page below.
#[derive(Debug)]
pub(crate) struct Stacks {
    memory: GuardedBuffer,
}

impl Stacks {
    pub(crate) fn new() -> Self {
        Self { memory: GuardedBuffer::new(STACK_LEN) }
    }

    /// Runs `ops` operations in four parts, each on a stack of another alignment; `roll` picks the
    /// place within some pages and which alignment comes first. Returns the or of what the parts return.
    #[inline(always)]
    pub(crate) fn spread(&mut self, roll: u64, ops: u32, mut run: impl FnMut(u32) -> i32) -> i32 {
        // Other bits than those that place the buffers.
        let line = ((roll >> 40) as usize % (PAGES * PAGE / LINE)) * LINE;
        let first = (roll >> 48) as u32;
        let mut codes = 0;
        for part in 0..ALIGNMENTS {
            let share = ops / ALIGNMENTS + u32::from(part < ops % ALIGNMENTS);
            if share > 0 {
                let alignment = (first.wrapping_add(part) % ALIGNMENTS) as usize * STACK_ALIGN;
                codes |= self.run_on(line + alignment, || run(share));
            }
        }
        codes
    }

    /// Runs one operation on a stack that begins at the same place every time: what it executes may
    /// hang on how its stack lies.
    pub(crate) fn once<R>(&mut self, run: impl FnOnce() -> R) -> R {
        self.run_on(0, run)
    }

    /// Runs `f` on the stack that begins so many bytes below the memory's top.
    #[inline(always)]
    fn run_on<R>(&mut self, below_top: usize, f: impl FnOnce() -> R) -> R {
        let memory = self.memory.as_mut_slice();
        let len = memory.len() - below_top;
        // SAFETY: `len` bytes from the memory's beginning are ours, writable and aligned to 16
        // bytes, because `below_top` is; nothing else uses them while `f` runs, and `f` comes
        // back: it calls C functions, through which no panic unwinds.
        unsafe { psm::on_stack(memory.as_mut_ptr(), len, f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_runs_once_whatever_their_number() {
        let mut stacks = Stacks::new();
        for ops in [1, 2, 3, 4, 5, 17, 1000] {
            let mut ran = 0;
            stacks.spread(7, ops, |n| {
                ran += n;
                0
            });
            assert_eq!(ran, ops);
        }
    }

    #[test]
    fn the_parts_lie_on_the_four_alignments() {
        let mut stacks = Stacks::new();
        let mut seen = std::collections::BTreeSet::new();
        stacks.spread(3 << 48, 4, |_| {
            let local = 0_u8;
            // The frames of all parts are laid out alike: what differs is the stack's beginning.
            seen.insert(std::hint::black_box(&raw const local) as usize % LINE / STACK_ALIGN);
            0
        });
        assert_eq!(seen.len(), 4);
    }
}
