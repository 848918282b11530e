//! Which tier a CPU feature is gone from, by the names that iced-x86 gives them: for code that
//! asks no CPU what it has.

use model::Tier;

/// So many instructions must need a feature before code is said to: a decoder that is led astray by
/// data in code shows strange ones now and then.
const FEWEST: usize = 4;

/// Those of the features that a tier takes away and that more than a few instructions need.
pub fn missing<'a>(
    tier: Tier,
    features: impl IntoIterator<Item = (&'a String, &'a usize)>,
) -> Vec<&'a str> {
    let needed = features.into_iter().filter(|(_, count)| **count >= FEWEST);
    let names = needed.map(|(name, _)| name.as_str());
    names.filter(|name| gone_from(name).is_some_and(|from| tier >= from)).collect()
}

/// The first tier, downwards, without the feature; `None` for what every x86-64 has.
fn gone_from(feature: &str) -> Option<Tier> {
    let groups: [(Tier, &[&str]); 4] = [
        (Tier::Vaes256, &["AVX512", "AVX10", "AMX"]),
        (Tier::Aesni, &["VAES", "VPCLMULQDQ", "GFNI", "AVX_GFNI"]),
        (Tier::Noaes, &["AES", "PCLMULQDQ", "WIDE_KL", "PADLOCK_ACE"]),
        (Tier::Baseline, LATER),
    ];
    let has = |prefixes: &[&str]| prefixes.iter().any(|p| feature.starts_with(p));
    groups.into_iter().find(|(_, prefixes)| has(prefixes)).map(|(tier, _)| tier)
}

/// What x86-64-v1 does not have and compilers and hand-written ciphers use.
const LATER: &[&str] = &[
    "SSE3", "SSSE3", "SSE4", "AVX", "FMA", "F16C", "BMI", "MOVBE", "POPCNT", "ADX", "SHA", "SM3",
    "SM4", "XOP", "TBM", "PADLOCK",
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_a_tier_takes_away_is_missing_where_code_needs_it_often() {
        let names = ["SSE2", "AVX2", "AES", "VAES", "AVX512F", "GFNI"];
        let mut features: BTreeMap<String, usize> =
            names.iter().map(|n| ((*n).to_owned(), 100)).collect();
        features.insert("SSE4_1".to_owned(), 1);
        let missing = |tier| missing(tier, &features).join(" ");
        assert_eq!(missing(Tier::Native), "");
        assert_eq!(missing(Tier::Vaes256), "AVX512F");
        assert_eq!(missing(Tier::Aesni), "AVX512F GFNI VAES");
        assert_eq!(missing(Tier::Noaes), "AES AVX512F GFNI VAES");
        assert_eq!(missing(Tier::Baseline), "AES AVX2 AVX512F GFNI VAES");
    }
}
