//! Stepping everything that is to be measured, in workers of its own, side by side: counts are the
//! same however busy the machine is.

use super::cache::{Cache, Kept};
use super::sizes::{Next, next};
use super::{summary, tier};
use crate::discover::Attached;
use crate::link::{WorkerError, once_more_if_killed};
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Finding, Reply, Request, Stepping, Steps};
use model::{Algorithm, Case, Direction, KERNEL_PATH, Model, Tier};
use record::{Executed, ExecutedSize, LibraryId, State};
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
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

/// Subjects that one worker steps: few enough that all CPUs have work to the end.
const BATCH: usize = 8;

/// Longest that a step takes, with the machine's other CPUs busy: ten times what is usual.
const STEP: Duration = Duration::from_micros(200);
/// Opening the algorithm, making the messages and decoding, on top.
const DEADLINE: Duration = Duration::from_secs(30);

/// Steps for sizes that are asked for by name: a minute at most.
const MOST_STEPS_EXACT: u64 = 3_000_000;

/// Steps all subjects; with `exact`, also an operation of each of these sizes. `done` is called
/// after each subject.
pub fn gather(
    libraries: &[Attached],
    subjects: &[Operation],
    exact: &[usize],
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Vec<Evidence> {
    let mut sorted = subjects.to_vec();
    sorted.sort();
    sorted.dedup();
    let of_one_worker = |a: &Operation, b: &Operation| (a.library, a.tier) == (b.library, b.tier);
    let batches = sorted.chunk_by(of_one_worker).flat_map(|c| c.chunks(BATCH));
    let queue: Mutex<VecDeque<&[Operation]>> = Mutex::new(batches.collect());
    let found = Mutex::new(Vec::new());
    let cache = Cache::open();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let take = || queue.lock().expect("no thread panics holding it").pop_front();
                while let Some(batch) = take() {
                    let mut stepping = Gathering { libraries, cache: &cache, worker: None, stop };
                    for subject in batch {
                        let evidence = stepping.one(subject, exact);
                        found.lock().expect("no thread panics holding it").push(evidence);
                        done();
                    }
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no thread panics holding it");
    found.sort_by(|a, b| a.subject.cmp(&b.subject));
    found
}

/// One worker's share.
struct Gathering<'a> {
    libraries: &'a [Attached],
    cache: &'a Cache,
    worker: Option<Worker>,
    stop: &'a AtomicBool,
}

impl Gathering<'_> {
    fn one(&mut self, subject: &Operation, exact: &[usize]) -> Evidence {
        let library = &self.libraries[subject.library];
        let key = self.cache.key(library, subject);
        let mut kept = key.as_ref().and_then(|k| self.cache.load(k)).unwrap_or_default();
        let had = (kept.runs.len(), kept.exact.len());
        let why = self.steps(subject, &mut kept.runs);
        let exact = exact.iter().map(|size| (*size, self.exact(subject, *size, &mut kept)));
        let exact = exact.collect();
        if let Some(key) = key.filter(|_| (kept.runs.len(), kept.exact.len()) != had) {
            self.cache.store(&key, &kept);
        }
        Evidence {
            refused: refused(subject.tier, &kept, why.as_ref()),
            executed: summary::executed(id(library), subject, &kept.runs, why.map(|f| f.why)),
            subject: subject.clone(),
            exact,
        }
    }

    /// Adds what the sizes of choice give; what came in the way.
    fn steps(&mut self, subject: &Operation, runs: &mut Vec<Steps>) -> Option<Finding> {
        let library = &self.libraries[subject.library];
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

    fn exact(&mut self, subject: &Operation, size: usize, kept: &mut Kept) -> Exact {
        let of = |run: &Steps| ExecutedSize { size, instructions: run.instructions };
        let mut all = kept.runs.iter().chain(&kept.exact);
        if let Some(run) = all.find(|r| r.size == size && r.complete) {
            return Ok(of(run));
        }
        let run = self.ask(subject, size, MOST_STEPS_EXACT).map_err(|f| f.why)?;
        if !run.complete {
            return Err(format!("more than {MOST_STEPS_EXACT} instructions"));
        }
        let told = of(&run);
        kept.exact.push(run);
        Ok(told)
    }

    fn ask(&mut self, subject: &Operation, size: usize, most_steps: u64) -> Result<Steps, Finding> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Finding::failed("interrupted before it was stepped"));
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
                let library = &self.libraries[subject.library];
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
        let reply = worker.reply_unless(self.stop, deadline)?;
        self.worker = Some(worker);
        Ok(reply)
    }
}

fn refused(tier: Tier, kept: &Kept, why: Option<&Finding>) -> Option<Finding> {
    let contradiction = |runs: &[Steps]| tier::contradiction(tier, runs).map(Finding::refused);
    let contradicted = contradiction(&kept.runs).or_else(|| contradiction(&kept.exact));
    contradicted.or_else(|| why.filter(|f| f.state == State::Refused).cloned())
}

fn id(library: &Attached) -> LibraryId {
    let facts = &library.facts;
    LibraryId {
        name: facts.name.clone(),
        version: facts.version.clone(),
        path: facts.path.clone(),
        id: facts.id.clone(),
    }
}
