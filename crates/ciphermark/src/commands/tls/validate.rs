//! `ciphermark tls load --validate`: the model, held to nginx.

use super::super::run::watch_signals;
use super::calibrate::{not_done, regimes};
use super::check_output;
use super::load::keep;
use crate::args_tls::TlsFormat;
use crate::args_tls_server::ValidateArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::screen;
use record::State;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tls_load::{Regime, Summary, TOLERANCE, VALIDATION_VERSION, ValidatedPart, Validation};
use tls_server::{Calibrating, Course, PARTS};

/// Regimes where none is named: the two that the model is held to.
const REGIMES: &str = "steady,saturated";

/// Measures the parts that were asked for and are not in the file yet.
pub(super) fn validate(
    args: &ValidateArgs,
    regime: Option<&str>,
    format: TlsFormat,
    output: Option<&Path>,
) -> Result<Exit, Failure> {
    let regimes = regimes(regime.unwrap_or(REGIMES).split(','))?;
    let names = names(&args.part)?;
    let mut document = earlier(output)?;
    let is_there = |name: &str| document.parts.iter().any(|part| covers(part, name, &regimes));
    let missing: Vec<&str> = names.iter().copied().filter(|name| !is_there(name)).collect();
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
            let points = tls_server::part(name).expect("names were looked up");
            let part =
                tls_server::validate(name, &points, &regimes, &one, &stop, &mut |done, of| {
                    bar.visits(done, of);
                });
            if stop.load(Ordering::Relaxed) {
                // A part that was interrupted is no part; those before it are kept.
                left.extend(&missing[at..]);
                break;
            }
            let is_old = |old: &ValidatedPart| {
                old.name == name && old.rows.iter().any(|row| regimes.contains(&row.regime))
            };
            document.parts.retain(|old| !is_old(old));
            document.parts.push(part.map_err(not_done)?);
            document.summary = Summary::of(document.parts.iter().flat_map(|part| &part.rows));
            keep(output, &document)?;
        }
        bar.finish();
    }
    screen::print(|options| tls_load::render_validation(&document, format.into(), options))?;
    tell_left(&left, args.course.quiet);
    Ok(exit(&document, &left))
}

/// The parts that were asked for.
fn names(typed: &[String]) -> Result<Vec<&'static str>, Failure> {
    if typed.is_empty() {
        return Ok(PARTS.to_vec());
    }
    let named = |text: &String| {
        let known = PARTS.iter().copied().find(|name| name == text);
        known.ok_or_else(|| {
            let all = PARTS.join(", ");
            Failure::usage(format!("unknown part '{text}': one of {all}"))
        })
    };
    typed.iter().map(named).collect()
}

/// What an earlier run left in the file.
fn earlier(output: Option<&Path>) -> Result<Validation, Failure> {
    let none = Validation {
        format_version: VALIDATION_VERSION.to_owned(),
        kind: "tls-validation".to_owned(),
        tolerance: TOLERANCE,
        parts: Vec::new(),
        summary: Summary::default(),
    };
    let Some(path) = output else { return Ok(none) };
    check_output::<Validation>(path)?;
    if !path.exists() {
        return Ok(none);
    }
    let text = record::load_text(path).map_err(Failure::usage)?;
    serde_json::from_str(&text).map_err(Failure::usage)
}

/// Whether a part of the file has all that is asked for of this one. One with points that failed, or that there was
/// no time for, is measured again.
fn covers(part: &ValidatedPart, name: &str, regimes: &[Regime]) -> bool {
    part.name == name
        && part.rows.iter().all(|row| row.state != State::Failed)
        && regimes.iter().all(|r| part.rows.iter().any(|row| row.regime == *r))
}

/// The time that is left for a part; none where it would not do. The first one has whatever there is.
fn enough(
    wanted: &Calibrating,
    name: &str,
    regimes: &[Regime],
    begun: Instant,
    at: usize,
) -> Option<Duration> {
    let left = wanted.course.budget.saturating_sub(begun.elapsed());
    let points = tls_server::part(name).map_or(0, |points| points.len());
    // A point has about two other figures that it is calculated from; a visit takes as long again to prepare.
    let visits = 3.0 * points as f64 * regimes.len() as f64 * f64::from(wanted.course.rounds);
    let needed = Duration::from_secs_f64(visits * 2.0 * wanted.course.visit_seconds);
    (at == 0 || needed <= left).then_some(left)
}

fn tell_left(left: &[&str], quiet: bool) {
    if !left.is_empty() && !quiet {
        anstream::eprintln!(
            "ciphermark: not measured yet: {}; the same command with the same -o FILE goes on with them",
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
