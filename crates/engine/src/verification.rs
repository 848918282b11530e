//! Every check over every library and algorithm of a plan, before anything is timed.

use crate::discover::Attached;
use crate::link::WorkerError;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Finding, Reply, Request};
use model::{Algorithm, Tier};
use record::Check;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One check over one algorithm: all sizes of the largest take some milliseconds in fast
/// libraries and a second in the slowest known.
const CHECK_DEADLINE: Duration = Duration::from_secs(30);

/// Checks that a library may hang in before the rest of its algorithms is given up: each hang costs
/// the whole deadline.
const MOST_HANGS: usize = 2;

/// Checks in which a memory fault is the very thing looked for.
const MEMORY_CHECKS: &[&str] = &["guard-pages", "bounds"];

/// What became of one algorithm in one library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Index of the library.
    pub library: usize,
    /// The algorithm.
    pub algorithm: &'static str,
    /// The checks that passed, or what was found.
    pub outcome: Result<Vec<Check>, Finding>,
}

struct Passed {
    checks: Vec<Check>,
    digest: String,
}

/// Runs every check over `(library, algorithm)` pairs, libraries side by side, each in a worker of
/// its own. `done` is called after each pair; `stop` ends it early, and what was not verified then
/// has failed.
pub fn verify_all(
    libraries: &[Attached],
    pairs: &[(usize, &'static Algorithm)],
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Vec<Verdict> {
    let queue = Mutex::new(0..libraries.len());
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads.min(libraries.len()) {
            scope.spawn(|| {
                while let Some(library) = next(&queue) {
                    let results = verify_library(library, &libraries[library], pairs, stop, done);
                    found.lock().expect("no thread panics holding it").extend(results);
                }
            });
        }
    });
    let mut found = found.into_inner().expect("no thread panics holding it");
    found.sort_by_key(|(library, algorithm, _)| (*library, *algorithm));
    compare_libraries(found)
}

fn next(queue: &Mutex<std::ops::Range<usize>>) -> Option<usize> {
    queue.lock().expect("no thread panics holding it").next()
}

type Found = (usize, &'static str, Result<Passed, Finding>);

fn verify_library(
    index: usize,
    library: &Attached,
    pairs: &[(usize, &'static Algorithm)],
    stop: &AtomicBool,
    done: &(dyn Fn() + Sync),
) -> Vec<Found> {
    let mut worker = None;
    let mut hangs = 0;
    let mut results = Vec::new();
    for (_, algorithm) in pairs.iter().filter(|(l, _)| *l == index) {
        let outcome = if hangs < MOST_HANGS {
            verify_pair(&mut worker, &mut hangs, library, algorithm.name, stop)
        } else {
            Err(Finding::failed(format!(
                "not checked: the library hung in {MOST_HANGS} checks before"
            )))
        };
        results.push((index, algorithm.name, outcome));
        done();
    }
    results
}

fn verify_pair(
    slot: &mut Option<Worker>,
    hangs: &mut usize,
    library: &Attached,
    algorithm: &str,
    stop: &AtomicBool,
) -> Result<Passed, Finding> {
    if stop.load(Ordering::Relaxed) {
        return Err(Finding::failed("interrupted before it was verified"));
    }
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start(library.hello(Tier::Native, None, 0, 0))
            .map_err(|e| Finding::failed(e.to_string()))?,
    };
    worker.send(&Request::Verify { algorithm: algorithm.to_owned() });
    let mut check = String::from("opening");
    loop {
        match worker.reply_unless(stop, CHECK_DEADLINE) {
            Ok(Reply::Checking { check: next }) => check = next,
            Ok(Reply::Verified { checks, digest }) => {
                *slot = Some(worker);
                return Ok(Passed { checks, digest });
            }
            Ok(Reply::Finding(finding)) => {
                *slot = Some(worker);
                return Err(finding);
            }
            Ok(other) => return Err(Finding::failed(out_of_protocol(&other).to_string())),
            Err(error) => {
                *hangs += usize::from(matches!(error, WorkerError::Hung { .. }));
                return Err(death_in_check(&check, &error));
            }
        }
    }
}

fn death_in_check(check: &str, error: &WorkerError) -> Finding {
    if MEMORY_CHECKS.contains(&check) && matches!(error, WorkerError::Died(_)) {
        Finding::refused(format!("{check}: reads or writes outside its buffers ({error})"))
    } else {
        Finding::failed(format!("in check {check}: {error}"))
    }
}

/// Holds the digests of each algorithm over all libraries against each other: the libraries that
/// are outvoted are refused.
fn compare_libraries(found: Vec<Found>) -> Vec<Verdict> {
    let mut votes: HashMap<(&str, String), u64> = HashMap::new();
    for (_, algorithm, outcome) in &found {
        if let Ok(passed) = outcome {
            *votes.entry((algorithm, passed.digest.clone())).or_insert(0) += 1;
        }
    }
    let judge = |algorithm: &'static str, passed: Passed| {
        let own = votes[&(algorithm, passed.digest)];
        let most = votes.iter().filter(|((a, _), _)| *a == algorithm).map(|(_, n)| *n).max();
        if most > Some(own) {
            return Err(Finding::refused(format!(
                "cross-library: {} libraries agree on other outputs for the same inputs",
                most.unwrap_or(0)
            )));
        }
        let mut checks = passed.checks;
        if own > 1 {
            checks.push(Check { name: "cross-library".to_owned(), count: own - 1 });
        }
        Ok(checks)
    };
    found
        .into_iter()
        .map(|(library, algorithm, outcome)| Verdict {
            library,
            algorithm,
            outcome: outcome.and_then(|passed| judge(algorithm, passed)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(digest: &str) -> Result<Passed, Finding> {
        Ok(Passed { checks: Vec::new(), digest: digest.into() })
    }

    #[test]
    fn a_library_that_is_outvoted_is_refused() {
        let verdicts = compare_libraries(vec![
            (0, "aes-128-ctr", passed("a")),
            (1, "aes-128-ctr", passed("a")),
            (2, "aes-128-ctr", passed("b")),
        ]);
        let check = Check { name: "cross-library".into(), count: 1 };
        assert_eq!(verdicts[0].outcome, Ok(vec![check]));
        assert_eq!(verdicts[2].outcome.as_ref().unwrap_err().state, record::State::Refused);
    }

    #[test]
    fn a_fault_at_a_guard_page_refuses_and_elsewhere_fails() {
        let died = WorkerError::Died("crashed: SIGSEGV".into());
        assert_eq!(death_in_check("guard-pages", &died).state, record::State::Refused);
        assert_eq!(death_in_check("round-trip", &died).state, record::State::Failed);
        let hung = WorkerError::Hung { deadline: CHECK_DEADLINE, words: None };
        assert_eq!(death_in_check("guard-pages", &hung).state, record::State::Failed);
    }
}
