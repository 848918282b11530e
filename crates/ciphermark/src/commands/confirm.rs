//! `compare --confirm`: settles candidates of a comparison with pairs of processes of the two builds.

use super::run::{plain_request, watch_signals};
use crate::args::CompareArgs;
use crate::choose;
use crate::error::Failure;
use crate::progress::Bar;
use base::analysis::Verdict;
use base::model::{Algorithm, Direction};
use engine::{Attached, Budget, PairBench, PairError, Request, Stop};
use judge::compare::{Compared, Comparison, Confirmation, Matching, Told};
use record::{LibraryId, Record, WITH};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// Most time for one case, so that one that cannot be decided leaves some for the others.
const MOST_FOR_ONE: Duration = Duration::from_secs(30);
/// Less is not worth starting the processes.
const LEAST_FOR_ONE: Duration = Duration::from_secs(3);

/// Settles what it can within the budget, the most suspicious first.
pub fn confirm(
    args: &CompareArgs,
    records: [&Record; 2],
    matching: Matching,
    comparison: &mut Comparison,
) -> Result<(), Failure> {
    let stop = watch_signals()?;
    let bar = Bar::new(args.quiet);
    let begun = Instant::now();
    let candidates = comparison.candidates();
    let mut told = Confirmation {
        candidates: candidates.len(),
        budget_seconds: args.budget.as_secs_f64(),
        ..Confirmation::default()
    };
    let mut builds = Builds { elsewhere: elsewhere(records), found: BTreeMap::new() };
    for (done, index) in candidates.iter().copied().enumerate() {
        let case = &comparison.cases[index];
        bar.confirming(done, candidates.len(), &case.case.algorithm, case.case.size);
        let left = args.budget.saturating_sub(begun.elapsed());
        let budget = share(left, candidates.len() - done);
        match settle(case, &mut builds, args.same_within, budget, &stop) {
            Ok((verdict, one)) => {
                comparison.settle(index, verdict, one);
                let settled = verdict != Verdict::Undecided;
                *(if settled { &mut told.settled } else { &mut told.undecided }) += 1;
            }
            Err(why) => told.leave(&why),
        }
    }
    bar.finish();
    told.seconds = begun.elapsed().as_secs_f64();
    comparison.sum_up(matching, told);
    Ok(())
}

/// Time for the next case: twice its share, because most end long before theirs is spent. `None` if too
/// little is left for another case.
fn share(left: Duration, cases: usize) -> Option<Duration> {
    let share = left * 2 / u32::try_from(cases).unwrap_or(u32::MAX).max(1);
    (left >= LEAST_FOR_ONE).then(|| share.clamp(LEAST_FOR_ONE, MOST_FOR_ONE).min(left))
}

/// Compares one case by pairs, or says why not.
fn settle(
    case: &Compared,
    builds: &mut Builds,
    margin: f64,
    budget: Option<Duration>,
    stop: &Stop,
) -> Result<(Verdict, Told), String> {
    let request = request(case, budget)?;
    let sides = [builds.find(&case.base_library)?, builds.find(&case.new_library)?];
    if stop.is_interrupted() {
        return Err("interrupted".to_owned());
    }
    let budget = request.budget.time;
    if budget.is_zero() {
        return Err("no time left: raise --budget".to_owned());
    }
    let begun = Instant::now();
    let failed = |error: PairError| format!("pairs could not be measured: {error}");
    let mut bench = PairBench::new(&request, &sides, margin).map_err(failed)?;
    let outcome = bench.trial(stop).map_err(failed)?;
    let told = Told {
        ratio: outcome.ratio,
        pairs: outcome.pairs.len(),
        seconds: begun.elapsed().as_secs_f64(),
    };
    if outcome.ratio.is_none() {
        return Err("no time left: raise --budget".to_owned());
    }
    Ok((outcome.verdict, told))
}

fn request(case: &Compared, budget: Option<Duration>) -> Result<Request, String> {
    let c = &case.case;
    if c.threads != 1 {
        return Err("pairs are compared with one thread".to_owned());
    }
    let algorithm = Algorithm::find(&c.algorithm).map_err(|e| e.to_string())?;
    // A digest has one direction, whichever is asked for.
    let directions = match c.direction {
        Direction::Decrypt => vec![Direction::Decrypt],
        _ => vec![Direction::Encrypt],
    };
    let budget = Budget { precision: 0.0, time: budget.unwrap_or_default() };
    Ok(Request {
        directions,
        models: vec![c.model],
        sizes: vec![c.size],
        tiers: vec![c.tier],
        footprints: vec![c.footprint],
        in_place: vec![c.in_place],
        ..plain_request(vec![algorithm], budget)
    })
}

/// The measured builds, as far as this machine still has them.
struct Builds {
    /// Why no build of these records can be paired here.
    elsewhere: Option<String>,
    found: BTreeMap<LibraryId, Result<Attached, String>>,
}

impl Builds {
    /// The very build that the record names, loaded once.
    fn find(&mut self, id: &LibraryId) -> Result<Attached, String> {
        if let Some(why) = &self.elsewhere {
            return Err(why.clone());
        }
        self.found.entry(id.clone()).or_insert_with(|| attach(id)).clone()
    }
}

/// A pair measured here says nothing about another processor, nor about other circumstances.
fn elsewhere(records: [&Record; 2]) -> Option<String> {
    // As records have it, with `~` for the home directory.
    let host = record::shared(host::facts(0));
    let here = host.cpu.name;
    if let Some(other) = records.iter().map(|r| &r.host.cpu.name).find(|name| **name != here) {
        return Some(format!("measured on another processor ({other}); this one is {here}"));
    }
    let differing =
        |r: &Record| record::differing_circumstances(&r.host.circumstances, &host.circumstances);
    let [name, ..] = records.into_iter().flat_map(differing).next()?;
    Some(format!("measured under another {name}, which decides which code runs"))
}

fn attach(id: &LibraryId) -> Result<Attached, String> {
    let label = format!("{}@{}", id.name, id.version);
    if base::model::runs_elsewhere(Path::new(&id.path)) {
        return Err(format!("{label} is no file, which pairs could reload"));
    }
    let path = record::expanded(&id.path);
    if !path.is_file() {
        return Err(format!("{label} is not available: '{}' does not exist", id.path));
    }
    let other = |here: &str| {
        format!("{label} is not available: '{}' is another build now ({here})", id.path)
    };
    let here = host::file_id(&path).map_err(|e| format!("'{}': {e}", id.path))?;
    if id.own_file() != here {
        return Err(other(&here));
    }
    let mut found = choose::attached(&[format!("{}={}", id.name, path.display())])
        .map_err(|e| format!("{label} cannot be loaded: {}", e.message))?;
    let found = found.pop().ok_or_else(|| format!("{label} cannot be loaded"))?;
    // Ids of older records are of the library's own file alone.
    if id.id.contains(WITH) && found.facts.id != id.id {
        return Err(other(&found.facts.id));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_gets_twice_its_share_within_bounds_and_never_more_than_is_left() {
        let seconds = Duration::from_secs;
        assert_eq!(share(seconds(60), 8), Some(seconds(15)));
        assert_eq!(share(seconds(60), 1), Some(MOST_FOR_ONE));
        assert_eq!(share(seconds(60), 1000), Some(LEAST_FOR_ONE));
        assert_eq!(share(seconds(4), 1), Some(seconds(4)));
        assert_eq!(share(seconds(2), 1), None);
    }

    #[test]
    fn pairs_are_measured_under_the_circumstances_of_the_records_alone() {
        let here = Record { host: record::shared(host::facts(0)), ..Record::default() };
        assert_eq!(elsewhere([&here, &here]), None);
        let mut masked = here.clone();
        masked.host.circumstances.clear();
        masked.host.circumstances.push(record::Circumstance {
            name: "A_MASK".into(),
            value: Some("~0x2".into()),
            ..record::Circumstance::default()
        });
        let why = elsewhere([&here, &masked]).unwrap();
        assert_eq!(why, "measured under another A_MASK, which decides which code runs");
    }

    #[test]
    fn a_build_that_is_gone_or_was_replaced_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("libx.so");
        let path = file.display().to_string();
        let id =
            LibraryId { name: "x".into(), version: "1".into(), path, id: "build-id:00".into() };
        assert!(attach(&id).unwrap_err().ends_with("does not exist"));
        std::fs::write(&file, "another build").unwrap();
        assert!(attach(&id).unwrap_err().contains("is another build now (sha256:"));
    }
}
