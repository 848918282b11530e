//! What a tier leaves of what the CPU says (docs/METHOD.md, Tiers). Pure: numbers in, numbers out.
//! On x86-64 that is what a tier answers to CPUID: the CPU's own answer without the features that the tier
//! hides. Bits are those of the Intel SDM volume 2A, CPUID, and the AMD APM volume 3, appendix E; VIA's are
//! those of the PadLock Programming Guide, section 2.2. On aarch64 it is what the kernel and the ID registers
//! say: bits of AT_HWCAP are those of Linux's `asm/hwcap.h`, fields of registers those of the Arm ARM, D24.2.

use base::model::Feature::*;
use base::model::{Feature, Features, Tier};
use strum::IntoEnumIterator as _;

/// What CPUID leaves in the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    pub eax: u32,
    pub ebx: u32,
    pub ecx: u32,
    pub edx: u32,
}

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

/// The kernel's words on the CPU in the vector that it hands to every program (getauxval(3)).
pub const WORDS: [u64; 4] = [HWCAP, HWCAP2, HWCAP3, HWCAP4];

/// AT_HWCAP to AT_HWCAP4 (`linux/auxvec.h`).
pub const HWCAP: u64 = 16;
const HWCAP2: u64 = 26;
const HWCAP3: u64 = 29;
const HWCAP4: u64 = 30;

const fn word_of(list: &[u32]) -> u64 {
    let (mut mask, mut i) = (0, 0);
    while i < list.len() {
        mask |= 1 << list[i];
        i += 1;
    }
    mask
}

struct HwcapBits {
    of: Feature,
    word: u64,
    bits: u64,
}

/// AES, a bit of the first word.
pub const AES: u64 = word_of(&[3]);
pub const PMULL: u64 = word_of(&[4]);

#[rustfmt::skip]
const HWCAP_TABLE: &[HwcapBits] = &[
    // SVE; SVE_F16MM, ELTPERM, AES2, BFSCALE, SVE2P2; SME2P2 to SME_SMOP4.
    HwcapBits { of: Sve, word: HWCAP, bits: word_of(&[22, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]) },
    // SVE2, SVEAES, SVEPMULL, SVEBITPERM, SVESHA3, SVESM4, SVEI8MM, F32MM, F64MM, BF16; SME and its members;
    // SVE_EBF16, SVE2P1, SME2, SME2P1, SVE_B16B16.
    HwcapBits { of: Sve, word: HWCAP2, bits: word_of(&[
        1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 23, 24, 25, 26, 27, 28, 29, 30, 33, 36, 37, 38, 39, 40, 41, 42, 45,
        57, 58, 59, 60, 61, 62,
    ]) },
    // SVE_B16MM, SVE2P3, SME_LUT6, SME2P3.
    HwcapBits { of: Sve, word: HWCAP3, bits: word_of(&[4, 5, 6, 7]) },
    // SHA3 (EOR3, RAX1, XAR, BCAX), SM3, SM4, SHA512.
    HwcapBits { of: Sha3, word: HWCAP, bits: word_of(&[17, 18, 19, 21]) },
    HwcapBits { of: Aes, word: HWCAP, bits: AES },
    HwcapBits { of: Clmul, word: HWCAP, bits: PMULL },
    // SHA1, SHA2.
    HwcapBits { of: Sha, word: HWCAP, bits: word_of(&[5, 6]) },
    HwcapBits { of: Crc32, word: HWCAP, bits: word_of(&[7]) },
    // All but those, FP, ASIMD, EVTSTRM and CPUID, and but the random numbers (RNG).
    HwcapBits { of: Other, word: HWCAP, bits: !word_of(&[0, 1, 2, 3, 4, 5, 6, 7, 11]) },
    HwcapBits { of: Other, word: HWCAP2, bits: !word_of(&[16]) },
    HwcapBits { of: Other, word: HWCAP3, bits: u64::MAX },
    HwcapBits { of: Other, word: HWCAP4, bits: u64::MAX },
];

/// What of the features a CPU lacks of which the kernel's first word is this.
pub fn lacks_in_word(needed: Features, word: u64) -> impl Iterator<Item = Feature> {
    let rows = HWCAP_TABLE.iter().filter(move |row| row.word == HWCAP && needed.has(row.of));
    rows.filter(move |row| word & row.bits != row.bits).map(|row| row.of)
}

/// What a tier leaves of one of the kernel's words. `Native` changes nothing.
pub fn left_of_word(tier: Tier, word: u64, value: u64) -> u64 {
    let hidden = HWCAP_TABLE.iter().filter(|row| row.word == word && !tier.shows(row.of));
    let gone = hidden.fold(0, |all, row| all | row.bits);
    value & !gone
}

/// A field of four bits of an ID register, and the most that it says without a feature.
struct Field {
    of: Feature,
    register: u8,
    shift: u32,
    most: u64,
}

/// ID registers that tiers change, by CRm and op2 (`MRS Xt, S3_0_C0_Cm_op2`).
pub const ID_REGISTERS: [u8; 7] = [PFR0, PFR1, ZFR0, SMFR0, ISAR0, ISAR1, ISAR2];
const PFR0: u8 = 4 << 3;
const PFR1: u8 = 4 << 3 | 1;
const ZFR0: u8 = 4 << 3 | 4;
const SMFR0: u8 = 4 << 3 | 5;
const ISAR0: u8 = 6 << 3;
const ISAR1: u8 = 6 << 3 | 1;
const ISAR2: u8 = 6 << 3 | 2;

const fn field(of: Feature, register: u8, shift: u32, most: u64) -> Field {
    Field { of, register, shift, most }
}

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    // SVE; SME.
    field(Sve, PFR0, 32, 0), field(Sve, PFR1, 24, 0),
    // SHA2 up to SHA-256; SHA3, SM3, SM4.
    field(Sha3, ISAR0, 12, 1), field(Sha3, ISAR0, 32, 0), field(Sha3, ISAR0, 36, 0), field(Sha3, ISAR0, 40, 0),
    // AES with PMULL: AES alone is 1.
    field(Aes, ISAR0, 4, 0), field(Clmul, ISAR0, 4, 1),
    // SHA1, SHA2; CRC32.
    field(Sha, ISAR0, 8, 0), field(Sha, ISAR0, 12, 0), field(Crc32, ISAR0, 16, 0),
    // Atomic, RDM, DP, FHM, TS; DIT.
    field(Other, ISAR0, 20, 0), field(Other, ISAR0, 28, 0), field(Other, ISAR0, 44, 0),
    field(Other, ISAR0, 48, 0), field(Other, ISAR0, 52, 0), field(Other, PFR0, 48, 0),
];

/// Registers of which a CPU without a feature has nothing.
const WHOLE: &[(Feature, u8)] =
    &[(Sve, ZFR0), (Sve, SMFR0), (Other, PFR1), (Other, ISAR1), (Other, ISAR2)];

/// What a tier answers where the register holds `raw`.
pub fn answer_of_register(tier: Tier, register: u8, raw: u64) -> u64 {
    if WHOLE.iter().any(|(of, r)| *r == register && !tier.shows(*of)) {
        return 0;
    }
    FIELDS.iter().filter(|f| f.register == register && !tier.shows(f.of)).fold(raw, |value, f| {
        let found = value >> f.shift & 15;
        value & !(15 << f.shift) | found.min(f.most) << f.shift
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
    use super::*;
    use Tier::{Baseline, Noaes, Nosve};

    /// A CPU that has everything.
    const ALL: Registers = Registers { eax: u32::MAX, ebx: u32::MAX, ecx: u32::MAX, edx: u32::MAX };

    fn has(tier: Tier, feature: Feature) -> bool {
        let answer = answer(tier, feature.leaf, feature.subleaf, ALL);
        let [a, b, c, d] = [answer.eax, answer.ebx, answer.ecx, answer.edx];
        let register = match feature.register {
            'a' => a,
            'b' => b,
            'c' => c,
            _ => d,
        };
        register >> feature.bit & 1 == 1
    }

    #[derive(Clone, Copy)]
    struct Feature {
        name: &'static str,
        leaf: u32,
        subleaf: u32,
        register: char,
        bit: u32,
        /// What it cannot be without.
        needs: &'static [&'static str],
    }

    const fn feature(
        name: &'static str,
        (leaf, subleaf): (u32, u32),
        register: char,
        bit: u32,
        needs: &'static [&'static str],
    ) -> Feature {
        Feature { name, leaf, subleaf, register, bit, needs }
    }

    /// Dependencies as the SDM's and APM's pages of the instructions state them.
#[rustfmt::skip]
const FEATURES: &[Feature] = &[
    feature("SSE2", (1, 0), 'd', 26, &[]),
    feature("SSE3", (1, 0), 'c', 0, &["SSE2"]),
    feature("PCLMULQDQ", (1, 0), 'c', 1, &["SSE2"]),
    feature("SSSE3", (1, 0), 'c', 9, &["SSE3"]),
    feature("FMA", (1, 0), 'c', 12, &["AVX"]),
    feature("SSE4.1", (1, 0), 'c', 19, &["SSSE3"]),
    feature("SSE4.2", (1, 0), 'c', 20, &["SSE4.1"]),
    feature("POPCNT", (1, 0), 'c', 23, &[]),
    feature("AES", (1, 0), 'c', 25, &["SSE2"]),
    feature("XSAVE", (1, 0), 'c', 26, &[]),
    feature("OSXSAVE", (1, 0), 'c', 27, &["XSAVE"]),
    feature("AVX", (1, 0), 'c', 28, &["SSE4.2", "OSXSAVE", "XCR0.AVX"]),
    feature("F16C", (1, 0), 'c', 29, &["AVX"]),
    feature("BMI1", (7, 0), 'b', 3, &["AVX"]),
    feature("AVX2", (7, 0), 'b', 5, &["AVX"]),
    feature("BMI2", (7, 0), 'b', 8, &["AVX"]),
    feature("AVX512F", (7, 0), 'b', 16, &["AVX2", "FMA", "F16C", "XCR0.opmask", "XCR0.ZMM_Hi256", "XCR0.Hi16_ZMM"]),
    feature("AVX512DQ", (7, 0), 'b', 17, &["AVX512F"]),
    feature("AVX512_IFMA", (7, 0), 'b', 21, &["AVX512F"]),
    feature("AVX512PF", (7, 0), 'b', 26, &["AVX512F"]),
    feature("AVX512ER", (7, 0), 'b', 27, &["AVX512F"]),
    feature("AVX512CD", (7, 0), 'b', 28, &["AVX512F"]),
    feature("SHA", (7, 0), 'b', 29, &["SSSE3"]),
    feature("AVX512BW", (7, 0), 'b', 30, &["AVX512F"]),
    feature("AVX512VL", (7, 0), 'b', 31, &["AVX512F"]),
    feature("AVX512_VBMI", (7, 0), 'c', 1, &["AVX512BW"]),
    feature("AVX512_VBMI2", (7, 0), 'c', 6, &["AVX512BW"]),
    feature("GFNI", (7, 0), 'c', 8, &["SSE2"]),
    feature("VAES", (7, 0), 'c', 9, &["AES", "AVX2"]),
    feature("VPCLMULQDQ", (7, 0), 'c', 10, &["PCLMULQDQ", "AVX2"]),
    feature("AVX512_VNNI", (7, 0), 'c', 11, &["AVX512F"]),
    feature("AVX512_BITALG", (7, 0), 'c', 12, &["AVX512BW"]),
    feature("AVX512_VPOPCNTDQ", (7, 0), 'c', 14, &["AVX512F"]),
    feature("KL", (7, 0), 'c', 23, &["AES"]),
    feature("AESKLE", (0x19, 0), 'b', 0, &["KL"]),
    feature("AVX512_4VNNIW", (7, 0), 'd', 2, &["AVX512F"]),
    feature("AVX512_4FMAPS", (7, 0), 'd', 3, &["AVX512F"]),
    feature("AVX512_VP2INTERSECT", (7, 0), 'd', 8, &["AVX512F"]),
    feature("AMX-BF16", (7, 0), 'd', 22, &["AMX-TILE"]),
    feature("AVX512_FP16", (7, 0), 'd', 23, &["AVX512BW"]),
    feature("AMX-TILE", (7, 0), 'd', 24, &["XCR0.TILECFG", "XCR0.TILEDATA"]),
    feature("AMX-INT8", (7, 0), 'd', 25, &["AMX-TILE"]),
    feature("SHA512", (7, 1), 'a', 0, &["AVX2"]),
    feature("SM3", (7, 1), 'a', 1, &["AVX"]),
    feature("SM4", (7, 1), 'a', 2, &["AVX2"]),
    feature("AVX-VNNI", (7, 1), 'a', 4, &["AVX2"]),
    feature("AVX512_BF16", (7, 1), 'a', 5, &["AVX512F"]),
    feature("AMX-FP16", (7, 1), 'a', 21, &["AMX-TILE"]),
    feature("AVX-IFMA", (7, 1), 'a', 23, &["AVX2"]),
    feature("AVX-VNNI-INT8", (7, 1), 'd', 4, &["AVX2"]),
    feature("AVX-NE-CONVERT", (7, 1), 'd', 5, &["AVX2"]),
    feature("AMX-COMPLEX", (7, 1), 'd', 8, &["AMX-TILE"]),
    feature("AVX-VNNI-INT16", (7, 1), 'd', 10, &["AVX2"]),
    feature("AVX10", (7, 1), 'd', 19, &["AVX512F", "AVX10 version"]),
    feature("APX_F", (7, 1), 'd', 21, &["OSXSAVE"]),
    feature("AVX10 version", (0x24, 0), 'b', 0, &["AVX512F"]),
    feature("AMX palettes", (0x1d, 0), 'a', 0, &["AMX-TILE"]),
    feature("TMUL", (0x1e, 0), 'b', 0, &["AMX-TILE"]),
    feature("XCR0.AVX", (0xd, 0), 'a', 2, &["XSAVE"]),
    feature("XCR0.opmask", (0xd, 0), 'a', 5, &["XSAVE"]),
    feature("XCR0.ZMM_Hi256", (0xd, 0), 'a', 6, &["XSAVE"]),
    feature("XCR0.Hi16_ZMM", (0xd, 0), 'a', 7, &["XSAVE"]),
    feature("XCR0.TILECFG", (0xd, 0), 'a', 17, &["XSAVE"]),
    feature("XCR0.TILEDATA", (0xd, 0), 'a', 18, &["XSAVE"]),
    feature("size of AVX state", (0xd, 2), 'a', 8, &["XCR0.AVX"]),
    feature("size of opmask state", (0xd, 5), 'a', 6, &["XCR0.opmask"]),
    feature("size of ZMM_Hi256 state", (0xd, 6), 'a', 9, &["XCR0.ZMM_Hi256"]),
    feature("size of Hi16_ZMM state", (0xd, 7), 'a', 10, &["XCR0.Hi16_ZMM"]),
    feature("size of TILECFG state", (0xd, 17), 'a', 6, &["XCR0.TILECFG"]),
    feature("size of TILEDATA state", (0xd, 18), 'a', 13, &["XCR0.TILEDATA"]),
    feature("LZCNT", (0x8000_0001, 0), 'c', 5, &[]),
    feature("SSE4A", (0x8000_0001, 0), 'c', 6, &["SSE3"]),
    feature("XOP", (0x8000_0001, 0), 'c', 11, &["AVX"]),
    feature("FMA4", (0x8000_0001, 0), 'c', 16, &["AVX"]),
    feature("TBM", (0x8000_0001, 0), 'c', 21, &[]),
    feature("ACE", (0xc000_0001, 0), 'd', 6, &[]),
    feature("ACE enabled", (0xc000_0001, 0), 'd', 7, &["ACE"]),
];

    fn named(name: &str) -> Feature {
        *FEATURES.iter().find(|f| f.name == name).expect("a feature of the table")
    }

    #[test]
    fn nothing_remains_that_needs_a_feature_which_is_gone() {
        for tier in Tier::X86_64 {
            for feature in FEATURES.iter().filter(|f| has(*tier, **f)) {
                for needed in feature.needs {
                    let (name, gone) = (feature.name, !has(*tier, named(needed)));
                    assert!(!gone, "{tier}: {name} stays and {needed}, which it needs, is gone");
                }
            }
        }
    }

    #[test]
    fn a_tier_that_shows_less_answers_less() {
        let leaves: Vec<(u32, u32)> =
            leaves().chain((0..32).map(|s| (7, s))).chain((0..32).map(|s| (0xd, s))).collect();
        let pairs = Tier::X86_64.iter().flat_map(|a| Tier::X86_64.iter().map(move |b| [*a, *b]));
        for pair in pairs.filter(|[a, b]| a != b && a.covers(*b)) {
            let mut differ = false;
            for (leaf, subleaf) in &leaves {
                let above = answer(pair[0], *leaf, *subleaf, ALL);
                let below = answer(pair[1], *leaf, *subleaf, ALL);
                let of = |r: Registers| [r.eax, r.ebx, r.ecx, r.edx];
                let is_subset = of(above).iter().zip(of(below)).all(|(a, b)| b & !a == 0);
                assert!(is_subset, "{} {} leaf {leaf:#x}.{subleaf}", pair[0], pair[1]);
                differ |= above != below;
            }
            assert!(differ, "{} is {}", pair[1], pair[0]);
        }
    }

    #[test]
    fn masks_never_add_a_bit_and_applying_one_twice_changes_nothing_more() {
        // A few patterns instead of all: each bit stands for itself.
        for pattern in [0, 0x5555_5555, 0xaaaa_aaaa, 0x1234_5678, u32::MAX] {
            let raw = Registers { eax: pattern, ebx: !pattern, ecx: pattern, edx: !pattern };
            for tier in Tier::X86_64 {
                for leaf in (0..0x30).chain(0x8000_0000..0x8000_0028) {
                    for subleaf in 0..20 {
                        let once = answer(*tier, leaf, subleaf, raw);
                        assert_eq!(once, answer(*tier, leaf, subleaf, once));
                        assert_eq!((once.eax & !raw.eax, once.ebx & !raw.ebx), (0, 0));
                        assert_eq!((once.ecx & !raw.ecx, once.edx & !raw.edx), (0, 0));
                    }
                }
            }
        }
    }

    #[test]
    fn native_is_the_cpu_itself() {
        for leaf in (0..0x30).chain(0x8000_0000..0x8000_0028) {
            assert_eq!(answer(Tier::Native, leaf, 0, ALL), ALL);
        }
    }

    #[test]
    fn each_tier_keeps_what_it_is_named_for_and_has_lost_what_it_stands_against() {
        for (tier, kept, lost) in [
            (Tier::Vaes256, "VAES VPCLMULQDQ GFNI AVX2", "AVX512F"),
            (Tier::Aesni, "AES PCLMULQDQ AVX2", "VAES VPCLMULQDQ GFNI"),
            (Noaes, "SSSE3 AVX2 SHA", "AES PCLMULQDQ KL ACE"),
            (Tier::Nopclmul, "AES", "PCLMULQDQ VPCLMULQDQ"),
            (Tier::Noavx2, "AES AVX SHA", "AVX2 VAES"),
            (Baseline, "SSE2", "SSE3 SSSE3 AVX OSXSAVE SHA LZCNT"),
        ] {
            for (names, is_kept) in [(kept, true), (lost, false)] {
                for name in names.split(' ') {
                    assert_eq!(has(tier, named(name)), is_kept, "{name} at {tier}");
                }
            }
        }
    }

    /// Features of ciphers' code by GCC's `-march=` of the machine (GCC manual, x86 Options).
    #[test]
    fn machines_show_what_compilers_use_for_them() {
        const ASKED: &str = "SSE3 SSSE3 SSE4.1 SSE4.2 POPCNT AES PCLMULQDQ AVX F16C FMA AVX2 BMI2 LZCNT SHA \
            GFNI VAES AVX512_VBMI2";
        let shown = |tier| ASKED.split(' ').filter(|n| has(tier, named(n))).count();
        for (tier, count) in [
            (Tier::Qemu64, 1),
            (Tier::Core2, 2),
            (Tier::Nehalem, 5),
            (Tier::Westmere, 7),
            (Tier::Sandybridge, 8),
            (Tier::Haswell, 13),
            (Tier::Skylake, 13),
            (Tier::Zen1, 14),
            (Tier::Icelake, 17),
        ] {
            assert_eq!(shown(tier), count, "{tier}");
        }
        assert!(has(Tier::Icelake, named("AVX512BW")) && !has(Tier::Icelake, named("AVX512_FP16")));
        let none = |_: u32, _: u32| Registers::default();
        assert_eq!(lacks(Tier::Core2.needs(), &none).count(), 3);
        assert_eq!(lacks(Tier::Icelake.needs(), &|_, _| ALL).count(), 0);
    }

    #[test]
    fn entropy_identity_and_the_clock_stay_at_every_tier() {
        for tier in Tier::X86_64 {
            // RDRAND; RDSEED; RDTSCP; invariant TSC; vendor; topology.
            assert_eq!(answer(*tier, 1, 0, ALL).ecx >> 30 & 1, 1);
            assert_eq!(answer(*tier, 7, 0, ALL).ebx >> 18 & 1, 1);
            assert_eq!(answer(*tier, 0x8000_0001, 0, ALL).edx >> 27 & 1, 1);
            for leaf in [0, 2, 4, 0xb, 0x15, 0x16, 0x1f, 0x8000_0000, 0x8000_0002, 0x8000_0007] {
                assert_eq!(answer(*tier, leaf, 0, ALL), ALL, "leaf {leaf:#x} at {tier}");
            }
        }
    }

    const LADDER: [Tier; 5] = [Tier::Native, Nosve, Tier::Aes, Noaes, Baseline];

    #[test]
    fn each_step_down_the_ladder_takes_more_and_gives_nothing_back() {
        for pair in LADDER.windows(2) {
            let (wide, narrow) = (pair[0], pair[1]);
            for word in WORDS {
                let [a, b] = [wide, narrow].map(|tier| left_of_word(tier, word, u64::MAX));
                assert_eq!(a & b, b, "{wide} {narrow} word {word}");
            }
            let [a, b] = [wide, narrow].map(|tier| left_of_word(tier, HWCAP, u64::MAX));
            assert_ne!(a, b, "{narrow}");
            for register in ID_REGISTERS {
                let raw = 0x2222_2222_2222_2222;
                let [a, b] = [wide, narrow].map(|tier| answer_of_register(tier, register, raw));
                let fields = (0..64).step_by(4).all(|s| b >> s & 15 <= a >> s & 15);
                assert!(fields, "{wide} {narrow} register {register:#x}");
            }
        }
        assert!(WORDS.iter().all(|word| left_of_word(Tier::Native, *word, u64::MAX) == u64::MAX));
    }

    /// Neoverse V1's words (Linux 6.1) and registers as its manual gives them.
    #[test]
    fn a_core_with_everything_loses_what_the_tiers_are_named_for() {
        let (hwcap, isar0) = (0xffff_ffff, 0x1021_1111_0021_2120);
        let has = |tier, bit: u32| left_of_word(tier, HWCAP, hwcap) >> bit & 1 == 1;
        // SVE; EOR3; AES; SHA-256; ASIMD.
        let ladder = |bit| LADDER.iter().map(|t| has(*t, bit)).collect::<Vec<_>>();
        assert_eq!(ladder(22), [true, false, false, false, false]);
        assert_eq!(ladder(17), [true, true, false, false, false]);
        assert_eq!(ladder(3), [true, true, true, false, false]);
        assert_eq!(ladder(6), [true, true, true, true, false]);
        assert_eq!(ladder(1), [true; 5]);
        let field = |tier, shift: u32| answer_of_register(tier, ISAR0, isar0) >> shift & 15;
        // AES with PMULL, SHA-2 with SHA-512, SHA-3.
        assert_eq!((field(Nosve, 4), field(Nosve, 12), field(Nosve, 32)), (2, 2, 1));
        assert_eq!((field(Tier::Aes, 4), field(Tier::Aes, 12), field(Tier::Aes, 32)), (2, 1, 0));
        assert_eq!((field(Noaes, 4), field(Noaes, 12)), (0, 1));
        assert_eq!(field(Baseline, 12), 0);
    }

    #[test]
    fn a_raspberry_pi_4_has_crc32_and_nothing_else_of_what_came_later() {
        let word = left_of_word(Tier::Pi4, HWCAP, u64::MAX);
        assert_eq!(word, left_of_word(Baseline, HWCAP, u64::MAX) | 1 << 7);
        assert_eq!(
            answer_of_register(Tier::Pi4, ISAR0, 0x1021_1111_0021_2120),
            0x1000_0000_0001_0000
        );
        assert_eq!(lacks_in_word(Tier::Pi4.needs(), 0).collect::<Vec<_>>(), [Crc32]);
    }

    #[test]
    fn who_the_cpu_is_and_that_it_has_vectors_stays() {
        assert_eq!(left_of_word(Baseline, HWCAP, u64::MAX), 0b1000_0000_0111);
        // FP and AdvSIMD of ID_AA64PFR0_EL1; MIDR_EL1 is no register that tiers change.
        assert_eq!(answer_of_register(Baseline, PFR0, 0x0011_0000), 0x0011_0000);
        assert_eq!(answer_of_register(Baseline, 0, 0x410f_d0c0), 0x410f_d0c0);
    }
}
