//! No instructions are measured on this architecture yet: its floors are unknown.

use crate::limits::{Needs, Subject};

/// Never called: there are no subjects.
pub(crate) type Kernel = unsafe fn(rounds: u64, at: *mut u8);
/// Never called: there are no ways.
pub(crate) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

pub(crate) const SCRATCH: usize = 4096;
pub(crate) const STRIDE: usize = 512;
pub(crate) const READS: &[(&str, Needs, Walk)] = &[];
pub(crate) const WRITES: &[(&str, Needs, Walk)] = &[];
pub(crate) const COPIES: &[(&str, Needs, Walk)] = &[];

pub(crate) fn subjects(_has: &dyn Fn(Needs) -> bool) -> Vec<Subject> {
    Vec::new()
}

pub(crate) fn has(_needs: Needs) -> bool {
    false
}
