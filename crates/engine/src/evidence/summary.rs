//! From counts of a few sizes to what the record says.

use super::gather::Operation;
use super::sizes::{Slope, slope};
use super::tier;
use crate::protocol::Steps;
use record::{
    ClassCount, Executed, ExecutedSize, FunctionCount, LibraryId, Measurement, PmuCount, Share,
    State,
};
use std::collections::BTreeSet;

/// Most functions that are told: whatever else runs is small.
const FUNCTIONS: usize = 8;

/// What the counts of one subject say. `why` is what came in their way, if anything did.
pub(super) fn executed(
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
        .filter(|set| tier::is_beyond_baseline(set))
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
        excepted: tier::excepted(subject.tier, runs),
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
