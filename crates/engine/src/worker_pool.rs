//! The worker process of one library at one tier, or of one TLS stack, one after another.

use crate::attached::{Attached, StackFile};
use crate::link::WorkerError;
use crate::process::Worker;
use crate::protocol::Hello;
use crate::protocol::pages::PageFiles;
use crate::stop::Stop;
use base::model::{QuietRates, Tier};
use record::tls::StackHello;
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
