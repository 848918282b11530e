//! Stepping everything that is to be measured, in workers of its own, side by side: counts are the
//! same however busy the machine is.

use super::counted::{Counted, TooLong, open_cache};
use super::sizes::{Next, limit, most_steps, next};
use crate::attached::Attached;
use crate::in_workers::{Asking, InWorkers, deadline};
use crate::kept::Cache;
use crate::process::out_of_protocol;
use crate::protocol::{Finding, Reply, Request, Stepping, Steps};
use crate::stop::Stop;
use base::model::{Algorithm, Case, Direction, Model, Tier};
use record::{Executed, ExecutedSize, State};

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
    let cache = open_cache();
    let workers = InWorkers { libraries, stop, done };
    let of = |one: &&mut Counted| (one.subject.library, one.subject.tier);
    let mut counted: Vec<Counted> = sorted.into_iter().map(Counted::new).collect();
    for one in &mut counted {
        one.sizes = (wanted.of)(&one.subject);
        one.unforeseen_too = wanted.allowance.is_none();
        one.sizes.sort_unstable();
        one.sizes.dedup();
    }
    workers.each(counted.iter_mut().collect(), of, |asking, one| {
        Gathering { libraries, cache: &cache, asking }.slope(one);
    });
    let foretold: Vec<u64> = counted.iter().flat_map(Counted::foretold).collect();
    let limit = limit(&foretold, wanted.allowance.unwrap_or(u64::MAX));
    let (more, whole): (Vec<_>, Vec<_>) =
        counted.iter_mut().partition(|one| !one.lacking(limit).is_empty());
    drop(whole);
    workers.each(more, of, |asking, one| {
        Gathering { libraries, cache: &cache, asking }.sizes(one, limit);
    });
    counted.into_iter().map(|one| one.evidence(libraries, limit)).collect()
}

/// One worker's share.
struct Gathering<'a, 'w> {
    libraries: &'a [Attached],
    cache: &'a Cache,
    asking: &'a mut Asking<'w>,
}

impl Gathering<'_, '_> {
    /// The sizes that a byte's cost comes from, as far as they are not kept from an earlier run.
    fn slope(&mut self, one: &mut Counted) {
        one.load(self.cache, &self.libraries[one.subject.library]);
        let before = one.kept.clone();
        one.why = self.steps(&one.subject, &mut one.kept.runs);
        one.store(self.cache, &before);
    }

    /// Adds what the sizes of choice give; what came in the way.
    fn steps(&mut self, subject: &Operation, runs: &mut Vec<Steps>) -> Option<Finding> {
        if let Some(why) = Asking::cannot_step(&self.libraries[subject.library]) {
            return Some(why);
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
        one.store(self.cache, &before);
    }

    fn ask(&mut self, subject: &Operation, size: usize, most_steps: u64) -> Result<Steps, Finding> {
        let request = Request::Step(Stepping {
            algorithm: subject.algorithm.clone(),
            direction: subject.direction,
            model: subject.model,
            size,
            most_steps,
        });
        let of = (subject.library, subject.tier);
        match self.asking.ask(of, &request, deadline(most_steps))? {
            // Another size would be asked for again, without end.
            Reply::Stepped(steps) if steps.size == size => Ok(steps),
            other => Err(Finding::failed(out_of_protocol(&other).to_string())),
        }
    }
}
