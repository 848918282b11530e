//! Estimates against the samples that they are of, by the statistics of a run.

use super::{Code, Findings, is_of_pages};
use base::analysis::{
    BETWEEN_RUNS, BETWEEN_RUNS_BEFORE, Estimate, Estimator, Summary, costs_by_process, of_visits,
};
use base::model::{QuietRates, RawSample};
use record::{Measurement, Record, State};

/// Ticks are whole numbers and the tick's length is written exactly: what is left is the last binary digits.
const OF_TICKS: f64 = 1e-9;
/// Clock readings are written with five digits, and an end of an interval is a difference of two figures.
const OF_CYCLES: f64 = 3e-4;

/// Calculates every estimate again.
pub(super) fn check(record: &Record, findings: &mut Findings) {
    let measured =
        || record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured);
    if record.measurements.iter().any(|m| m.state == State::Imported) {
        findings.unchecked("imported figures: they have no samples");
    }
    if record.kind().is_some() && !keeps_samples(record) {
        if measured().next().is_some() {
            findings.unchecked("figures: the record has no samples (written before format 1.4)");
        }
        return;
    }
    for case in measured() {
        if case.1.raw.is_empty() {
            findings.of_case(Code::SamplesMissing, case, || "a figure without samples".to_owned());
        } else if let Some(what) = difference(record, case.1) {
            findings.of_case(Code::Recomputed, case, || what);
        }
    }
}

/// Runs of TLS and of pages kept no samples before format 1.4, and are read as of the one before.
fn keeps_samples(record: &Record) -> bool {
    record.format_version != record::WITHOUT_SAMPLES
}

/// Samples that count, one for each visit, as if nothing had disturbed them: whether they count was decided with more
/// digits than the record has.
pub(super) fn counted(m: &Measurement, all: bool) -> Vec<RawSample> {
    let counts = m.raw.iter().filter(|(_, counts)| all || *counts);
    let samples: Vec<RawSample> = counts.map(|(sample, _)| undisturbed(&sample)).collect();
    of_visits(&samples, m.threads, &QuietRates::default()).into_owned()
}

fn undisturbed(sample: &RawSample) -> RawSample {
    let clock = sample.clock();
    RawSample {
        clock_before: clock,
        clock_after: clock,
        switches: 0,
        voluntary: 0,
        major_faults: 0,
        migrated: false,
        stolen: false,
        unsettled: false,
        ..*sample
    }
}

/// What the record's estimates were made with.
pub(super) fn estimator(record: &Record) -> Estimator {
    match record.format_version.as_str() {
        "1.0" | "1.1" | "1.2" | "1.3" | "1.4" | "1.5" => Estimator::Median,
        _ => Estimator::TrimmedMean,
    }
}

/// What the samples of a case come to, by the way that the run took.
pub(super) fn summary(
    m: &Measurement,
    samples: &[RawSample],
    estimator: Estimator,
) -> Option<Summary> {
    let none = QuietRates::default();
    let full = estimator.summarise(samples, &none);
    match full {
        Some(summary) if m.contended || summary.is_complete() => Some(summary),
        _ if m.contended => None,
        full => estimator.summarise_sparse(samples, &none).or(full),
    }
}

/// What differs, in words.
fn difference(record: &Record, m: &Measurement) -> Option<String> {
    let ns = 1e9 / record.host.clock.ticks_per_second;
    let stated = m.ns_per_op?;
    if is_of_pages(record) {
        return of_page(m, stated, ns, estimator(record));
    }
    let Some(summary) = summary(m, &counted(m, false), estimator(record)) else {
        return Some("its samples are too few for a figure".to_owned());
    };
    let time = scaled(summary.ticks_per_op, ns);
    let of_time = differs("ns_per_op", stated, time, OF_TICKS);
    of_time.or_else(|| match (m.cycles_per_op, summary.cycles_per_op) {
        (Some(stated), Some(found)) => differs("cycles_per_op", stated, found, OF_CYCLES),
        (None, None) => None,
        (Some(_), None) => {
            Some("it has core cycles, and not every sample has a clock reading".to_owned())
        }
        (None, Some(_)) => {
            Some("its samples have clock readings, and it has no core cycles".to_owned())
        }
    })
}

fn scaled(ticks: Estimate, ns: f64) -> Estimate {
    Estimate { median: ticks.median * ns, low: ticks.low * ns, high: ticks.high * ns }
}

fn differs(name: &str, stated: Estimate, found: Estimate, within: f64) -> Option<String> {
    let slack = within * found.median.abs();
    let is_off = |a: f64, b: f64| (a - b).abs() > slack || !(a - b).is_finite();
    if is_off(stated.median, found.median) {
        let (stated, found) = (stated.median, found.median);
        return Some(format!("{name} is {stated:.6}, and its samples give {found:.6}"));
    }
    let ends = |of: Estimate| is_off(stated.low, of.low) || is_off(stated.high, of.high);
    (ends(found) && ends(as_before(found))).then(|| {
        format!(
            "the interval of {name} is {:.6} to {:.6}, and its samples give {:.6} to {:.6}",
            stated.low, stated.high, found.low, found.high
        )
    })
}

/// An estimate with the interval of older records, in which a run's costs shared less.
fn as_before(found: Estimate) -> Estimate {
    let Estimate { median, low, high } = found;
    let side = |end: f64| {
        let scatter = ((end - median).powi(2) - (median * BETWEEN_RUNS).powi(2)).max(0.0).sqrt();
        scatter.hypot(median * BETWEEN_RUNS_BEFORE)
    };
    Estimate { median, low: median - side(low), high: median + side(high) }
}

/// Of a page all samples count where the undisturbed ones are too few, an interrupted run may have one process, and an
/// interval has to be complete.
fn of_page(m: &Measurement, stated: Estimate, ns: f64, estimator: Estimator) -> Option<String> {
    let clean = counted(m, false);
    let all = || counted(m, true);
    let ticks = match summary(m, &clean, estimator).or_else(|| summary(m, &all(), estimator)) {
        Some(summary) if summary.is_complete() => summary.ticks_per_op,
        Some(summary) => Estimate::exactly(summary.ticks_per_op.median),
        None => match estimator.of(&mut costs_by_process(&all(), RawSample::ticks_per_op)) {
            Some(middle) => Estimate::exactly(middle),
            None => return Some("its samples are too few for a figure".to_owned()),
        },
    };
    differs("ns_per_op", stated, scaled(ticks, ns), OF_TICKS)
}

/// Ticks of one operation in one of several threads, by its samples that count.
pub(super) fn of_one_thread(samples: &[RawSample], estimator: Estimator) -> Option<f64> {
    let samples: Vec<RawSample> = samples.iter().map(undisturbed).collect();
    Some(estimator.summarise(&samples, &QuietRates::default())?.ticks_per_op.median)
}
