//! The worker processes of one library at one tier.

use crate::discover::Attached;
use crate::link::WorkerError;
use crate::process::Worker;
use crate::protocol::Hello;
use analysis::MIN_PROCESSES;
use model::{QuietRates, Tier};

/// What every worker of a run is started with.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    /// CPU to measure on.
    pub(crate) cpu: Option<u32>,
    /// Seed of the run.
    pub(crate) seed: u64,
    /// Ticks in a nanosecond.
    pub(crate) ticks_per_ns: Option<f64>,
    /// The throughput probe's quiet rates, as far as they are known before the first sample.
    pub(crate) quiet: QuietRates,
}

/// Several processes with one library at one tier, each with a memory layout of its own.
#[derive(Debug)]
pub(crate) struct Bank<'a> {
    library: &'a Attached,
    tier: Tier,
    start: Start,
    workers: Vec<Option<Worker>>,
    /// Number of the next process.
    next: u32,
}

impl<'a> Bank<'a> {
    /// No process is started yet; the first will have the number `next`.
    pub(crate) fn new(library: &'a Attached, tier: Tier, start: Start, next: u32) -> Self {
        Self { library, tier, start, workers: (0..MIN_PROCESSES).map(|_| None).collect(), next }
    }

    /// The worker of a place, started if there is none.
    pub(crate) fn worker(&mut self, place: usize) -> Result<&mut Worker, WorkerError> {
        if self.workers[place].is_none() {
            let hello = self.hello();
            self.workers[place] = Some(Worker::start(hello)?);
        }
        Ok(self.workers[place].as_mut().expect("just filled"))
    }

    fn hello(&mut self) -> Hello {
        let Start { cpu, seed, ticks_per_ns, .. } = self.start;
        let process = self.next;
        self.next += 1;
        Hello { ticks_per_ns, ..self.library.hello(self.tier, cpu, process, seed) }
    }

    /// Whether each worker has its core to itself, as far as the kernel can give it that.
    pub(crate) fn cores_alone(&self) -> bool {
        let mut workers = self.workers.iter().flatten().peekable();
        workers.peek().is_some() && workers.all(|worker| worker.ready().core_alone)
    }

    /// Forgets a worker that died.
    pub(crate) fn drop_worker(&mut self, place: usize) {
        self.workers[place] = None;
    }

    /// Ends all processes and, where they are `wanted`, starts new ones side by side, with new
    /// memory layouts. One that does not start is tried again, and its error told, when it is
    /// asked for.
    pub(crate) fn renew(&mut self, wanted: bool) {
        self.workers.iter_mut().for_each(|w| *w = None);
        if !wanted {
            return;
        }
        for place in 0..self.workers.len() {
            self.workers[place] = Worker::launch(self.hello()).ok();
        }
        for slot in &mut self.workers {
            if slot.as_mut().is_some_and(|worker| worker.greet().is_err()) {
                *slot = None;
            }
        }
    }
}
