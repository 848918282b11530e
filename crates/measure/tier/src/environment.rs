//! The C library follows the tier by itself: its own memory functions are chosen before any code
//! of ours runs, by `GLIBC_TUNABLES`.

use model::Tier;

/// Features by the names of `glibc.cpu.hwcaps` (glibc manual, "Hardware Capability Tunables"), with
/// the spelling up to glibc 2.32 where it differs; names that a version does not know are ignored.
#[rustfmt::skip]
const AVX512: &[&str] = &[
    "AVX512F", "AVX512CD", "AVX512ER", "AVX512PF", "AVX512VL", "AVX512DQ", "AVX512BW",
    "AVX512F_Usable", "AVX512DQ_Usable", "Prefer_No_VZEROUPPER",
];

/// What the tier `baseline` takes beside.
#[rustfmt::skip]
const LATER: &[&str] = &[
    "SSE3", "SSSE3", "SSE4_1", "SSE4_2", "AVX", "AVX2", "AVX_Usable", "AVX2_Usable", "FMA",
    "FMA_Usable", "FMA4", "FMA4_Usable", "BMI1", "BMI2", "LZCNT", "MOVBE", "POPCNT",
    "AVX_Fast_Unaligned_Load", "Fast_Copy_Backward", "Fast_Unaligned_Copy",
];

/// Variables for a process at a tier, beside those that it inherits.
#[must_use]
pub fn environment(tier: Tier) -> Vec<(&'static str, String)> {
    let names: &[&[&str]] = match tier {
        // glibc for aarch64 has no such setting: its memory functions stay what they are.
        Tier::Native | Tier::Nosve | Tier::Aes => return Vec::new(),
        _ if cfg!(target_arch = "aarch64") => return Vec::new(),
        Tier::Vaes256 | Tier::Aesni | Tier::Noaes => &[AVX512],
        Tier::Baseline => &[AVX512, LATER],
    };
    let list: Vec<String> = names.iter().copied().flatten().map(|n| format!("-{n}")).collect();
    let ours = format!("glibc.cpu.hwcaps={}", list.join(","));
    // Of two settings of one tunable the last one counts.
    let inherited = std::env::var("GLIBC_TUNABLES").ok().filter(|v| !v.is_empty());
    let value = inherited.map_or_else(|| ours.clone(), |before| format!("{before}:{ours}"));
    vec![("GLIBC_TUNABLES", value)]
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn avx2_stays_in_the_c_library_until_the_baseline() {
        let value = |tier| environment(tier).pop().map(|(_, value)| value).unwrap_or_default();
        assert_eq!(value(Tier::Native), "");
        assert!(value(Tier::Noaes).contains("-AVX512VL") && !value(Tier::Noaes).contains("-AVX2"));
        assert!(
            value(Tier::Baseline).contains("-AVX2,") && value(Tier::Baseline).contains("-SSSE3")
        );
        assert!(!value(Tier::Baseline).contains("SSE2,"));
    }
}
