//! `ciphermark leaks`: what depends on the key.

use super::run::{claim_output, say, watch_signals};
use crate::args::LeaksArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use engine::{AllJudged, Attached, LeakSubject, Secrets};
use model::{Algorithm, Tier};
use record::LeakVerdict;
use report::Format;
use std::time::Instant;

/// Keys with `--thorough`.
const THOROUGH: u32 = 64;

/// Judges the chosen algorithms of the chosen libraries and prints the verdicts.
pub fn leaks(args: &LeaksArgs) -> Result<Exit, Failure> {
    let algorithms = match args.algorithm.as_slice() {
        [] => Algorithm::all().iter().collect(),
        globs => choose::algorithms(globs)?,
    };
    let tiers = choose::distinct(&args.tier);
    let journal = args.output.as_deref().map(claim_output).transpose()?.flatten();
    let stop = watch_signals()?;
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &tiers);
    let subjects = subjects(&libraries, &tiers, &algorithms);
    if subjects.is_empty() {
        return Err(Failure::not_done(
            "nothing to judge: none of the selected libraries offers any of the algorithms with a key",
        ));
    }
    let stop = args.budget.map_or_else(|| stop.clone(), |time| stop.within(time));
    let judged = judge(args, &libraries, &subjects, &stop);
    say(args.quiet, !judged.left_out.is_empty(), &left_out(&libraries, &judged, subjects.len()));
    let exit = exit(&judged);
    if let Some(path) = &args.output {
        let command = std::env::args().collect();
        let record = engine::record_of_leaks(&libraries, judged.leaks.clone(), command);
        record::save(&record, path).map_err(Failure::not_done)?;
    }
    if let Some(journal) = journal {
        journal.remove().map_err(Failure::not_done)?;
    }
    if args.json {
        screen::print_json(&judged.leaks)?;
    } else {
        screen::print(|options| {
            let traces = judged.traces.iter().map(|line| format!("{line}\n"));
            traces
                .fold(report::leaks(&judged.leaks, Format::Table, options), |all, line| all + &line)
        })?;
    }
    Ok(exit)
}

fn judge(
    args: &LeaksArgs,
    libraries: &[Attached],
    subjects: &[LeakSubject],
    stop: &engine::Stop,
) -> AllJudged {
    let secrets = Secrets {
        count: if args.thorough { THOROUGH } else { args.secrets },
        sizes: args.size.as_ref().map(|sizes| sizes.0.clone()).unwrap_or_default(),
        trace: args.trace.clone(),
    };
    let (bar, begun) = (Bar::new(args.quiet), Instant::now());
    let judged = engine::judge_leaks(libraries, subjects, &secrets, stop, &|done, of| {
        let each = begun.elapsed() / u32::try_from(done.max(1)).unwrap_or(u32::MAX);
        bar.judging(done, of, each * u32::try_from(of - done).unwrap_or(u32::MAX));
    });
    bar.finish();
    judged
}

/// What has a key and is offered as whole messages.
fn subjects(
    libraries: &[Attached],
    tiers: &[Tier],
    algorithms: &[&'static Algorithm],
) -> Vec<LeakSubject> {
    let keyed = || algorithms.iter().filter(|a| LeakSubject::has_secret(a));
    let of = |(library, tier): (usize, Tier)| {
        let offers = libraries[library].offers_at(tier).unwrap_or_default();
        let offered = move |name: &str| {
            let mut own = offers.iter().filter(|offer| offer.algorithm == name);
            own.any(|offer| offer.models.contains(&model::Model::Message))
        };
        let own = keyed().filter(move |a| offered(a.name));
        own.map(move |a| LeakSubject { library, tier, algorithm: a.name.to_owned() })
    };
    let all = (0..libraries.len()).flat_map(|l| tiers.iter().map(move |tier| (l, *tier)));
    all.flat_map(of).collect()
}

/// What there was no time for: how many, and the first of them.
fn left_out(libraries: &[Attached], judged: &AllJudged, of: usize) -> String {
    const NAMED: usize = 4;
    let name =
        |s: &LeakSubject| format!("{} {} {}", libraries[s.library].label(), s.algorithm, s.tier);
    let names: Vec<String> = judged.left_out.iter().take(NAMED).map(name).collect();
    let more = if judged.left_out.len() > NAMED { ", …" } else { "" };
    format!("left out: {} of {of} ({}{more})", judged.left_out.len(), names.join(", "))
}

fn exit(judged: &AllJudged) -> Exit {
    let all = &judged.leaks;
    if all.iter().any(|l| l.verdict == LeakVerdict::Depends) {
        Exit::Found
    } else if !judged.left_out.is_empty() || all.iter().any(|l| l.reason.is_some()) {
        Exit::SomeRefused
    } else {
        Exit::Done
    }
}
