//! Exact instruction counts: one call of a function single-stepped in this very process, then
//! decoded.
//!
//! Stepping and decoding are apart. While the call runs, a signal handler writes the address of
//! each instruction into memory that was set aside before, and does nothing else; what the
//! addresses mean is found out afterwards.
//!
//! This crate holds `unsafe` code: it turns on the CPU's trap flag, handles the signal, and calls
//! the function under test.

mod class;
pub(crate) mod code;
mod forks;
mod profile;
pub(crate) mod symbols;
mod tape;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod unavailable;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use unavailable as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

pub use arch::{Recorder, Stepper, prepare};
pub use class::Class;
pub use code::Code;
pub use forks::hide_forks;
pub use profile::{ClassCount, FunctionCount, Profile, SetCount, profile};
#[doc(hidden)]
pub use symbols::function_in;
pub use tape::{Recorded, Step, Tape};

/// Why a call cannot be stepped, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable(pub String);

impl Unavailable {
    #[cfg(target_arch = "x86_64")]
    fn no_effect() -> Self {
        Self("the trap flag has no effect in this process".to_owned())
    }
}

/// How stepping ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The call was seen to its return.
    Returned,
    /// The steps that were allowed were used up; the call ran on unseen.
    StepLimit,
    /// The call runs through more places than there is room for; it ran on unseen.
    TableFull,
}

/// What a call executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Every address that was executed, in ascending order.
    pub visits: Vec<Visit>,
    /// Steps that were taken: an instruction with a repeat prefix takes one for each repetition.
    pub steps: u64,
    /// How stepping ended.
    pub end: End,
}

impl Trace {
    /// This call and another one, as if they were one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.visits.extend(other.visits);
        self.visits.sort_unstable_by_key(|v| v.address);
        self.visits.dedup_by(|later, kept| {
            let same = later.address == kept.address;
            if same {
                kept.count += later.count;
                kept.repeats += later.repeats;
            }
            same
        });
        let end = if self.end == End::Returned { other.end } else { self.end };
        Self { visits: self.visits, steps: self.steps + other.steps, end }
    }
}

/// How often one address was executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Visit {
    /// Where the instruction is.
    pub address: u64,
    /// How often it was come to from another address.
    pub count: u64,
    /// How often the instruction executed next was again this one: repetitions of an instruction
    /// with a repeat prefix, or a jump to itself.
    pub repeats: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_calls_as_one_add_what_each_address_was_visited() {
        let visit = |address, count| Visit { address, count, repeats: 1 };
        let trace = |visits: &[Visit], steps, end| Trace { visits: visits.to_vec(), steps, end };
        let one = trace(&[visit(1, 2), visit(5, 1)], 3, End::Returned);
        let other = trace(&[visit(1, 3), visit(4, 7)], 10, End::StepLimit);
        let both = one.clone().and(other.clone());
        let at_one = Visit { address: 1, count: 5, repeats: 2 };
        assert_eq!(both, trace(&[at_one, visit(4, 7), visit(5, 1)], 13, End::StepLimit));
        assert_eq!(other.and(one), both);
    }
}
