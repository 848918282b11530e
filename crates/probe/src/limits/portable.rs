//! No instructions are measured on this architecture yet: its floors are unknown.

use super::{Needs, Subject};

/// Never called: there are no subjects.
pub(super) type Kernel = unsafe fn(rounds: u64, at: *mut u8);
/// Never called: there are no ways.
pub(super) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

pub(super) const SCRATCH: usize = 4096;
pub(super) const STRIDE: usize = 512;
pub(super) const READS: &[(&str, Needs, Walk)] = &[];
pub(super) const WRITES: &[(&str, Needs, Walk)] = &[];
pub(super) const COPIES: &[(&str, Needs, Walk)] = &[];

pub(super) fn subjects(_has: &dyn Fn(Needs) -> bool) -> Vec<Subject> {
    Vec::new()
}

pub(super) fn has(_needs: Needs) -> bool {
    false
}
