//! What a library must leave as it found it: the processor's modes and the process that it runs in.
//! A library that changes them may be right in every byte and still break the program that calls it, or
//! hide from the checks what it does.
//!
//! This crate holds `unsafe` code: it reads and restores registers around a call of a library's function,
//! and asks the kernel for what only C's interfaces tell.

mod call;
mod children;
mod process;
mod signals;
mod time;

#[cfg(not(target_arch = "x86_64"))]
mod elsewhere;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(not(target_arch = "x86_64"))]
use elsewhere as registers;
#[cfg(target_arch = "x86_64")]
use x86_64 as registers;

pub use call::call;
pub use children::{adopt, end as end_children, exist as children_exist, keep as keep_child};
pub use process::Process;
pub use registers::Left;
pub use signals::Signals;
pub use time::OthersTime;
