//! Tiers: which CPU instructions a library may see, applied to the process that loads it
//! (docs/METHOD.md, Tiers).
//!
//! [`mask`] says what CPUID is to answer, a signal handler says it. CPUID faults where CPU and kernel have that, else
//! in a copy of the library; some libraries have a switch of their own.
//!
//! This crate holds `unsafe` code: a signal handler, CPUID, the dynamic loader.

mod copy;
mod environment;
pub mod mask;
mod plan;

#[cfg(target_arch = "x86_64")]
#[path = "x86_64/mod.rs"]
mod arch;
#[cfg(not(target_arch = "x86_64"))]
#[path = "other.rs"]
mod arch;

#[cfg(target_arch = "x86_64")]
pub use arch::read_object;
pub use arch::{answered, apply, machine, prepare};
pub use copy::{copied_name, copy_of};
pub use environment::environment;
pub use plan::{Applied, Copies, Object, Plan};

use strum::VariantArray as _;

/// How a tier is applied. In the order in which they are tried: the first changes no byte of the
/// library, the last has the library's own word for it.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::IntoStaticStr, strum::VariantArray,
)]
#[strum(serialize_all = "kebab-case")]
pub enum Mechanism {
    /// The processor faults on CPUID, and a signal handler answers.
    CpuidFault,
    /// CPUID instructions of the library are replaced by others that fault.
    CpuidRewrite,
    /// The library is told by a setting of its own.
    LibrarySwitch,
}

impl Mechanism {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
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
        let found = Self::VARIANTS.iter().find(named);
        found.map(|m| Some(*m)).ok_or_else(|| {
            format!("{VARIABLE} is '{}': it takes fault, rewrite or switch", value.display())
        })
    }
}

const VARIABLE: &str = "CIPHERMARK_TIER_MECHANISM";
