//! `ciphermark verify`: every check, no timing.

use super::run::random_seed;
use super::tried;
use crate::args::VerifyArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use base::model::{Algorithm, Tier};
use engine::protocol::Finding;
use engine::{Attached, Extra, Subject, Verdict};
use record::State;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the checks on everything the libraries offer and prints the findings.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(path) = &args.vectors {
        return super::vectors::vectors(args, path);
    }
    let algorithms = match args.algorithm.as_slice() {
        [] => Algorithm::all().iter().collect(),
        globs => choose::algorithms(globs)?,
    };
    let mut tiers = choose::tiers(&args.tier)?;
    tiers.sort_unstable();
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &tiers);
    let (subjects, missing) = subjects(&libraries, &tiers, &algorithms);
    if subjects.is_empty() && missing.is_empty() {
        return Err(Failure::not_done(
            "none of the selected libraries offers any of the algorithms",
        ));
    }
    let seed = args.seed.unwrap_or_else(random_seed);
    let extra = Extra { seed, sizes: args.size.as_ref().map_or(&[], |sizes| &sizes.0) };
    let bar = Bar::new(args.quiet);
    let count = AtomicUsize::new(0);
    let verdicts =
        engine::verify_all(&libraries, &subjects, extra, &engine::Stop::default(), &|| {
            bar.verifying(count.fetch_add(1, Ordering::Relaxed) + 1, subjects.len());
        });
    bar.finish();
    if args.json {
        print_json(&libraries, &verdicts, &missing, seed)?
    } else {
        print_text(&libraries, &verdicts, &missing, seed)?
    }
    let findings = verdicts.iter().filter_map(|v| v.outcome.as_ref().err());
    let mut findings = findings.chain(missing.iter().map(|m| &m.why));
    let bad = findings.any(|f| f.state != State::Unsupported);
    Ok(if bad { Exit::Found } else { Exit::Done })
}

/// A library that a tier cannot be applied to.
struct Missing {
    library: usize,
    tier: Tier,
    why: Finding,
}

/// What is offered in at least one direction and model, or failed to open; and the tiers that cannot
/// be applied.
fn subjects(
    libraries: &[Attached],
    tiers: &[Tier],
    algorithms: &[&'static Algorithm],
) -> (Vec<Subject>, Vec<Missing>) {
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for (i, library) in libraries.iter().enumerate() {
        for tier in tiers {
            let offers = match library.offers_at(*tier) {
                Ok(offers) => offers,
                Err(why) => {
                    missing.push(Missing { library: i, tier: *tier, why });
                    continue;
                }
            };
            for algorithm in algorithms {
                let mut own = offers.iter().filter(|o| o.algorithm == algorithm.name);
                if own.any(|o| !o.models.is_empty() || o.failed) {
                    subjects.push((i, *tier, *algorithm));
                }
            }
        }
    }
    (subjects, missing)
}

fn print_text(
    libraries: &[Attached],
    verdicts: &[Verdict],
    missing: &[Missing],
    seed: u64,
) -> Result<(), Failure> {
    let found = |f: &Finding| Err((f.state, f.why.clone()));
    let checked = verdicts.iter().map(|v| report::CheckRow {
        library: libraries[v.library].label(),
        tier: v.tier,
        algorithm: v.algorithm.to_owned(),
        outcome: v.outcome.clone().or_else(|f| found(&f)),
    });
    let missing = missing.iter().map(|m| report::CheckRow {
        library: libraries[m.library].label(),
        tier: m.tier,
        algorithm: "all".to_owned(),
        outcome: found(&m.why),
    });
    let rows: Vec<report::CheckRow> = checked.chain(missing).collect();
    let tried = tried::in_words(libraries, verdicts, seed);
    screen::print(|options| report::checks(&rows, options) + &report::pairs(&tried, options))
}

fn print_json(
    libraries: &[Attached],
    verdicts: &[Verdict],
    missing: &[Missing],
    seed: u64,
) -> Result<(), Failure> {
    let row = |library: usize,
               tier: Tier,
               algorithm: Option<&str>,
               outcome: Result<&[record::Check], &Finding>,
               tried: Option<&verify::Tried>| {
        let (state, reason, checks): (_, _, &[record::Check]) = match outcome {
            Ok(checks) => ("passed", None, checks),
            Err(f) => (f.state.name(), Some(&f.why), &[]),
        };
        json!({
            "library": super::identity(&libraries[library]),
            "tier": tier, "algorithm": algorithm, "state": state, "reason": reason, "checks": checks,
            "seed": seed, "tried": tried,
        })
    };
    let checked = verdicts
        .iter()
        .map(|v| row(v.library, v.tier, Some(v.algorithm), v.outcome.as_deref(), v.tried.as_ref()));
    let missing = missing.iter().map(|m| row(m.library, m.tier, None, Err(&m.why), None));
    let rows: Vec<_> = checked.chain(missing).collect();
    screen::print_json(&rows)
}
