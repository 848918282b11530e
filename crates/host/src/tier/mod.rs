//! Tiers: which CPU instructions a library may see, applied to the process that loads it (docs/METHOD.md,
//! Tiers). x86-64: [`mask`] says what CPUID is to answer, a signal handler says it. CPUID faults where CPU
//! and kernel have that, else in a copy of the library; some libraries have a switch of their own. aarch64:
//! [`mask`] says what the kernel is to have said of the CPU; the process changes that in its own memory
//! before it loads the library. Reads of ID registers fault in a copy of the library, and a signal handler
//! answers. It holds `unsafe` code: a signal handler, CPUID, the process's own start-up vector, the dynamic
//! loader. Here: the mechanisms, the plan for a library and what became of it, and the C library, which
//! follows the tier by itself by `GLIBC_TUNABLES`: its own memory functions are chosen before any code of
//! ours runs.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod copy;
pub mod mask;
mod rewrite;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as arch;
#[cfg(target_arch = "x86_64")]
pub use arch::read_object;
pub use arch::{answered, apply, hide, machine};
use base::model::Feature::*;
use base::model::{Feature, Tier};
pub use copy::{copied_name, give_own_pages};
pub use rewrite::prepare;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;
#[cfg(target_arch = "x86_64")]
use x86_64 as arch;

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Object {
    pub original: PathBuf,
    /// What to load: the copy, or the file itself where nothing in it has to be another.
    pub load: PathBuf,
    /// CPUID instructions in it; on aarch64, places that ask what the CPU has: reads of ID registers, calls of
    /// getauxval(3), names of files of the kernel's that say it.
    pub cpuid_instructions: u64,
}

/// A library as it is to be loaded at a tier. The copies it speaks of belong to the process that
/// made them, and are there as long as [`Copies`] is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// In this order, the library last.
    pub objects: Vec<Object>,
    /// The CPU features that the code needs (as iced-x86 names them), each with the number of
    /// instructions; only of a library without any CPUID instruction.
    pub features: BTreeMap<String, usize>,
}

impl Plan {
    /// CPUID instructions in the library and in what it loads.
    pub fn cpuid_instructions(&self) -> u64 {
        self.objects.iter().map(|o| o.cpuid_instructions).sum()
    }
}

/// A library's plan with the copies that it speaks of.
#[derive(Debug)]
pub struct Copies {
    /// The plan, which other processes of the same user can follow too.
    pub plan: Plan,
    pub(crate) _files: Vec<File>,
}

#[derive(Debug)]
pub struct Applied {
    pub tier: Tier,
    pub mechanism: Mechanism,
    /// What to load in the place of the library's file.
    pub load: PathBuf,
    /// The files of which copies were loaded.
    pub originals: Vec<PathBuf>,
    /// CPUID instructions in the library and in what it loads; `None` where they were not looked
    /// for.
    pub cpuid_instructions: Option<u64>,
    /// CPUID instructions answered before the library was loaded: those of the self-test.
    pub answered_before: u64,
    pub proof: String,
    /// What is to be known of it.
    pub note: Option<String>,
}

/// Features by the names of `glibc.cpu.hwcaps` (glibc manual, "Hardware Capability Tunables"), with
/// the spelling up to glibc 2.32 where it differs; names that a version does not know are ignored.
#[rustfmt::skip]
const TUNABLES: &[(Feature, &[&str])] = &[
    (Avx512, &[
        "AVX512F", "AVX512CD", "AVX512ER", "AVX512PF", "AVX512VL", "AVX512DQ", "AVX512BW",
        "AVX512F_Usable", "AVX512DQ_Usable", "Prefer_No_VZEROUPPER",
    ]),
    (Sse3, &["SSE3"]),
    (Ssse3, &["SSSE3", "Fast_Copy_Backward", "Fast_Unaligned_Copy"]),
    (Sse41, &["SSE4_1"]),
    (Sse42, &["SSE4_2"]),
    (Avx, &["AVX", "AVX_Usable", "AVX_Fast_Unaligned_Load"]),
    (Avx2, &["AVX2", "AVX2_Usable"]),
    (Fma, &["FMA", "FMA_Usable"]),
    (Other, &["FMA4", "FMA4_Usable"]),
    (Bmi1, &["BMI1"]),
    (Bmi2, &["BMI2"]),
    (Lzcnt, &["LZCNT"]),
    (Movbe, &["MOVBE"]),
    (Popcnt, &["POPCNT"]),
];

/// Variables for a process at a tier, beside those that it inherits.
pub fn environment(tier: Tier) -> Vec<(&'static str, String)> {
    let hidden = TUNABLES.iter().filter(|(feature, _)| !tier.shows(*feature));
    let list: Vec<String> =
        hidden.flat_map(|(_, names)| *names).map(|name| format!("-{name}")).collect();
    // glibc for aarch64 has no such setting: its memory functions stay what they are.
    if cfg!(target_arch = "aarch64") || list.is_empty() {
        return Vec::new();
    }
    let ours = format!("glibc.cpu.hwcaps={}", list.join(","));
    // Of two settings of one tunable the last one counts.
    let inherited = std::env::var("GLIBC_TUNABLES").ok().filter(|v| !v.is_empty());
    let value = inherited.map_or_else(|| ours.clone(), |before| format!("{before}:{ours}"));
    vec![("GLIBC_TUNABLES", value)]
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_c_library_keeps_avx2_where_the_tier_shows_it() {
        let value = |tier| environment(tier).pop().map(|(_, value)| value).unwrap_or_default();
        assert_eq!(value(Tier::Native), "");
        assert!(value(Tier::Noaes).contains("-AVX512VL") && !value(Tier::Noaes).contains("-AVX2"));
        assert!(
            value(Tier::Baseline).contains("-AVX2,") && value(Tier::Baseline).contains("-SSSE3")
        );
        assert!(!value(Tier::Baseline).contains("SSE2,"));
        let bridge = value(Tier::Sandybridge);
        assert!(bridge.contains("-AVX2,") && !bridge.contains("-AVX,"), "{bridge}");
    }
}
