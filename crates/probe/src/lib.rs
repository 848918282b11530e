//! The hot and the unsafe code: clocks, the core-clock chain, the timing loops, guarded memory.
//!
//! Everything that shapes a number is here. This crate holds `unsafe` code: inline assembly, the
//! calls through a library's function pointers inside the clock, and raw memory.
#![warn(missing_docs)]

mod arch;
mod batch;
mod clock;
mod cpu;
pub mod fault;
mod heap;
pub mod leaks;
mod limits;
pub mod pages;
mod ring;
mod samples;
mod settle;
pub mod step;
pub mod surroundings;

pub use batch::arena::{Arena, Place, WalkSize};
pub use batch::timed::{Batch, Met, Pace, StreamBatch, Taken, Undisturbed};
pub use batch::{Done, MAX_MESSAGES, MessageBatch, MessageSet, Stepped, messages_for};
pub use clock::{Anchor, Clock};
pub use cpu::{
    Beside, InstructionCounter, Interruptions, allowed_cpus, have_core_alone, move_threads_to,
    move_to, pin_to,
};
pub use heap::{Counts, Meter, give_large_blocks_back, lay_heap_out};
pub use limits::{Move, Prober, Reading, Reads, Stretch, Subject};
pub use samples::{Evictor, Together, around_parts, sample_together};
pub use settle::{forget_branches, settle};
