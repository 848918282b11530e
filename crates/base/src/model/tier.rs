//! Tiers: which CPU instructions the library may see. And the CPU features that tiers show or hide: one bit a
//! group of features that came together, and the names that disassemblers and kernels have for them.

use Feature::*;
use serde::{Deserialize, Serialize};

/// Which tiers are of which architecture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    X86_64,
    Aarch64,
    Both,
}

impl Of {
    const fn is(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Both, _) | (Self::X86_64, Self::X86_64) | (Self::Aarch64, Self::Aarch64)
        )
    }
}

/// What there is to know of a tier.
struct Row {
    of: Of,
    /// What libraries may see, of what the CPU has.
    shows: Features,
    /// What the CPU must have.
    needs: Features,
    machine: bool,
    summary: &'static str,
}

/// A switch: everything but some features, on CPUs that have what the tier is named for.
const fn without(of: Of, hides: Features, needs: &[Feature], summary: &'static str) -> Row {
    Row { of, shows: Features::ALL.but(hides), needs: Features::of(needs), machine: false, summary }
}

/// A machine that existed: its features and no others, on CPUs that have all of them.
const fn machine(of: Of, has: Features, summary: &'static str) -> Row {
    Row { of, shows: has, needs: has, machine: true, summary }
}

const AVX512: Features = Features::of(&[Avx512, Avx512Icelake, Avx512Later]);
const WIDE: Features = AVX512.and(&[Gfni, Vaes, Vpclmul]);
const LATER_A64: Features = Features::of(&[Sve, Sha3]);

// What each machine adds to the one before it, by QEMU's models of the same names (docs/METHOD.md, Machines).
const QEMU64: Features = Features::of(&[Sse3, Cx16]);
const CORE2: Features = QEMU64.and(&[Ssse3]);
const NEHALEM: Features = CORE2.and(&[Sse41, Sse42, Popcnt]);
const WESTMERE: Features = NEHALEM.and(&[Aes, Clmul]);
const SANDYBRIDGE: Features = WESTMERE.and(&[Xsave, Avx]);
const HASWELL: Features = SANDYBRIDGE.and(&[Avx2, Bmi1, Bmi2, Fma, F16c, Lzcnt, Movbe]);
const SKYLAKE: Features = HASWELL.and(&[Adx]);
const ZEN1: Features = SKYLAKE.and(&[Sha]);
const ICELAKE: Features = ZEN1.and(&[Gfni, Vaes, Vpclmul, Avx512, Avx512Icelake]);

macro_rules! tiers {
    ($($(#[$meta:meta])? $name:ident = $row:ident($of:ident, $features:expr $(, $needs:expr)?) $summary:literal;)+) => {
        /// Which CPU instructions the library may see. Sorts as in the list of all.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(Serialize, Deserialize, schemars::JsonSchema, strum::Display, strum::IntoStaticStr)]
        #[strum(serialize_all = "lowercase")]
        #[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
        #[serde(rename_all = "lowercase")]
        pub enum Tier {
            $($(#[$meta])? #[doc = concat!($summary, ".")] $name,)+
        }

        impl Tier {
            /// Every tier of every architecture.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            const fn row(self) -> Row {
                match self {
                    $(Self::$name => $row(Of::$of, $features, $($needs,)? $summary),)+
                }
            }
        }
    };
}

// Names are those of records. First the switches, the widest first, then machines, the newest first.
tiers! {
    #[default]
    Native = without(Both, Features::NONE, &[]) "everything the CPU has";
    Vaes256 = without(X86_64, AVX512, &[Vaes, Vpclmul]) "VAES and VPCLMULQDQ, no AVX-512";
    Aesni = without(X86_64, WIDE, &[Aes, Clmul]) "128-bit AES and PCLMULQDQ, no VAES, no AVX-512";
    Nopclmul = without(X86_64, Features::of(&[Clmul, Vpclmul]), &[Aes]) "AES without PCLMULQDQ, as some hypervisors show";
    Noavx2 = without(X86_64, WIDE.and(&[Avx2, AvxLater]), &[Aes, Clmul]) "AES and PCLMULQDQ without AVX2";
    Nosve = without(Aarch64, Features::of(&[Sve]), &[]) "everything but SVE and SME";
    Aes = without(Aarch64, LATER_A64, &[Aes, Clmul]) "AES, PMULL, SHA-1 and SHA-256 of Armv8.0, no SVE, SHA-3, SHA-512, SM3, SM4";
    Noaes = without(Both, WIDE.and(&[Aes, Clmul, KeyLocker, Ace, Sve, Sha3]), &[]) "no AES instructions, no carry-less multiplication";
    Baseline = without(Both, Features::ALL, &[]) "x86-64 with SSE2 only; aarch64 of Armv8.0 with Advanced SIMD only";
    Icelake = machine(X86_64, ICELAKE) "Ice Lake servers (2021): VAES, AVX-512, SHA";
    Zen1 = machine(X86_64, ZEN1) "Zen (2017): AES, AVX2, ADX, SHA";
    Skylake = machine(X86_64, SKYLAKE) "Skylake clients (2015): AES, AVX2, ADX, no SHA";
    Haswell = machine(X86_64, HASWELL) "Haswell (2013): AES, AVX2, BMI2, no ADX, no SHA";
    Sandybridge = machine(X86_64, SANDYBRIDGE) "Sandy Bridge (2011): AES, AVX, no AVX2, BMI2, MOVBE";
    Westmere = machine(X86_64, WESTMERE) "Westmere (2010): AES, SSE4.2, no AVX";
    Nehalem = machine(X86_64, NEHALEM) "Nehalem (2008): SSE4.2, no AES";
    Core2 = machine(X86_64, CORE2) "Core 2 (Merom, 2006): SSSE3, no SSE4.1, no AES";
    Qemu64 = machine(X86_64, QEMU64) "QEMU's default model: SSE3, no SSSE3, no AES";
    Pi4 = machine(Aarch64, Features::of(&[Crc32])) "Raspberry Pi 4 (Cortex-A72): no AES, no SHA";
}

impl Tier {
    /// The tiers of x86-64.
    pub const X86_64: &'static [Self] = &list::<{ count(Of::X86_64) }>(Of::X86_64);

    /// The tiers of aarch64.
    pub const AARCH64: &'static [Self] = &list::<{ count(Of::Aarch64) }>(Of::Aarch64);

    /// The tiers of the architecture that this program was built for.
    pub const HERE: &'static [Self] =
        if cfg!(target_arch = "aarch64") { Self::AARCH64 } else { Self::X86_64 };

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// One sentence for lists.
    pub const fn summary(self) -> &'static str {
        self.row().summary
    }

    /// The name; of a machine also what numbers at its tier are not.
    pub fn in_words(self) -> String {
        if self.is_machine() { format!("{self}, {}", Self::EMULATED) } else { self.to_string() }
    }

    /// What must be said once where numbers of a machine's tier are shown.
    pub const EMULATED: &'static str =
        "an emulated feature set on this CPU is not an old core's speed";

    /// Whether a library may use a feature that the CPU has.
    pub const fn shows(self, feature: Feature) -> bool {
        self.row().shows.has(feature)
    }

    /// Whether a library may use all that it may at another tier.
    pub const fn covers(self, other: Self) -> bool {
        self.row().shows.covers(other.row().shows)
    }

    /// Features that the tier is named for: a CPU without one of them does not have the tier.
    pub const fn needs(self) -> Features {
        self.row().needs
    }

    /// Whether it is a machine that existed, and not a switch.
    pub const fn is_machine(self) -> bool {
        self.row().machine
    }

    /// Why the tier cannot be had on any machine of this program's architecture; `None` when some have it.
    pub fn foreign(self) -> Option<String> {
        let (of, here) = if Self::AARCH64.contains(&self) {
            ("aarch64", "x86-64")
        } else {
            ("x86-64", "aarch64")
        };
        (!Self::HERE.contains(&self)).then(|| format!("a tier of {of}: this program is for {here}"))
    }
}

const fn count(of: Of) -> usize {
    let (mut n, mut i) = (0, 0);
    while i < Tier::ALL.len() {
        n += Tier::ALL[i].row().of.is(of) as usize;
        i += 1;
    }
    n
}

const fn list<const N: usize>(of: Of) -> [Tier; N] {
    let (mut found, mut n, mut i) = ([Tier::Native; N], 0, 0);
    while i < Tier::ALL.len() {
        if Tier::ALL[i].row().of.is(of) {
            found[n] = Tier::ALL[i];
            n += 1;
        }
        i += 1;
    }
    found
}
/// A feature, or a group of which no tier shows a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumIter)]
#[strum(serialize_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Feature {
    Sse3,
    /// CMPXCHG16B, and LAHF in 64-bit mode.
    #[strum(serialize = "CMPXCHG16B")]
    Cx16,
    Ssse3,
    #[strum(serialize = "SSE4.1")]
    Sse41,
    #[strum(serialize = "SSE4.2")]
    Sse42,
    Popcnt,
    /// AES-NI; aarch64's AESE and its kin.
    #[strum(serialize = "AES instructions")]
    Aes,
    /// PCLMULQDQ; aarch64's PMULL.
    #[cfg_attr(not(target_arch = "aarch64"), strum(serialize = "PCLMULQDQ"))]
    #[cfg_attr(target_arch = "aarch64", strum(serialize = "PMULL"))]
    Clmul,
    /// XSAVE, OSXSAVE and the state components.
    Xsave,
    Avx,
    F16c,
    /// FMA with three operands.
    Fma,
    Movbe,
    Lzcnt,
    Bmi1,
    Bmi2,
    Avx2,
    Adx,
    /// SHA-1 and SHA-256.
    #[strum(serialize = "SHA instructions")]
    Sha,
    Gfni,
    Vaes,
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
    #[strum(serialize = "Key Locker")]
    KeyLocker,
    /// The cipher unit of VIA's PadLock.
    #[strum(serialize = "PadLock ACE")]
    Ace,
    /// aarch64: SVE and SME.
    Sve,
    /// aarch64: SHA-3, SHA-512, SM3, SM4.
    #[strum(serialize = "SHA-3, SHA-512, SM3, SM4")]
    Sha3,
    /// aarch64: CRC32.
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
    pub const fn of(list: &[Feature]) -> Self {
        let (mut bits, mut i) = (0, 0);
        while i < list.len() {
            bits |= 1 << list[i] as u32;
            i += 1;
        }
        Self(bits)
    }

    /// These and those.
    pub const fn and(self, list: &[Feature]) -> Self {
        Self(self.0 | Self::of(list).0)
    }

    /// These but those.
    pub const fn but(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Whether the feature is among them.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u32 & 1 == 1
    }

    /// Whether all of the others are among them.
    pub const fn covers(self, others: Self) -> bool {
        others.0 & !self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_begin_with_native_and_leave_no_tier_out() {
        for list in [Tier::X86_64, Tier::AARCH64, Tier::ALL] {
            assert!(list.is_sorted() && list[0] == Tier::Native, "{list:?}");
        }
        let on_one = |t: &Tier| Tier::X86_64.contains(t) || Tier::AARCH64.contains(t);
        assert!(Tier::ALL.iter().all(on_one));
    }

    #[test]
    fn each_step_down_the_ladders_shows_less() {
        use Tier::*;
        for ladder in
            [&[Native, Vaes256, Aesni, Noaes, Baseline], &[Native, Nosve, Aes, Noaes, Baseline]]
        {
            let less = |pair: &[Tier]| pair[0].covers(pair[1]) && !pair[1].covers(pair[0]);
            assert!(ladder.windows(2).all(less), "{ladder:?}");
        }
        let machines = [
            Icelake,
            Zen1,
            Skylake,
            Haswell,
            Sandybridge,
            Westmere,
            Nehalem,
            Core2,
            Qemu64,
            Baseline,
        ];
        assert!(machines.windows(2).all(|pair| pair[0].covers(pair[1])));
    }

    #[test]
    fn a_machine_shows_what_it_needs_and_a_switch_shows_what_it_is_named_for() {
        for tier in Tier::ALL {
            assert!(tier.row().shows.covers(tier.needs()), "{tier}");
            assert_eq!(
                tier.is_machine(),
                tier.row().shows == tier.needs() && *tier != Tier::Baseline,
                "{tier}"
            );
        }
    }

    #[test]
    fn a_tier_of_another_architecture_says_which() {
        assert!(Tier::HERE.iter().all(|t| t.foreign().is_none()));
        let others: Vec<String> = Tier::ALL.iter().filter_map(|t| t.foreign()).collect();
        assert_eq!(others.len(), Tier::ALL.len() - Tier::HERE.len());
        assert!(others[0].starts_with("a tier of "), "{others:?}");
    }

    #[test]
    fn names_are_those_of_records() {
        let names: Vec<&str> = Tier::ALL.iter().map(|t| t.name()).collect();
        let read = |n: &&str| {
            serde_json::from_str::<Tier>(&format!("\"{n}\"")).is_ok_and(|t| t.name() == *n)
        };
        assert!(names.iter().all(read), "{names:?}");
    }
}
