//! What a core can do at best: measured throughputs and latencies in, the floor of each algorithm
//! out, with what it is bound by and whom it binds. Pure: no I/O, no clock, no unsafe code. `docs/LIMITS.md` has the
//! derivations in words.
mod candidates;
mod ciphers;
mod core;
mod demand;
#[cfg(test)]
mod fixtures;
mod floor;
mod limit;
mod machine;
mod others;

pub use crate::analysis::bound::core::{Access, Bandwidth, Core, Instruction, Level, Pair};
pub use floor::{Basis, Bound, Floor};
pub use limit::{Limit, Operation, Seen, floor, limit, proven};
