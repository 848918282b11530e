//! Tiers: which CPU instructions the library may see.

use serde::{Deserialize, Serialize};

/// Which CPU instructions the library may see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema, strum::Display, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Everything the CPU has.
    Native,
    /// x86-64: VAES and VPCLMULQDQ, no AVX-512.
    Vaes256,
    /// x86-64: 128-bit AES and PCLMULQDQ, no VAES, no AVX-512.
    Aesni,
    /// aarch64: everything but SVE and SME.
    Nosve,
    /// aarch64: AES, PMULL, SHA-1 and SHA-256 of Armv8.0, no SVE, no SHA-3, SHA-512, SM3, SM4.
    Aes,
    /// No AES instructions, no carry-less multiplication.
    Noaes,
    /// x86-64 with SSE2 only; aarch64 of Armv8.0 with Advanced SIMD only.
    Baseline,
}

impl Tier {
    /// Every tier of every architecture; of one architecture, the widest first.
    pub const ALL: &'static [Self] = &[
        Self::Native,
        Self::Vaes256,
        Self::Aesni,
        Self::Nosve,
        Self::Aes,
        Self::Noaes,
        Self::Baseline,
    ];

    /// The tiers of x86-64, the widest first.
    pub const X86_64: &'static [Self] =
        &[Self::Native, Self::Vaes256, Self::Aesni, Self::Noaes, Self::Baseline];

    /// The tiers of aarch64, the widest first.
    pub const AARCH64: &'static [Self] =
        &[Self::Native, Self::Nosve, Self::Aes, Self::Noaes, Self::Baseline];

    /// The tiers of the architecture that this program was built for.
    pub const HERE: &'static [Self] =
        if cfg!(target_arch = "aarch64") { Self::AARCH64 } else { Self::X86_64 };

    /// The name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// One sentence for lists.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Native => "everything the CPU has",
            Self::Vaes256 => "VAES and VPCLMULQDQ, no AVX-512",
            Self::Aesni => "128-bit AES and PCLMULQDQ, no VAES, no AVX-512",
            Self::Nosve => "everything but SVE and SME",
            Self::Aes => {
                "AES, PMULL, SHA-1 and SHA-256 of Armv8.0, no SVE, SHA-3, SHA-512, SM3, SM4"
            }
            Self::Noaes if cfg!(target_arch = "aarch64") => "no AES instructions, no PMULL",
            Self::Noaes => "no AES instructions, no PCLMULQDQ",
            Self::Baseline if cfg!(target_arch = "aarch64") => "Armv8.0 with Advanced SIMD only",
            Self::Baseline => "x86-64 with SSE2 only",
        }
    }

    /// Why the tier cannot be had on any machine of this program's architecture; `None` when some have it.
    #[must_use]
    pub fn foreign(self) -> Option<String> {
        let (of, here) = if Self::AARCH64.contains(&self) {
            ("aarch64", "x86-64")
        } else {
            ("x86-64", "aarch64")
        };
        (!Self::HERE.contains(&self)).then(|| format!("a tier of {of}: this program is for {here}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ladders_go_down_and_every_tier_stands_on_one() {
        for ladder in [Tier::X86_64, Tier::AARCH64, Tier::ALL] {
            assert!(ladder.is_sorted() && ladder[0] == Tier::Native, "{ladder:?}");
        }
        let on_one = |t: &Tier| Tier::X86_64.contains(t) || Tier::AARCH64.contains(t);
        assert!(Tier::ALL.iter().all(on_one));
    }

    #[test]
    fn a_tier_of_another_architecture_says_which() {
        assert!(Tier::HERE.iter().all(|t| t.foreign().is_none()));
        let others: Vec<String> = Tier::ALL.iter().filter_map(|t| t.foreign()).collect();
        assert_eq!(others.len(), 2);
        assert!(others[0].starts_with("a tier of "), "{others:?}");
    }
}
