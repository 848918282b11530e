//! Which CPU features a tier hides, by the names that iced-x86 gives them: for code that
//! asks no CPU what it has.

use base::model::{Feature, Tier};

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
    let hidden = |name: &&str| match Feature::of_x86_64(&name.to_lowercase()) {
        // Data among code looks like rare instructions.
        None | Some(Feature::Other) => false,
        Some(feature) => !tier.shows(feature),
    };
    names.filter(hidden).collect()
}

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
        let lacks = |tier| missing(tier, &features).join(" ");
        assert_eq!(lacks(Tier::Native), "");
        assert_eq!(lacks(Tier::Vaes256), "AVX512F");
        assert_eq!(lacks(Tier::Aesni), "AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Noaes), "AES AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Baseline), "AES AVX2 AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Haswell), "AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Westmere), "AVX2 AVX512F GFNI VAES");
    }
}
