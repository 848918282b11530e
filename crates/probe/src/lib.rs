//! The hot and the unsafe code: clocks, the core-clock chain, the sampling loop, guarded memory.

pub mod guard;
