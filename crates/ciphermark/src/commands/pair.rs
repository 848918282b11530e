//! `ciphermark pair`: two libraries compared on one case until there is a verdict.

use super::pair_advice::advice;
use super::run::{plain_request, random_seed, watch_signals};
use crate::args::{PairArgs, PairFailArg};
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::{choose, screen};
use base::analysis::Verdict;
use base::model::Algorithm;
use engine::{Attached, Budget, PairBench, PairError, PairOutcome, Request};
use record::State;
use serde_json::{Value, json};

/// Compares the two as often as asked and prints the verdicts.
pub fn pair(args: &PairArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    let libraries = vec![choose::only(&args.base)?, choose::only(&args.new)?];
    let stop = watch_signals()?;
    let bar = Bar::new(args.quiet);
    let mut bench = PairBench::new(&request, &libraries, args.margin).map_err(failure)?;
    let mut outcomes = Vec::new();
    for done in 0..args.trials {
        bar.comparing(done as usize, args.trials as usize);
        outcomes.push(bench.trial(&stop).map_err(failure)?);
        if stop.is_interrupted() {
            break;
        }
    }
    bar.finish();
    if args.json {
        screen::print_json(&document(args, &request, &libraries, &outcomes))?;
    } else {
        screen::print(|_| text_of(args, &request, &libraries, &outcomes))?;
    }
    // Several trials test the verdicts, not the libraries.
    let fails = matches!(&outcomes[..], [only] if fails(&args.fail_if, only.verdict));
    Ok(if fails { Exit::Found } else { Exit::Done })
}

fn fails(conditions: &[PairFailArg], verdict: Verdict) -> bool {
    conditions.iter().any(|condition| match condition {
        PairFailArg::Slower => verdict == Verdict::Slower,
        PairFailArg::Faster => verdict == Verdict::Faster,
        PairFailArg::Undecided => verdict == Verdict::Undecided,
        PairFailArg::Never => false,
    })
}

/// A finding of a check refuses the case; what a library does not offer cannot be compared.
fn failure(error: PairError) -> Failure {
    match &error {
        PairError::Found { finding, .. } if finding.state != State::Unsupported => {
            Failure { exit: Exit::SomeRefused, ..Failure::not_done(error) }
        }
        _ => Failure::not_done(error),
    }
}

fn request(args: &PairArgs) -> Result<Request, Failure> {
    let algorithm = Algorithm::find(&args.algorithm).map_err(Failure::usage)?;
    // A pair ends with a verdict or with its budget, whatever its precision.
    let budget = Budget { precision: 0.0, time: args.budget };
    Ok(Request {
        directions: vec![args.direction],
        models: vec![args.model],
        sizes: vec![args.size],
        tiers: vec![args.tier],
        seed: args.seed.unwrap_or_else(random_seed),
        ..plain_request(vec![algorithm], budget)
    })
}

fn text_of(
    args: &PairArgs,
    request: &Request,
    libraries: &[Attached],
    outcomes: &[PairOutcome],
) -> String {
    let [base, new] = libraries else { return String::new() };
    let algorithm = request.algorithms[0];
    let mut out = format!(
        "{algorithm} of {} bytes: {} against {}\n",
        request.sizes[0],
        new.label(),
        base.label()
    );
    for outcome in outcomes {
        out += &format!("{}\n", line(outcome, args.margin));
    }
    if let [only] = outcomes
        && only.verdict == Verdict::Undecided
    {
        out += &format!("  undecided: {}\n", advice(only, args.margin, args.budget));
    }
    if outcomes.len() > 1 {
        let count = |v: Verdict| outcomes.iter().filter(|o| o.verdict == v).count();
        let all = [Verdict::Same, Verdict::Faster, Verdict::Slower, Verdict::Undecided];
        let counted: Vec<String> =
            all.iter().map(|v| format!("{} {}", count(*v), v.name())).collect();
        out += &format!("{} trials: {}\n", outcomes.len(), counted.join(", "));
    }
    out
}

fn line(o: &PairOutcome, margin: f64) -> String {
    let spent = format!("{} pairs of processes, {:.2} s", o.pairs.len(), o.seconds);
    let clean = o.samples as u64 - o.disturbed.total();
    match o.ratio {
        Some(r) => format!(
            "  {:<9} {} {} per operation; {spent}, {clean} of {} samples clean",
            o.verdict.name(),
            report::change_of_pairs(r, margin),
            o.unit,
            o.samples
        ),
        None => format!(
            "  {:<9} too few pairs within the budget; {spent}, {clean} of {} samples clean",
            o.verdict.name(),
            o.samples
        ),
    }
}

fn document(
    args: &PairArgs,
    request: &Request,
    libraries: &[Attached],
    outcomes: &[PairOutcome],
) -> Value {
    let trials: Vec<Value> = outcomes
        .iter()
        .map(|o| {
            let advice =
                (o.verdict == Verdict::Undecided).then(|| advice(o, args.margin, args.budget));
            let ratio = o.ratio.map(
                |r| json!({"median": r.estimate, "low": r.low, "high": r.high, "level": r.level}),
            );
            json!({
                "verdict": o.verdict.name(), "ratio": ratio, "unit": o.unit, "pairs": o.pairs,
                "seconds": o.seconds, "sampling_seconds": o.sampling_seconds,
                "samples": o.samples, "disturbed": o.disturbed, "advice": advice,
            })
        })
        .collect();
    json!({
        "base": libraries.first().map(super::identity), "new": libraries.last().map(super::identity),
        "algorithm": request.algorithms[0].name, "direction": request.directions[0],
        "model": request.models[0], "size": request.sizes[0], "tier": request.tiers[0],
        "margin": args.margin, "false_verdicts": base::analysis::FALSE_VERDICTS, "trials": trials,
    })
}
