//! What `run --workload` measures: a watched program's own messages, in a loop and after other work, in every library and in
//! the program's own builds.

use crate::commands::choose;
use crate::{Failure, files, screen};
use base::model::{Algorithm, Direction};
use engine::{Attached, Budget, Counting, Request};
use judge::calls::predict::{Workload, workload};
use record::Calls;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// What is measured where nothing else is asked for: numbers between work scatter more than those of loops.
const PRECISION: f64 = 0.02;
const BUDGET: Duration = Duration::from_secs(120);

/// What `run --workload` measures.
pub struct Watched {
    calls: Calls,
    workload: Workload,
}

pub fn workload_at(path: &Path) -> Result<Watched, Failure> {
    let calls = files::calls(path)?;
    let workload = workload(&calls);
    if workload.messages.is_empty() {
        return Err(Failure::usage(format!(
            "'{}': the program encrypted, hashed and authenticated nothing that can be measured again",
            path.display()
        )));
    }
    Ok(Watched { calls, workload })
}

pub fn request(
    watched: &Watched,
    budget: Option<Duration>,
    precision: Option<f64>,
    seed: u64,
) -> Request {
    let cases = watched.workload.cases();
    let named: BTreeSet<&str> = cases.iter().map(|case| &*case.algorithm).collect();
    let distinct = |mut all: Vec<usize>| {
        all.sort_unstable();
        all.dedup();
        all
    };
    let footprints: BTreeSet<_> = cases.iter().map(|case| case.footprint).collect();
    let models: BTreeSet<_> = cases.iter().map(|case| case.model).collect();
    let algorithms = Algorithm::all().iter().filter(|a| named.contains(a.name)).collect();
    let budget =
        Budget { precision: precision.unwrap_or(PRECISION), time: budget.unwrap_or(BUDGET) };
    Request {
        directions: vec![Direction::Encrypt, Direction::Decrypt, Direction::Digest],
        models: models.into_iter().collect(),
        footprints: footprints.into_iter().collect(),
        sizes: distinct(cases.iter().map(|case| case.size).collect()),
        seed,
        cases,
        // What it is swapped for is judged.
        counting: Counting::All,
        ..choose::plain_request(algorithms, budget)
    }
}

/// Those that were asked for, or all; and the builds that the program used.
pub fn libraries(
    asked: &[String],
    watched: &Watched,
    quiet: bool,
) -> Result<Vec<Attached>, Failure> {
    let Watched { calls, workload } = watched;
    let mut attached = choose::attached(asked)?;
    let used: BTreeSet<usize> = workload.messages.iter().map(|one| one.called).collect();
    for (number, place) in used.into_iter().enumerate() {
        let Some(called) = calls.libraries.get(place) else { continue };
        let is_it = |library: &Attached| judge::calls::predict::is_build(called, &library.facts);
        let path = record::expanded(&called.path.to_string_lossy());
        // A watched program's library is a file; what else could be named here would be started.
        if attached.iter().any(is_it) || base::model::runs_elsewhere(&path) {
            continue;
        }
        let name = if number == 0 { "program".to_owned() } else { format!("program-{number}") };
        let shown = called.path.display();
        match choose::attached(&[format!("{name}={}", path.display())]) {
            Ok(own) if own.iter().any(is_it) => attached.extend(own),
            Ok(_) => screen::say(
                quiet,
                true,
                &format!("'{shown}' is not the build any more that the program used"),
            ),
            Err(why) => screen::say(
                quiet,
                true,
                &format!("without the program's own '{shown}': {}", why.message),
            ),
        }
    }
    Ok(attached)
}
