//! What is known of one subject while it is counted, and what the record says of it in the end.

use super::gather::{Evidence, Exact, Operation};
use super::sizes::{foretold, most_steps};
use super::{summary, tier};
use crate::attached::Attached;
use crate::kept::{Cache, Key};
use crate::protocol::{Finding, Steps};
use base::model::Tier;
use record::{ExecutedSize, State, UncountedSize};
use serde::{Deserialize, Serialize};

/// Raised when what is counted changes its meaning, or which sizes are.
const VERSION: u32 = 6;

/// Counts from earlier runs.
pub(super) fn open_cache() -> Cache {
    Cache::open("evidence")
}

/// What was counted of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// At the sizes of choice, which the record has.
    pub(super) runs: Vec<Steps>,
    /// At sizes that were asked for, each once; what a byte costs does not come from these.
    pub(super) exact: Vec<Steps>,
    /// Sizes that took more steps than were allowed.
    pub(super) too_long: Vec<TooLong>,
}

/// A size whose operation was not seen to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TooLong {
    /// Bytes of plaintext.
    pub(super) size: usize,
    /// Steps that were allowed, and taken.
    pub(super) most_steps: u64,
}

/// One subject's counts so far.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) subject: Operation,
    /// Sizes that are asked for, in ascending order.
    pub(super) sizes: Vec<usize>,
    /// Whether sizes are stepped too of which nothing is foretold.
    pub(super) unforeseen_too: bool,
    /// What the cache keeps it under.
    pub(super) key: Option<Key>,
    pub(super) kept: Kept,
    /// What came in the way of the sizes that a byte's cost comes from.
    pub(super) why: Option<Finding>,
    /// Sizes that were asked for and could not be stepped.
    pub(super) failed: Vec<(usize, String)>,
}

impl Counted {
    pub(super) fn new(subject: Operation) -> Self {
        let (sizes, failed) = (Vec::new(), Vec::new());
        Self {
            subject,
            sizes,
            unforeseen_too: false,
            key: None,
            kept: Kept::default(),
            why: None,
            failed,
        }
    }

    /// What was counted before.
    pub(super) fn load(&mut self, cache: &Cache, library: &Attached) {
        let Operation { tier, algorithm, direction, model, .. } = &self.subject;
        let subject = [algorithm.clone(), direction.to_string(), model.to_string()];
        self.key = cache.key(VERSION, library, *tier, &subject);
        self.kept = self.key.as_ref().and_then(|k| cache.load(k)).unwrap_or_default();
    }

    /// Keeps what has changed since.
    pub(super) fn store(&self, cache: &Cache, before: &Kept) {
        if let Some(key) = self.key.as_ref().filter(|_| self.kept != *before) {
            let all = self.kept.runs.iter().chain(&self.kept.exact);
            cache.store(key, &self.kept, all.flat_map(|r| &r.objects));
        }
    }

    /// Instructions that sizes which the choice of sizes leaves open are foretold to take. Kept counts
    /// are foretold all the same: which sizes a run counts does not hang on what ran before.
    pub(super) fn foretold(&self) -> Vec<u64> {
        let open = |size: &&usize| !self.kept.runs.iter().any(|r| r.size == **size && r.complete);
        let open = self.sizes.iter().filter(open);
        open.filter_map(|size| foretold(&self.kept.runs, *size)).collect()
    }

    /// Sizes to step: short enough, and not known.
    pub(super) fn lacking(&self, limit: u64) -> Vec<usize> {
        let missing = |size: &usize| self.run(*size).is_none() && !self.was_too_long(*size, limit);
        let possible = self.why.is_none();
        let short = |size: &usize| match foretold(&self.kept.runs, *size) {
            Some(instructions) => instructions <= limit,
            None => self.unforeseen_too && possible,
        };
        self.sizes.iter().copied().filter(|s| missing(s) && short(s)).collect()
    }

    fn was_too_long(&self, size: usize, limit: u64) -> bool {
        self.kept.too_long.iter().any(|t| t.size == size && t.most_steps >= most_steps(limit))
    }

    fn run(&self, size: usize) -> Option<&Steps> {
        let mut all = self.kept.runs.iter().chain(&self.kept.exact);
        all.find(|r| r.size == size && r.complete)
    }

    /// The count of a size that was asked for, or why there is none.
    fn exact(&self, size: usize, limit: u64) -> Exact {
        if let Some(run) = self.run(size) {
            // More than a run of this limit would have stepped; kept from one that had a larger one.
            return Ok(ExecutedSize { size, instructions: run.instructions });
        }
        if let Some((_, why)) = self.failed.iter().find(|(failed, _)| *failed == size) {
            return Err(why.clone());
        }
        if self.was_too_long(size, limit) {
            return Err(format!(
                "more than {} instructions, the most that are stepped",
                most_steps(limit)
            ));
        }
        match (foretold(&self.kept.runs, size), &self.why) {
            (Some(n), _) => {
                Err(format!("about {n} instructions; operations of up to {limit} are stepped"))
            }
            (None, Some(finding)) => Err(finding.why.clone()),
            (None, None) => {
                Err("shorter messages take more instructions than are stepped".to_owned())
            }
        }
    }

    /// What is said of the subject.
    pub(super) fn evidence(self, libraries: &[Attached], limit: u64) -> Evidence {
        let exact: Vec<(usize, Exact)> =
            self.sizes.iter().map(|size| (*size, self.exact(*size, limit))).collect();
        let why = self.why.as_ref().map(|f| f.why.clone());
        let library = libraries[self.subject.library].facts.identity();
        let mut executed = summary::executed(library, &self.subject, &self.kept.runs, why);
        for (size, count) in &exact {
            match count {
                Ok(count) if executed.sizes.contains(count) => {}
                Ok(count) => executed.sizes.push(*count),
                Err(why) => {
                    executed.uncounted.push(UncountedSize { size: *size, reason: why.clone() })
                }
            }
        }
        executed.sizes.sort_by_key(|s| s.size);
        Evidence {
            refused: refused(self.subject.tier, &self.kept, self.why.as_ref()),
            executed,
            subject: self.subject,
            exact,
        }
    }
}

fn refused(tier: Tier, kept: &Kept, why: Option<&Finding>) -> Option<Finding> {
    let contradiction = |runs: &[Steps]| tier::contradiction(tier, runs).map(Finding::refused);
    let contradicted = contradiction(&kept.runs).or_else(|| contradiction(&kept.exact));
    contradicted.or_else(|| why.filter(|f| f.state == State::Refused).cloned())
}
