//! One worker for each library, started when it is needed and again when it has died.

use crate::attached::Attached;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::pages::{Answer, Job, PageFiles};
use crate::protocol::{Finding, Hello, Reply, Request};
use model::Tier;
use std::time::Duration;

/// One part of the store through one scheme in the slowest library, with as many workers at it as there
/// are libraries.
const DEADLINE: Duration = Duration::from_secs(300);

/// The workers.
pub(super) struct Crew<'a> {
    libraries: &'a [Attached],
    tier: Tier,
    files: PageFiles,
    workers: Vec<Option<Worker>>,
}

impl<'a> Crew<'a> {
    pub(super) fn new(libraries: &'a [Attached], tier: Tier, files: PageFiles) -> Self {
        let workers = libraries.iter().map(|_| None).collect();
        Self { libraries, tier, files, workers }
    }

    /// Has a library's worker take the staged pages into memory; starts it if need be.
    pub(super) fn load(
        &mut self,
        library: usize,
        pages: usize,
        page_size: usize,
    ) -> Result<(), Finding> {
        if self.workers[library].is_none() {
            let hello = hello(&self.libraries[library], self.tier, None, 0, self.files);
            let worker = Worker::start(hello).map_err(|e| Finding::failed(e.to_string()))?;
            self.workers[library] = Some(worker);
        }
        self.ask(library, Job::Load { pages, page_size });
        self.answer(library).map(|_| ())
    }

    /// Whether a library's worker lives.
    pub(super) fn lives(&self, library: usize) -> bool {
        self.workers[library].is_some()
    }

    /// Sends a job.
    pub(super) fn ask(&mut self, library: usize, job: Job) {
        if let Some(worker) = &mut self.workers[library] {
            worker.send(&Request::Pages(Box::new(job)));
        }
    }

    /// Waits for the answer; a worker that does not give one is gone.
    pub(super) fn answer(&mut self, library: usize) -> Result<Answer, Finding> {
        let worker = &mut self.workers[library];
        let answer = match worker {
            Some(worker) => answer(worker, DEADLINE),
            None => return Err(Finding::failed("its worker could not be started")),
        };
        match answer {
            Ok(answer) => answer,
            Err(dead) => {
                *worker = None;
                Err(dead)
            }
        }
    }
}

/// What starts a worker for pages.
pub(super) fn hello(
    library: &Attached,
    tier: Tier,
    cpu: Option<u32>,
    process: u32,
    files: PageFiles,
) -> Hello {
    Hello { pages: Some(files), ..library.hello(tier, cpu, process, 0) }
}

/// The worker's answer or finding; the outer error where it is dead.
pub(super) fn answer(
    worker: &mut Worker,
    deadline: Duration,
) -> Result<Result<Answer, Finding>, Finding> {
    match worker.reply(deadline) {
        Ok(Reply::Pages(answer)) => Ok(Ok(*answer)),
        Ok(Reply::Finding(finding)) => Ok(Err(finding)),
        Ok(other) => Err(Finding::failed(out_of_protocol(&other).to_string())),
        Err(e) => Err(Finding::failed(e.to_string())),
    }
}
