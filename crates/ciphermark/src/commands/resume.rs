//! Resuming a run that was killed or interrupted: plan, libraries and samples come from its journal.

use super::run::{Job, say};
use crate::args::RunArgs;
use crate::choose;
use crate::error::Failure;
use engine::{Attached, Budget, Keeping, LibraryChoice, Request, Screened};
use record::{Journal, JournalHead, Kept, Plan, Record, Stopped};
use std::path::Path;
use std::time::Duration;

/// The journal of a run that can be resumed, and what it has.
pub fn reopen(record: &Path, quiet: bool) -> Result<(Journal, Kept), Failure> {
    let path = Journal::path_for(record);
    if !path.exists() {
        return Err(Failure::usage(not_resumable(record, &path)));
    }
    let (journal, kept) = Journal::reopen(record).map_err(Failure::usage)?;
    let (shown, left_out) = (path.display(), kept.left_out);
    let behind = format!("'{shown}' is damaged: {left_out} lines after the damage are left out");
    say(quiet, left_out > 0, &behind);
    Ok((journal, kept))
}

/// The job that a journal describes, with a new budget or the old one again.
pub fn job(record: &Path, args: &RunArgs) -> Result<Job, Failure> {
    let (journal, kept) = reopen(record, args.quiet)?;
    if kept.head.kind != "survey" {
        let (shown, kind) = (record.display(), &kept.head.kind);
        return Err(Failure::usage(format!(
            "'{shown}' is a run of kind '{kind}': resume it with `ciphermark {}`",
            if kind == record::at_rest::KIND { "pages" } else { "tls" }
        )));
    }
    let head = &kept.head;
    let request = request(&head.plan, head.command.clone(), args.budget, !args.no_evidence)?;
    let libraries = libraries(head)?;
    // Before the run has ended, replace only its own record.
    let own = !record.exists() || record::load(record).is_ok_and(|r| r.started == head.started);
    let snapshots = own.then(|| record.to_owned());
    let keeping = Keeping { journal: Some(journal), snapshots, earlier: Some(kept) };
    Ok(Job { request, libraries, output: Some(record.to_owned()), keeping })
}

/// Why there is nothing to resume.
fn not_resumable(record: &Path, journal: &Path) -> String {
    let (shown, journal) = (record.display(), journal.display());
    let interrupted =
        |r: &Record| r.measurements.iter().any(|m| m.stopped == Some(Stopped::Interrupted));
    match record::load(record) {
        Ok(r) if interrupted(&r) => format!(
            "cannot resume '{shown}': its journal '{journal}' is missing; run again without --resume"
        ),
        Ok(_) => format!("'{shown}' is complete: there is nothing to resume"),
        Err(why) if record.exists() => {
            format!("there is no run to resume: no file '{journal}', and {why}")
        }
        Err(_) => format!("there is no run to resume: no file '{journal}'"),
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
        screened: Screened::default(),
        seed: plan.seed,
        command,
    })
}

/// The same files again, under the names they had. The engine checks that they are the same builds.
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
