#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
use super::*;

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
            let is_subset = |a: u32, b: u32| b & !a == 0;
            assert!(
                is_subset(above.eax, below.eax)
                    && is_subset(above.ebx, below.ebx)
                    && is_subset(above.ecx, below.ecx)
                    && is_subset(above.edx, below.edx),
                "{} {} leaf {leaf:#x}.{subleaf}",
                pair[0],
                pair[1]
            );
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
    let at = |tier, names: &[&str]| names.iter().map(|n| has(tier, named(n))).collect::<Vec<_>>();
    assert_eq!(
        at(Tier::Vaes256, &["VAES", "VPCLMULQDQ", "GFNI", "AVX2", "AVX512F"]),
        [true, true, true, true, false]
    );
    assert_eq!(
        at(Tier::Aesni, &["AES", "PCLMULQDQ", "AVX2", "VAES", "VPCLMULQDQ", "GFNI"]),
        [true, true, true, false, false, false]
    );
    assert_eq!(
        at(Tier::Noaes, &["SSSE3", "AVX2", "SHA", "AES", "PCLMULQDQ", "KL", "ACE"]),
        [true, true, true, false, false, false, false]
    );
    assert_eq!(at(Tier::Nopclmul, &["AES", "PCLMULQDQ", "VPCLMULQDQ"]), [true, false, false]);
    assert_eq!(
        at(Tier::Noavx2, &["AES", "AVX", "SHA", "AVX2", "VAES"]),
        [true, true, true, false, false]
    );
    assert_eq!(
        at(Tier::Baseline, &["SSE2", "SSE3", "SSSE3", "AVX", "OSXSAVE", "SHA", "LZCNT"]),
        [true, false, false, false, false, false, false]
    );
}

/// Features of ciphers' code by GCC's `-march=` of the machine (GCC manual, x86 Options).
#[test]
fn machines_show_what_compilers_use_for_them() {
    const ASKED: [&str; 17] = [
        "SSE3",
        "SSSE3",
        "SSE4.1",
        "SSE4.2",
        "POPCNT",
        "AES",
        "PCLMULQDQ",
        "AVX",
        "F16C",
        "FMA",
        "AVX2",
        "BMI2",
        "LZCNT",
        "SHA",
        "GFNI",
        "VAES",
        "AVX512_VBMI2",
    ];
    let shown = |tier| ASKED.iter().filter(|n| has(tier, named(n))).count();
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
