//! Tiers: which CPU instructions a library may see, applied to the process that loads it
//! (docs/METHOD.md, Tiers).
//!
//! x86-64: [`mask`] says what CPUID is to answer, a signal handler says it. CPUID faults where CPU and kernel have that,
//! else in a copy of the library; some libraries have a switch of their own.
//!
//! aarch64: [`hwcap`] says what the kernel is to have said of the CPU; the process changes that in its own memory before
//! it loads the library. Reads of ID registers fault in a copy of the library, and a signal handler answers.
//!
//! This crate holds `unsafe` code: a signal handler, CPUID, the process's own start-up vector, the dynamic loader.

mod closure;
mod copy;
mod environment;
pub mod hwcap;
mod image;
pub mod mask;
mod pages;
mod plan;
mod rewrite;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use other as arch;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

#[cfg(target_arch = "x86_64")]
pub use arch::read_object;
pub use arch::{answered, apply, hide, machine};
pub use copy::copied_name;
pub use environment::environment;
pub use pages::give_own_pages;
pub use plan::{Applied, Copies, Object, Plan};
pub use rewrite::prepare;

/// How a tier is applied. In the order in which they are tried: the first changes no byte of the
/// library, the last has the library's own word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Mechanism {
    /// The processor faults on CPUID, and a signal handler answers.
    CpuidFault,
    /// CPUID instructions of the library are replaced by others that fault.
    CpuidRewrite,
    /// The library is told by a setting of its own.
    LibrarySwitch,
    /// aarch64: what the kernel says of the CPU at the start is changed in the process's memory.
    HwcapMask,
}

impl Mechanism {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Those of this architecture, in the order in which they are tried.
    pub const HERE: &'static [Self] = if cfg!(target_arch = "aarch64") {
        &[Self::HwcapMask]
    } else {
        &[Self::CpuidFault, Self::CpuidRewrite, Self::LibrarySwitch]
    };

    /// What the environment variable `CIPHERMARK_TIER_MECHANISM` leaves: `fault`, `rewrite` or
    /// `switch` (aarch64: `mask`); any where it is not set. For holding the mechanisms against each other.
    ///
    /// # Errors
    /// When the variable says anything else.
    pub fn wanted() -> Result<Option<Self>, String> {
        let Some(value) = std::env::var_os(VARIABLE).filter(|v| !v.is_empty()) else {
            return Ok(None);
        };
        let named = |m: &&Self| m.name().ends_with(&format!("-{}", value.display()));
        let found = Self::HERE.iter().find(named);
        found.map(|m| Some(*m)).ok_or_else(|| {
            let words =
                if cfg!(target_arch = "aarch64") { "mask" } else { "fault, rewrite or switch" };
            format!("{VARIABLE} is '{}': it takes {words}", value.display())
        })
    }
}

const VARIABLE: &str = "CIPHERMARK_TIER_MECHANISM";
