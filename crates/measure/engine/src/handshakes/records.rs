//! `ciphermark tls records`: what sending and receiving cost.

use super::assemble::{of_tls, outcome};
use super::{Run, Wanted, sampled};
use crate::attached::StackFile;
use crate::events::Event;
use crate::sampling::Ended;
use crate::survey::{Keeping, SurveyError};
use crate::track::Track;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tls::{
    Bare, Found, Protection, RecordRow, RecordsDocument, Subject, Temperature, record_lines,
};

/// Which records are to be measured.
#[derive(Clone, Debug)]
pub struct RecordsRequest {
    /// Versions and suites.
    pub protections: Vec<Protection>,
    /// Bytes of data in a record.
    pub sizes: Vec<u32>,
    /// Half the width of the interval at which the sampling of a size ends, as a fraction.
    pub precision: f64,
    /// Most time of sampling.
    pub time: Duration,
    /// Seed of the order.
    pub seed: u64,
    /// The CPU to measure on: of a process that stepped aside before, it would be asked for in vain.
    pub cpu: u32,
    /// What was typed.
    pub command: Vec<String>,
}

/// Measures the records in every stack, without the bare ciphers. Ends early when `stop` is set; what
/// there is counts.
///
/// # Errors
/// As [`super::handshakes`].
pub fn records(
    request: &RecordsRequest,
    stacks: &[StackFile],
    keeping: Keeping,
    stop: &AtomicBool,
    events: &(dyn Fn(Event<'_>) + Sync),
) -> Result<Ended<RecordsDocument>, SurveyError> {
    let of_one = |protection: &Protection| {
        let protection = *protection;
        let of_size = move |size: &u32| Subject::Records { protection, size: *size };
        request.sizes.iter().map(move |size| (of_size(size), Temperature::Hot))
    };
    let wanted = Wanted {
        kind: "tls-records",
        command: &request.command,
        rows: request.protections.iter().flat_map(of_one).collect(),
        precision: request.precision,
        time: request.time,
        seed: request.seed,
        cpu: request.cpu,
    };
    let (run, outcome) = sampled(&wanted, stacks, keeping, stop, events)?;
    let mut tracks: Vec<&Track> = run.tracks.iter().collect();
    // Each stack's sizes of a suite one below the other.
    tracks.sort_by_key(|track| track.subject.bank_key());
    let row = |track: &&Track| row(track, stacks, &run, request.precision);
    let records: Vec<RecordRow> = tracks.iter().filter_map(row).collect();
    Ok(outcome.with(RecordsDocument {
        format_version: tls::FORMAT_VERSION.to_owned(),
        kind: "tls-records".to_owned(),
        started: run.started.clone(),
        seconds: run.seconds,
        command: request.command.clone(),
        host: run.host.clone(),
        span: tls::RECORDS_SPAN.to_owned(),
        plan: run.plan.clone(),
        stacks: stacks.iter().map(|s| s.facts.clone()).collect(),
        noise: run.noise,
        lines: record_lines(&records),
        records,
    }))
}

/// A track's row; none of one that is of no records.
fn row(track: &Track, stacks: &[StackFile], run: &Run, precision: f64) -> Option<RecordRow> {
    let tls = of_tls(track)?;
    let Subject::Records { protection, size } = tls.subject else { return None };
    let outcome = outcome(track, run, precision);
    let facts = track.facts.iter().find_map(|found| match found {
        Found::Records(facts) => Some(facts.clone()),
        Found::Handshake(_) | Found::Primitive(_) => None,
    });
    // What was found of a track without a number is no one's.
    let (measured, facts) = (outcome.measured, facts.filter(|_| outcome.measured.is_some()));
    Some(RecordRow {
        stack: stacks[tls.stack].facts.label.clone(),
        protection,
        size,
        state: outcome.state,
        reason: outcome.reason,
        overhead_bytes: facts.as_ref().map(|f| f.overhead_bytes),
        negotiated: facts.map(|f| f.negotiated),
        send: measured.map(|m| m.server),
        receive: measured.map(|m| m.client),
        bare: Bare { algorithm: protection.suite.cipher().to_owned(), ..Bare::default() },
        samples: measured.map_or(0, |m| m.samples),
        records: measured.map_or(0, |m| m.handshakes),
        processes: measured.map_or(0, |m| m.processes),
        disturbed: measured.map(|m| m.disturbed).unwrap_or_default(),
        contended: measured.is_some_and(|m| m.contended),
        stopped: outcome.stopped,
    })
}
