//! What libraries allocate, copy and lose for a message, counted in workers with the meter preloaded: for
//! `explain`, and for a run after its checks and before anything is timed.
//!
//! What libraries allocate and lose for each message of a run: no fault, and to be told beside the numbers.
//! Counted after the checks and before anything is timed.

use crate::libraries::Attached;
use crate::plan::Planned;
use crate::process::{Worker, out_of_protocol};
use crate::protocol::{Costs, Finding, Metering, Offer, Reply, Request};
use crate::time::Stop;
use base::model::{Direction, Tier};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

/// Bytes of the messages that are counted.
const SIZE: usize = 1024;

/// Algorithms that cannot be counted before the rest of a library is left alone: each may cost a deadline.
const MOST_FAILURES: usize = 2;

type Counted = (String, Direction);

/// What is to be told, by library, algorithm and direction.
pub(crate) type Memory = BTreeMap<(usize, Counted), Vec<String>>;

/// Counts for every algorithm that is to be measured, libraries side by side.
pub(crate) fn memory(planned: &[Planned], libraries: &[Attached], stop: &Stop) -> Memory {
    let Some(meter) = host::companion(METER) else { return Memory::new() };
    let mut subjects: BTreeMap<usize, BTreeSet<Counted>> = BTreeMap::new();
    for case in planned.iter().filter(|p| p.verdict.is_none()).map(|p| &p.case) {
        let of_library = subjects.entry(case.library).or_default();
        of_library.insert((case.algorithm.clone(), case.direction));
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(subjects.len());
    let (queue, found) = (Mutex::new(subjects.into_iter()), Mutex::new(Memory::new()));
    let next = || queue.lock().expect("no thread panics holding it").next();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((index, subjects)) = next() {
                    let of_library = of_library(&libraries[index], subjects, &meter, stop);
                    let keyed =
                        of_library.into_iter().map(|(key, remarks)| ((index, key), remarks));
                    found.lock().expect("no thread panics holding it").extend(keyed);
                }
            });
        }
    });
    found.into_inner().expect("no thread panics holding it")
}

fn of_library(
    library: &Attached,
    subjects: BTreeSet<Counted>,
    meter: &Path,
    stop: &Stop,
) -> Vec<(Counted, Vec<String>)> {
    let (mut worker, mut failures, mut told) = (None, 0, Vec::new());
    for (algorithm, direction) in subjects {
        if failures == MOST_FAILURES || stop.is_over() {
            break;
        }
        let own =
            |o: &&crate::protocol::Offer| (&o.algorithm, o.direction) == (&algorithm, direction);
        let Some(offer) = library.offers.iter().find(own) else { continue };
        match ask_costs(&mut worker, library, offer, &[SIZE], meter) {
            Ok(costs) => {
                let remarks = costs.iter().flat_map(|c| words(c, direction)).collect();
                told.push(((algorithm, direction), remarks));
            }
            Err(finding) => failures += usize::from(finding.state == record::State::Failed),
        }
    }
    told
}

/// One line for each thing that is to be told.
fn words(costs: &Costs, direction: Direction) -> Vec<String> {
    let mut words = Vec::new();
    let Costs { size, allocations, allocated_bytes, lost, lost_bytes, .. } = costs;
    if *allocations >= 0.5 {
        words.push(format!(
            "allocates memory for each message: {} times, {allocated_bytes:.0} bytes ({direction} of {size} bytes)",
            (allocations * 10.0).round() / 10.0
        ));
    }
    if *allocations == 0.0 && *allocated_bytes >= 1.0 {
        words.push(format!(
            "allocates {allocated_bytes:.0} bytes for each message, and {:.1} % of the time goes to collecting garbage ({direction} of {size} bytes)",
            100.0 * costs.collecting
        ));
    }
    // A pool that grows now and then loses less than one piece for each message.
    if *lost > 0.99 {
        words.push(format!(
            "loses memory with each message: {lost_bytes:.0} bytes are never given back ({direction} of {size} bytes)"
        ));
    }
    words
}

/// File name of the object that counts.
pub const METER: &str = "libciphermarkmeter.so";

/// A few dozen messages, with copies byte for byte.
const DEADLINE: Duration = Duration::from_secs(30);

/// One algorithm of one library in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Index of the library.
    pub library: usize,
    /// What it offers, with the functions that run inside the clock.
    pub offer: Offer,
    /// What one message of each size costs, or why that is not known.
    pub costs: Result<Vec<Costs>, Finding>,
}

/// Counts for everything that `wanted` lets through; `done` is called after each.
pub fn explain(
    libraries: &[Attached],
    wanted: &dyn Fn(&Offer) -> bool,
    sizes: &[usize],
    done: &dyn Fn(),
) -> Vec<Explained> {
    let meter = host::companion(METER);
    let mut explained = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        let mut worker = None;
        let offered = library.offers.iter().filter(|o| !o.models.is_empty() && wanted(o));
        for offer in offered {
            let costs = match &meter {
                Some(meter) => ask_costs(&mut worker, library, offer, sizes, meter),
                None => Err(Finding::failed(format!(
                    "{METER} is neither beside the program nor in ../lib/ciphermark"
                ))),
            };
            explained.push(Explained { library: index, offer: offer.clone(), costs });
            done();
        }
    }
    explained
}

pub(crate) fn ask_costs(
    slot: &mut Option<Worker>,
    library: &Attached,
    offer: &Offer,
    sizes: &[usize],
    meter: &Path,
) -> Result<Vec<Costs>, Finding> {
    let failed = |e: crate::WorkerError| Finding::failed(e.to_string());
    let mut worker = match slot.take() {
        Some(worker) => worker,
        None => Worker::start_preloaded(library.hello(Tier::Native, None, 0, 0), meter)
            .map_err(failed)?,
    };
    worker.send(&Request::Meter(Metering {
        algorithm: offer.algorithm.clone(),
        direction: offer.direction,
        sizes: sizes.to_vec(),
    }));
    let reply = worker.reply(DEADLINE).map_err(failed)?;
    *slot = Some(worker);
    match reply {
        Reply::Metered { costs } => Ok(costs),
        Reply::Finding(finding) => Err(finding),
        other => Err(failed(out_of_protocol(&other))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_not_lost_and_what_is_kept_for_good_is_none_either() {
        let costs = |allocations, lost| Costs {
            size: 1024,
            allocations,
            allocated_bytes: 64.0,
            copied_bytes: 0.0,
            lost,
            lost_bytes: 64.0 * lost,
            collecting: 0.0,
        };
        assert!(words(&costs(0.1, 0.1), Direction::Encrypt).is_empty());
        assert_eq!(words(&costs(2.0, 0.0), Direction::Encrypt).len(), 1);
        let lost = words(&costs(1.0, 1.0), Direction::Decrypt);
        assert!(
            lost[1].contains("64 bytes are never given back (decrypt of 1024 bytes)"),
            "{lost:?}"
        );
    }
}
