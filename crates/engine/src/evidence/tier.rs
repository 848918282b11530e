//! Whether what was executed fits the tier, and whether AES ran on AES instructions.

use crate::protocol::{SetSteps, Steps};
use base::model::{Feature, Tier};

/// Whether a tier takes an instruction set away (`crates/host` has the bits).
fn takes_away(tier: Tier, set: &str) -> bool {
    Feature::of_set(set).is_some_and(|feature| !tier.shows(feature))
}

/// Whether a set is more than every CPU of this architecture has.
pub(super) fn is_beyond_baseline(set: &str) -> bool {
    Feature::of_set(set).is_some()
}

/// What the library executed that the tier takes away: the first of it, and how much there was.
pub(super) fn contradiction(tier: Tier, runs: &[Steps]) -> Option<String> {
    let (size, found) = runs.iter().find_map(|run| {
        let found = worst(tier, &run.sets)?;
        Some((run.size, found))
    })?;
    let SetSteps { set, count, example } = found;
    Some(format!(
        "tier: executed {count} instructions of {set} in a message of {size} bytes, which the tier \
         {tier} takes away: {example}"
    ))
}

/// Likewise in the C library's and the program's own code, which is no contradiction: no tier is
/// applied to them.
pub(super) fn excepted(tier: Tier, runs: &[Steps]) -> Option<String> {
    let found = runs.iter().find_map(|run| worst(tier, &run.sets_elsewhere))?;
    Some(format!("{}, {}", found.set, found.example))
}

fn worst(tier: Tier, sets: &[SetSteps]) -> Option<&SetSteps> {
    sets.iter().filter(|s| takes_away(tier, &s.set)).max_by_key(|s| s.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_arch = "x86_64")]
    fn run(sets: &[(&str, u64)]) -> Steps {
        let sets = sets.iter().map(|(set, count)| SetSteps {
            set: (*set).to_owned(),
            count: *count,
            example: format!("{set} at libx.so+0x10 (f)"),
        });
        Steps { size: 1024, complete: true, sets: sets.collect(), ..Steps::default() }
    }

    #[test]
    fn each_tier_of_aarch64_takes_away_what_it_is_named_for() {
        use Tier::*;
        let gone = |set: &str| {
            let all = Tier::AARCH64.iter().copied();
            let feature = Feature::of_aarch64(set);
            all.filter(|t| feature.is_some_and(|f| !t.shows(f))).collect::<Vec<_>>()
        };
        assert_eq!(gone("sve2"), [Nosve, Aes, Noaes, Baseline, Pi4]);
        assert_eq!(gone("sha3"), [Aes, Noaes, Baseline, Pi4]);
        assert_eq!(
            (gone("aes"), gone("pmull")),
            (vec![Noaes, Baseline, Pi4], vec![Noaes, Baseline, Pi4])
        );
        assert_eq!((gone("sha2"), gone("lse")), (vec![Baseline, Pi4], vec![Baseline, Pi4]));
        assert_eq!((gone("crc32"), gone("simd"), gone("v8")), (vec![Baseline], vec![], vec![]));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn each_tier_is_contradicted_by_what_it_takes_away_and_by_nothing_else() {
        use Tier::*;
        let contradicted = |set: &str| {
            let runs = [run(&[(set, 3)])];
            Tier::X86_64
                .iter()
                .filter(|t| contradiction(**t, &runs).is_some())
                .copied()
                .collect::<Vec<_>>()
        };
        let none_after = |machine: Tier| {
            let all = Tier::X86_64.iter().copied();
            all.filter(move |t| t.is_machine() && *t >= machine)
        };
        let but = |switches: &[Tier], from: Tier| {
            switches.iter().copied().chain(none_after(from)).collect::<Vec<_>>()
        };
        assert_eq!(contradicted("avx512vl"), but(&[Vaes256, Aesni, Noavx2, Noaes, Baseline], Zen1));
        assert_eq!(contradicted("vaes"), but(&[Aesni, Noavx2, Noaes, Baseline], Zen1));
        assert_eq!(contradicted("gfni"), but(&[Aesni, Noavx2, Noaes, Baseline], Zen1));
        let pclmul = [Aesni, Nopclmul, Noavx2, Noaes, Baseline];
        assert_eq!(contradicted("vpclmulqdq"), but(&pclmul, Zen1));
        assert_eq!(contradicted("pclmulqdq"), but(&[Nopclmul, Noaes, Baseline], Nehalem));
        assert_eq!(contradicted("aes"), but(&[Noaes, Baseline], Nehalem));
        assert_eq!(contradicted("sha"), but(&[Baseline], Skylake));
        assert_eq!(contradicted("adx"), but(&[Baseline], Haswell));
        assert_eq!(contradicted("avx2"), but(&[Noavx2, Baseline], Sandybridge));
        assert_eq!(contradicted("avx"), but(&[Baseline], Westmere));
        assert_eq!(contradicted("sse4_2"), but(&[Baseline], Core2));
        assert_eq!(contradicted("ssse3"), but(&[Baseline], Qemu64));
        assert_eq!(contradicted("sse3"), [Baseline]);
        assert_eq!(contradicted("xop"), but(&[Baseline], Icelake));
        for always in ["sse2", "cmov", "x64", "rdrand", "cet_ibt"] {
            assert_eq!(contradicted(always), [], "{always}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_reason_names_instruction_address_and_function() {
        let runs = [run(&[("sse2", 50)]), run(&[("sse2", 50), ("pclmulqdq", 2), ("aes", 40)])];
        assert_eq!(
            contradiction(Tier::Noaes, &runs).unwrap(),
            "tier: executed 40 instructions of aes in a message of 1024 bytes, which the tier noaes \
             takes away: aes at libx.so+0x10 (f)"
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_c_librarys_own_code_is_named_and_not_held_against_the_library() {
        let mut run = run(&[("sse2", 50)]);
        run.sets_elsewhere = self::run(&[("avx512vl", 4)]).sets;
        assert_eq!(contradiction(Tier::Aesni, std::slice::from_ref(&run)), None);
        assert_eq!(
            excepted(Tier::Aesni, &[run]).unwrap(),
            "avx512vl, avx512vl at libx.so+0x10 (f)"
        );
    }
}
