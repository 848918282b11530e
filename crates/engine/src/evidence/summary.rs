//! What counted steps tell: costs of a byte from two sizes, whether the code fits the tier, and what the
//! record says of both.

use crate::evidence::{Operation, Slope, slope};
use crate::protocol::{SetSteps, Steps};
use base::model::{Feature, Tier};
use record::{
    ClassCount, Executed, ExecutedSize, FunctionCount, LibraryId, Measurement, PmuCount, Share,
    State,
};
use std::collections::BTreeSet;

/// Most functions that are told: whatever else runs is small.
const FUNCTIONS: usize = 8;

/// What the counts of one subject say. `why` is what came in their way, if anything did.
pub(crate) fn executed(
    library: LibraryId,
    subject: &Operation,
    runs: &[Steps],
    why: Option<String>,
) -> Executed {
    let slope = slope(runs);
    let stepped = slope.map(|s| s.share(s.small.instructions, s.large.instructions));
    let pmu = pmu(slope, runs);
    let counter = pmu
        .as_ref()
        .and_then(|p| Some(Share { per_byte: p.per_byte?, per_message: p.per_message? }));
    let source = if counter.is_some() { "pmu" } else { "single-step" };
    let total = counter.or(stepped);
    let reads = slope.map(|s| s.share(s.small.memory_reads, s.large.memory_reads));
    let writes = slope.map(|s| s.share(s.small.memory_writes, s.large.memory_writes));
    let mut sizes: Vec<ExecutedSize> = runs
        .iter()
        .filter(|r| r.complete)
        .map(|r| ExecutedSize { size: r.size, instructions: r.instructions })
        .collect();
    sizes.sort_by_key(|s| s.size);
    let sets: BTreeSet<&String> = runs
        .iter()
        .flat_map(|r| &r.sets)
        .map(|s| &s.set)
        .filter(|set| is_beyond_baseline(set))
        .collect();
    Executed {
        library,
        algorithm: subject.algorithm.clone(),
        direction: subject.direction,
        model: subject.model,
        tier: subject.tier,
        source: total.map(|_| source.to_owned()),
        reason: why.or_else(|| total.is_none().then(|| too_long(runs))),
        per_byte: total.map(|t| t.per_byte),
        per_message: total.map(|t| t.per_message),
        sizes,
        slope_sizes: slope.map(|s| vec![s.small.size, s.large.size]).unwrap_or_default(),
        uncounted: Vec::new(),
        classes: slope.map(classes).unwrap_or_default(),
        memory_reads: reads,
        memory_writes: writes,
        instruction_sets: sets.into_iter().cloned().collect(),
        functions: slope.map(functions).unwrap_or_default(),
        excepted: excepted(subject.tier, runs),
        pmu,
    }
}

fn too_long(runs: &[Steps]) -> String {
    let complete = runs.iter().filter(|r| r.complete).count();
    match runs.iter().filter(|r| !r.complete).map(|r| r.size).min() {
        _ if complete > 1 => {
            "the longer message takes fewer instructions: the two go different ways".to_owned()
        }
        Some(size) => format!("a message of {size} bytes takes more instructions than are stepped"),
        None => "no size that the algorithm takes was stepped".to_owned(),
    }
}

fn classes(slope: Slope<'_>) -> Vec<ClassCount> {
    let in_run = |run: &Steps, class: &str, width: Option<u16>| {
        let same = run.classes.iter().find(|c| (c.class.as_str(), c.width) == (class, width));
        same.map_or(0, |c| c.count)
    };
    let both = slope.large.classes.iter().chain(&slope.small.classes);
    let mut seen = BTreeSet::new();
    both.filter(|c| seen.insert((&c.class, c.width)))
        .map(|c| {
            let (small, large) =
                (in_run(slope.small, &c.class, c.width), in_run(slope.large, &c.class, c.width));
            let Share { per_byte, per_message } = slope.share(small, large);
            ClassCount { class: c.class.clone(), width: c.width, per_byte, per_message }
        })
        .collect()
}

fn functions(slope: Slope<'_>) -> Vec<FunctionCount> {
    let most = slope.large.functions.iter().take(FUNCTIONS);
    most.map(|f| {
        let same = |g: &&crate::protocol::FunctionSteps| {
            (&g.function, &g.object) == (&f.function, &f.object)
        };
        let small = slope.small.functions.iter().find(same).map_or(0, |g| g.count);
        let Share { per_byte, per_message } = slope.share(small, f.count);
        FunctionCount {
            function: f.function.clone(),
            object: f.object.clone(),
            per_byte,
            per_message,
        }
    })
    .collect()
}

/// What the performance counter says of the same two sizes.
fn pmu(slope: Option<Slope<'_>>, runs: &[Steps]) -> Option<PmuCount> {
    let counted = slope.and_then(|s| Some((s, s.small.pmu?, s.large.pmu?)));
    let Some((slope, small, large)) = counted else {
        let reason = runs.iter().find_map(|r| r.pmu_reason.clone())?;
        return Some(PmuCount {
            reason: Some(reason),
            per_byte: None,
            per_message: None,
            difference: None,
        });
    };
    let per_byte = (large - small) / (slope.large.size - slope.small.size) as f64;
    let stepped = slope.large.instructions as f64;
    Some(PmuCount {
        reason: None,
        per_byte: Some(per_byte),
        per_message: Some(small - per_byte * slope.small.size as f64),
        difference: Some(large / stepped - 1.0),
    })
}

/// Gives each measurement its counts.
pub(crate) fn tell(measurements: &mut [Measurement], executed: &[Executed]) {
    for m in measurements.iter_mut().filter(|m| m.state == State::Measured) {
        let Some(counts) = executed.iter().find(|e| e.is_of(m)) else { continue };
        m.instructions_per_byte = counts.per_byte;
        m.instructions_per_message = counts.per_message;
        m.evidence.instructions.clone_from(&counts.source);
    }
}

// Whether what was executed fits the tier, and whether AES ran on AES instructions.

/// Whether a tier takes an instruction set away (`crates/host` has the bits).
fn takes_away(tier: Tier, set: &str) -> bool {
    Feature::of_set(set).is_some_and(|feature| !tier.shows(feature))
}

/// Whether a set is more than every CPU of this architecture has.
pub(crate) fn is_beyond_baseline(set: &str) -> bool {
    Feature::of_set(set).is_some()
}

/// What the library executed that the tier takes away: the first of it, and how much there was.
pub(crate) fn contradiction(tier: Tier, runs: &[Steps]) -> Option<String> {
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
pub(crate) fn excepted(tier: Tier, runs: &[Steps]) -> Option<String> {
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
