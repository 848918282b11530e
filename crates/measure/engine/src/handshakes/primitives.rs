//! `ciphermark tls primitives`: what the operations under a handshake cost.

use super::assemble::{of_tls, outcome};
use super::{Run, Wanted, sampled};
use crate::attached::StackFile;
use crate::events::Event;
use crate::placement::measuring_cpu;
use crate::sampling::Ended;
use crate::survey::{Keeping, SurveyError};
use crate::track::Track;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tls::{Found, Primitive, PrimitiveRow, PrimitivesDocument, Subject, Temperature};

/// Which primitives are to be measured.
#[derive(Clone, Debug)]
pub struct PrimitivesRequest {
    /// The operations.
    pub primitives: Vec<Primitive>,
    /// Half the width of the interval at which the sampling of one ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// What was typed.
    pub command: Vec<String>,
}

/// Measures the primitives in the library under every stack. Ends early when `stop` is set; what there is
/// counts.
///
/// # Errors
/// As [`super::handshakes`].
pub fn primitives(
    request: &PrimitivesRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &AtomicBool,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Ended<PrimitivesDocument>, SurveyError> {
    let wanted = Wanted {
        kind: "tls-primitives",
        command: &request.command,
        rows: request
            .primitives
            .iter()
            .map(|p| (Subject::Primitive(*p), Temperature::Hot))
            .collect(),
        precision: request.precision,
        time: request.time,
        seed: request.seed,
        cpu: measuring_cpu(),
    };
    let (run, outcome) = sampled(&wanted, stacks, keeping, stop, events)?;
    let row = |track: &Track| row(track, stacks, &run, request.precision);
    Ok(outcome.with(PrimitivesDocument {
        format_version: tls::FORMAT_VERSION.to_owned(),
        kind: "tls-primitives".to_owned(),
        primitives: run.tracks.iter().filter_map(row).collect(),
        started: run.started.clone(),
        seconds: run.seconds,
        command: request.command.clone(),
        host: run.host.clone(),
        span: tls::PRIMITIVES_SPAN.to_owned(),
        plan: run.plan.clone(),
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise: run.noise,
    }))
}

/// A track's row; none of one that is of no primitive.
fn row(track: &Track, stacks: &[StackFile], run: &Run, precision: f64) -> Option<PrimitiveRow> {
    let tls = of_tls(track)?;
    let Subject::Primitive(primitive) = tls.subject else { return None };
    let outcome = outcome(track, run, precision);
    let measured = outcome.measured;
    let checks = track.facts.iter().find_map(|found| match found {
        Found::Primitive(facts) => Some(facts.checks.clone()),
        Found::Handshake(_) | Found::Records(_) => None,
    });
    Some(PrimitiveRow {
        stack: stacks[tls.stack].facts.label.clone(),
        primitive,
        state: outcome.state,
        reason: outcome.reason,
        // What was held to be so of a row without a number is no one's.
        checks: checks.filter(|_| measured.is_some()).unwrap_or_default(),
        whole: measured.map(|m| m.server),
        call: measured.map(|m| m.client),
        samples: measured.map_or(0, |m| m.samples),
        operations: measured.map_or(0, |m| m.handshakes),
        processes: measured.map_or(0, |m| m.processes),
        disturbed: measured.map(|m| m.disturbed).unwrap_or_default(),
        contended: measured.is_some_and(|m| m.contended),
        stopped: outcome.stopped,
    })
}
