//! Asking workers about many subjects, side by side on all CPUs, a few subjects in one worker: for what is the
//! same however busy the machine is.

use crate::attached::Attached;
use crate::link::{WorkerError, once_more_if_killed};
use crate::process::Worker;
use crate::protocol::{Finding, Reply, Request};
use crate::stop::Stop;
use base::model::{KERNEL_PATH, Tier};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

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
