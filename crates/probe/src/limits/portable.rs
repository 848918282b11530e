//! No instructions are measured on this architecture yet: its floors are unknown.

use crate::limits::{Line, PairLine};

/// Nothing is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {}
/// Never called: there are no instructions.
pub(crate) type Kernel = unsafe fn(rounds: u64, at: *mut u8);
/// Never called: there are no ways.
pub(crate) type Walk = unsafe fn(bytes: usize, from: *const u8, to: *mut u8);

pub(crate) const SCRATCH: usize = 4096;
pub(crate) const STRIDE: usize = 512;
pub(crate) const READS: &[(&str, Needs, Walk)] = &[];
pub(crate) const WRITES: &[(&str, Needs, Walk)] = &[];
pub(crate) const COPIES: &[(&str, Needs, Walk)] = &[];

pub(crate) const BLOCK: f64 = 1.0;
pub(crate) const INSTRUCTIONS: &[Line] = &[];
pub(crate) const PAIRS: &[PairLine] = &[];
pub(crate) const WINDOWS: [(&str, u32, Needs, Kernel); 0] = [];

pub(crate) fn has(needs: Needs) -> bool {
    match needs {}
}

pub(crate) fn width(bits: u32) -> u32 {
    bits
}
