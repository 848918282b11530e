//! What a core can do at best: measured throughputs and latencies in, the floor of each algorithm
//! out, with what it is bound by. Pure: no I/O, no clock, no unsafe code. `docs/LIMITS.md` has the
//! derivations.
#![forbid(unsafe_code)]

mod core;
mod floor;

pub use crate::core::{Access, Bandwidth, Core, Instruction, Level, Pair};
pub use floor::{Bound, Floor};
