//! What a tier of aarch64 leaves of what the kernel and the ID registers say of the CPU (docs/METHOD.md, Tiers).
//! Pure: numbers in, numbers out.
//!
//! Bits of AT_HWCAP are those of Linux's `asm/hwcap.h`, fields of registers those of the Arm ARM, D24.2.

use model::Tier;

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

/// The bits that are gone from a tier on, downwards.
struct Taken {
    by: Tier,
    word: u64,
    bits: u64,
}

use Tier::{Aes, Baseline, Noaes, Nosve};

/// AES and PMULL, bits of the first word.
pub const AES: u64 = bits(&[3]);
/// PMULL.
pub const PMULL: u64 = bits(&[4]);

#[rustfmt::skip]
const TABLE: &[Taken] = &[
    // SVE; SVE_F16MM, ELTPERM, AES2, BFSCALE, SVE2P2; SME2P2 to SME_SMOP4.
    Taken { by: Nosve, word: HWCAP, bits: bits(&[22, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47]) },
    // SVE2, SVEAES, SVEPMULL, SVEBITPERM, SVESHA3, SVESM4, SVEI8MM, F32MM, F64MM, BF16; SME and its members;
    // SVE_EBF16, SVE2P1, SME2, SME2P1, SVE_B16B16.
    Taken { by: Nosve, word: HWCAP2, bits: bits(&[
        1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 23, 24, 25, 26, 27, 28, 29, 30, 33, 36, 37, 38, 39, 40, 41, 42, 45,
        57, 58, 59, 60, 61, 62,
    ]) },
    // SVE_B16MM, SVE2P3, SME_LUT6, SME2P3.
    Taken { by: Nosve, word: HWCAP3, bits: bits(&[4, 5, 6, 7]) },
    // SHA3 (EOR3, RAX1, XAR, BCAX), SM3, SM4, SHA512.
    Taken { by: Aes, word: HWCAP, bits: bits(&[17, 18, 19, 21]) },
    Taken { by: Noaes, word: HWCAP, bits: AES | PMULL },
    // All but FP, ASIMD, EVTSTRM and CPUID, and but the random numbers (RNG).
    Taken { by: Baseline, word: HWCAP, bits: !bits(&[0, 1, 2, 11]) },
    Taken { by: Baseline, word: HWCAP2, bits: !bits(&[16]) },
    Taken { by: Baseline, word: HWCAP3, bits: u64::MAX },
    Taken { by: Baseline, word: HWCAP4, bits: u64::MAX },
];

/// What a tier leaves of one of the kernel's words. `Native` changes nothing.
#[must_use]
pub fn left(tier: Tier, word: u64, value: u64) -> u64 {
    // Tiers are ordered with the widest first.
    let gone =
        TABLE.iter().filter(|t| t.word == word && tier >= t.by).fold(0, |all, t| all | t.bits);
    value & !gone
}

/// A field of four bits of an ID register, and the most that it says from a tier on, downwards.
struct Field {
    by: Tier,
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

const fn field(by: Tier, register: u8, shift: u32, most: u64) -> Field {
    Field { by, register, shift, most }
}

#[rustfmt::skip]
const FIELDS: &[Field] = &[
    // SVE; SME.
    field(Nosve, PFR0, 32, 0), field(Nosve, PFR1, 24, 0),
    // SHA2 up to SHA-256; SHA3, SM3, SM4.
    field(Aes, ISAR0, 12, 1), field(Aes, ISAR0, 32, 0), field(Aes, ISAR0, 36, 0), field(Aes, ISAR0, 40, 0),
    // AES with PMULL.
    field(Noaes, ISAR0, 4, 0),
    // SHA1, SHA2, CRC32, Atomic, RDM, DP, FHM, TS; DIT.
    field(Baseline, ISAR0, 8, 0), field(Baseline, ISAR0, 12, 0), field(Baseline, ISAR0, 16, 0),
    field(Baseline, ISAR0, 20, 0), field(Baseline, ISAR0, 28, 0), field(Baseline, ISAR0, 44, 0),
    field(Baseline, ISAR0, 48, 0), field(Baseline, ISAR0, 52, 0), field(Baseline, PFR0, 48, 0),
];

/// Registers of which a tier leaves nothing.
const WHOLE: &[(Tier, u8)] =
    &[(Nosve, ZFR0), (Nosve, SMFR0), (Baseline, PFR1), (Baseline, ISAR1), (Baseline, ISAR2)];

/// What a tier answers where the register holds `raw`.
#[must_use]
pub fn answer(tier: Tier, register: u8, raw: u64) -> u64 {
    if WHOLE.iter().any(|(by, r)| *r == register && tier >= *by) {
        return 0;
    }
    FIELDS.iter().filter(|f| f.register == register && tier >= f.by).fold(raw, |value, f| {
        let found = value >> f.shift & 15;
        value & !(15 << f.shift) | found.min(f.most) << f.shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_down_the_ladder_takes_more_and_gives_nothing_back() {
        for pair in Tier::AARCH64.windows(2) {
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
        let ladder = |bit| Tier::AARCH64.iter().map(|t| has(*t, bit)).collect::<Vec<_>>();
        assert_eq!(ladder(22), [true, false, false, false, false]);
        assert_eq!(ladder(17), [true, true, false, false, false]);
        assert_eq!(ladder(3), [true, true, true, false, false]);
        assert_eq!(ladder(6), [true, true, true, true, false]);
        assert_eq!(ladder(1), [true; 5]);
        let field = |tier, shift: u32| answer(tier, ISAR0, isar0) >> shift & 15;
        // AES with PMULL, SHA-2 with SHA-512, SHA-3.
        assert_eq!((field(Nosve, 4), field(Nosve, 12), field(Nosve, 32)), (2, 2, 1));
        assert_eq!((field(Aes, 4), field(Aes, 12), field(Aes, 32)), (2, 1, 0));
        assert_eq!((field(Noaes, 4), field(Noaes, 12)), (0, 1));
        assert_eq!(field(Baseline, 12), 0);
    }

    #[test]
    fn who_the_cpu_is_and_that_it_has_vectors_stays() {
        assert_eq!(left(Baseline, HWCAP, u64::MAX), 0b1000_0000_0111);
        // FP and AdvSIMD of ID_AA64PFR0_EL1; MIDR_EL1 is no register that tiers change.
        assert_eq!(answer(Baseline, PFR0, 0x0011_0000), 0x0011_0000);
        assert_eq!(answer(Baseline, 0, 0x410f_d0c0), 0x410f_d0c0);
    }
}
