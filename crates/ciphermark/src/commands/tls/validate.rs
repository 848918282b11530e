//! `ciphermark tls load --validate`: the model against nginx.

use super::super::run::watch_signals;
use crate::args_tls::TlsOutput;
use crate::args_tls_server::ValidateArgs;
use crate::choose;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::screen;
use crate::server::{Calibrating, Course, PARTS};
use judge::load::{Regime, Summary, TOLERANCE, VALIDATION_VERSION, ValidatedPart, Validation};
use record::State;
use std::time::{Duration, Instant};

/// Measures the parts that were asked for and are not in the file yet.
pub(super) fn validate(
    args: &ValidateArgs,
    regimes: &[Regime],
    out: &TlsOutput,
) -> Result<Exit, Failure> {
    let regimes = if regimes.is_empty() { Regime::ALL.to_vec() } else { choose::distinct(regimes) };
    let all = || PARTS.map(str::to_owned).to_vec();
    let names = if args.part.is_empty() { all() } else { args.part.clone() };
    let mut document = earlier(out)?;
    let is_there = |name: &str| document.parts.iter().any(|part| covers(part, name, &regimes));
    let missing: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !is_there(name)).collect();
    let begun = Instant::now();
    let mut left = Vec::new();
    if !missing.is_empty() {
        let nginx = args.course.nginx()?;
        let wanted = args.course.calibrating(Some(nginx), None)?;
        let (stop, bar) = (watch_signals()?, Bar::new(args.course.quiet));
        for (at, name) in missing.iter().copied().enumerate() {
            let Some(budget) = enough(&wanted, name, &regimes, begun, at) else {
                left.push(name);
                continue;
            };
            let course = Course { budget, ..wanted.course };
            let one = Calibrating { course, ..wanted.clone() };
            let points = crate::server::part(name).expect("clap has checked the names");
            let part = crate::server::validate(
                name,
                &points,
                &regimes,
                &one,
                stop.flag(),
                &mut |done, of| {
                    bar.visits(done, of);
                },
            );
            if stop.is_interrupted() {
                // Drop the interrupted part, keep those before it.
                left.extend(&missing[at..]);
                break;
            }
            let is_old = |old: &ValidatedPart| {
                old.name == name && old.rows.iter().any(|row| regimes.contains(&row.regime))
            };
            document.parts.retain(|old| !is_old(old));
            document.parts.push(part.map_err(Failure::not_done)?);
            document.summary = Summary::of(document.parts.iter().flat_map(|part| &part.rows));
            out.keep(&document)?;
        }
        bar.finish();
    }
    screen::print(|options| judge::load::render_validation(&document, out.format, options))?;
    tell_left(&left, args.course.quiet);
    Ok(exit(&document, &left))
}

/// What an earlier run left in the file.
fn earlier(out: &TlsOutput) -> Result<Validation, Failure> {
    let none = Validation {
        format_version: VALIDATION_VERSION.to_owned(),
        kind: "tls-validation".to_owned(),
        tolerance: TOLERANCE,
        parts: Vec::new(),
        summary: Summary::default(),
    };
    out.check::<Validation>()?;
    let Some(path) = out.output.as_deref().filter(|path| path.exists()) else { return Ok(none) };
    let text = record::load_text(path).map_err(Failure::usage)?;
    serde_json::from_str(&text).map(Validation::judged_anew).map_err(Failure::usage)
}

/// Whether the file has all of a part. A part with points that failed, or that there was no time for, is measured
/// again.
fn covers(part: &ValidatedPart, name: &str, regimes: &[Regime]) -> bool {
    part.name == name
        && part.rows.iter().all(|row| row.state != State::Failed)
        && regimes.iter().all(|r| part.rows.iter().any(|row| row.regime == *r))
}

/// The time left for a part, `None` if it is too little. The first part gets whatever there is.
fn enough(
    wanted: &Calibrating,
    name: &str,
    regimes: &[Regime],
    begun: Instant,
    at: usize,
) -> Option<Duration> {
    let left = wanted.course.budget.saturating_sub(begun.elapsed());
    let points = crate::server::part(name).map_or(0, |points| points.len());
    // A point has about two other figures that it is calculated from; a visit takes as long again to prepare.
    let visits = 3.0 * points as f64 * regimes.len() as f64 * f64::from(wanted.course.rounds);
    let needed = Duration::from_secs_f64(visits * 2.0 * wanted.course.visit_seconds);
    (at == 0 || needed <= left).then_some(left)
}

fn tell_left(left: &[&str], quiet: bool) {
    if !left.is_empty() && !quiet {
        anstream::eprintln!(
            "ciphermark: not measured yet: {}; run the same command with the same -o FILE to measure them",
            left.join(", ")
        );
    }
}

fn exit(document: &Validation, left: &[&str]) -> Exit {
    let summary = &document.summary;
    match summary.holds() {
        Some(false) => Exit::Found,
        _ if summary.none > 0 || !left.is_empty() => Exit::SomeRefused,
        None => Exit::NotDone,
        Some(true) => Exit::Done,
    }
}
