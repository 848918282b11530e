//! Going on with a run that was killed or interrupted: plan, libraries and samples come from its
//! journal.

use super::job::Job;
use crate::choose;
use crate::error::Failure;
use engine::{Attached, Budget, LibraryChoice, Request};
use record::{Journal, JournalHead, Plan};
use std::path::Path;
use std::time::Duration;

/// The job that a journal describes. A new budget may be given; else the old one begins anew.
pub fn job(record: &Path, budget: Option<Duration>, evidence: bool) -> Result<Job, Failure> {
    let journal = Journal::path_for(record);
    if !journal.exists() {
        let shown = record.display();
        return Err(Failure::usage(match record::load(record) {
            Ok(_) => format!("'{shown}' is whole: there is nothing to go on with"),
            Err(_) => format!("there is no run to go on with: no file '{}'", journal.display()),
        }));
    }
    let (head, samples) = Journal::read(record).map_err(Failure::usage)?;
    Ok(Job {
        request: request(&head.plan, head.command.clone(), budget, evidence)?,
        libraries: libraries(&head)?,
        output: Some(record.to_owned()),
        earlier: Some((head, samples)),
    })
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
