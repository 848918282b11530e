//! The hot and the unsafe code: clocks, the core-clock chain, the timing loops, guarded memory.
//!
//! Everything that shapes a number is here. This crate holds `unsafe` code: inline assembly, the
//! calls through a library's function pointers inside the clock, and raw memory.

mod affinity;
mod arch;
mod arena;
mod batch;
mod chain;
mod clock;
mod control;
mod counter;
pub mod fault;
mod flight;
mod forget;
pub mod guard;
mod heap;
pub mod leaks;
mod limits;
mod messages;
mod meter;
pub mod pages;
mod parts;
mod ring;
mod sample;
mod settle;
mod stacks;
pub mod step;
mod stream;
pub mod surroundings;
mod together;
mod walk;
mod watch;

pub use affinity::{allowed_cpus, have_core_alone, move_threads_to, move_to, pin_to};
pub use arena::Arena;
pub use batch::Batch;
pub use clock::{Anchor, Clock};
pub use counter::InstructionCounter;
pub use forget::forget_branches;
pub use heap::{give_large_blocks_back, lay_heap_out};
pub use limits::{Move, Prober, Reading, Reads, Stretch, Subject};
pub use messages::{Done, MAX_MESSAGES, MessageBatch, MessageSet, Stepped, messages_for};
pub use meter::{Counts, Meter};
pub use parts::{Evictor, around_parts};
pub use sample::{Met, Pace, Taken, Undisturbed};
pub use settle::settle;
pub use stream::StreamBatch;
pub use together::{Together, sample_together};
pub use walk::{Place, WalkSize};
pub use watch::{Beside, Interruptions};
