//! Stepping everything that is to be measured, in workers of its own, side by side: counts are the
//! same however busy the machine is.

use super::cache::{Cache, TooLong};
use super::counted::Counted;
use super::sizes::{Next, limit, most_steps, next};
use crate::attached::Attached;
use crate::link::{WorkerError, once_more_if_killed};
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Finding, Reply, Request, Stepping, Steps};
use crate::stop::Stop;
use model::{Algorithm, Case, Direction, KERNEL_PATH, Model, Tier};
use record::{Executed, ExecutedSize, State};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What is stepped: one algorithm of one library.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation {
    /// Index of the library.
    pub library: usize,
    /// Which CPU instructions it may see.
    pub tier: Tier,
    /// Name of the algorithm.
    pub algorithm: String,
    /// Direction.
    pub direction: Direction,
    /// What one operation is.
    pub model: Model,
}

impl Operation {
    /// What a case is one of several sizes of.
    #[must_use]
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

/// What stepping gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What was stepped.
    pub subject: Operation,
    /// What the record says of it.
    pub executed: Executed,
    /// Why it is not to be measured: it contradicts its tier, or left a wrong output.
    pub refused: Option<Finding>,
    /// Counts of the sizes that were asked for, or why there is none.
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

/// Subjects that one worker steps: few enough that all CPUs have work to the end.
const BATCH: usize = 8;

/// Longest that a step takes, with the machine's other CPUs busy: ten times what is usual.
const STEP: Duration = Duration::from_micros(200);
/// Opening the algorithm, making the messages and decoding, on top.
const DEADLINE: Duration = Duration::from_secs(30);

/// Steps all subjects at the sizes that a byte's cost comes from, then those sizes that are `wanted`,
/// as long as they are worth it. `done` is called after each subject, with how many of how many.
pub fn gather(
    libraries: &[Attached],
    subjects: &[Operation],
    wanted: Wanted<'_>,
    stop: &Stop,
    done: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Evidence> {
    let mut sorted = subjects.to_vec();
    sorted.sort();
    sorted.dedup();
    let cache = Cache::open();
    let bench = Bench { libraries, cache: &cache, stop, done };
    let mut counted: Vec<Counted> = sorted.into_iter().map(Counted::new).collect();
    for one in &mut counted {
        one.sizes = (wanted.of)(&one.subject);
        one.unforeseen_too = wanted.allowance.is_none();
        one.sizes.sort_unstable();
        one.sizes.dedup();
    }
    bench.each(counted.iter_mut().collect(), |gathering, one| gathering.slope(one));
    let foretold: Vec<u64> = counted.iter().flat_map(Counted::foretold).collect();
    let limit = limit(&foretold, wanted.allowance.unwrap_or(u64::MAX));
    let (more, whole): (Vec<_>, Vec<_>) =
        counted.iter_mut().partition(|one| !one.lacking(limit).is_empty());
    drop(whole);
    bench.each(more, |gathering, one| gathering.sizes(one, limit));
    counted.into_iter().map(|one| one.evidence(libraries, limit)).collect()
}

/// What is shared by all workers that step.
struct Bench<'a> {
    libraries: &'a [Attached],
    cache: &'a Cache,
    stop: &'a Stop,
    done: &'a (dyn Fn(usize, usize) + Sync),
}

impl Bench<'_> {
    /// Has workers go through the subjects, a few in one worker, on all CPUs.
    fn each(
        &self,
        mut subjects: Vec<&mut Counted>,
        step: impl Fn(&mut Gathering<'_>, &mut Counted) + Sync,
    ) {
        let (count, of) = (AtomicUsize::new(0), subjects.len());
        let of_one_worker = |a: &&mut Counted, b: &&mut Counted| {
            (a.subject.library, a.subject.tier) == (b.subject.library, b.subject.tier)
        };
        let batches = subjects.chunk_by_mut(of_one_worker).flat_map(|c| c.chunks_mut(BATCH));
        let queue: Mutex<VecDeque<&mut [&mut Counted]>> = Mutex::new(batches.collect());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let take = || queue.lock().expect("no thread panics holding it").pop_front();
            while let Some(batch) = take() {
                let mut gathering = Gathering { bench: self, worker: None };
                for one in batch {
                    step(&mut gathering, one);
                    (self.done)(count.fetch_add(1, Ordering::Relaxed) + 1, of);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
    }
}

/// One worker's share.
struct Gathering<'a> {
    bench: &'a Bench<'a>,
    worker: Option<Worker>,
}

impl Gathering<'_> {
    /// The sizes that a byte's cost comes from, as far as they are not kept from an earlier run.
    fn slope(&mut self, one: &mut Counted) {
        let cache = self.bench.cache;
        one.key = cache.key(&self.bench.libraries[one.subject.library], &one.subject);
        one.kept = one.key.as_ref().and_then(|k| cache.load(k)).unwrap_or_default();
        let before = one.kept.clone();
        one.why = self.steps(&one.subject, &mut one.kept.runs);
        one.store(cache, &before);
    }

    /// Adds what the sizes of choice give; what came in the way.
    fn steps(&mut self, subject: &Operation, runs: &mut Vec<Steps>) -> Option<Finding> {
        let library = &self.bench.libraries[subject.library];
        if library.facts.path == KERNEL_PATH {
            return Some(Finding::unsupported("it runs in the kernel, which cannot be stepped"));
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

    /// The sizes that were asked for and are not known.
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
        one.store(self.bench.cache, &before);
    }

    fn ask(&mut self, subject: &Operation, size: usize, most_steps: u64) -> Result<Steps, Finding> {
        if let Some(why) = self.bench.stop.why() {
            return Err(Finding::left_out(why, "stepped"));
        }
        let failed = |e: WorkerError| Finding::failed(e.to_string());
        match once_more_if_killed(|| self.step(subject, size, most_steps)).map_err(failed)? {
            // Another size would be asked for again, without end.
            Reply::Stepped(steps) if steps.size == size => Ok(steps),
            Reply::Finding(finding) => Err(finding),
            other => Err(failed(out_of_protocol(&other))),
        }
    }

    fn step(
        &mut self,
        subject: &Operation,
        size: usize,
        most_steps: u64,
    ) -> Result<Reply, WorkerError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let library = &self.bench.libraries[subject.library];
                Worker::start(library.hello(subject.tier, None, 0, 0))?
            }
        };
        worker.send(&Request::Step(Stepping {
            algorithm: subject.algorithm.clone(),
            direction: subject.direction,
            model: subject.model,
            size,
            most_steps,
        }));
        let deadline = DEADLINE + STEP * u32::try_from(most_steps).unwrap_or(u32::MAX);
        // A worker that gave no answer is dead; the next question starts another.
        let reply = worker.reply_unless(self.bench.stop, deadline)?;
        self.worker = Some(worker);
        Ok(reply)
    }
}
