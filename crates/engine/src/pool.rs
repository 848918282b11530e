//! Workers for many questions: the process of one library that is sampled, one after another; and workers
//! that answer side by side on all CPUs, for what is the same however busy the machine is.
//!
//! The worker process of one library at one tier, or of one TLS stack, one after another.

use crate::libraries::{Attached, StackFile};
use crate::process::{Worker, WorkerError, once_more_if_killed};
use crate::protocol::{Finding, Hello, PageFiles, Reply, Request};
use crate::time::Stop;
use base::model::{KERNEL_PATH, QuietRates, Tier};
use record::tls::StackHello;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often a process that the system does not start is tried again, and after what pause: short of
/// memory or processes it may have some a moment later, and without a worker no case goes on.
const MORE_TRIES: usize = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// What every worker of a run is started with.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// CPUs to measure on, side by side; workers start on the first.
    pub(crate) cpus: Vec<u32>,
    /// Seed of the run.
    pub(crate) seed: u64,
    /// Ticks in a nanosecond.
    pub(crate) ticks_per_ns: Option<f64>,
    /// The throughput probe's quiet rates, as far as they are known before the first sample.
    pub(crate) quiet: QuietRates,
}

/// What workers load.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Library(&'a Attached, Tier),
    /// With files of staged pages.
    Pages(&'a Attached, Tier, PageFiles),
    Stack(&'a StackFile),
}

/// The process that is sampled now. Each has a memory layout of its own.
#[derive(Debug)]
pub(crate) struct WorkerPool<'a> {
    source: Source<'a>,
    start: Start,
    worker: Option<Worker>,
    /// Number of the next process.
    next: u32,
}

impl<'a> WorkerPool<'a> {
    /// No process is started yet; the first will have the number `next`.
    pub(crate) fn new(source: Source<'a>, start: Start, next: u32) -> Self {
        Self { source, start, worker: None, next }
    }

    /// The worker, started if there is none.
    pub(crate) fn worker(&mut self, stop: &Stop) -> Result<&mut Worker, WorkerError> {
        if self.worker.is_none() {
            let mut started = self.started();
            for _ in 0..MORE_TRIES {
                if !matches!(started, Err(WorkerError::Start(_))) {
                    break;
                }
                std::thread::sleep(PAUSE);
                started = self.started();
            }
            let mut worker = started?;
            worker.greet(Some(stop))?;
            self.worker = Some(worker);
        }
        Ok(self.worker.as_mut().expect("just filled"))
    }

    /// Processes that are started from now on measure on this CPU.
    pub(crate) fn measure_on(&mut self, cpu: u32) {
        self.start.cpus = vec![cpu];
    }

    fn started(&mut self) -> Result<Worker, WorkerError> {
        let Start { seed, ticks_per_ns, .. } = self.start;
        let cpu = self.start.cpus.first().copied();
        let process = self.next;
        self.next += 1;
        match self.source {
            Source::Library(library, tier) => {
                let hello = library.hello(tier, cpu, process, seed);
                Worker::launch(Hello { ticks_per_ns, ..hello })
            }
            Source::Pages(library, tier, files) => {
                let hello = library.hello(tier, cpu, process, seed);
                Worker::launch(Hello { ticks_per_ns, pages: Some(files), ..hello })
            }
            Source::Stack(stack) => Worker::launch_stack(StackHello {
                path: stack.path.clone(),
                crypto: stack.crypto.clone(),
                cpu,
                process,
                ticks_per_ns,
                token: None,
            }),
        }
    }

    /// Whether there is a worker, and it has something to say or is gone, of those that have been asked.
    pub(crate) fn asked(&self) -> Option<&Worker> {
        self.worker.as_ref()
    }

    /// Whether the worker has its core to itself, as far as the kernel can give it that.
    pub(crate) fn core_alone(&self) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.ready().core_alone)
    }

    /// Ends the worker, or forgets one that died.
    pub(crate) fn end(&mut self) {
        self.worker = None;
    }

    /// Starts a new process without waiting for it: those of several libraries load side by side.
    /// [`WorkerPool::greet`] must come next.
    pub(crate) fn launch(&mut self) {
        self.worker = self.started().ok();
    }

    /// Waits for the new process. One that does not start is tried again, and its error told, when
    /// it is asked for.
    pub(crate) fn greet(&mut self, stop: &Stop) {
        if self.worker.as_mut().is_some_and(|worker| worker.greet(Some(stop)).is_err()) {
            self.worker = None;
        }
    }
}

// Asking workers about many subjects, side by side on all CPUs, a few subjects in one worker: for what is the
// same however busy the machine is.

/// Subjects that one worker answers for: few enough that all CPUs have work to the end.
const BATCH: usize = 8;

/// Longest that a step takes, with the machine's other CPUs busy: ten times what is usual.
const STEP: Duration = Duration::from_micros(200);
/// Opening the algorithm, making the messages and decoding, on top.
const DEADLINE: Duration = Duration::from_secs(30);

/// How long an answer may take for which so many steps are taken.
pub(crate) fn deadline(steps: u64) -> Duration {
    DEADLINE + STEP * u32::try_from(steps).unwrap_or(u32::MAX)
}

/// What is shared by all workers that are asked.
#[derive(Clone, Copy)]
pub(crate) struct InWorkers<'a> {
    pub(crate) libraries: &'a [Attached],
    pub(crate) stop: &'a Stop,
    /// Called after each subject, with how many of how many.
    pub(crate) done: &'a (dyn Fn(usize, usize) + Sync),
}

impl InWorkers<'_> {
    /// Has workers go through the subjects, which are sorted by what `of` says: the library and its tier.
    pub(crate) fn each<T: Send>(
        &self,
        mut subjects: Vec<T>,
        of: impl Fn(&T) -> (usize, Tier),
        work: impl Fn(&mut Asking<'_>, &mut T) + Sync,
    ) {
        let (count, total) = (AtomicUsize::new(0), subjects.len());
        let batches = subjects.chunk_by_mut(|a, b| of(a) == of(b));
        let batches = batches.flat_map(|chunk| chunk.chunks_mut(BATCH));
        let queue: Mutex<VecDeque<&mut [T]>> = Mutex::new(batches.collect());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let work = || {
            let take = || queue.lock().expect("no thread panics holding it").pop_front();
            while let Some(batch) = take() {
                let mut asking = Asking { of: self, worker: None };
                for one in batch {
                    work(&mut asking, one);
                    (self.done)(count.fetch_add(1, Ordering::Relaxed) + 1, total);
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
pub(crate) struct Asking<'a> {
    of: &'a InWorkers<'a>,
    worker: Option<Worker>,
}

impl Asking<'_> {
    /// Why nothing of a library can be stepped.
    pub(crate) fn cannot_step(library: &Attached) -> Option<Finding> {
        let kernel = library.facts.path == KERNEL_PATH;
        let where_to = if kernel { "the kernel" } else { "a process of its runtime" };
        let why = format!("it runs in {where_to}, which cannot be stepped");
        base::model::runs_elsewhere(Path::new(&library.facts.path))
            .then(|| Finding::unsupported(why))
    }

    /// Asks a worker with the library at the tier, once more where somebody else has killed it. A worker that
    /// gave no answer is dead; the next question starts another.
    pub(crate) fn ask(
        &mut self,
        (library, tier): (usize, Tier),
        request: &Request,
        deadline: Duration,
    ) -> Result<Reply, Finding> {
        if let Some(why) = self.of.stop.why() {
            return Err(Finding::left_out(why, "stepped"));
        }
        let answer = once_more_if_killed(|| self.once((library, tier), request, deadline));
        match answer.map_err(|e: WorkerError| Finding::failed(e.to_string()))? {
            Reply::Finding(finding) => Err(finding),
            reply => Ok(reply),
        }
    }

    fn once(
        &mut self,
        (library, tier): (usize, Tier),
        request: &Request,
        deadline: Duration,
    ) -> Result<Reply, WorkerError> {
        let mut worker = match self.worker.take() {
            Some(worker) => worker,
            None => Worker::start(self.of.libraries[library].hello(tier, None, 0, 0))?,
        };
        worker.send(request);
        let reply = worker.reply_unless(self.of.stop, deadline)?;
        self.worker = Some(worker);
        Ok(reply)
    }
}
