//! The C library follows the tier by itself: its own memory functions are chosen before any code
//! of ours runs, by `GLIBC_TUNABLES`.

use base::model::Feature::{self, *};
use base::model::Tier;

/// Features by the names of `glibc.cpu.hwcaps` (glibc manual, "Hardware Capability Tunables"), with
/// the spelling up to glibc 2.32 where it differs; names that a version does not know are ignored.
#[rustfmt::skip]
const NAMES: &[(Feature, &[&str])] = &[
    (Avx512, &[
        "AVX512F", "AVX512CD", "AVX512ER", "AVX512PF", "AVX512VL", "AVX512DQ", "AVX512BW",
        "AVX512F_Usable", "AVX512DQ_Usable", "Prefer_No_VZEROUPPER",
    ]),
    (Sse3, &["SSE3"]),
    (Ssse3, &["SSSE3", "Fast_Copy_Backward", "Fast_Unaligned_Copy"]),
    (Sse41, &["SSE4_1"]),
    (Sse42, &["SSE4_2"]),
    (Avx, &["AVX", "AVX_Usable", "AVX_Fast_Unaligned_Load"]),
    (Avx2, &["AVX2", "AVX2_Usable"]),
    (Fma, &["FMA", "FMA_Usable"]),
    (Other, &["FMA4", "FMA4_Usable"]),
    (Bmi1, &["BMI1"]),
    (Bmi2, &["BMI2"]),
    (Lzcnt, &["LZCNT"]),
    (Movbe, &["MOVBE"]),
    (Popcnt, &["POPCNT"]),
];

/// Variables for a process at a tier, beside those that it inherits.
#[must_use]
pub fn environment(tier: Tier) -> Vec<(&'static str, String)> {
    let hidden = NAMES.iter().filter(|(feature, _)| !tier.shows(*feature));
    let list: Vec<String> =
        hidden.flat_map(|(_, names)| *names).map(|name| format!("-{name}")).collect();
    // glibc for aarch64 has no such setting: its memory functions stay what they are.
    if cfg!(target_arch = "aarch64") || list.is_empty() {
        return Vec::new();
    }
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
    fn the_c_library_keeps_avx2_where_the_tier_shows_it() {
        let value = |tier| environment(tier).pop().map(|(_, value)| value).unwrap_or_default();
        assert_eq!(value(Tier::Native), "");
        assert!(value(Tier::Noaes).contains("-AVX512VL") && !value(Tier::Noaes).contains("-AVX2"));
        assert!(
            value(Tier::Baseline).contains("-AVX2,") && value(Tier::Baseline).contains("-SSSE3")
        );
        assert!(!value(Tier::Baseline).contains("SSE2,"));
        let bridge = value(Tier::Sandybridge);
        assert!(bridge.contains("-AVX2,") && !bridge.contains("-AVX,"), "{bridge}");
    }
}
