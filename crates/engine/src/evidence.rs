//! What operations execute, counted exactly: which sizes to step, stepping them side by side in workers, and
//! keeping the counts from run to run, because they are always the same. And what counted steps tell: costs
//! of a byte from two sizes, whether the code fits the tier, and what the record says of both.

use crate::libraries::Attached;
use crate::pool::{Asking, Cache, InWorkers, Key, deadline};
use crate::process::out_of_protocol;
use crate::protocol::{Finding, Reply, Request, Stepping, Steps};
use crate::time::Stop;
use base::model::{Algorithm, Case, Direction, Feature, MAX_REPEATED_SIZE, Model, Primitive, Tier};
use probe::step::SetCount;
use record::{
    ClassCount, Executed, ExecutedSize, FunctionCount, LibraryId, Measurement, PmuCount, Share,
    State, UncountedSize,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

// Stepping everything that is to be measured, in workers of its own, side by side: counts are the
// same however busy the machine is.

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation {
    pub library: usize,
    pub tier: Tier,
    pub algorithm: String,
    pub direction: Direction,
    pub model: Model,
}

impl Operation {
    /// What a case is one of several sizes of.
    pub fn of(case: &Case) -> Self {
        Self {
            library: case.library,
            tier: case.tier,
            algorithm: case.algorithm.clone(),
            direction: case.direction,
            model: case.model,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    pub subject: Operation,
    pub executed: Executed,
    /// Why it is not to be measured: it contradicts its tier, left a wrong output, or nobody looked in time
    /// whether it keeps to its tier.
    pub refused: Option<Finding>,
    pub exact: Vec<(usize, Exact)>,
}

/// The instructions of an operation of one size, or why they are not known.
pub type Exact = Result<ExecutedSize, String>;

/// Which sizes are counted beside those that a byte's cost comes from.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Sizes of a subject.
    pub of: &'a (dyn Fn(&Operation) -> Vec<usize> + Sync),
    /// Instructions that may be stepped for them, of all subjects together; `None` for as many as it
    /// takes, also where nothing is foretold.
    pub allowance: Option<u64>,
}

/// Steps all subjects at the sizes that a byte's cost comes from, then those sizes that are `wanted`,
/// as long as they are worth it. `done` is called after each subject, with how many of how many.
pub fn gather(
    libraries: &[Attached],
    subjects: &[Operation],
    wanted: Wanted<'_>,
    stop: &Stop,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Evidence> {
    let sorted: BTreeSet<Operation> = subjects.iter().cloned().collect();
    let cache = open_cache();
    let workers = InWorkers { libraries, stop, done };
    let of = |one: &&mut Counted| (one.subject.library, one.subject.tier);
    let mut counted: Vec<Counted> =
        sorted.into_iter().map(|subject| Counted::new(subject, wanted)).collect();
    workers.each(counted.iter_mut().collect(), of, |asking, one| {
        Gathering { libraries, cache: &cache, asking }.slope(one);
    });
    let foretold: Vec<u64> = counted.iter().flat_map(Counted::foretold).collect();
    let limit = limit(&foretold, wanted.allowance.unwrap_or(u64::MAX));
    let (more, whole): (Vec<_>, Vec<_>) =
        counted.iter_mut().partition(|one| !one.lacking(limit).is_empty());
    drop(whole);
    workers.each(more, of, |asking, one| {
        Gathering { libraries, cache: &cache, asking }.sizes(one, limit);
    });
    counted.into_iter().map(|one| one.evidence(libraries, limit)).collect()
}

/// Which operations leave their tier, and how, or were not looked at in time; at `native` none can.
pub(crate) fn leave_their_tier(
    libraries: &[Attached],
    operations: &[Operation],
    stop: &Stop,
) -> Vec<(Operation, Finding)> {
    let masked: Vec<Operation> =
        operations.iter().filter(|o| o.tier != Tier::Native).cloned().collect();
    let wanted = Wanted { of: &|_| Vec::new(), allowance: Some(0) };
    let found = gather(libraries, &masked, wanted, stop, &|_, _| ());
    found.into_iter().filter_map(|one| Some((one.subject, one.refused?))).collect()
}

struct Gathering<'a, 'w> {
    libraries: &'a [Attached],
    cache: &'a Cache,
    asking: &'a mut Asking<'w>,
}

impl Gathering<'_, '_> {
    /// The sizes that a byte's cost comes from, as far as they are not kept from an earlier run.
    fn slope(&mut self, one: &mut Counted) {
        one.load(self.cache, &self.libraries[one.subject.library]);
        let before = one.kept.clone();
        one.why = self.steps(&one.subject, &mut one.kept.runs);
        one.store(self.cache, &before);
    }

    fn steps(&mut self, subject: &Operation, runs: &mut Vec<Steps>) -> Option<Finding> {
        if let Some(why) = Asking::cannot_step(&self.libraries[subject.library]) {
            return Some(why);
        }
        let algorithm = match Algorithm::find(&subject.algorithm) {
            Ok(algorithm) => algorithm,
            Err(e) => return Some(Finding::failed(e.to_string())),
        };
        while let Some(Next { size, most_steps }) = next(runs, algorithm) {
            match self.ask(subject, size, most_steps) {
                Ok(steps) => runs.push(steps),
                Err(finding) => return Some(finding),
            }
        }
        None
    }

    fn sizes(&mut self, one: &mut Counted, limit: u64) {
        let before = one.kept.clone();
        let most_steps = most_steps(limit);
        for size in one.lacking(limit) {
            match self.ask(&one.subject, size, most_steps) {
                Ok(steps) if steps.complete => one.kept.exact.push(steps),
                Ok(_) => one.kept.too_long.push(TooLong { size, most_steps }),
                Err(finding) => {
                    one.failed.push((size, finding.why.clone()));
                    // A wrong output refuses the subject at whatever size it was left.
                    let is_first = finding.state == State::Refused && one.why.is_none();
                    one.why = if is_first { Some(finding) } else { one.why.take() };
                }
            }
        }
        one.store(self.cache, &before);
    }

    fn ask(&mut self, subject: &Operation, size: usize, most_steps: u64) -> Result<Steps, Finding> {
        let request = Request::Step(Stepping {
            algorithm: subject.algorithm.clone(),
            direction: subject.direction,
            model: subject.model,
            size,
            most_steps,
        });
        let deadline = deadline(most_steps);
        match self.asking.ask(subject.library, subject.tier, &request, deadline)? {
            // Another size would be asked for again, without end.
            Reply::Stepped(steps) if steps.size == size => Ok(steps),
            other => Err(Finding::failed(out_of_protocol(&other).to_string())),
        }
    }
}

// What is known of one subject while it is counted, and what the record says of it in the end.

/// Raised when what is counted changes its meaning, or which sizes are.
const VERSION: u32 = 6;

fn open_cache() -> Cache {
    Cache::open("evidence")
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// At the sizes of choice, which the record has.
    runs: Vec<Steps>,
    /// At sizes that were asked for, each once; what a byte costs does not come from these.
    exact: Vec<Steps>,
    /// Sizes that took more steps than were allowed.
    too_long: Vec<TooLong>,
}

/// A size whose operation was not seen to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TooLong {
    size: usize,
    /// Steps that were allowed, and taken.
    most_steps: u64,
}

#[derive(Debug)]
struct Counted {
    subject: Operation,
    /// Sizes that are asked for, in ascending order.
    sizes: Vec<usize>,
    /// Whether sizes are stepped too of which nothing is foretold.
    unforeseen_too: bool,
    key: Option<Key>,
    kept: Kept,
    /// What came in the way of the sizes that a byte's cost comes from.
    why: Option<Finding>,
    /// Sizes that were asked for and could not be stepped.
    failed: Vec<(usize, String)>,
}

impl Counted {
    fn new(subject: Operation, wanted: Wanted<'_>) -> Self {
        let sizes: BTreeSet<usize> = (wanted.of)(&subject).into_iter().collect();
        let (sizes, unforeseen_too) = (sizes.into_iter().collect(), wanted.allowance.is_none());
        let (kept, failed) = (Kept::default(), Vec::new());
        Self { subject, sizes, unforeseen_too, key: None, kept, why: None, failed }
    }

    fn load(&mut self, cache: &Cache, library: &Attached) {
        let Operation { tier, algorithm, direction, model, .. } = &self.subject;
        let subject = [algorithm.clone(), direction.to_string(), model.to_string()];
        self.key = cache.key(VERSION, library, *tier, &subject);
        self.kept = self.key.as_ref().and_then(|k| cache.load(k)).unwrap_or_default();
    }

    fn store(&self, cache: &Cache, before: &Kept) {
        if let Some(key) = self.key.as_ref().filter(|_| self.kept != *before) {
            let all = self.kept.runs.iter().chain(&self.kept.exact);
            cache.store(key, &self.kept, all.flat_map(|r| &r.objects));
        }
    }

    /// Instructions that sizes which the choice of sizes leaves open are foretold to take. Kept counts
    /// are foretold all the same: which sizes a run counts does not hang on what ran before.
    fn foretold(&self) -> Vec<u64> {
        let open = |size: &&usize| {
            !self.is_large(**size) && !self.kept.runs.iter().any(|r| r.size == **size && r.complete)
        };
        let open = self.sizes.iter().filter(open);
        open.filter_map(|size| foretold(&self.kept.runs, *size)).collect()
    }

    /// Sizes to step: short enough, and not known.
    fn lacking(&self, limit: u64) -> Vec<usize> {
        let missing = |size: &usize| {
            self.run(*size).is_none() && !self.was_too_long(*size, limit) && !self.is_large(*size)
        };
        let possible = self.why.is_none();
        let short = |size: &usize| match foretold(&self.kept.runs, *size) {
            Some(instructions) => instructions <= limit,
            None => self.unforeseen_too && possible,
        };
        self.sizes.iter().copied().filter(|s| missing(s) && short(s)).collect()
    }

    /// Of the largest messages a few instructions may take long (`rep movsb`), and the rounds before them do.
    fn is_large(&self, size: usize) -> bool {
        Algorithm::find(&self.subject.algorithm).is_ok_and(|a| a.is_large(size))
    }

    fn was_too_long(&self, size: usize, limit: u64) -> bool {
        self.kept.too_long.iter().any(|t| t.size == size && t.most_steps >= most_steps(limit))
    }

    fn run(&self, size: usize) -> Option<&Steps> {
        let mut all = self.kept.runs.iter().chain(&self.kept.exact);
        all.find(|r| r.size == size && r.complete)
    }

    fn exact(&self, size: usize, limit: u64) -> Exact {
        if let Some(run) = self.run(size) {
            // More than a run of this limit would have stepped; kept from one that had a larger one.
            return Ok(ExecutedSize { size, instructions: run.instructions });
        }
        if let Some((_, why)) = self.failed.iter().find(|(failed, _)| *failed == size) {
            return Err(why.clone());
        }
        if self.was_too_long(size, limit) {
            return Err(format!(
                "more than {} instructions, the most that are stepped",
                most_steps(limit)
            ));
        }
        if self.is_large(size) {
            return Err(format!("operations on up to {MAX_REPEATED_SIZE} bytes are stepped"));
        }
        match (foretold(&self.kept.runs, size), &self.why) {
            (Some(n), _) => {
                Err(format!("about {n} instructions; operations of up to {limit} are stepped"))
            }
            (None, Some(finding)) => Err(finding.why.clone()),
            (None, None) => {
                Err("shorter messages take more instructions than are stepped".to_owned())
            }
        }
    }

    /// What is said of the subject.
    fn evidence(self, libraries: &[Attached], limit: u64) -> Evidence {
        let exact: Vec<(usize, Exact)> =
            self.sizes.iter().map(|size| (*size, self.exact(*size, limit))).collect();
        let why = self.why.as_ref().map(|f| f.why.clone());
        let library = libraries[self.subject.library].facts.identity();
        let mut executed = executed(library, &self.subject, &self.kept.runs, why);
        for (size, count) in &exact {
            match count {
                Ok(count) if executed.sizes.contains(count) => {}
                Ok(count) => executed.sizes.push(*count),
                Err(why) => {
                    executed.uncounted.push(UncountedSize { size: *size, reason: why.clone() })
                }
            }
        }
        executed.sizes.sort_by_key(|s| s.size);
        // A library may take other instructions for long messages than for those that the line is of.
        let sets: BTreeSet<String> = executed.instruction_sets.drain(..).collect();
        executed.instruction_sets = sets.union(&sets_of(&self.kept.exact)).cloned().collect();
        Evidence {
            refused: refused(self.subject.tier, &self.kept, self.why.as_ref()),
            executed,
            subject: self.subject,
            exact,
        }
    }
}

fn refused(tier: Tier, kept: &Kept, why: Option<&Finding>) -> Option<Finding> {
    let contradiction = |runs: &[Steps]| contradiction(tier, runs).map(Finding::refused);
    let contradicted = contradiction(&kept.runs).or_else(|| contradiction(&kept.exact));
    let is_open = |f: &Finding| tier != Tier::Native && f.stopped.is_some();
    contradicted.or_else(|| why.filter(|f| f.state == State::Refused || is_open(f)).cloned())
}

// Which sizes are stepped: two whose difference shows what a byte costs.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Next {
    size: usize,
    most_steps: u64,
}

/// Two sizes, and how far their operations are stepped.
#[derive(Clone, Copy)]
struct Pair {
    sizes: [usize; 2],
    /// A step takes 11 µs on a quiet virtual machine and 30 on a busy one, and a survey steps hundreds
    /// of operations.
    most_steps: [u64; 2],
}

/// AES kernels go through a message in chunks of 4, 6, 8, 16, 32 or 48 blocks of 16 bytes: both
/// sizes leave the same rest by any of these, so what they differ by is whole rounds of the loop and
/// nothing else. The steps leave room for what a message costs whatever its size: Botan's CTR makes the
/// key stream of a whole chunk for every message, 6000 instructions, and shorter messages than the chunk
/// would show no cipher at all in what a byte costs.
const BLOCKS: Pair = Pair { sizes: [512, 2048], most_steps: [10_000, 26_000] };
/// ChaCha20 kernels do 1, 2, 4, 8 or 16 blocks of 64 bytes at once.
const CHACHA: Pair = Pair { sizes: [1024, 3072], most_steps: [13_000, 30_000] };
/// Code so lean is shown longer messages instead: the loops with the widest vectors begin late, and
/// the low byte of a block counter overflows every 256 blocks, when libraries go another way. From 4
/// to 16 KiB it does so once for every 4 KiB, as in any long message; and both leave the same rest by
/// 48 blocks.
const LEAN: f64 = 0.6;
const LONG: Pair = Pair { sizes: [4096, 16_384], most_steps: [6000, 14_000] };
/// Code that takes many instructions for each byte has no such loops: 128 bytes are a round of the
/// widest bit-sliced AES, 16 are two blocks of 64 bits.
const SLOW: Pair = Pair { sizes: [128, 256], most_steps: [15_000, 30_000] };
const SLOWEST: Pair = Pair { sizes: [16, 48], most_steps: [60_000, 180_000] };

enum Seen {
    Missing(Next),
    TooLong,
    Both,
}

fn seen(pair: Pair, runs: &[Steps]) -> Seen {
    for (size, most_steps) in pair.sizes.into_iter().zip(pair.most_steps) {
        match runs.iter().find(|r| r.size == size) {
            None => return Seen::Missing(Next { size, most_steps }),
            Some(run) if !run.complete => return Seen::TooLong,
            Some(_) => {}
        }
    }
    Seen::Both
}

/// What to step after these; `None` when there is nothing more to learn.
fn next(runs: &[Steps], algorithm: &Algorithm) -> Option<Next> {
    let chacha = matches!(
        algorithm.cipher,
        Primitive::ChaCha20
            | Primitive::XChaCha20
            | Primitive::ChaCha8
            | Primitive::ChaCha12
            | Primitive::Adiantum { .. }
    );
    let first = if chacha { CHACHA } else { BLOCKS };
    let allowed = |pair: &Pair| pair.sizes.iter().all(|s| algorithm.sizes.allows(*s));
    for pair in [first, SLOW, SLOWEST].into_iter().filter(allowed) {
        match seen(pair, runs) {
            Seen::Missing(next) => return Some(next),
            Seen::TooLong => {}
            Seen::Both => {
                let lean = slope(runs).is_some_and(|slope| slope.per_byte <= LEAN);
                return match seen(LONG, runs) {
                    Seen::Missing(next) if lean && allowed(&LONG) => Some(next),
                    _ => None,
                };
            }
        }
    }
    None
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Slope<'a> {
    small: &'a Steps,
    large: &'a Steps,
    per_byte: f64,
}

impl Slope<'_> {
    /// What a byte and what a message costs of something that the two sizes' operations have so
    /// much of.
    fn share(&self, small: u64, large: u64) -> record::Share {
        let bytes = (self.large.size - self.small.size) as f64;
        let per_byte = (large as f64 - small as f64) / bytes;
        record::Share { per_byte, per_message: small as f64 - per_byte * self.small.size as f64 }
    }
}

/// The two largest sizes that were seen to their end; `None` also where the larger one took fewer
/// instructions: the two go different ways then, and tell nothing of a byte.
fn slope(runs: &[Steps]) -> Option<Slope<'_>> {
    let mut complete: Vec<&Steps> = runs.iter().filter(|r| r.complete).collect();
    complete.sort_by_key(|r| r.size);
    let [.., small, large] = complete[..] else { return None };
    let more = large.instructions.checked_sub(small.instructions)?;
    Some(Slope { small, large, per_byte: more as f64 / (large.size - small.size) as f64 })
}

/// Instructions of an operation of this size, as the two sizes foretell; where they tell nothing of a
/// byte, as many for each as the largest that was seen took. `None` where none was seen to its end.
fn foretold(runs: &[Steps], size: usize) -> Option<u64> {
    if let Some(slope) = slope(runs) {
        let (from, base) = (slope.small.size as f64, slope.small.instructions as f64);
        return Some((base + slope.per_byte * (size as f64 - from)).max(1.0) as u64);
    }
    let largest = runs.iter().filter(|r| r.complete).max_by_key(|r| r.size)?;
    let each = largest.instructions as f64 / largest.size as f64;
    Some((each * largest.size.max(size) as f64) as u64)
}

/// The most instructions that an operation may take to be stepped, so that all that may take no more
/// than `allowance` together. A power of two, so that two builds that differ by little, in one run or
/// in two, are counted at the same sizes.
fn limit(foretold: &[u64], allowance: u64) -> u64 {
    let cost =
        |limit: u64| foretold.iter().filter(|n| **n <= limit).fold(0, |a, n| n.saturating_add(a));
    let mut limit = LEAST_LIMIT;
    while limit < MOST_STEPS && cost(2 * limit) <= allowance {
        limit *= 2;
    }
    limit.min(MOST_STEPS)
}

/// Steps after which an operation of this limit is given up: twice what is foreseen, because it is
/// looked for that large messages take more than small ones tell.
fn most_steps(limit: u64) -> u64 {
    (2 * limit).min(MOST_STEPS)
}

const MOST_STEPS: u64 = 3_000_000;

/// Short operations are always stepped: a thousand steps are a hundredth of a second.
const LEAST_LIMIT: u64 = 1024;

const FUNCTIONS: usize = 8;

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
        instruction_sets: sets_of(runs).into_iter().collect(),
        functions: slope.map(functions).unwrap_or_default(),
        excepted: excepted(subject.tier, runs),
        pmu,
    }
}

/// Instruction sets that not every CPU of the architecture has.
fn sets_of(runs: &[Steps]) -> BTreeSet<String> {
    let all = runs.iter().flat_map(|run| &run.sets).map(|seen| seen.set.clone());
    all.filter(|set| Feature::of_set(set).is_some()).collect()
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
        let same =
            |g: &&probe::step::FunctionCount| (&g.function, &g.object) == (&f.function, &f.object);
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

/// What the library executed that the tier takes away: the first of it, and how much there was.
pub(crate) fn contradiction(tier: Tier, runs: &[Steps]) -> Option<String> {
    let (size, found) = runs.iter().find_map(|run| {
        let found = worst(tier, &run.sets)?;
        Some((run.size, found))
    })?;
    let SetCount { set, count, example } = found;
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

fn worst(tier: Tier, sets: &[SetCount]) -> Option<&SetCount> {
    sets.iter().filter(|s| takes_away(tier, &s.set)).max_by_key(|s| s.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(size: usize, instructions: Option<u64>) -> Steps {
        let complete = instructions.is_some();
        Steps { size, complete, instructions: instructions.unwrap_or(9999), ..Steps::default() }
    }

    /// Steps what is asked for of code that takes so many instructions, and tells the sizes.
    fn stepped(cost: impl Fn(usize) -> u64, algorithm: &Algorithm) -> Vec<(usize, bool)> {
        let mut runs = Vec::new();
        while let Some(Next { size, most_steps }) = next(&runs, algorithm) {
            runs.push(run(size, Some(cost(size)).filter(|n| *n <= most_steps)));
        }
        runs.iter().map(|r| (r.size, r.complete)).collect()
    }

    #[test]
    fn code_is_stepped_at_sizes_that_fit_what_a_byte_costs_it() {
        let each = |per_byte: f64| move |size: usize| 400 + (per_byte * size as f64) as u64;
        let gcm = Algorithm::find("aes-128-gcm").unwrap();
        let lean = [(512, true), (2048, true), (4096, true), (16_384, true)];
        assert_eq!(stepped(each(0.1), gcm), lean);
        assert_eq!(stepped(each(1.4), gcm), lean[..2]);
        let slow = [(512, true), (2048, false), (128, true), (256, true)];
        assert_eq!(stepped(each(15.0), gcm), slow);
        let costly_message = |size: usize| 6000 + size as u64;
        assert_eq!(stepped(costly_message, gcm), lean[..2]);
        let slowest = [(512, false), (128, false), (16, true), (48, true)];
        assert_eq!(stepped(each(200.0), gcm), slowest);
        let hopeless = stepped(each(1e5), gcm);
        assert_eq!(hopeless, [(512, false), (128, false), (16, false)]);
        let chacha = Algorithm::find("chacha20-poly1305").unwrap();
        assert_eq!(stepped(each(1.4), chacha), [(1024, true), (3072, true)]);
    }

    #[test]
    fn what_nobody_looked_at_in_time_is_not_measured_at_a_tier_that_takes_instructions_away() {
        let cut = Finding::left_out(record::Stopped::Budget, "stepped");
        let kept = Kept::default();
        assert_eq!(refused(Tier::Noaes, &kept, Some(&cut)), Some(cut.clone()));
        assert_eq!(refused(Tier::Native, &kept, Some(&cut)), None);
        let cannot = Finding::unsupported("it runs in the kernel, which cannot be stepped");
        assert_eq!(refused(Tier::Noaes, &kept, Some(&cannot)), None);
    }

    #[test]
    fn sizes_that_the_algorithm_does_not_take_are_not_asked_for() {
        let mut short = *Algorithm::find("aes-128-ctr").unwrap();
        short.sizes = base::model::SizeRule::LessThan(1000);
        assert_eq!(stepped(|_| 500, &short), [(128, true), (256, true)]);
        short.sizes = base::model::SizeRule::LessThan(5);
        assert_eq!(stepped(|_| 500, &short), []);
    }

    #[test]
    fn the_slope_is_that_of_the_two_largest_sizes_seen_to_their_end() {
        let runs = [run(4096, Some(1424)), run(1024, Some(656)), run(8192, None), run(16, Some(9))];
        let slope = slope(&runs).unwrap();
        assert_eq!((slope.small.size, slope.large.size, slope.per_byte), (1024, 4096, 0.25));
        let share = slope.share(656, 1424);
        assert_eq!((share.per_byte, share.per_message), (0.25, 400.0));
        assert_eq!(super::slope(&runs[..1]), None);
        assert_eq!(super::slope(&[run(64, Some(9000)), run(128, Some(8000))]), None);
    }

    #[test]
    fn what_a_size_takes_is_foretold_by_the_slope_and_else_by_the_largest_size() {
        let runs = [run(512, Some(528)), run(2048, Some(912))];
        assert_eq!(foretold(&runs, 8192), Some(2448));
        assert_eq!(foretold(&runs, 16), Some(404));
        let one = [run(16, Some(800)), run(48, None)];
        assert_eq!((foretold(&one, 160), foretold(&one, 8)), (Some(8000), Some(800)));
        assert_eq!(foretold(&[run(16, None)], 16), None);
    }

    #[test]
    fn the_limit_is_the_largest_whose_operations_fit_the_allowance_together() {
        let foretold = [900, 1500, 1500, 3000, 40_000];
        assert_eq!(limit(&foretold, 4000), 2048);
        assert_eq!(limit(&foretold, 7500), 32_768, "what is between costs nothing more");
        assert_eq!(limit(&foretold, 50_000), MOST_STEPS);
        assert_eq!(limit(&[u64::MAX, u64::MAX], u64::MAX - 1), MOST_STEPS);
        assert_eq!(limit(&foretold, 0), LEAST_LIMIT, "short operations are always stepped");
        let slightly_more: Vec<u64> = foretold.iter().map(|n| n * 103 / 100).collect();
        assert_eq!(limit(&slightly_more, 7500), 32_768, "as for a build of 3 % more");
    }

    #[cfg(target_arch = "x86_64")]
    fn summary_run(sets: &[(&str, u64)]) -> Steps {
        let sets = sets.iter().map(|(set, count)| SetCount {
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
            let runs = [summary_run(&[(set, 3)])];
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
        let runs = [
            summary_run(&[("sse2", 50)]),
            summary_run(&[("sse2", 50), ("pclmulqdq", 2), ("aes", 40)]),
        ];
        assert_eq!(
            contradiction(Tier::Noaes, &runs).unwrap(),
            "tier: executed 40 instructions of aes in a message of 1024 bytes, which the tier noaes \
             takes away: aes at libx.so+0x10 (f)"
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_c_librarys_own_code_is_named_and_not_held_against_the_library() {
        let mut run = summary_run(&[("sse2", 50)]);
        run.sets_elsewhere = self::summary_run(&[("avx512vl", 4)]).sets;
        assert_eq!(contradiction(Tier::Aesni, std::slice::from_ref(&run)), None);
        assert_eq!(
            excepted(Tier::Aesni, &[run]).unwrap(),
            "avx512vl, avx512vl at libx.so+0x10 (f)"
        );
    }
}
