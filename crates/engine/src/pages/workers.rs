//! One worker for each library, started when it is needed and again when it has died.

use crate::attached::Attached;
use crate::link::WorkerError;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::pages::{Answer, Job, PageFiles, Staging};
use crate::protocol::{Finding, Hello, Reply, Request};
use crate::stop::Stop;
use base::model::Tier;
use std::time::Duration;

/// One part of the store through one scheme in the slowest library, with as many workers at it as there
/// are libraries.
const DEADLINE: Duration = Duration::from_secs(300);

/// The workers.
pub(super) struct Workers<'a> {
    libraries: &'a [Attached],
    tier: Tier,
    files: PageFiles,
    /// What ends a wait.
    pub(super) stop: &'a Stop,
    workers: Vec<Option<Worker>>,
}

impl<'a> Workers<'a> {
    pub(super) fn new(
        libraries: &'a [Attached],
        tier: Tier,
        files: PageFiles,
        stop: &'a Stop,
    ) -> Self {
        let workers = libraries.iter().map(|_| None).collect();
        Self { libraries, tier, files, stop, workers }
    }

    /// Has a library's worker take the staged pages into memory; starts it if need be.
    pub(super) fn load(
        &mut self,
        library: usize,
        pages: usize,
        page_size: usize,
    ) -> Result<(), Finding> {
        if self.workers[library].is_none() {
            let hello = self.libraries[library].hello(self.tier, None, 0, 0);
            let hello = Hello { pages: Some(self.files), ..hello };
            let worker = Worker::start(hello).map_err(|e| Finding::failed(e.to_string()))?;
            self.workers[library] = Some(worker);
        }
        self.ask(library, Job::Load(Staging { pages, page_size }));
        self.answer(library).map(|_| ())
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
        let left_out = |why| Finding::left_out(why, "proven");
        let Some(alive) = worker else {
            let dead = || Finding::failed("its worker died in another scheme");
            return Err(self.stop.why().map_or_else(dead, left_out));
        };
        let dead = match alive.reply_unless(self.stop, DEADLINE) {
            Ok(Reply::Pages(answer)) => return Ok(*answer),
            Ok(Reply::Finding(finding)) => return Err(finding),
            Ok(other) => out_of_protocol(&other),
            Err(dead) => dead,
        };
        *worker = None;
        let stopped = self.stop.why().filter(|_| matches!(dead, WorkerError::Interrupted));
        Err(stopped.map_or_else(|| Finding::failed(dead.to_string()), left_out))
    }
}
