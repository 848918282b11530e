//! The seam between architectures: time stamps, a dependent chain of known latency, and a block of
//! independent instructions. Where an architecture has no entry of its own, samples are timed by
//! the system's clock and core cycles stay unknown.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::*;

#[cfg(not(target_arch = "x86_64"))]
mod portable;
#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::*;
