//! Samples into the document.

use super::HandshakeRequest;
use super::schedule::{End, Sampled, Track};
use super::stacks::StackFile;
use model::QuietRates;
use record::{Host, State, Stopped};
use tls::{Bytes, Document, First, Handshake, Measured, Memory, Noise, Plan, measured};

/// What is known of the run as a whole.
pub(super) struct Run {
    pub(super) started: String,
    pub(super) seconds: f64,
    pub(super) host: Host,
    pub(super) plan: Plan,
}

/// The document of a run.
pub(super) fn assemble(
    run: Run,
    request: &HandshakeRequest,
    stacks: &[StackFile],
    sampled: Sampled,
    ticks_per_ns: f64,
) -> Document {
    let noise = noise(&sampled);
    let row = |track: &Track| {
        let label = stacks[track.stack].facts.label();
        handshake(track, label, &sampled.quiet, track.precision(request.precision), ticks_per_ns)
    };
    Document {
        format_version: tls::FORMAT_VERSION.to_owned(),
        kind: "tls-handshakes".to_owned(),
        started: run.started,
        seconds: run.seconds,
        command: request.command.clone(),
        host: run.host,
        span: tls::SPAN.to_owned(),
        plan: run.plan,
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise,
        handshakes: sampled.tracks.iter().map(row).collect(),
    }
}

fn noise(sampled: &Sampled) -> Noise {
    let mut noise = Noise {
        stolen_seconds: sampled.stolen_seconds,
        core_alone: sampled.core_alone,
        ..Noise::default()
    };
    for sample in sampled.tracks.iter().flat_map(|t| &t.samples) {
        noise.samples += 1;
        match sample.server.disturbance(sampled.quiet.of(sample.server.cpu)) {
            None => noise.clean += 1,
            Some(why) => noise.disturbed.add(why, 1),
        }
    }
    noise
}

fn handshake(
    track: &Track,
    stack: String,
    quiet: &QuietRates,
    precision: f64,
    ticks_per_ns: f64,
) -> Handshake {
    let mut row = Handshake {
        stack,
        case: track.case,
        temperature: track.temperature,
        state: State::Failed,
        reason: None,
        negotiated: None,
        server: None,
        client: None,
        first: None,
        bytes: None,
        memory: None,
        samples: 0,
        handshakes: 0,
        processes: 0,
        disturbed: record::Disturbances::default(),
        contended: false,
        stopped: None,
    };
    match &track.end {
        Some(End::Found(finding)) => {
            (row.state, row.reason) = (finding.state, Some(finding.why.clone()));
        }
        Some(End::Stopped(why)) => {
            row.stopped = Some(*why);
            match measured(&track.samples, quiet, ticks_per_ns) {
                Some(found) => fill(&mut row, track, found, precision, ticks_per_ns),
                None => row.reason = Some(too_few(track.samples.len(), *why)),
            }
        }
        None => row.reason = Some("it was never visited".to_owned()),
    }
    row
}

fn too_few(samples: usize, stopped: Stopped) -> String {
    match stopped {
        Stopped::Interrupted => {
            format!("interrupted after {samples} samples, too few for a number")
        }
        _ => format!("{samples} samples in the time budget, too few for a number; raise --budget"),
    }
}

fn fill(row: &mut Handshake, track: &Track, found: Measured, precision: f64, ticks_per_ns: f64) {
    if found.contended || found.precision() > precision || !found.complete {
        let is = found.precision() * 100.0;
        let mut reason =
            format!("precision not reached: {is:.1} % over {} processes", found.processes);
        if found.contended {
            reason.push_str("; too few quiet samples, so contended ones count too");
        }
        row.reason = Some(reason);
    }
    row.state = State::Measured;
    row.negotiated = track.facts.first().map(|f| f.negotiated.clone());
    row.first = First::of(&track.facts, ticks_per_ns);
    row.bytes = Bytes::of(&track.facts);
    row.memory = Memory::of(&track.facts);
    (row.server, row.client) = (Some(found.server), Some(found.client));
    (row.samples, row.handshakes) = (found.samples, found.handshakes);
    (row.processes, row.disturbed) = (found.processes, found.disturbed);
    row.contended = found.contended;
}
