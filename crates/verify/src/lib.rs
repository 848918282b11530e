//! Verification: proves that a library computes what its algorithm's name says, before anything
//! is timed and after. No unsafe code, no clock.
#![forbid(unsafe_code)]

pub mod reference;
