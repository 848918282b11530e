//! What a tier answers to CPUID: the CPU's own answer without the features that the tier takes
//! away, and without those that need one of them (docs/METHOD.md, Tiers). Pure: registers in, registers out.
//!
//! Bits are those of the Intel SDM volume 2A, CPUID, and the AMD APM volume 3, appendix E; VIA's are those of the
//! PadLock Programming Guide, section 2.2.

use model::Tier;

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

/// The first tier, downwards, at which each bit is gone.
struct Taken {
    by: Tier,
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

const fn taken(by: Tier, leaf: u32, subleaf: Option<u32>, [a, b, c, d]: [&[u32]; 4]) -> Taken {
    let bits = Registers { eax: bits(a), ebx: bits(b), ecx: bits(c), edx: bits(d) };
    Taken { by, leaf, subleaf, bits }
}

/// A whole leaf or sub-leaf.
const fn whole(by: Tier, leaf: u32, subleaf: Option<u32>) -> Taken {
    let all = u32::MAX;
    Taken { by, leaf, subleaf, bits: Registers { eax: all, ebx: all, ecx: all, edx: all } }
}

use Tier::{Aesni, Baseline, Noaes, Vaes256};

const NONE: &[u32] = &[];

/// Features, and whole leaves that describe nothing else.
#[rustfmt::skip]
const TABLE: &[Taken] = &[
    // AVX512F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ;
    // 4VNNIW, 4FMAPS, VP2INTERSECT, FP16; AMX-BF16, AMX-TILE, AMX-INT8.
    taken(Vaes256, 7, Some(0), [
        NONE, &[16, 17, 21, 26, 27, 28, 30, 31], &[1, 6, 11, 12, 14], &[2, 3, 8, 23, 22, 24, 25],
    ]),
    // AVX512_BF16, AMX-FP16; AMX-COMPLEX, AVX10.
    taken(Vaes256, 7, Some(1), [&[5, 21], NONE, NONE, &[8, 19]]),
    // Opmask, ZMM_Hi256, Hi16_ZMM; AMX's TILECFG and TILEDATA.
    taken(Vaes256, 0xd, Some(0), [&[5, 6, 7, 17, 18], NONE, NONE, NONE]),
    whole(Vaes256, 0xd, Some(5)),
    whole(Vaes256, 0xd, Some(6)),
    whole(Vaes256, 0xd, Some(7)),
    whole(Vaes256, 0xd, Some(17)),
    whole(Vaes256, 0xd, Some(18)),
    // AMX tiles, TMUL; AVX10.
    whole(Vaes256, 0x1d, None),
    whole(Vaes256, 0x1e, None),
    whole(Vaes256, 0x24, None),
    // AMD: FP512, 512-bit data paths.
    taken(Vaes256, 0x8000_001a, None, [&[3], NONE, NONE, NONE]),

    // GFNI, VAES, VPCLMULQDQ.
    taken(Aesni, 7, Some(0), [NONE, NONE, &[8, 9, 10], NONE]),

    // PCLMULQDQ, AES.
    taken(Noaes, 1, None, [NONE, NONE, &[1, 25], NONE]),
    // Key Locker: AESENC128KL and its kin.
    taken(Noaes, 7, Some(0), [NONE, NONE, &[23], NONE]),
    whole(Noaes, 0x19, None),
    // VIA PadLock: ACE and ACE2, present and enabled.
    taken(Noaes, 0xc000_0001, None, [NONE, NONE, NONE, &[6, 7, 8, 9]]),

    // SSE3, SSSE3, FMA, CX16, SSE4.1, SSE4.2, MOVBE, POPCNT, XSAVE, OSXSAVE, AVX, F16C.
    taken(Baseline, 1, None, [NONE, NONE, &[0, 9, 12, 13, 19, 20, 22, 23, 26, 27, 28, 29], NONE]),
    // BMI1, HLE, AVX2, BMI2, RTM, MPX, ADX, SHA; MOVDIRI, MOVDIR64B.
    taken(Baseline, 7, Some(0), [NONE, &[3, 4, 5, 8, 11, 14, 19, 29], &[27, 28], NONE]),
    // SHA512, SM3, SM4, RAO-INT, AVX-VNNI, AVX-IFMA;
    // AVX-VNNI-INT8, AVX-NE-CONVERT, AVX-VNNI-INT16, APX_F.
    taken(Baseline, 7, Some(1), [&[0, 1, 2, 3, 4, 23], NONE, NONE, &[4, 5, 10, 21]]),
    // No XSAVE, no state components, no APX.
    whole(Baseline, 0xd, None),
    whole(Baseline, 0x29, None),
    // LAHF in 64-bit mode, LZCNT, SSE4A, MISALIGNSSE, XOP, FMA4, TBM; 3DNow! and its extension.
    taken(Baseline, 0x8000_0001, None, [NONE, NONE, &[0, 5, 6, 7, 11, 16, 21], &[30, 31]]),
    // AMD: FP256, 256-bit data paths.
    taken(Baseline, 0x8000_001a, None, [&[2], NONE, NONE, NONE]),
    // VIA PadLock: SM3 and SM4, hashes, the Montgomery multiplier.
    taken(Baseline, 0xc000_0001, None, [NONE, NONE, NONE, &[4, 5, 10, 11, 12, 13]]),
];

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
    for taken in TABLE {
        let same = taken.leaf == leaf && taken.subleaf.is_none_or(|s| s == subleaf);
        // Tiers are ordered with the widest first.
        if same && tier >= taken.by {
            answer.eax &= !taken.bits.eax;
            answer.ebx &= !taken.bits.ebx;
            answer.ecx &= !taken.bits.ecx;
            answer.edx &= !taken.bits.edx;
        }
    }
    answer
}

#[cfg(test)]
mod tests;
