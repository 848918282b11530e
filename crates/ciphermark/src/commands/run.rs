//! `ciphermark run`: measure, verified, and print the ranked table.

use super::job::Job;
use super::resume;
use crate::args::RunArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::suites;
use crate::units::{parse_duration, parse_fraction};
use crate::{choose, screen};
use engine::{Budget, Event, Keeping, Outcome, Request, SurveyError};
use model::{Footprint, Model, Tier};
use record::{Journal, Record, RecordError, State};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Measures what the flags and the suite ask for, or goes on with a run that was cut short.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    screen::check_format(args.format, None)?;
    // First, so that an interrupt finds nothing half made.
    let stop = watch_signals()?;
    let job = match &args.resume {
        Some(path) => resume::job(path, args)?,
        None => fresh(args)?,
    };
    let (record, lost) = measure(args.quiet, job, &stop)?;
    let rows: Vec<_> = record.measurements.iter().collect();
    screen::print_record(&record, &rows, args.format, None)?;
    lost.map_or_else(|| exit(&record), Err)
}

/// Measures what the flags and the suite ask for, without printing.
pub fn record_of(args: &RunArgs) -> Result<Record, Failure> {
    let stop = watch_signals()?;
    let (record, lost) = measure(args.quiet, fresh(args)?, &stop)?;
    lost.map_or(Ok(record), Err)
}

fn fresh(args: &RunArgs) -> Result<Job, Failure> {
    let request = request(args)?;
    let output = args.output.clone();
    let journal = output.as_deref().map(claim_output).transpose()?.flatten();
    // An older record stays until the new one is whole.
    let snapshots = output.clone().filter(|path| journal.is_some() && !path.exists());
    let libraries = choose::attached(&args.filter.library)?;
    let keeping = Keeping { journal, snapshots, earlier: None };
    Ok(Job { request, libraries, output, keeping })
}

fn request(args: &RunArgs) -> Result<Request, Failure> {
    let suite = suites::find(&args.suite)?;
    let filter = &args.filter;
    let algorithms = match filter.algorithm.as_slice() {
        [] => choose::algorithms(&suite.algorithms)?,
        globs => choose::algorithms(globs)?,
    };
    let sizes = filter.size.as_deref().unwrap_or(&suite.sizes);
    let of_suite = |e: String| Failure::usage(format!("suite '{}': {e}", suite.name));
    let budget = Budget {
        precision: match args.precision {
            Some(precision) => precision,
            None => parse_fraction(&suite.precision).map_err(of_suite)?,
        },
        time: match args.budget {
            Some(time) => time,
            None => parse_duration(&suite.budget).map_err(of_suite)?,
        },
    };
    Ok(Request {
        algorithms,
        sizes: model::parse_sizes(sizes).map_err(Failure::usage)?,
        directions: filter.direction.map_or(suite.directions, choose::directions),
        models: or_else(filter.model.iter().copied().map(Model::from).collect(), suite.models),
        tiers: or_else(filter.tier.iter().copied().map(Tier::from).collect(), suite.tiers),
        footprints: or_else(
            filter.footprint.iter().copied().map(Footprint::from).collect(),
            suite.footprints,
        ),
        threads: choose::threads(&or_else(filter.threads.clone(), suite.threads))?,
        in_place: filter.in_place.map_or(suite.in_place, choose::in_place),
        latency: args.latency || suite.latency,
        budget,
        evidence: !args.no_evidence,
        seed: args.seed.unwrap_or_else(random_seed),
        suite: Some(suite.name),
        command: std::env::args().collect(),
    })
}

fn or_else<T>(typed: Vec<T>, suite: Vec<T>) -> Vec<T> {
    if typed.is_empty() { suite } else { typed }
}

/// A seed nobody chose; the record keeps it.
pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// Finds out before measuring whether the record can be written, overwrites no stranger's file, and
/// keeps other runs from writing there; `None` for a pipe or device, which has no place beside it.
pub fn claim_output(path: &Path) -> Result<Option<Journal>, Failure> {
    if path.is_file() && record::load(path).is_err() {
        let shown = path.display();
        return Err(Failure::usage(format!(
            "'{shown}' exists and is no ciphermark record: not overwritten"
        )));
    }
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !directory.is_dir() {
        return Err(Failure::usage(format!("there is no directory '{}'", directory.display())));
    }
    record::check_writable(path).map_err(Failure::usage)?;
    let is_device = path.metadata().is_ok_and(|m| !m.is_file());
    (!is_device).then(|| Journal::claim(path)).transpose().map_err(Failure::usage)
}

/// Measures, with a progress bar; what there is when it is interrupted counts.
pub fn survey(
    quiet: bool,
    request: &Request,
    libraries: &[engine::Attached],
    stop: &AtomicBool,
) -> Result<Record, Failure> {
    let bar = Bar::new(quiet);
    let keeping = Keeping::default();
    let outcome = engine::survey(request, libraries, keeping, stop, &|event| show(&bar, event));
    bar.finish();
    outcome.map(|o| o.record).map_err(Failure::not_done)
}

fn show(bar: &Bar, event: Event<'_>) {
    match event {
        Event::Verifying { done, of } => bar.verifying(done, of),
        Event::Stepping { done, of } => bar.stepping(done, of),
        Event::Sampling(progress) => bar.sampling(&progress),
        Event::Remark(text) => bar.remark(text),
    }
}

/// Measures and, where a file was asked for, saves the record; and why that was not possible.
fn measure(quiet: bool, job: Job, stop: &AtomicBool) -> Result<(Record, Option<Failure>), Failure> {
    if stop.load(Ordering::Relaxed) {
        return Err(Failure::not_done("interrupted before anything was measured"));
    }
    let bar = Bar::new(quiet);
    let Job { request, libraries, output, keeping } = job;
    let outcome = engine::survey(&request, &libraries, keeping, stop, &|event| show(&bar, event));
    bar.finish();
    let outcome = outcome.map_err(|e| match e {
        SurveyError::Resume(_) => Failure::usage(e),
        _ => Failure::not_done(e),
    })?;
    let Some(path) = output else {
        say(quiet, outcome.interrupted, "interrupted; this is what there is");
        return Ok((outcome.record, None));
    };
    if let Err(error) = record::save(&outcome.record, &path) {
        return Ok(unsaved(outcome, &path, &error));
    }
    if outcome.interrupted {
        // The journal stays: that is what the run is gone on from.
        let again = format!("interrupted; go on with: ciphermark run --resume {}", path.display());
        say(quiet, outcome.journal.is_some(), &again);
    } else if let Some(journal) = outcome.journal {
        journal.remove().map_err(Failure::not_done)?;
    }
    Ok((outcome.record, None))
}

/// What was measured is not lost where its place cannot be written: the journal has all of it, or
/// another place does.
fn unsaved(outcome: Outcome, path: &Path, error: &RecordError) -> (Record, Option<Failure>) {
    let Outcome { record, journal, .. } = outcome;
    let shown = path.display();
    let whole = journal.filter(|journal| journal.trouble().is_none());
    let kept = if whole.is_some() {
        format!("; nothing is lost: mend that, then `ciphermark run --resume {shown}`")
    } else {
        elsewhere(&record).map_or(String::new(), |path| format!("; it is in '{path}' instead"))
    };
    (record, Some(Failure::not_done(format!("{error}{kept}"))))
}

/// Writes a record under a new name among the temporary files.
fn elsewhere(record: &Record) -> Option<String> {
    let name = tempfile::Builder::new().prefix("ciphermark-").suffix(".json").tempfile().ok()?;
    record::save(record, name.path()).ok()?;
    let (_, path) = name.keep().ok()?;
    Some(path.display().to_string())
}

/// Remarks on standard error.
pub fn say(quiet: bool, applies: bool, text: &str) {
    if applies && !quiet {
        anstream::eprintln!("ciphermark: {}", text::one_line(text));
    }
}

/// Set by the first interrupt; a second one ends the program at once.
pub fn watch_signals() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::not_done(format!("cannot watch for signals: {e}")))?;
    }
    Ok(stop)
}

fn exit(record: &Record) -> Result<Exit, Failure> {
    let state = |s| record.measurements.iter().any(|m| m.state == s);
    if state(State::Refused) || state(State::Failed) {
        return Ok(Exit::SomeRefused);
    }
    if record.measurements.iter().all(|m| m.state == State::Unsupported) {
        return Err(Failure::not_done(
            "nothing was measured: no library that was selected offers what was asked for; \
             `ciphermark list algorithms` tells who offers what",
        ));
    }
    Ok(Exit::Done)
}
