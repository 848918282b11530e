//! `ciphermark verify`: every check, no timing.

use crate::args::VerifyArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::{Attached, Verdict};
use model::Algorithm;
use record::State;
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Runs the checks over what the libraries offer and prints what they found.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(path) = &args.vectors {
        return super::vectors::vectors(args, path);
    }
    let algorithms = match args.algorithm.as_slice() {
        [] => Algorithm::all().iter().collect(),
        globs => choose::algorithms(globs)?,
    };
    let libraries = choose::attached(&args.library)?;
    let pairs = pairs(&libraries, &algorithms);
    if pairs.is_empty() {
        return Err(Failure::not_done("no library that was selected offers any of the algorithms"));
    }
    let bar = Bar::new(args.quiet);
    let count = AtomicUsize::new(0);
    let verdicts = engine::verify_all(&libraries, &pairs, &AtomicBool::new(false), &|| {
        bar.verifying(count.fetch_add(1, Ordering::Relaxed) + 1, pairs.len());
    });
    bar.finish();
    if args.json {
        print_json(&libraries, &verdicts)?
    } else {
        print_text(&libraries, &verdicts)?
    }
    let bad =
        verdicts.iter().any(|v| matches!(&v.outcome, Err(f) if f.state != State::Unsupported));
    Ok(if bad { Exit::Found } else { Exit::Done })
}

/// What is offered in at least one direction and model, or failed to open.
fn pairs(
    libraries: &[Attached],
    algorithms: &[&'static Algorithm],
) -> Vec<(usize, &'static Algorithm)> {
    let mut pairs = Vec::new();
    for (i, library) in libraries.iter().enumerate() {
        for algorithm in algorithms {
            let mut offers = library.offers.iter().filter(|o| o.algorithm == algorithm.name);
            if offers.any(|o| !o.models.is_empty() || o.failed) {
                pairs.push((i, *algorithm));
            }
        }
    }
    pairs
}

fn print_text(libraries: &[Attached], verdicts: &[Verdict]) -> Result<(), Failure> {
    let rows: Vec<report::CheckRow> = verdicts
        .iter()
        .map(|v| report::CheckRow {
            library: libraries[v.library].label(),
            algorithm: v.algorithm.to_owned(),
            outcome: match &v.outcome {
                Ok(checks) => Ok(checks.clone()),
                Err(f) => Err((f.state, f.why.clone())),
            },
        })
        .collect();
    screen::print(|options| report::checks(&rows, options))
}

fn print_json(libraries: &[Attached], verdicts: &[Verdict]) -> Result<(), Failure> {
    let rows: Vec<_> = verdicts
        .iter()
        .map(|v| {
            let facts = &libraries[v.library].facts;
            let (state, reason, checks) = match &v.outcome {
                Ok(checks) => ("passed", None, checks.as_slice()),
                Err(f) => (f.state.name(), Some(&f.why), [].as_slice()),
            };
            json!({
                "library": {"name": facts.name, "version": facts.version, "path": facts.path, "id": facts.id},
                "algorithm": v.algorithm, "state": state, "reason": reason, "checks": checks,
            })
        })
        .collect();
    let text = serde_json::to_string_pretty(&rows).map_err(Failure::not_done)?;
    screen::print(|_| format!("{text}\n"))
}
