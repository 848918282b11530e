//! What a tier of aarch64 leaves of what the kernel and the ID registers say of the CPU (docs/METHOD.md,
//! Tiers). Pure: numbers in, numbers out. Bits of AT_HWCAP are those of Linux's `asm/hwcap.h`, fields of
//! registers those of the Arm ARM, D24.2.

use base::model::Feature::*;
use base::model::{Feature, Features, Tier};

/// The kernel's words on the CPU in the vector that it hands to every program (getauxval(3)).
pub const WORDS: [u64; 4] = [HWCAP, HWCAP2, HWCAP3, HWCAP4];

/// AT_HWCAP to AT_HWCAP4 (`linux/auxvec.h`).
pub const HWCAP: u64 = 16;
const HWCAP2: u64 = 26;
const HWCAP3: u64 = 29;
const HWCAP4: u64 = 30;

const fn bits(list: &[u32]) -> u64 {
    let (mut mask, mut i) = (0, 0);
    while i < list.len() {
        mask |= 1 << list[i];
        i += 1;
    }
    mask
}

/// The bits of a feature.
struct Bits {
    of: Feature,
    word: u64,
    bits: u64,
}

/// AES, a bit of the first word.
pub const AES: u64 = bits(&[3]);
/// PMULL.
pub const PMULL: u64 = bits(&[4]);

#[rustfmt::skip]
const TABLE: &[Bits] = &[
    // SVE; SVE_F16MM, ELTPERM, AES2, BFSCALE, SVE2P2; SME2P2 to SME_SMOP4.
    Bits { of: Sve, word: HWCAP, bits: bits(&[22, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]) },
    // SVE2, SVEAES, SVEPMULL, SVEBITPERM, SVESHA3, SVESM4, SVEI8MM, F32MM, F64MM, BF16; SME and its members;
    // SVE_EBF16, SVE2P1, SME2, SME2P1, SVE_B16B16.
    Bits { of: Sve, word: HWCAP2, bits: bits(&[
        1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 23, 24, 25, 26, 27, 28, 29, 30, 33, 36, 37, 38, 39, 40, 41, 42, 45,
        57, 58, 59, 60, 61, 62,
    ]) },
    // SVE_B16MM, SVE2P3, SME_LUT6, SME2P3.
    Bits { of: Sve, word: HWCAP3, bits: bits(&[4, 5, 6, 7]) },
    // SHA3 (EOR3, RAX1, XAR, BCAX), SM3, SM4, SHA512.
    Bits { of: Sha3, word: HWCAP, bits: bits(&[17, 18, 19, 21]) },
    Bits { of: Aes, word: HWCAP, bits: AES },
    Bits { of: Clmul, word: HWCAP, bits: PMULL },
    // SHA1, SHA2.
    Bits { of: Sha, word: HWCAP, bits: bits(&[5, 6]) },
    Bits { of: Crc32, word: HWCAP, bits: bits(&[7]) },
    // All but those, FP, ASIMD, EVTSTRM and CPUID, and but the random numbers (RNG).
    Bits { of: Other, word: HWCAP, bits: !bits(&[0, 1, 2, 3, 4, 5, 6, 7, 11]) },
    Bits { of: Other, word: HWCAP2, bits: !bits(&[16]) },
    Bits { of: Other, word: HWCAP3, bits: u64::MAX },
    Bits { of: Other, word: HWCAP4, bits: u64::MAX },
];

/// What of the features a CPU lacks of which the kernel's first word is this.
pub fn lacks(needed: Features, word: u64) -> impl Iterator<Item = Feature> {
    let rows = TABLE.iter().filter(move |row| row.word == HWCAP && needed.has(row.of));
    rows.filter(move |row| word & row.bits != row.bits).map(|row| row.of)
}

/// What a tier leaves of one of the kernel's words. `Native` changes nothing.
#[must_use]
pub fn left(tier: Tier, word: u64, value: u64) -> u64 {
    let hidden = TABLE.iter().filter(|row| row.word == word && !tier.shows(row.of));
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
#[must_use]
pub fn answer(tier: Tier, register: u8, raw: u64) -> u64 {
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
    use super::*;
    use Tier::{Baseline, Noaes, Nosve};

    const LADDER: [Tier; 5] = [Tier::Native, Nosve, Tier::Aes, Noaes, Baseline];

    #[test]
    fn each_step_down_the_ladder_takes_more_and_gives_nothing_back() {
        for pair in LADDER.windows(2) {
            let (wide, narrow) = (pair[0], pair[1]);
            for word in WORDS {
                let (a, b) = (left(wide, word, u64::MAX), left(narrow, word, u64::MAX));
                assert_eq!(a & b, b, "{wide} {narrow} word {word}");
            }
            assert_ne!(left(wide, HWCAP, u64::MAX), left(narrow, HWCAP, u64::MAX), "{narrow}");
            for register in ID_REGISTERS {
                let raw = 0x2222_2222_2222_2222;
                let (a, b) = (answer(wide, register, raw), answer(narrow, register, raw));
                let fields = (0..64).step_by(4).all(|s| b >> s & 15 <= a >> s & 15);
                assert!(fields, "{wide} {narrow} register {register:#x}");
            }
        }
        assert!(WORDS.iter().all(|word| left(Tier::Native, *word, u64::MAX) == u64::MAX));
    }

    /// Neoverse V1's words (Linux 6.1) and registers as its manual gives them.
    #[test]
    fn a_core_with_everything_loses_what_the_tiers_are_named_for() {
        let (hwcap, isar0) = (0xffff_ffff, 0x1021_1111_0021_2120);
        let has = |tier, bit: u32| left(tier, HWCAP, hwcap) >> bit & 1 == 1;
        // SVE; EOR3; AES; SHA-256; ASIMD.
        let ladder = |bit| LADDER.iter().map(|t| has(*t, bit)).collect::<Vec<_>>();
        assert_eq!(ladder(22), [true, false, false, false, false]);
        assert_eq!(ladder(17), [true, true, false, false, false]);
        assert_eq!(ladder(3), [true, true, true, false, false]);
        assert_eq!(ladder(6), [true, true, true, true, false]);
        assert_eq!(ladder(1), [true; 5]);
        let field = |tier, shift: u32| answer(tier, ISAR0, isar0) >> shift & 15;
        // AES with PMULL, SHA-2 with SHA-512, SHA-3.
        assert_eq!((field(Nosve, 4), field(Nosve, 12), field(Nosve, 32)), (2, 2, 1));
        assert_eq!((field(Tier::Aes, 4), field(Tier::Aes, 12), field(Tier::Aes, 32)), (2, 1, 0));
        assert_eq!((field(Noaes, 4), field(Noaes, 12)), (0, 1));
        assert_eq!(field(Baseline, 12), 0);
    }

    #[test]
    fn a_raspberry_pi_4_has_crc32_and_nothing_else_of_what_came_later() {
        let word = left(Tier::Pi4, HWCAP, u64::MAX);
        assert_eq!(word, left(Baseline, HWCAP, u64::MAX) | 1 << 7);
        assert_eq!(answer(Tier::Pi4, ISAR0, 0x1021_1111_0021_2120), 0x1000_0000_0001_0000);
        assert_eq!(lacks(Tier::Pi4.needs(), 0).collect::<Vec<_>>(), [Crc32]);
    }

    #[test]
    fn who_the_cpu_is_and_that_it_has_vectors_stays() {
        assert_eq!(left(Baseline, HWCAP, u64::MAX), 0b1000_0000_0111);
        // FP and AdvSIMD of ID_AA64PFR0_EL1; MIDR_EL1 is no register that tiers change.
        assert_eq!(answer(Baseline, PFR0, 0x0011_0000), 0x0011_0000);
        assert_eq!(answer(Baseline, 0, 0x410f_d0c0), 0x410f_d0c0);
    }
}
