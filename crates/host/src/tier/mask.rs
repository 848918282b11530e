//! What a tier answers to CPUID: the CPU's own answer without the features that the tier hides
//! (docs/METHOD.md, Tiers). Pure: registers in, registers out. Bits are those of the Intel SDM volume 2A,
//! CPUID, and the AMD APM volume 3, appendix E; VIA's are those of the PadLock Programming Guide, section
//! 2.2.

use base::model::Feature::*;
use base::model::{Feature, Features, Tier};
use strum::IntoEnumIterator as _;

/// What CPUID leaves in the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// EAX.
    pub eax: u32,
    /// EBX.
    pub ebx: u32,
    /// ECX.
    pub ecx: u32,
    /// EDX.
    pub edx: u32,
}

/// Bits that a feature has.
struct Bits {
    of: Feature,
    leaf: u32,
    subleaf: Option<u32>,
    bits: Registers,
}

const fn bits(list: &[u32]) -> u32 {
    let (mut mask, mut i) = (0, 0);
    while i < list.len() {
        mask |= 1 << list[i];
        i += 1;
    }
    mask
}

const fn has(of: Feature, leaf: u32, subleaf: Option<u32>, [a, b, c, d]: [&[u32]; 4]) -> Bits {
    let bits = Registers { eax: bits(a), ebx: bits(b), ecx: bits(c), edx: bits(d) };
    Bits { of, leaf, subleaf, bits }
}

/// A whole leaf or sub-leaf.
const fn whole(of: Feature, leaf: u32, subleaf: Option<u32>) -> Bits {
    let all = u32::MAX;
    Bits { of, leaf, subleaf, bits: Registers { eax: all, ebx: all, ecx: all, edx: all } }
}

const NONE: &[u32] = &[];

/// Features, and whole leaves that describe nothing else. The first row of a feature is what a CPU with it shows.
#[rustfmt::skip]
const TABLE: &[Bits] = &[
    has(Sse3, 1, None, [NONE, NONE, &[0], NONE]),
    has(Clmul, 1, None, [NONE, NONE, &[1], NONE]),
    has(Ssse3, 1, None, [NONE, NONE, &[9], NONE]),
    has(Fma, 1, None, [NONE, NONE, &[12], NONE]),
    has(Cx16, 1, None, [NONE, NONE, &[13], NONE]),
    has(Sse41, 1, None, [NONE, NONE, &[19], NONE]),
    has(Sse42, 1, None, [NONE, NONE, &[20], NONE]),
    has(Movbe, 1, None, [NONE, NONE, &[22], NONE]),
    has(Popcnt, 1, None, [NONE, NONE, &[23], NONE]),
    has(Aes, 1, None, [NONE, NONE, &[25], NONE]),
    // XSAVE, OSXSAVE; all state components.
    has(Xsave, 1, None, [NONE, NONE, &[26, 27], NONE]),
    whole(Xsave, 0xd, None),
    has(Avx, 1, None, [NONE, NONE, &[28], NONE]),
    has(Avx, 0xd, Some(0), [&[2], NONE, NONE, NONE]),
    whole(Avx, 0xd, Some(2)),
    // AMD: FP256, 256-bit data paths.
    has(Avx, 0x8000_001a, None, [&[2], NONE, NONE, NONE]),
    has(F16c, 1, None, [NONE, NONE, &[29], NONE]),

    has(Bmi1, 7, Some(0), [NONE, &[3], NONE, NONE]),
    has(Avx2, 7, Some(0), [NONE, &[5], NONE, NONE]),
    has(Bmi2, 7, Some(0), [NONE, &[8], NONE, NONE]),
    has(Adx, 7, Some(0), [NONE, &[19], NONE, NONE]),
    has(Sha, 7, Some(0), [NONE, &[29], NONE, NONE]),
    has(Gfni, 7, Some(0), [NONE, NONE, &[8], NONE]),
    has(Vaes, 7, Some(0), [NONE, NONE, &[9], NONE]),
    has(Vpclmul, 7, Some(0), [NONE, NONE, &[10], NONE]),
    // F, DQ, CD, BW, VL; opmask, ZMM_Hi256, Hi16_ZMM; AMD: FP512, 512-bit data paths.
    has(Avx512, 7, Some(0), [NONE, &[16, 17, 28, 30, 31], NONE, NONE]),
    has(Avx512, 0xd, Some(0), [&[5, 6, 7], NONE, NONE, NONE]),
    whole(Avx512, 0xd, Some(5)),
    whole(Avx512, 0xd, Some(6)),
    whole(Avx512, 0xd, Some(7)),
    has(Avx512, 0x8000_001a, None, [&[3], NONE, NONE, NONE]),
    // IFMA; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ.
    has(Avx512Icelake, 7, Some(0), [NONE, &[21], &[1, 6, 11, 12, 14], NONE]),
    // PF, ER; 4VNNIW, 4FMAPS, VP2INTERSECT, FP16; AMX-BF16, AMX-TILE, AMX-INT8.
    has(Avx512Later, 7, Some(0), [NONE, &[26, 27], NONE, &[2, 3, 8, 23, 22, 24, 25]]),
    // AVX512_BF16, AMX-FP16; AMX-COMPLEX, AVX10.
    has(Avx512Later, 7, Some(1), [&[5, 21], NONE, NONE, &[8, 19]]),
    // AMX's TILECFG and TILEDATA; tiles, TMUL; AVX10.
    has(Avx512Later, 0xd, Some(0), [&[17, 18], NONE, NONE, NONE]),
    whole(Avx512Later, 0xd, Some(17)),
    whole(Avx512Later, 0xd, Some(18)),
    whole(Avx512Later, 0x1d, None),
    whole(Avx512Later, 0x1e, None),
    whole(Avx512Later, 0x24, None),
    // SHA512, SM3, SM4, AVX-VNNI, AVX-IFMA; AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16.
    has(AvxLater, 7, Some(1), [&[0, 1, 2, 4, 23], NONE, NONE, &[4, 5, 10]]),

    // Key Locker: AESENC128KL and its kin.
    has(KeyLocker, 7, Some(0), [NONE, NONE, &[23], NONE]),
    whole(KeyLocker, 0x19, None),
    // VIA PadLock: ACE and ACE2, present and enabled.
    has(Ace, 0xc000_0001, None, [NONE, NONE, NONE, &[6, 7, 8, 9]]),

    // LAHF in 64-bit mode.
    has(Cx16, 0x8000_0001, None, [NONE, NONE, &[0], NONE]),
    has(Lzcnt, 0x8000_0001, None, [NONE, NONE, &[5], NONE]),

    // HLE, RTM, MPX; MOVDIRI, MOVDIR64B.
    has(Other, 7, Some(0), [NONE, &[4, 11, 14], &[27, 28], NONE]),
    // RAO-INT; APX_F.
    has(Other, 7, Some(1), [&[3], NONE, NONE, &[21]]),
    whole(Other, 0x29, None),
    // SSE4A, MISALIGNSSE, XOP, FMA4, TBM; 3DNow! and its extension.
    has(Other, 0x8000_0001, None, [NONE, NONE, &[6, 7, 11, 16, 21], &[30, 31]]),
    // VIA PadLock: SM3 and SM4, hashes, the Montgomery multiplier.
    has(Other, 0xc000_0001, None, [NONE, NONE, NONE, &[4, 5, 10, 11, 12, 13]]),
];

/// What of the features of x86-64 a CPU does not have that answers so.
pub fn lacks(
    needed: Features,
    cpuid: &dyn Fn(u32, u32) -> Registers,
) -> impl Iterator<Item = Feature> {
    Feature::iter().filter(move |f| needed.has(*f)).filter(|feature| {
        let Some(row) = TABLE.iter().find(|row| row.of == *feature) else { return true };
        let (found, bits) = (cpuid(row.leaf, row.subleaf.unwrap_or(0)), row.bits);
        let missing = |found: u32, bits: u32| bits & !found != 0;
        missing(found.eax, bits.eax)
            || missing(found.ebx, bits.ebx)
            || missing(found.ecx, bits.ecx)
            || missing(found.edx, bits.edx)
    })
}

/// Leaves, with their sub-leaves, whose answers tiers change.
pub fn leaves() -> impl Iterator<Item = (u32, u32)> {
    let mut all: Vec<(u32, u32)> = TABLE.iter().map(|t| (t.leaf, t.subleaf.unwrap_or(0))).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter()
}

/// What a tier answers where the CPU answers `raw` to a leaf and sub-leaf. `Native` changes nothing.
#[must_use]
pub fn answer(tier: Tier, leaf: u32, subleaf: u32, raw: Registers) -> Registers {
    let mut answer = raw;
    for row in TABLE {
        let same = row.leaf == leaf && row.subleaf.is_none_or(|s| s == subleaf);
        if same && !tier.shows(row.of) {
            answer.eax &= !row.bits.eax;
            answer.ebx &= !row.bits.ebx;
            answer.ecx &= !row.bits.ecx;
            answer.edx &= !row.bits.edx;
        }
    }
    answer
}

#[cfg(test)]
mod tests;
