//! The hot and the unsafe code: clocks, the core-clock chain, the timing loops, guarded memory.
//!
//! Everything that shapes a number is here. This crate holds `unsafe` code: inline assembly, the
//! calls through a library's function pointers inside the clock, and raw memory.

mod arch;
mod batch;
mod clock;
pub mod fault;
pub mod leaks;
mod limits;
pub mod pages;
mod process;
pub mod sampling;
pub mod step;
pub mod surroundings;

pub use batch::arena::{Arena, Place, WalkSize};
pub use batch::between::Work;
pub use batch::samples::{Evictor, Together, around_parts, sample_together};
pub use batch::timed::{
    Batch, Met, Moment, Pace, StreamBatch, Taken, Undisturbed, forget_branches, settle,
};
pub use batch::{Done, MAX_MESSAGES, MessageBatch, MessageSet, Stepped, messages_for};
pub use clock::{Anchor, Clock};
pub use limits::{Prober, Reading, Reads, Stretch, Subject};
pub use process::{
    Beside, Counts, InstructionCounter, Interruptions, Meter, allowed_cpus, give_large_blocks_back,
    have_core_alone, lay_heap_out, move_threads_to, move_to, pin_to,
};
