//! Counts of a case against its samples, and the marks of samples against what they say of themselves.

use super::{Code, Findings, figures, is_of_pages};
use base::analysis::of_visits;
use base::model::{Disturbance, QUIET_PROBE_FRACTION, QuietRates, RawSample};
use record::{Measurement, Record, State};

/// Clock readings are written with five digits, probes with four: so near its threshold a sample may lie on either side.
const ROUNDING: f64 = 1e-3;
/// How far the core's clock may move within a sample (`base::model::RawSample`), and within a long one of TLS.
const MOVED: f64 = 0.02;
const MOVED_IN_LONG: f64 = 0.10;

pub(super) fn check(record: &Record, findings: &mut Findings) {
    let quiet = quiet(record);
    let sampled = |m: &Measurement| m.state == State::Measured && !m.raw.is_empty();
    if record.noise.is_none() && record.measurements.iter().any(sampled) {
        findings.unchecked("which samples count: the record has no rates of quiet cores");
    }
    for case in record.measurements.iter().enumerate().filter(|(_, m)| sampled(m)) {
        if let Some(what) = count(record, case.1) {
            findings.of_case(Code::Counts, case, || what);
        }
        let Some(quiet) = quiet.as_ref().filter(|_| !is_of_pages(record)) else { continue };
        if let Some(what) = mark(record, case.1, quiet) {
            findings.of_case(Code::Marks, case, || what);
        }
    }
}

/// The rates of quiet cores; none where the record does not have them.
pub(super) fn quiet(record: &Record) -> Option<QuietRates> {
    let mut rates = QuietRates::default();
    record.noise.as_ref()?.quiet.iter().for_each(|quiet| rates.set(quiet.cpu, quiet.rate));
    Some(rates)
}

/// The first count that is not its samples'.
fn count(record: &Record, m: &Measurement) -> Option<String> {
    let counted = m.raw.clean.iter().filter(|counts| **counts).count() as u64;
    let all = m.raw.len() as u64;
    let threads = u64::from(m.threads.max(1));
    if is_of_pages(record) {
        return differs("samples", m.samples, counted);
    }
    let calls: u64 = m.raw.ops.iter().map(|ops| u64::from(*ops)).sum();
    let processes = figures::summary(m, &figures::counted(m, false), figures::estimator(record))
        .map_or(0, |s| s.processes as u64);
    differs("samples", m.samples, counted / threads)
        .or_else(|| differs("samples_disturbed", m.samples_disturbed, (all - counted) / threads))
        .or_else(|| differs("disturbed", m.disturbed.total(), m.samples_disturbed))
        .or_else(|| differs("processes", m.processes.into(), processes))
        .or_else(|| differs("evidence.outputs_checked", m.evidence.outputs_checked, all))
        .or_else(|| differs("evidence.calls_succeeded", m.evidence.calls_succeeded, calls))
}

fn differs(name: &str, stated: u64, found: u64) -> Option<String> {
    (stated != found).then(|| format!("{name} is {stated}, and its samples give {found}"))
}

/// The first visit whose mark contradicts it.
fn mark(record: &Record, m: &Measurement, quiet: &QuietRates) -> Option<String> {
    let samples: Vec<RawSample> = m.raw.iter().map(|(sample, _)| sample).collect();
    let threads = m.threads.max(1);
    let visits = of_visits(&samples, m.threads, quiet);
    let moved = if record.kind().is_some() { MOVED_IN_LONG } else { MOVED };
    visits.iter().enumerate().find_map(|(at, visit)| {
        let first = at * threads as usize;
        let counts = m.raw.clean[first];
        let rate = if m.contended { 0.0 } else { quiet.of(visit.cpu) };
        if counts {
            let why = surely_disturbed(visit, rate, moved)?;
            Some(format!("sample {first} counts although it was {}", words(why)))
        } else {
            is_surely_clean(visit, rate)
                .then(|| format!("sample {first} does not count although nothing disturbed it"))
        }
    })
}

fn surely_disturbed(visit: &RawSample, rate: f64, moved: f64) -> Option<Disturbance> {
    let lenient = RawSample { clock_after: visit.clock_before, ..*visit };
    let by = (visit.clock_after / visit.clock_before - 1.0).abs();
    lenient
        .disturbance(rate * (1.0 - ROUNDING))
        .or_else(|| (by > moved + ROUNDING).then_some(Disturbance::ClockMoved))
}

fn is_surely_clean(visit: &RawSample, rate: f64) -> bool {
    let by = (visit.clock_after / visit.clock_before - 1.0).abs();
    let is_still = by < MOVED - ROUNDING;
    let is_alone = rate <= 0.0 || visit.probe() > rate * QUIET_PROBE_FRACTION * (1.0 + ROUNDING);
    let lenient = RawSample { clock_after: visit.clock_before, ..*visit };
    is_still && is_alone && lenient.disturbance(0.0).is_none()
}

fn words(why: Disturbance) -> &'static str {
    match why {
        Disturbance::Switched => "switched out",
        Disturbance::Migrated => "moved to another CPU",
        Disturbance::Stolen => "stopped by the hypervisor",
        Disturbance::PagedIn => "waiting for a disk",
        Disturbance::ClockMoved => "taken while the core's clock moved",
        Disturbance::Contended => "taken beside another busy thread",
        Disturbance::Unsettled => "taken before the case had reached its speed",
    }
}
