//! Whether what was executed fits the tier, and whether AES ran on AES instructions.

use crate::protocol::{SetSteps, Steps};
use model::Tier;

/// Instruction sets of x86-64-v1, and those that compute nothing: entropy, identity, system calls,
/// hints that older CPUs execute as `NOP`. Names are those of the decoder.
const BASELINE: &[&str] = &[
    "intel8086",
    "intel8086_only",
    "intel186",
    "intel286",
    "intel386",
    "intel486",
    "x64",
    "cmov",
    "fpu",
    "fpu287",
    "fpu387",
    "mmx",
    "sse",
    "sse2",
    "fxsr",
    "cx8",
    "clfsh",
    "tsc",
    "rdtscp",
    "syscall",
    "cpuid",
    "multibytenop",
    "pause",
    "cet_ibt",
    "cet_ss",
    "prefetchw",
    "rdrand",
    "rdseed",
];

/// The same of aarch64: Armv8.0 with Advanced SIMD. What reads the CPU's identity or random numbers, and hints that older
/// CPUs execute as `NOP`, are of the first.
const BASELINE_A64: &[&str] = &["v8", "simd", "fp"];

/// Whether a tier takes an instruction set away (`crates/measure/tier` has the bits).
fn takes_away(tier: Tier, set: &str) -> bool {
    if cfg!(target_arch = "aarch64") {
        gone_on_aarch64(tier, set)
    } else {
        gone_on_x86_64(tier, set)
    }
}

/// Of the kernel's names for what ciphers are made of, and the decoder's for the rest.
fn gone_on_aarch64(tier: Tier, set: &str) -> bool {
    let scalable = set.starts_with("sve") || set.starts_with("sme");
    let later = matches!(set, "sha3" | "sha512" | "sm3" | "sm4");
    match tier {
        Tier::Native | Tier::Vaes256 | Tier::Aesni => false,
        Tier::Nosve => scalable,
        Tier::Aes => scalable || later,
        Tier::Noaes => scalable || later || matches!(set, "aes" | "pmull"),
        Tier::Baseline => !BASELINE_A64.contains(&set),
    }
}

fn gone_on_x86_64(tier: Tier, set: &str) -> bool {
    let begins = |names: &[&str]| names.iter().any(|n| set.starts_with(n));
    let wide = || begins(&["avx512", "avx10", "amx", "knc"]);
    let aes256 = || matches!(set, "vaes" | "vpclmulqdq" | "gfni");
    let aes = || matches!(set, "aes" | "pclmulqdq") || begins(&["aeskle", "kl", "padlock_ace"]);
    match tier {
        Tier::Native | Tier::Nosve | Tier::Aes => false,
        Tier::Vaes256 => wide(),
        Tier::Aesni => wide() || aes256(),
        Tier::Noaes => wide() || aes256() || aes(),
        Tier::Baseline => !BASELINE.contains(&set),
    }
}

/// Whether a set is more than every x86-64 CPU has.
pub(super) fn is_beyond_baseline(set: &str) -> bool {
    let usual = if cfg!(target_arch = "aarch64") { BASELINE_A64 } else { BASELINE };
    !usual.contains(&set)
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
            all.filter(|t| gone_on_aarch64(*t, set)).collect::<Vec<_>>()
        };
        assert_eq!(gone("sve2"), [Nosve, Aes, Noaes, Baseline]);
        assert_eq!(gone("sha3"), [Aes, Noaes, Baseline]);
        assert_eq!((gone("aes"), gone("pmull")), (vec![Noaes, Baseline], vec![Noaes, Baseline]));
        assert_eq!((gone("sha2"), gone("lse")), (vec![Baseline], vec![Baseline]));
        assert_eq!((gone("simd"), gone("v8")), (vec![], vec![]));
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
        assert_eq!(contradicted("avx512vl"), [Vaes256, Aesni, Noaes, Baseline]);
        assert_eq!(contradicted("vaes"), [Aesni, Noaes, Baseline]);
        assert_eq!(contradicted("vpclmulqdq"), [Aesni, Noaes, Baseline]);
        assert_eq!(contradicted("gfni"), [Aesni, Noaes, Baseline]);
        assert_eq!(contradicted("aes"), [Noaes, Baseline]);
        assert_eq!(contradicted("pclmulqdq"), [Noaes, Baseline]);
        assert_eq!(contradicted("avx2"), [Baseline]);
        assert_eq!(contradicted("ssse3"), [Baseline]);
        assert_eq!(contradicted("sha"), [Baseline]);
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
