//! Going on with a run that was killed or interrupted: plan, libraries and samples come from its
//! journal.

use super::job::Job;
use super::run::say;
use crate::args::RunArgs;
use crate::choose;
use crate::error::Failure;
use engine::{Attached, Budget, Keeping, LibraryChoice, Request};
use record::{Journal, JournalHead, Plan, Record, Stopped};
use std::path::Path;
use std::time::Duration;

/// The job that a journal describes. A new budget may be given; else the old one begins anew.
pub fn job(record: &Path, args: &RunArgs) -> Result<Job, Failure> {
    let path = Journal::path_for(record);
    if !path.exists() {
        return Err(Failure::usage(nothing_left(record, &path)));
    }
    let (journal, kept) = Journal::reopen(record).map_err(Failure::usage)?;
    let (shown, left_out) = (path.display(), kept.left_out);
    let behind = format!("'{shown}' is damaged: {left_out} lines behind the damage are left out");
    say(args.quiet, left_out > 0, &behind);
    let head = &kept.head;
    let request = request(&head.plan, head.command.clone(), args.budget, !args.no_evidence)?;
    let libraries = libraries(head)?;
    // Only this run's own record is replaced before the run has ended.
    let own = !record.exists() || record::load(record).is_ok_and(|r| r.started == head.started);
    let snapshots = own.then(|| record.to_owned());
    let keeping = Keeping { journal: Some(journal), snapshots, earlier: Some(kept) };
    Ok(Job { request, libraries, output: Some(record.to_owned()), keeping })
}

/// Why there is nothing to go on with.
fn nothing_left(record: &Path, journal: &Path) -> String {
    let (shown, journal) = (record.display(), journal.display());
    let interrupted =
        |r: &Record| r.measurements.iter().any(|m| m.stopped == Some(Stopped::Interrupted));
    match record::load(record) {
        Ok(r) if interrupted(&r) => format!(
            "'{shown}' was interrupted, but '{journal}', which it is gone on from, is not there: measure again"
        ),
        Ok(_) => format!("'{shown}' is whole: there is nothing to go on with"),
        Err(why) if record.exists() => {
            format!("there is no run to go on with: no file '{journal}', and {why}")
        }
        Err(_) => format!("there is no run to go on with: no file '{journal}'"),
    }
}

fn request(
    plan: &Plan,
    command: Vec<String>,
    budget: Option<Duration>,
    evidence: bool,
) -> Result<Request, Failure> {
    let planned = Duration::try_from_secs_f64(plan.budget_seconds).map_err(Failure::usage)?;
    Ok(Request {
        suite: plan.suite.clone(),
        algorithms: choose::algorithms(&plan.algorithms)?,
        directions: plan.directions.clone(),
        models: plan.models.clone(),
        sizes: plan.sizes.clone(),
        tiers: plan.tiers.clone(),
        footprints: plan.footprints.clone(),
        threads: plan.threads.clone(),
        in_place: plan.in_place.clone(),
        latency: plan.latency,
        budget: Budget { precision: plan.precision, time: budget.unwrap_or(planned) },
        evidence,
        seed: plan.seed,
        command,
    })
}

/// The same files again, under the names that they had. Whether they are the same builds is
/// compared by the engine.
fn libraries(head: &JournalHead) -> Result<Vec<Attached>, Failure> {
    let choices: Vec<LibraryChoice> = head
        .libraries
        .iter()
        .map(|(_, facts)| LibraryChoice::Path {
            name: facts.name.clone(),
            path: facts.path.clone().into(),
        })
        .collect();
    let mut found = engine::discover(&choices);
    for (attached, (given, _)) in found.iter_mut().zip(&head.libraries) {
        attached.given_name.clone_from(given);
    }
    match found.iter().find_map(|l| l.facts.error.as_ref().map(|e| (l, e))) {
        Some((library, why)) => {
            Err(Failure::usage(format!("library '{}': {why}", library.facts.path)))
        }
        None => Ok(found),
    }
}
