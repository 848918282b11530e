//! Figures that follow from others of the record.

use super::{Code, Findings, figures, is_close, is_of_pages};
use base::analysis::{Ticks, fit_line};
use base::model::{Algorithm, Direction, Footprint, Kind, Model, Tier};
use record::{Fit, LibraryId, Measurement, Record, State};
use std::collections::BTreeMap;

/// Figures are written exactly; a sum may differ in its last digits.
const EXACT: f64 = 1e-9;
/// What follows from cycles by another way than the run's is off by the rounding of clock readings.
const OF_CYCLES: f64 = 3e-4;

/// All that cases have in common which differ in their size only.
type Series<'a> = (&'a LibraryId, &'a str, Direction, Model, Tier, u32, Footprint, bool);
type BySeries<'a> = BTreeMap<Series<'a>, Vec<&'a Measurement>>;

fn series(m: &Measurement, model: Model) -> Series<'_> {
    (&m.library, &m.algorithm, m.direction, model, m.tier, m.threads, m.footprint, m.in_place)
}

pub(super) fn check(record: &Record, findings: &mut Findings) {
    let measured =
        || record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured);
    let mut all = BySeries::new();
    measured().for_each(|(_, m)| all.entry(series(m, m.model)).or_default().push(m));
    for case in measured() {
        if let Some((name, stated, found)) = first_difference(record, case.1, &all) {
            findings.of_case(Code::Derived, case, || {
                format!("{name} is {}, and follows as {}", shown(stated), shown(found))
            });
        }
    }
    for fit in &record.fits {
        if let Some(what) = of_fit(fit, &all) {
            findings.doubt(Code::Derived, what);
        }
    }
}

fn shown(figure: Option<f64>) -> String {
    figure.map_or_else(|| "missing".to_owned(), |figure| format!("{figure:.6}"))
}

type Difference = (&'static str, Option<f64>, Option<f64>);

fn first_difference(record: &Record, m: &Measurement, series: &BySeries<'_>) -> Option<Difference> {
    let ns = m.ns_per_op?.median;
    let bytes = m.size as f64;
    let has_bytes = m.size > 0 && m.model.has_bytes();
    let of_bytes = |x: f64| has_bytes.then_some(x);
    let moves = Algorithm::find(&m.algorithm).is_ok_and(|a| a.kind != Kind::Null);
    let rate = of_bytes(bytes / ns * 1e3 * f64::from(m.threads.max(1)));
    let cycles = m.cycles_per_op.map(|c| c.median);
    let of_core = |x: f64| cycles.map(|cycles| cycles / x);
    let mut all: Vec<(Difference, f64)> = vec![
        (("ns_per_byte", m.ns_per_byte, of_bytes(ns / bytes)), EXACT),
        (("cycles_per_byte", m.cycles_per_byte, of_core(bytes).filter(|_| has_bytes)), EXACT),
    ];
    // What moves no bytes has no rate, and names of schemes are no algorithms.
    if m.mb_per_s.is_some() || (moves && has_bytes) {
        all.push((("mb_per_s", m.mb_per_s, rate), EXACT));
    }
    if let Some(limit) = m.limit_cycles_per_op {
        all.push((("limit_fraction", m.limit_fraction, cycles.map(|c| limit / c)), EXACT));
    }
    if !is_of_pages(record) && !m.raw.is_empty() {
        all.push((("precision", m.precision, precision(m)), OF_CYCLES));
    }
    all.extend(setup(m, series).map(|difference| (difference, EXACT)));
    all.extend(percentiles(record, m).map(|difference| (difference, EXACT)));
    all.extend(of_threads(record, m).map(|difference| (difference, EXACT)));
    let is_off = |((_, stated, found), within): &(Difference, f64)| match (stated, found) {
        (Some(stated), Some(found)) => !is_close(*stated, *found, *within),
        (None, None) => false,
        _ => true,
    };
    all.into_iter().find(is_off).map(|(difference, _)| difference)
}

/// A survey's is of the cycles where they are known; of TLS the worse of both ends is what a case is held to.
fn precision(m: &Measurement) -> Option<f64> {
    let estimate = m.cycles_per_op.or(m.ns_per_op)?;
    Some(estimate.precision())
}

/// What a new key costs.
fn setup(m: &Measurement, all: &BySeries<'_>) -> Option<Difference> {
    let stated = m.key_setup.filter(|_| m.model == Model::Rekey)?;
    let base = all.get(&series(m, Model::Message))?.iter().find(|base| base.size == m.size)?;
    let found = m.ns_per_op?.median - base.ns_per_op?.median;
    Some(("key_setup.ns", Some(stated.ns), Some(found)))
}

/// The median of single operations.
fn percentiles(record: &Record, m: &Measurement) -> Option<Difference> {
    let latency = m.latency_ns.as_ref()?;
    let mut ticks = Ticks::default();
    latency.ticks.iter().for_each(|(length, operations)| ticks.add(*length, *operations));
    let ns = 1e9 / record.host.clock.ticks_per_second;
    let found = |fraction| ticks.percentile(fraction).map(|ticks| ticks as f64 * ns);
    let all = [
        ("latency_ns.p50", Some(latency.p50), found(0.5)),
        ("latency_ns.p99", latency.p99, found(0.99)),
        ("latency_ns.p99_9", latency.p99_9, found(0.999)),
    ];
    let is_off = |(_, stated, found): &Difference| match (stated, found) {
        (Some(stated), Some(found)) => !is_close(*stated, *found, EXACT),
        (stated, found) => stated.is_some() != found.is_some(),
    };
    all.into_iter().find(is_off)
}

/// The first thread whose time is not its samples'.
fn of_threads(record: &Record, m: &Measurement) -> Option<Difference> {
    let ns = 1e9 / record.host.clock.ticks_per_second;
    let mut shares = m.per_thread.iter().enumerate();
    shares.find_map(|(thread, share)| {
        let own = m.raw.iter().filter(|(s, counts)| *counts && s.thread as usize == thread);
        let own: Vec<_> = own.map(|(sample, _)| sample).collect();
        let found = figures::of_one_thread(&own, figures::estimator(record))? * ns;
        let is_off = !is_close(share.ns_per_op, found, EXACT);
        is_off.then_some(("per_thread.ns_per_op", Some(share.ns_per_op), Some(found)))
    })
}

/// The line through the sizes of a series.
fn of_fit(fit: &Fit, all: &BySeries<'_>) -> Option<String> {
    let Fit { library, algorithm, direction, model, tier, threads, footprint, in_place, .. } = fit;
    let own = all
        .get(&(library, algorithm, *direction, *model, *tier, *threads, *footprint, *in_place))
        .map_or(&[][..], Vec::as_slice);
    let points: Vec<(f64, f64)> =
        own.iter().filter_map(|m| Some((m.size as f64, m.ns_per_op?.median))).collect();
    let name = format!("the line of {} {} {}", fit.library.name, fit.algorithm, fit.direction);
    let Some(line) = fit_line(&points) else {
        return Some(format!("{name} has no cases to go through"));
    };
    // Sums of squares over sizes lose digits.
    let is_off = !is_close(line.slope, fit.ns_per_byte, 1e-6) || fit.sizes.len() != points.len();
    is_off.then(|| {
        format!("{name} has {:.6} ns a byte, and its cases give {:.6}", fit.ns_per_byte, line.slope)
    })
}
