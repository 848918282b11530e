//! Tiers: which CPU instructions a library may see, applied to the process that loads it.
//!
//! Libraries ask the CPU what it has with the instruction CPUID, in any language and at any moment,
//! the earliest in an initialiser. Here that question is answered: [`mask`] says with what, a signal
//! handler says it. Two mechanisms have the question arrive there: CPUID faulting, where CPU and
//! kernel have it, and a copy of the library in which every CPUID instruction faults by itself. Where
//! neither can be had, some libraries have a switch of their own.
//!
//! This crate holds `unsafe` code: a signal handler, CPUID, the dynamic loader.

#[cfg(target_arch = "x86_64")]
mod apply;
#[cfg(target_arch = "x86_64")]
mod closure;
mod copy;
mod environment;
#[cfg(target_arch = "x86_64")]
mod fault;
#[cfg(target_arch = "x86_64")]
mod features;
#[cfg(target_arch = "x86_64")]
mod marker;
pub mod mask;
#[cfg(target_arch = "x86_64")]
mod object;
#[cfg(not(target_arch = "x86_64"))]
mod other;
#[cfg(target_arch = "x86_64")]
mod rewrite;
#[cfg(target_arch = "x86_64")]
mod sites;
#[cfg(all(test, target_arch = "x86_64"))]
mod stand_in;
#[cfg(target_arch = "x86_64")]
mod switch;
#[cfg(target_arch = "x86_64")]
mod trap;

#[cfg(target_arch = "x86_64")]
pub use apply::{Applied, apply};
pub use copy::{copied_name, copy_of};
pub use environment::environment;
#[cfg(not(target_arch = "x86_64"))]
pub use other::{Applied, Copies, Object, Plan, answered, apply, machine, prepare};
#[cfg(target_arch = "x86_64")]
pub use rewrite::{Copies, Object, Plan, prepare};
#[cfg(target_arch = "x86_64")]
pub use trap::answered;

/// What is read of a file that is to be loaded at a tier: how many places of it are CPUID
/// instructions and how many only look so, and how many instruction sets its code needs. For tests
/// of what any file does to the reader.
///
/// # Errors
/// Why the file cannot be read.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
pub fn read_object(bytes: &[u8]) -> Result<[usize; 3], String> {
    let image = object::Image::parse(bytes)?;
    let found = sites::find(&image)?;
    let within =
        |offset: &u64| bytes.get(*offset as usize..).is_some_and(|b| b.starts_with(&marker::CPUID));
    assert!(
        found.instructions.iter().chain(&found.others).all(within),
        "a place that is not CPUID"
    );
    Ok([found.instructions.len(), found.others.len(), sites::features(&image)?.len()])
}

use std::fmt;

/// How a tier is applied. In the order in which they are tried: the first changes no byte of the
/// library, the last has the library's own word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// The processor faults on CPUID, and a signal handler answers.
    CpuidFault,
    /// CPUID instructions of the library are replaced by others that fault.
    CpuidRewrite,
    /// The library is told by a setting of its own.
    LibrarySwitch,
}

impl Mechanism {
    /// In the order in which they are tried.
    pub const ALL: &'static [Self] = &[Self::CpuidFault, Self::CpuidRewrite, Self::LibrarySwitch];

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CpuidFault => "cpuid-fault",
            Self::CpuidRewrite => "cpuid-rewrite",
            Self::LibrarySwitch => "library-switch",
        }
    }

    /// What the environment variable `CIPHERMARK_TIER_MECHANISM` leaves: `fault`, `rewrite` or
    /// `switch`; any where it is not set. For holding the mechanisms against each other.
    ///
    /// # Errors
    /// When the variable says anything else.
    pub fn wanted() -> Result<Option<Self>, String> {
        let Some(value) = std::env::var_os(VARIABLE).filter(|v| !v.is_empty()) else {
            return Ok(None);
        };
        let named = |m: &&Self| m.name().ends_with(&format!("-{}", value.display()));
        let found = Self::ALL.iter().find(named);
        found.map(|m| Some(*m)).ok_or_else(|| {
            format!("{VARIABLE} is '{}': it takes fault, rewrite or switch", value.display())
        })
    }
}

const VARIABLE: &str = "CIPHERMARK_TIER_MECHANISM";

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How this machine applies tiers, and what each tier is here: `Err` says why a tier cannot be had
/// with any library.
///
/// # Errors
/// What this CPU lacks.
#[cfg(target_arch = "x86_64")]
pub fn machine(tier: model::Tier) -> Result<(Option<Mechanism>, Option<String>), String> {
    let note = apply::exceeded(tier, &trap::cpuid)?;
    if tier == model::Tier::Native {
        return Ok((None, note));
    }
    let fault = fault::available().is_ok();
    let mechanism = if fault { Mechanism::CpuidFault } else { Mechanism::CpuidRewrite };
    Ok((Some(mechanism), note))
}
