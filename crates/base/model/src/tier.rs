//! Tiers: which CPU instructions the library may see.

use serde::{Deserialize, Serialize};

/// Which CPU instructions the library may see.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    strum::Display,
    strum::IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Everything the CPU has.
    Native,
    /// VAES and VPCLMULQDQ, no AVX-512.
    Vaes256,
    /// 128-bit AES and PCLMULQDQ, no VAES, no AVX-512.
    Aesni,
    /// No AES instructions, no PCLMULQDQ.
    Noaes,
    /// x86-64 with SSE2 only.
    Baseline,
}

impl Tier {
    /// Every tier, the widest first.
    pub const ALL: &'static [Self] =
        &[Self::Native, Self::Vaes256, Self::Aesni, Self::Noaes, Self::Baseline];

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
            Self::Noaes => "no AES instructions, no PCLMULQDQ",
            Self::Baseline => "x86-64 with SSE2 only",
        }
    }
}
