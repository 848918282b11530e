//! CPU features that tiers show or hide: one bit a group of features that came together, and the names that
//! disassemblers and kernels have for them.

/// A feature, or a group of which no tier shows a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumIter)]
pub enum Feature {
    /// SSE3.
    #[strum(serialize = "SSE3")]
    Sse3,
    /// CMPXCHG16B, and LAHF in 64-bit mode.
    #[strum(serialize = "CMPXCHG16B")]
    Cx16,
    /// SSSE3.
    #[strum(serialize = "SSSE3")]
    Ssse3,
    /// SSE4.1.
    #[strum(serialize = "SSE4.1")]
    Sse41,
    /// SSE4.2.
    #[strum(serialize = "SSE4.2")]
    Sse42,
    /// POPCNT.
    #[strum(serialize = "POPCNT")]
    Popcnt,
    /// AES-NI; aarch64's AESE and its kin.
    #[strum(serialize = "AES instructions")]
    Aes,
    /// PCLMULQDQ; aarch64's PMULL.
    #[cfg_attr(not(target_arch = "aarch64"), strum(serialize = "PCLMULQDQ"))]
    #[cfg_attr(target_arch = "aarch64", strum(serialize = "PMULL"))]
    Clmul,
    /// XSAVE, OSXSAVE and the state components.
    #[strum(serialize = "XSAVE")]
    Xsave,
    /// AVX.
    #[strum(serialize = "AVX")]
    Avx,
    /// F16C.
    #[strum(serialize = "F16C")]
    F16c,
    /// FMA with three operands.
    #[strum(serialize = "FMA")]
    Fma,
    /// MOVBE.
    #[strum(serialize = "MOVBE")]
    Movbe,
    /// LZCNT.
    #[strum(serialize = "LZCNT")]
    Lzcnt,
    /// BMI1.
    #[strum(serialize = "BMI1")]
    Bmi1,
    /// BMI2.
    #[strum(serialize = "BMI2")]
    Bmi2,
    /// AVX2.
    #[strum(serialize = "AVX2")]
    Avx2,
    /// ADX.
    #[strum(serialize = "ADX")]
    Adx,
    /// SHA-1 and SHA-256.
    #[strum(serialize = "SHA instructions")]
    Sha,
    /// GFNI.
    #[strum(serialize = "GFNI")]
    Gfni,
    /// VAES.
    #[strum(serialize = "VAES")]
    Vaes,
    /// VPCLMULQDQ.
    #[strum(serialize = "VPCLMULQDQ")]
    Vpclmul,
    /// AVX-512 of Skylake's servers: F, CD, BW, DQ, VL.
    #[strum(serialize = "AVX-512")]
    Avx512,
    /// What Ice Lake added to it: IFMA, VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ.
    #[strum(serialize = "AVX-512 IFMA, VBMI and VNNI")]
    Avx512Icelake,
    /// The rest of AVX-512, AVX10, AMX.
    #[strum(serialize = "later AVX-512, AVX10, AMX")]
    Avx512Later,
    /// Later instructions on registers of AVX: SHA-512, SM3, SM4, AVX-VNNI, AVX-IFMA.
    #[strum(serialize = "SHA-512, SM3, SM4, AVX-VNNI")]
    AvxLater,
    /// Key Locker.
    #[strum(serialize = "Key Locker")]
    KeyLocker,
    /// The cipher unit of VIA's PadLock.
    #[strum(serialize = "PadLock ACE")]
    Ace,
    /// aarch64: SVE and SME.
    #[strum(serialize = "SVE")]
    Sve,
    /// aarch64: SHA-3, SHA-512, SM3, SM4.
    #[strum(serialize = "SHA-3, SHA-512, SM3, SM4")]
    Sha3,
    /// aarch64: CRC32.
    #[strum(serialize = "CRC32")]
    Crc32,
    /// Everything else that came after x86-64 or Armv8.0: XOP, TSX, APX, LSE atomics, dot products, …
    #[strum(serialize = "others")]
    Other,
}

/// What every x86-64 CPU has, and what computes nothing: entropy, identity, system calls, hints that older CPUs
/// execute as `NOP`.
#[rustfmt::skip]
const FIRST_X86_64: &[&str] = &[
    "intel8086", "intel8086_only", "intel186", "intel286", "intel386", "intel486", "x64", "cmov", "fpu", "fpu287",
    "fpu387", "mmx", "sse", "sse2", "fxsr", "cx8", "clfsh", "tsc", "rdtscp", "syscall", "cpuid", "multibytenop", "pause",
    "cet_ibt", "cet_ss", "prefetchw", "rdrand", "rdseed",
];

/// The same of aarch64: Armv8.0 with Advanced SIMD, identity, random numbers, hints.
const FIRST_AARCH64: &[&str] = &["v8", "simd", "fp"];

impl Feature {
    /// What an instruction of x86-64 needs, by the name that iced-x86 has for its set, in lower case; `None` for what
    /// every CPU has.
    #[must_use]
    pub fn of_x86_64(set: &str) -> Option<Self> {
        let begins = |names: &[&str]| names.iter().any(|n| set.starts_with(n));
        Some(match set {
            _ if FIRST_X86_64.contains(&set) => return None,
            "sse3" => Self::Sse3,
            "cmpxchg16b" => Self::Cx16,
            "ssse3" => Self::Ssse3,
            "sse4_1" => Self::Sse41,
            "sse4_2" => Self::Sse42,
            "popcnt" => Self::Popcnt,
            "aes" => Self::Aes,
            "pclmulqdq" => Self::Clmul,
            "xsave" | "xsavec" | "xsaveopt" | "xsaves" => Self::Xsave,
            "avx" => Self::Avx,
            "f16c" => Self::F16c,
            "fma" => Self::Fma,
            "movbe" => Self::Movbe,
            "lzcnt" => Self::Lzcnt,
            "bmi1" => Self::Bmi1,
            "bmi2" => Self::Bmi2,
            "avx2" => Self::Avx2,
            "adx" => Self::Adx,
            "sha" => Self::Sha,
            "gfni" | "avx_gfni" => Self::Gfni,
            "vaes" => Self::Vaes,
            "vpclmulqdq" => Self::Vpclmul,
            "avx512f" | "avx512cd" | "avx512bw" | "avx512dq" | "avx512vl" => Self::Avx512,
            "avx512_ifma" | "avx512_vbmi" | "avx512_vbmi2" | "avx512_vnni" | "avx512_bitalg"
            | "avx512_vpopcntdq" => Self::Avx512Icelake,
            _ if begins(&["avx512", "avx10", "amx", "knc"]) => Self::Avx512Later,
            "sha512" | "sm3" | "sm4" => Self::AvxLater,
            _ if begins(&["avx_"]) => Self::AvxLater,
            "aeskle" | "kl" | "wide_kl" => Self::KeyLocker,
            "padlock_ace" => Self::Ace,
            _ => Self::Other,
        })
    }

    /// The same of aarch64, by the kernel's names for what ciphers are made of and the decoder's for the rest.
    #[must_use]
    pub fn of_aarch64(set: &str) -> Option<Self> {
        Some(match set {
            _ if FIRST_AARCH64.contains(&set) => return None,
            _ if set.starts_with("sve") || set.starts_with("sme") => Self::Sve,
            "sha3" | "sha512" | "sm3" | "sm4" => Self::Sha3,
            "aes" => Self::Aes,
            "pmull" => Self::Clmul,
            "sha1" | "sha2" => Self::Sha,
            "crc32" => Self::Crc32,
            _ => Self::Other,
        })
    }

    /// [`Self::of_x86_64`] or [`Self::of_aarch64`], as this program is built for.
    #[must_use]
    pub fn of_set(set: &str) -> Option<Self> {
        if cfg!(target_arch = "aarch64") { Self::of_aarch64(set) } else { Self::of_x86_64(set) }
    }
}

/// A set of features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(u64);

impl Features {
    /// No feature.
    pub const NONE: Self = Self(0);
    /// Every feature.
    pub const ALL: Self = Self(u64::MAX);

    /// The set of these.
    #[must_use]
    pub const fn of(list: &[Feature]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < list.len() {
            bits |= 1 << list[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// These and those.
    #[must_use]
    pub const fn and(self, list: &[Feature]) -> Self {
        Self(self.0 | Self::of(list).0)
    }

    /// These but those.
    #[must_use]
    pub const fn but(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether the feature is among them.
    #[must_use]
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }

    /// Whether all of the others are among them.
    #[must_use]
    pub const fn covers(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }
}
