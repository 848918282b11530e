//! Samples into the document.

use super::{HandshakeRequest, Run};
use crate::attached::StackFile;
use crate::kinds::{self, Tls};
use crate::sampling::Sampled;
use crate::track::{End, Track};
use record::{State, Stopped};
use tls::{
    Bytes, Case, Document, Facts, First, Found, Handshake, Measured, Memory, Noise, Subject,
    Temperature, measured,
};

/// The document of a run.
pub(super) fn assemble(run: Run, request: &HandshakeRequest, stacks: &[StackFile]) -> Document {
    let row = |track: &Track| {
        let tls = of_tls(track)?;
        let Subject::Handshake(case) = tls.subject else { return None };
        let label = stacks[tls.stack].facts.label.clone();
        let outcome = outcome(track, &run, request.precision);
        Some(handshake(track, (case, tls.temperature), label, outcome, run.ticks_per_ns))
    };
    Document {
        format_version: tls::FORMAT_VERSION.to_owned(),
        kind: "tls-handshakes".to_owned(),
        handshakes: run.tracks.iter().filter_map(row).collect(),
        started: run.started,
        seconds: run.seconds,
        command: request.command.clone(),
        host: run.host,
        span: tls::SPAN.to_owned(),
        plan: run.plan,
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise: run.noise,
    }
}

/// What a track is of.
pub(super) fn of_tls(track: &Track) -> Option<&Tls> {
    match &track.subject {
        kinds::Subject::Tls(tls) => Some(tls),
        kinds::Subject::Message(_) | kinds::Subject::Page(_) => None,
    }
}

pub(super) fn noise(sampled: &Sampled) -> Noise {
    let record::Noise { samples, clean, disturbed, stolen_seconds, .. } = sampled.noise.clone();
    Noise { samples, clean, disturbed, stolen_seconds, core_alone: sampled.cores_alone }
}

/// What became of a track.
pub(super) struct Outcome {
    pub(super) state: State,
    pub(super) reason: Option<String>,
    pub(super) measured: Option<Measured>,
    pub(super) stopped: Option<Stopped>,
}

/// Sums a track up; `precision` is what it is held to.
pub(super) fn outcome(track: &Track, run: &Run, asked: f64) -> Outcome {
    let precision = track.subject.precision(asked);
    let without = |state, reason: String, stopped| Outcome {
        state,
        reason: Some(reason),
        measured: None,
        stopped,
    };
    let stopped = match &track.end {
        Some(End::Found(finding)) => return without(finding.state, finding.why.clone(), None),
        Some(End::Stopped(why)) => *why,
        None => return without(State::Failed, "it was never visited".to_owned(), None),
    };
    let Some(found) = measured(&track.ends.0, &run.quiet, run.ticks_per_ns) else {
        let why = too_few(track.samples.len(), stopped);
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

fn handshake(
    track: &Track,
    (case, temperature): (Case, Temperature),
    stack: String,
    outcome: Outcome,
    ticks_per_ns: f64,
) -> Handshake {
    let facts: Vec<Facts> = track
        .facts
        .iter()
        .filter_map(|found| match found {
            Found::Handshake(facts) => Some(facts.clone()),
            Found::Records(_) | Found::Primitive(_) => None,
        })
        .collect();
    let found = outcome.measured;
    // What was found of a case without a number is no one's.
    let facts = if found.is_some() { facts } else { Vec::new() };
    Handshake {
        stack,
        case,
        temperature,
        state: outcome.state,
        reason: outcome.reason,
        negotiated: facts.first().map(|f| f.negotiated.clone()),
        server: found.map(|f| f.server),
        client: found.map(|f| f.client),
        first: First::of(&facts, ticks_per_ns),
        bytes: Bytes::of(&facts),
        memory: Memory::of(&facts),
        samples: found.map_or(0, |f| f.samples),
        handshakes: found.map_or(0, |f| f.handshakes),
        processes: found.map_or(0, |f| f.processes),
        disturbed: found.map(|f| f.disturbed).unwrap_or_default(),
        contended: found.is_some_and(|f| f.contended),
        stopped: outcome.stopped,
    }
}
