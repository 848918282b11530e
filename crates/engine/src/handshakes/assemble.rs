//! Samples into the run's rows.

use super::rows::{Sampled, Sum};
use super::{Run, TlsRequest};
use crate::attached::StackFile;
use crate::case_progress::{CaseProgress, End};
use crate::kinds;
use record::tls::{Measured, both_ends, measured};
use record::{Samples, State, Stopped, Tool};

/// The run, and every sample of both parts of each row.
pub(super) fn assemble<R: Sampled>(
    run: Run,
    request: &TlsRequest,
    stacks: &[StackFile],
) -> (record::tls::Run<R>, Vec<[Samples; 2]>) {
    let mut all_progress: Vec<&CaseProgress> = run.all_progress.iter().collect();
    if R::IS_BY_SIZE {
        // Each stack's sizes of a suite one below the other.
        all_progress.sort_by_key(|progress| progress.subject.pool_key());
    }
    let row = |progress: &CaseProgress| {
        let kinds::Subject::Tls(tls) = &progress.subject else { return None };
        let outcome = outcome(progress, &run, request.precision);
        let raw = both_ends(&progress.ends.0, &run.quiet, outcome.measured.as_ref());
        let sum = Sum {
            stack: stacks[tls.stack].facts.label.clone(),
            outcome,
            // What was found of a progress without a number is no one's.
            facts: &progress.facts,
            ticks_per_ns: run.ticks_per_ns,
        };
        Some((R::of(tls.subject, tls.temperature, sum)?, raw))
    };
    let (rows, raw) = all_progress.into_iter().filter_map(row).unzip();
    let tool = Tool {
        name: "ciphermark".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: request.command.clone(),
    };
    let run = record::tls::Run {
        tool,
        started: run.started,
        seconds: run.seconds,
        host: run.host,
        span: R::SPAN.to_owned(),
        plan: run.plan,
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise: run.noise,
        rows,
    };
    (record::shared(run), raw)
}

/// What became of a progress.
#[derive(Debug)]
pub struct Outcome {
    pub(super) state: State,
    pub(super) reason: Option<String>,
    pub(super) measured: Option<Measured>,
    pub(super) stopped: Option<Stopped>,
}

/// Sums a progress up; `precision` is what it is held to.
fn outcome(progress: &CaseProgress, run: &Run, asked: f64) -> Outcome {
    let precision = progress.subject.precision(asked);
    let without = |state, reason: String, stopped| Outcome {
        state,
        reason: Some(reason),
        measured: None,
        stopped,
    };
    let stopped = match &progress.end {
        Some(End::Found(finding)) => {
            return without(finding.state, finding.why.clone(), finding.stopped);
        }
        Some(End::Stopped(why)) => *why,
        None => return without(State::Failed, "it was never visited".to_owned(), None),
    };
    let Some(found) = measured(&progress.ends.0, &run.quiet, run.ticks_per_ns) else {
        let why = too_few(progress.samples.len(), stopped);
        return without(State::Failed, why, Some(stopped));
    };
    Outcome {
        state: State::Measured,
        reason: imprecise(&found, precision),
        measured: Some(found),
        stopped: Some(stopped),
    }
}

fn too_few(samples: usize, stopped: Stopped) -> String {
    match stopped {
        Stopped::Interrupted => {
            format!("interrupted after {samples} samples, too few for a number")
        }
        _ => format!("{samples} samples in the time budget, too few for a number; raise --budget"),
    }
}

/// Why a figure is not as good as it was to be.
fn imprecise(found: &Measured, precision: f64) -> Option<String> {
    if !found.contended && found.precision() <= precision && found.complete {
        return None;
    }
    let is = found.precision() * 100.0;
    let mut reason = format!("precision not reached: {is:.1} % over {} processes", found.processes);
    if found.contended {
        reason.push_str("; too few quiet samples, so contended ones count too");
    }
    Some(reason)
}
