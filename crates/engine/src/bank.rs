//! The worker processes of one library.

use crate::discover::Attached;
use crate::link::WorkerError;
use crate::process::Worker;
use analysis::MIN_PROCESSES;
use model::Tier;

/// Several processes with one library, each with a memory layout of its own.
#[derive(Debug)]
pub(crate) struct Bank<'a> {
    library: &'a Attached,
    cpu: Option<u32>,
    seed: u64,
    workers: Vec<Option<Worker>>,
    /// Number of the next process.
    next: u32,
}

impl<'a> Bank<'a> {
    /// No process is started yet; the first will have the number `next`.
    pub(crate) fn new(library: &'a Attached, cpu: Option<u32>, seed: u64, next: u32) -> Self {
        let workers = (0..MIN_PROCESSES).map(|_| None).collect();
        Self { library, cpu, seed, workers, next }
    }

    /// The worker of a place, started if there is none.
    pub(crate) fn worker(&mut self, place: usize) -> Result<&mut Worker, WorkerError> {
        let slot = &mut self.workers[place];
        if slot.is_none() {
            let hello = self.library.hello(Tier::Native, self.cpu, self.next, self.seed);
            self.next += 1;
            *slot = Some(Worker::start(hello)?);
        }
        Ok(slot.as_mut().expect("just filled"))
    }

    /// Forgets a worker that died.
    pub(crate) fn drop_worker(&mut self, place: usize) {
        self.workers[place] = None;
    }

    /// Ends all processes: the next visits get new ones, with new memory layouts.
    pub(crate) fn renew(&mut self) {
        self.workers.iter_mut().for_each(|w| *w = None);
    }
}
