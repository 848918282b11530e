//! What libraries are held to and asked before anything is timed. What is right: every check over every
//! library and algorithm of a plan, and files of published vectors. And what libraries allocate, copy and
//! lose for each message, counted in workers with the meter preloaded: for `explain`, and for a run after its
//! checks. It is no fault, and is to be told beside the numbers.

use crate::libraries::Attached;
use crate::plan::Planned;
use crate::pool::{Cache, Key};
use crate::process::{Worker, WorkerError, once_more_if_killed, out_of_protocol};
use crate::progress::unforeseen;
use crate::protocol::{Costs, Finding, Metering, Offer, Reply, Request};
use crate::time::{Stop, spent};
use base::model::{Algorithm, Direction, Tier};
use rand::RngExt as _;
use record::{Check, PlannedCase, State};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use verify::Tried;
use verify::vectors::Vector;

/// One check over one algorithm: all sizes of the largest take some milliseconds in fast
/// libraries and a second in the slowest known.
const CHECK_DEADLINE: Duration = Duration::from_secs(30);

/// All checks over one algorithm: a library that announces one after the other ends too.
const ALGORITHM_DEADLINE: Duration = Duration::from_secs(240);

/// Checks that a library may hang in before the rest of its algorithms is given up: each hang costs
/// the whole deadline.
const MOST_HANGS: usize = 2;

/// Checks in which a memory fault is the very thing looked for.
const MEMORY_CHECKS: &[&str] = &["guard-pages", "bounds"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub library: usize,
    pub tier: Tier,
    pub algorithm: &'static str,
    /// The checks that passed, or what was found.
    pub outcome: Result<Vec<Check>, Finding>,
    /// What is no fault and a reader must know all the same, each in one line.
    pub remarks: Vec<String>,
    /// What was tried beside the fixed inputs; none where something was found.
    pub tried: Option<Tried>,
    /// When an earlier run came to this; none where this one did.
    pub earlier: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Passed {
    checks: Vec<Check>,
    digest: String,
    remarks: Vec<String>,
    tried: Tried,
    /// When, if that was in an earlier run.
    earlier: Option<String>,
}

/// Raised when what is kept of verifying, or of counting what messages cost, changes its meaning.
const VERSION: u32 = 2;

/// The share of algorithms that are verified though an earlier run did: drawn, so that inputs still vary.
const AGAIN: f64 = 0.1;

pub type Subject = (usize, Tier, &'static Algorithm);

/// What is checked beside the fixed inputs.
#[derive(Clone, Copy, Debug)]
pub struct Extra<'a> {
    /// Sizes, messages and the order of calls are drawn from it.
    pub seed: u64,
    /// Sizes in bytes to check, those that are measured among them.
    pub sizes: &'a [usize],
    /// Of which algorithm which of them is measured; where there is none, every size of each.
    pub cases: &'a [PlannedCase],
    /// Whether it is before a run: then what passed before an earlier one counts, and the largest messages are
    /// checked where they are timed.
    pub before_a_run: bool,
}

impl Extra<'_> {
    fn sizes_of(&self, algorithm: &Algorithm) -> Vec<usize> {
        let all = self.sizes.iter().copied();
        let is_measured = |size| {
            let mut of_it = self.cases.iter().filter(|case| case.algorithm == algorithm.name);
            self.cases.is_empty() || of_it.any(|case| case.size == size)
        };
        let is_left = |size| self.before_a_run && algorithm.is_large(size);
        all.filter(|size| is_measured(*size) && !is_left(*size)).collect()
    }

    /// How long all checks over one algorithm may take: beside the usual time that of the sizes, at half a
    /// megabyte a second.
    fn deadline(&self) -> Duration {
        let bytes: usize = self.sizes.iter().sum();
        ALGORITHM_DEADLINE + Duration::from_micros(2 * bytes as u64)
    }

    /// The same of one check, which makes up to three calls with one message before it says that it is at work.
    fn check_deadline(&self) -> Duration {
        let largest = self.sizes.iter().max().copied().unwrap_or(0);
        CHECK_DEADLINE + Duration::from_micros(6 * largest as u64)
    }

    /// How many workers have memory for their messages side by side.
    fn side_by_side(&self, subjects: &[Subject]) -> usize {
        let needed = subjects.iter().flat_map(|(.., algorithm)| {
            self.sizes_of(algorithm).into_iter().map(|size| algorithm.memory_bytes(size))
        });
        let needed = needed.max().unwrap_or(0).max(1);
        usize::try_from(host::room_bytes() / needed).unwrap_or(usize::MAX).max(1)
    }
}

/// Runs every check over all subjects, libraries and tiers side by side, each in a worker of
/// its own. `done` is called after each subject; `stop` ends it early, and what was not verified then
/// has failed.
pub fn verify_all(
    libraries: &[Attached],
    subjects: &[Subject],
    extra: Extra<'_>,
    stop: &Stop,
    done: &(dyn Fn() + Sync),
) -> Vec<Verdict> {
    let pools: BTreeSet<(usize, Tier)> = subjects.iter().map(|(l, t, _)| (*l, *t)).collect();
    let count = pools.len();
    let queue = Mutex::new(pools.into_iter());
    let found = Mutex::new(Vec::new());
    let cache = open_cache();
    let cache = &cache;
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(count).min(extra.side_by_side(subjects)) {
            scope.spawn(|| {
                while let Some((library, tier)) = next(&queue) {
                    let own = subjects.iter().filter(|(l, t, _)| (*l, *t) == (library, tier));
                    let own = own.map(|(_, _, algorithm)| algorithm.name);
                    let verify =
                        Verifying { library: &libraries[library], tier, extra, cache, stop };
                    let results = verify.all(own, done);
                    let results = results.into_iter().map(|(a, found)| (library, tier, a, found));
                    found.lock().expect("no thread panics holding it").extend(results);
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no thread panics holding it");
    found.sort_by_key(|(library, tier, algorithm, _)| (*library, *algorithm, *tier));
    compare_libraries(found)
}

fn next<T>(queue: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    queue.lock().expect("no thread panics holding it").next()
}

type Found = (usize, Tier, &'static str, Result<Passed, Finding>);

/// One library at one tier.
struct Verifying<'a> {
    library: &'a Attached,
    tier: Tier,
    extra: Extra<'a>,
    cache: &'a Cache,
    stop: &'a Stop,
}

fn open_cache() -> Cache {
    Cache::open("verified")
}

/// What is kept of a library's algorithm; none where nothing says which code runs.
fn key(cache: &Cache, library: &Attached, tier: Tier, subject: &[String]) -> Option<Key> {
    let elsewhere = base::model::runs_elsewhere(Path::new(&library.facts.path));
    if elsewhere { None } else { cache.key(VERSION, library, tier, subject) }
}

/// What is kept under it is that something was found, at whatever sizes and tier.
fn found_key(cache: &Cache, library: &Attached, algorithm: &str) -> Option<Key> {
    key(cache, library, Tier::Native, &[algorithm.to_owned(), "found".to_owned()])
}

/// Whether something was found in an algorithm before, in whichever command.
pub(crate) fn was_found(library: &Attached, algorithm: &str) -> bool {
    let cache = open_cache();
    found_key(&cache, library, algorithm).is_some_and(|key| cache.load::<bool>(&key).is_some())
}

/// Keeps it until one of the library's files changes, or that which counted.
fn store<T: Serialize>(
    cache: &Cache,
    key: &Key,
    kept: &T,
    library: &Attached,
    meter: Option<&Path>,
) {
    let files = library.facts.objects.iter().flatten();
    let files = files.map(|file| PathBuf::from(&file.path));
    let at_tiers = library.tiers.iter().flat_map(|at| at.objects.iter().cloned());
    let files: Vec<PathBuf> = files.chain(at_tiers).chain(meter.map(Path::to_owned)).collect();
    cache.store(key, kept, files.iter());
}

impl Verifying<'_> {
    fn all(
        &self,
        algorithms: impl Iterator<Item = &'static str>,
        done: &dyn Fn(),
    ) -> Vec<(&'static str, Result<Passed, Finding>)> {
        let mut worker = None;
        let mut hangs = 0;
        let mut results = Vec::new();
        let mut rng = unforeseen();
        for algorithm in algorithms {
            let key = if self.extra.before_a_run { self.key(algorithm) } else { None };
            let earlier = key.as_ref().filter(|_| rng.random_range(0.0..1.0) >= AGAIN);
            let earlier = earlier.and_then(|key| self.earlier(key, algorithm));
            let outcome = if let Some(passed) = earlier {
                Ok(passed)
            } else if hangs < MOST_HANGS {
                let outcome = self.one(&mut worker, &mut hangs, algorithm);
                self.keep(key.as_ref(), algorithm, &outcome);
                outcome
            } else {
                Err(Finding::failed(format!(
                    "not checked: the library hung in {MOST_HANGS} checks before"
                )))
            };
            results.push((algorithm, outcome));
            done();
        }
        results
    }

    fn key(&self, algorithm: &str) -> Option<Key> {
        let subject = [algorithm.to_owned(), format!("{:?} bytes", self.sizes_of(algorithm))];
        key(self.cache, self.library, self.tier, &subject)
    }

    fn sizes_of(&self, algorithm: &str) -> Vec<usize> {
        Algorithm::find(algorithm).map_or(Vec::new(), |a| self.extra.sizes_of(a))
    }

    fn earlier(&self, key: &Key, algorithm: &str) -> Option<Passed> {
        let found = found_key(self.cache, self.library, algorithm)?;
        if self.cache.load::<bool>(&found).is_some() { None } else { self.cache.load(key) }
    }

    /// A pass is kept. After a finding, in whichever command, every run verifies anew.
    fn keep(&self, key: Option<&Key>, algorithm: &str, outcome: &Result<Passed, Finding>) {
        match (outcome, key) {
            (Ok(passed), Some(key)) => {
                let earlier = Some(jiff::Timestamp::now().to_string());
                store(self.cache, key, &Passed { earlier, ..passed.clone() }, self.library, None);
            }
            (Err(f), _) if f.stopped.is_none() && f.state != State::Unsupported => {
                if let Some(key) = found_key(self.cache, self.library, algorithm) {
                    store(self.cache, &key, &true, self.library, None);
                }
            }
            _ => {}
        }
    }

    fn one(
        &self,
        slot: &mut Option<Worker>,
        hangs: &mut usize,
        algorithm: &str,
    ) -> Result<Passed, Finding> {
        let left_out = |why| Finding::left_out(why, "verified");
        if let Some(why) = self.stop.why() {
            return Err(left_out(why));
        }
        let elsewhere = base::model::runs_elsewhere(Path::new(&self.library.facts.path));
        let mut check = String::new();
        let asked = once_more_if_killed(|| self.ask(slot, algorithm, &mut check));
        asked.unwrap_or_else(|error| {
            *hangs += usize::from(matches!(error, WorkerError::Hung { .. }));
            if let (WorkerError::Interrupted, Some(why)) = (&error, self.stop.why()) {
                return Err(left_out(why));
            }
            Err(match check.as_str() {
                "" => Finding::failed(error.to_string()),
                // What runs elsewhere reads no memory of ours.
                _ if elsewhere => Finding::failed(format!("in check {check}: {error}")),
                check => death_in_check(check, &error),
            })
        })
    }

    /// Has a worker run every check; `check` is the one that it is at, empty before the first.
    fn ask(
        &self,
        slot: &mut Option<Worker>,
        algorithm: &str,
        check: &mut String,
    ) -> Result<Result<Passed, Finding>, WorkerError> {
        check.clear();
        let mut worker = match slot.take() {
            Some(worker) => worker,
            None => Worker::start(self.library.hello(self.tier, None, 0, 0))?,
        };
        let (sizes, seed) = (self.sizes_of(algorithm), self.extra.seed);
        worker.send(&Request::Verify { algorithm: algorithm.to_owned(), seed, sizes });
        "opening".clone_into(check);
        let printed = worker.printed();
        let (begun, mut away) = (Instant::now(), Duration::ZERO);
        let verdict = loop {
            let waited = spent(begun.elapsed().saturating_sub(away));
            let left = self.extra.deadline().saturating_sub(waited);
            let reply = worker.reply_unless(self.stop, self.extra.check_deadline().min(left))?;
            away += worker.take_away();
            match reply {
                Reply::Checking { check: next } => *check = next,
                Reply::Verified { checks, digest, mut remarks, tried } => {
                    remarks.extend(prints(&worker, printed));
                    break Ok(Passed { checks, digest, remarks, tried, earlier: None });
                }
                Reply::Finding(finding) => break Err(finding),
                other => return Ok(Err(Finding::failed(out_of_protocol(&other).to_string()))),
            }
        };
        // A library with a fault may have left its process in any state: the next algorithm gets
        // another one.
        let sound = verdict.as_ref().map_or_else(|f| f.state == State::Unsupported, |_| true);
        *slot = sound.then_some(worker);
        Ok(verdict)
    }
}

/// Whether the library has printed anything since.
fn prints(worker: &Worker, since: u64) -> Option<String> {
    let bytes = worker.printed().saturating_sub(since);
    let words = worker.first_words(since).unwrap_or_default();
    (bytes > 0).then(|| {
        format!("prints while it works: {bytes} bytes on standard output or error in the checks ('{words}')")
    })
}

fn death_in_check(check: &str, error: &WorkerError) -> Finding {
    if MEMORY_CHECKS.contains(&check) && matches!(error, WorkerError::Died(_)) {
        Finding::refused(format!("{check}: reads or writes outside its buffers ({error})"))
    } else {
        Finding::failed(format!("in check {check}: {error}"))
    }
}

/// Holds the digests of each algorithm over all libraries against each other: the libraries that
/// are outvoted are refused.
fn compare_libraries(found: Vec<Found>) -> Vec<Verdict> {
    // A library has one vote, at however many tiers it agrees.
    let mut votes: HashMap<(&str, String), BTreeSet<usize>> = HashMap::new();
    for (library, _, algorithm, outcome) in &found {
        if let Ok(passed) = outcome {
            votes.entry((algorithm, passed.digest.clone())).or_default().insert(*library);
        }
    }
    let judge = |algorithm: &'static str, mut passed: Passed| -> Result<Passed, Finding> {
        let own = votes[&(algorithm, passed.digest.clone())].len() as u64;
        let most =
            votes.iter().filter(|((a, _), _)| *a == algorithm).map(|(_, v)| v.len() as u64).max();
        // Nobody but its adapters says what a brought algorithm computes: where two differ, neither is believed.
        let others =
            votes.iter().filter(|((a, digest), _)| *a == algorithm && *digest != passed.digest);
        if others.count() > 0 && Algorithm::find(algorithm).is_ok_and(Algorithm::is_brought) {
            return Err(Finding::refused(
                "cross-library: another library that brings it has other outputs for the same inputs",
            ));
        }
        if most > Some(own) {
            return Err(Finding::refused(format!(
                "cross-library: {} libraries agree on other outputs for the same inputs",
                most.unwrap_or(0)
            )));
        }
        if own > 1 {
            passed.checks.push(Check { name: "cross-library".to_owned(), count: own - 1 });
        }
        Ok(passed)
    };
    found
        .into_iter()
        .map(|(library, tier, algorithm, outcome)| {
            let (outcome, remarks, tried, earlier) =
                match outcome.and_then(|passed| judge(algorithm, passed)) {
                    Ok(Passed { checks, remarks, tried, earlier, .. }) => {
                        (Ok(checks), remarks, Some(tried), earlier)
                    }
                    Err(finding) => (Err(finding), Vec::new(), None, None),
                };
            Verdict { library, tier, algorithm, outcome, remarks, tried, earlier }
        })
        .collect()
}

/// One small message.
const VECTOR_DEADLINE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub passed: usize,
    pub rejected: usize,
    pub not_offered: usize,
    /// Number of each other one, its algorithm, and what the library did.
    pub wrong: Vec<(u64, &'static str, String)>,
}

pub fn hold_to_vectors(
    library: &Attached,
    vectors: &[(&'static Algorithm, Vector)],
    done: &dyn Fn(),
) -> Outcomes {
    let mut worker = None;
    let mut outcomes = Outcomes::default();
    for (algorithm, vector) in vectors {
        let offers =
            library.offers.iter().any(|o| o.algorithm == algorithm.name && !o.models.is_empty());
        if !offers {
            outcomes.not_offered += 1;
        } else {
            match ask_vector(&mut worker, library, algorithm, vector) {
                Ok(true) => outcomes.rejected += 1,
                Ok(false) => outcomes.passed += 1,
                Err(why) => outcomes.wrong.push((vector.id, algorithm.name, why)),
            }
        }
        done();
    }
    outcomes
}

/// Whether the vector was rightly rejected; false: rightly computed.
fn ask_vector(
    slot: &mut Option<Worker>,
    library: &Attached,
    algorithm: &Algorithm,
    vector: &Vector,
) -> Result<bool, String> {
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => {
            Worker::start(library.hello(Tier::Native, None, 0, 0)).map_err(|e| e.to_string())?
        }
    };
    worker.send(&Request::Vector { algorithm: algorithm.name.to_owned(), vector: vector.clone() });
    let reply = worker.reply(VECTOR_DEADLINE).map_err(|e| e.to_string())?;
    *slot = Some(worker);
    match reply {
        Reply::Judged { rejected, wrong: None } => Ok(rejected),
        Reply::Judged { wrong: Some(why), .. } => Err(why),
        other => Err(out_of_protocol(&other).to_string()),
    }
}

const METERED_SIZE: usize = 1024;

/// Algorithms that cannot be counted before the rest of a library is left alone: each may cost a deadline.
const MOST_FAILURES: usize = 2;

type Counted = (String, Direction);

/// What is to be told, by library, algorithm and direction.
pub(crate) type Memory = BTreeMap<(usize, Counted), Vec<String>>;

pub(crate) fn memory(planned: &[Planned], libraries: &[Attached], stop: &Stop) -> Memory {
    let Some(meter) = host::companion(METER) else { return Memory::new() };
    let mut subjects: BTreeMap<usize, BTreeSet<Counted>> = BTreeMap::new();
    for case in planned.iter().filter(|p| p.verdict.is_none()).map(|p| &p.case) {
        let of_library = subjects.entry(case.library).or_default();
        of_library.insert((case.algorithm.clone(), case.direction));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(subjects.len());
    let (queue, found) = (Mutex::new(subjects.into_iter()), Mutex::new(Memory::new()));
    let cache = open_cache();
    let next = || queue.lock().expect("no thread panics holding it").next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, subjects)) = next() {
                    let of_library = of_library(&libraries[index], subjects, &meter, &cache, stop);
                    let keyed =
                        of_library.into_iter().map(|(key, remarks)| ((index, key), remarks));
                    found.lock().expect("no thread panics holding it").extend(keyed);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics holding it")
}

fn of_library(
    library: &Attached,
    subjects: BTreeSet<Counted>,
    meter: &Path,
    cache: &Cache,
    stop: &Stop,
) -> Vec<(Counted, Vec<String>)> {
    let (mut worker, mut failures, mut told) = (None, 0, Vec::new());
    for (algorithm, direction) in subjects {
        if failures == MOST_FAILURES || stop.is_over() {
            break;
        }
        let own =
            |o: &&crate::protocol::Offer| (&o.algorithm, o.direction) == (&algorithm, direction);
        let Some(offer) = library.offers.iter().find(own) else { continue };
        let subject = ["memory", &algorithm, &direction.to_string(), &METERED_SIZE.to_string()];
        let key = key(cache, library, Tier::Native, &subject.map(ToOwned::to_owned));
        if let Some(remarks) = key.as_ref().and_then(|key| cache.load(key)) {
            told.push(((algorithm, direction), remarks));
            continue;
        }
        match ask_costs(&mut worker, library, offer, &[METERED_SIZE], meter) {
            Ok(costs) => {
                let remarks: Vec<String> = costs.iter().flat_map(|c| words(c, direction)).collect();
                if let Some(key) = key {
                    store(cache, &key, &remarks, library, Some(meter));
                }
                told.push(((algorithm, direction), remarks));
            }
            Err(finding) => failures += usize::from(finding.state == record::State::Failed),
        }
    }
    told
}

fn words(costs: &Costs, direction: Direction) -> Vec<String> {
    let mut words = Vec::new();
    let Costs { size, allocations, allocated_bytes, lost, lost_bytes, .. } = costs;
    if *allocations >= 0.5 {
        words.push(format!(
            "allocates memory for each message: {} times, {allocated_bytes:.0} bytes ({direction} of {size} bytes)",
            (allocations * 10.0).round() / 10.0
        ));
    }
    if *allocations == 0.0 && *allocated_bytes >= 1.0 {
        words.push(format!(
            "allocates {allocated_bytes:.0} bytes for each message, and {:.1} % of the time goes to collecting garbage ({direction} of {size} bytes)",
            100.0 * costs.collecting
        ));
    }
    // A pool that grows now and then loses less than one piece for each message.
    if *lost > 0.99 {
        words.push(format!(
            "loses memory with each message: {lost_bytes:.0} bytes are never given back ({direction} of {size} bytes)"
        ));
    }
    words
}

/// File name of the object that counts.
pub const METER: &str = "libciphermarkmeter.so";

/// A few dozen messages, with copies byte for byte.
const METER_DEADLINE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    pub library: usize,
    /// What it offers, with the functions that run inside the clock.
    pub offer: Offer,
    /// What one message of each size costs, or why that is not known.
    pub costs: Result<Vec<Costs>, Finding>,
}

pub fn explain(
    libraries: &[Attached],
    wanted: &dyn Fn(&Offer) -> bool,
    sizes: &[usize],
    done: &dyn Fn(),
) -> Vec<Explained> {
    let meter = host::companion(METER);
    let mut explained = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        let mut worker = None;
        let offered = library.offers.iter().filter(|o| !o.models.is_empty() && wanted(o));
        for offer in offered {
            let costs = match &meter {
                Some(meter) => ask_costs(&mut worker, library, offer, sizes, meter),
                None => Err(Finding::failed(format!(
                    "{METER} is neither beside the program nor in ../lib/ciphermark"
                ))),
            };
            explained.push(Explained { library: index, offer: offer.clone(), costs });
            done();
        }
    }
    explained
}

pub(crate) fn ask_costs(
    slot: &mut Option<Worker>,
    library: &Attached,
    offer: &Offer,
    sizes: &[usize],
    meter: &Path,
) -> Result<Vec<Costs>, Finding> {
    let failed = |e: crate::WorkerError| Finding::failed(e.to_string());
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start_preloaded(library.hello(Tier::Native, None, 0, 0), meter)
            .map_err(failed)?,
    };
    worker.send(&Request::Meter(Metering {
        algorithm: offer.algorithm.clone(),
        direction: offer.direction,
        sizes: sizes.to_vec(),
    }));
    let reply = worker.reply(METER_DEADLINE).map_err(failed)?;
    *slot = Some(worker);
    match reply {
        Reply::Metered { costs } => Ok(costs),
        Reply::Finding(finding) => Err(finding),
        other => Err(failed(out_of_protocol(&other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(digest: &str) -> Result<Passed, Finding> {
        let (checks, remarks) = (Vec::new(), Vec::new());
        Ok(Passed {
            checks,
            digest: digest.into(),
            remarks,
            tried: Tried::default(),
            earlier: None,
        })
    }

    #[test]
    fn a_library_that_is_outvoted_is_refused() {
        let verdicts = compare_libraries(vec![
            (0, Tier::Native, "aes-128-ctr", passed("a")),
            (1, Tier::Native, "aes-128-ctr", passed("a")),
            (2, Tier::Native, "aes-128-ctr", passed("b")),
        ]);
        let check = Check { name: "cross-library".into(), count: 1 };
        assert_eq!(verdicts[0].outcome, Ok(vec![check]));
        assert_eq!(verdicts[2].outcome.as_ref().unwrap_err().state, record::State::Refused);
    }

    #[test]
    fn before_a_run_the_largest_messages_are_left_to_the_timed_loop() {
        let sizes = [16, 16 << 20, 64 << 20];
        let of = |before_a_run, name: &str| {
            let extra = Extra { seed: 1, sizes: &sizes, cases: &[], before_a_run };
            extra.sizes_of(Algorithm::find(name).unwrap())
        };
        assert_eq!(of(true, "aes-128-ctr"), sizes[..2]);
        assert_eq!(of(true, "argon2id-t3"), sizes, "a cost is no message");
        assert_eq!(of(false, "aes-128-ctr"), sizes, "whoever asks for it has it");
    }

    #[test]
    fn a_library_at_two_tiers_has_one_vote() {
        let verdicts = compare_libraries(vec![
            (0, Tier::Native, "aes-128-ctr", passed("a")),
            (0, Tier::Noaes, "aes-128-ctr", passed("a")),
            (1, Tier::Native, "aes-128-ctr", passed("b")),
        ]);
        assert!(verdicts.iter().all(|v| v.outcome == Ok(Vec::new())), "{verdicts:?}");
    }

    #[test]
    fn a_fault_at_a_guard_page_refuses_and_elsewhere_fails() {
        let died = WorkerError::Died("crashed: SIGSEGV".into());
        assert_eq!(death_in_check("guard-pages", &died).state, record::State::Refused);
        assert_eq!(death_in_check("round-trip", &died).state, record::State::Failed);
        let hung = WorkerError::Hung { deadline: CHECK_DEADLINE, words: None };
        assert_eq!(death_in_check("guard-pages", &hung).state, record::State::Failed);
    }

    #[test]
    fn what_is_given_back_is_not_lost_and_what_is_kept_for_good_is_none_either() {
        let costs = |allocations, lost| Costs {
            size: 1024,
            allocations,
            allocated_bytes: 64.0,
            copied_bytes: 0.0,
            lost,
            lost_bytes: 64.0 * lost,
            collecting: 0.0,
        };
        assert!(words(&costs(0.1, 0.1), Direction::Encrypt).is_empty());
        assert_eq!(words(&costs(2.0, 0.0), Direction::Encrypt).len(), 1);
        let lost = words(&costs(1.0, 1.0), Direction::Decrypt);
        assert!(
            lost[1].contains("64 bytes are never given back (decrypt of 1024 bytes)"),
            "{lost:?}"
        );
    }
}
