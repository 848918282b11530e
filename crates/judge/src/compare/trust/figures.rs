//! Figures of a record against its own samples and against each other: estimates, counts and marks, what
//! follows from others, instruction counts, and speeds that its core cannot reach.

use crate::compare::trust::{Code, Findings, is_close, is_of_pages};
use base::analysis::bound::{Basis, Core, Operation, Seen, limit, proven};
use base::analysis::{
    BETWEEN_RUNS, BETWEEN_RUNS_BEFORE, Estimate, Estimator, Summary, Ticks, costs_by_process,
    fit_line, of_visits,
};
use base::model::{
    Algorithm, Direction, Disturbance, Footprint, Kind, Model, QUIET_PROBE_FRACTION, QuietRates,
    RawSample, Tier,
};
use record::{Executed, Fit, LibraryId, Measurement, Record, State};
use std::collections::BTreeMap;

/// Ticks are whole numbers and the tick's length is written exactly: what is left is the last binary digits.
const OF_TICKS: f64 = 1e-9;
/// Clock readings are written with five digits, and an end of an interval is a difference of two figures.
const OF_CLOCK_READINGS: f64 = 3e-4;

pub(crate) fn check_estimates(record: &Record, findings: &mut Findings) {
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
    for (at, m) in measured() {
        if m.raw.is_empty() {
            findings.of_case(Code::SamplesMissing, at, m, || "a figure without samples".to_owned());
        } else if let Some(what) = difference(record, m) {
            findings.of_case(Code::Recomputed, at, m, || what);
        }
    }
}

/// Runs of TLS and of pages kept no samples before format 1.4, and are read as of the one before.
fn keeps_samples(record: &Record) -> bool {
    record.format_version != record::WITHOUT_SAMPLES
}

/// Samples that count, one for each visit, as if nothing had disturbed them: whether they count was decided with more
/// digits than the record has.
pub(crate) fn counted_samples(m: &Measurement, all: bool) -> Vec<RawSample> {
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
        interrupted: false,
        ..*sample
    }
}

/// What the record's estimates were made with.
pub(crate) fn estimator(record: &Record) -> Estimator {
    match record.format_version.as_str() {
        "1.0" | "1.1" | "1.2" | "1.3" | "1.4" | "1.5" => Estimator::Median,
        _ => Estimator::TrimmedMean,
    }
}

/// What the samples of a case come to, by the way that the run took.
pub(crate) fn summary(
    m: &Measurement,
    samples: &[RawSample],
    estimator: Estimator,
) -> Option<Summary> {
    let none = QuietRates::default();
    if m.contended {
        return estimator.summarise(samples, &none);
    }
    Some(estimator.best(samples, &none)?.0)
}

fn difference(record: &Record, m: &Measurement) -> Option<String> {
    let ns = 1e9 / record.host.clock.ticks_per_second;
    let stated = m.ns_per_op?;
    if is_of_pages(record) {
        return of_page(m, stated, ns, estimator(record));
    }
    let Some(summary) = summary(m, &counted_samples(m, false), estimator(record)) else {
        return Some("its samples are too few for a figure".to_owned());
    };
    let time = summary.ticks_per_op.map(|ticks| ticks * ns);
    let of_time = estimate_differs("ns_per_op", stated, time, OF_TICKS);
    of_time.or_else(|| match (m.cycles_per_op, summary.cycles_per_op) {
        (Some(stated), Some(found)) => {
            estimate_differs("cycles_per_op", stated, found, OF_CLOCK_READINGS)
        }
        (None, None) => None,
        (Some(_), None) => {
            Some("it has core cycles, and not every sample has a clock reading".to_owned())
        }
        (None, Some(_)) => {
            Some("its samples have clock readings, and it has no core cycles".to_owned())
        }
    })
}

fn estimate_differs(name: &str, stated: Estimate, found: Estimate, within: f64) -> Option<String> {
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
    let clean = counted_samples(m, false);
    let all = || counted_samples(m, true);
    let ticks = match summary(m, &clean, estimator).or_else(|| summary(m, &all(), estimator)) {
        Some(summary) if summary.is_complete() => summary.ticks_per_op,
        Some(summary) => Estimate::exactly(summary.ticks_per_op.median),
        None => match estimator.of(&mut costs_by_process(&all(), RawSample::ticks_per_op)) {
            Some(middle) => Estimate::exactly(middle),
            None => return Some("its samples are too few for a figure".to_owned()),
        },
    };
    estimate_differs("ns_per_op", stated, ticks.map(|ticks| ticks * ns), OF_TICKS)
}

/// Ticks of one operation in one of several threads, by its samples that count.
pub(crate) fn of_one_thread(samples: &[RawSample], estimator: Estimator) -> Option<f64> {
    let samples: Vec<RawSample> = samples.iter().map(undisturbed).collect();
    Some(estimator.summarise(&samples, &QuietRates::default())?.ticks_per_op.median)
}

// Counts of a case against its samples, and the marks of samples against what they say of themselves.

/// Clock readings are written with five digits, probes with four: so near its threshold a sample may lie on either side.
const ROUNDING: f64 = 1e-3;
/// How far the core's clock may move within a sample (`base::model::RawSample`), and within a long one of TLS.
const MOVED: f64 = 0.02;
const MOVED_IN_LONG: f64 = 0.10;

pub(crate) fn check_counts(record: &Record, findings: &mut Findings) {
    let quiet = quiet(record);
    let sampled = |m: &Measurement| m.state == State::Measured && !m.raw.is_empty();
    if record.noise.is_none() && record.measurements.iter().any(sampled) {
        findings.unchecked("which samples count: the record has no rates of quiet cores");
    }
    for (at, m) in record.measurements.iter().enumerate().filter(|(_, m)| sampled(m)) {
        if let Some(what) = count(record, m) {
            findings.of_case(Code::Counts, at, m, || what);
        }
        let Some(quiet) = quiet.as_ref().filter(|_| !is_of_pages(record)) else { continue };
        if let Some(what) = mark(record, m, quiet) {
            findings.of_case(Code::Marks, at, m, || what);
        }
    }
}

/// The rates of quiet cores; none where the record does not have them.
pub(crate) fn quiet(record: &Record) -> Option<QuietRates> {
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
        return count_differs("samples", m.samples, counted);
    }
    let calls: u64 = m.raw.ops.iter().map(|ops| u64::from(*ops)).sum();
    let processes =
        summary(m, &counted_samples(m, false), estimator(record)).map_or(0, |s| s.processes as u64);
    count_differs("samples", m.samples, counted / threads)
        .or_else(|| {
            count_differs("samples_disturbed", m.samples_disturbed, (all - counted) / threads)
        })
        .or_else(|| count_differs("disturbed", m.disturbed.total(), m.samples_disturbed))
        .or_else(|| count_differs("processes", m.processes.into(), processes))
        .or_else(|| count_differs("evidence.outputs_checked", m.evidence.outputs_checked, all))
        .or_else(|| count_differs("evidence.calls_succeeded", m.evidence.calls_succeeded, calls))
}

fn count_differs(name: &str, stated: u64, found: u64) -> Option<String> {
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
        Disturbance::Interrupted => "interrupted",
    }
}

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

pub(crate) fn check_derived(record: &Record, findings: &mut Findings) {
    let measured =
        || record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured);
    let mut all = BySeries::new();
    measured().for_each(|(_, m)| all.entry(series(m, m.model)).or_default().push(m));
    for (at, m) in measured() {
        if let Some((name, stated, found)) = first_difference(record, m, &all) {
            findings.of_case(Code::Derived, at, m, || {
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
        let found = of_one_thread(&own, estimator(record))? * ns;
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

/// Counts are whole numbers, their slope is written exactly.
const EXACT_COUNTS: f64 = 1e-9;
/// Classes add up to the whole but for single instructions that differ between the two sizes.
const OF_SUMS: f64 = 0.05;

pub(crate) fn check_instructions(record: &Record, findings: &mut Findings) {
    if record.executed.is_empty() && record.measurements.iter().any(|m| m.state == State::Measured)
    {
        findings.unchecked("instructions: none were counted");
    }
    for counts in &record.executed {
        if let Some(what) = contradiction(counts) {
            let Executed { library, algorithm, direction, model, tier, .. } = counts;
            findings.doubt(
                Code::Instructions,
                format!(
                    "{} {} {algorithm} {direction} {model} {tier}: {what}",
                    library.name, library.version
                ),
            );
        }
    }
    let counted = counted(record);
    for (at, m) in
        record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured)
    {
        let found = counted(m).map_or((None, None), |e| (e.per_byte, e.per_message));
        if (m.instructions_per_byte, m.instructions_per_message) != found {
            findings.of_case(Code::Instructions, at, m, || {
                "its instruction counts are not those that the record has of its algorithm"
                    .to_owned()
            });
        }
    }
}

fn contradiction(counts: &Executed) -> Option<String> {
    if counts.source.as_deref() != Some("single-step") {
        return None;
    }
    let (per_byte, per_message) = (counts.per_byte?, counts.per_message?);
    let [small, large] = match counts.slope_sizes[..] {
        [small, large] => [small, large],
        _ => {
            let last = counts.sizes.len().checked_sub(2)?;
            [counts.sizes[last].size, counts.sizes[last + 1].size]
        }
    };
    let at = |size| counts.sizes.iter().find(|s| s.size == size).map(|s| s.instructions as f64);
    let (Some(of_small), Some(of_large)) = (at(small), at(large)) else {
        return Some("the counts of the sizes that it is calculated from are missing".to_owned());
    };
    let slope = (of_large - of_small) / (large as f64 - small as f64);
    let rest = of_small - slope * small as f64;
    // Against the whole: the rest of a long message may be next to nothing.
    if !is_close(slope, per_byte, EXACT_COUNTS)
        || (rest - per_message).abs() > EXACT_COUNTS * of_large
    {
        return Some(format!(
            "{per_byte:.6} instructions a byte and {per_message:.2} a message, and its sizes give {slope:.6} and {rest:.2}"
        ));
    }
    let classes: f64 = counts.classes.iter().map(|class| class.per_byte).sum();
    (!counts.classes.is_empty() && (classes - per_byte).abs() > OF_SUMS * per_byte.abs()).then(
        || {
            format!(
                "its classes have {classes:.6} instructions a byte, and all together {per_byte:.6}"
            )
        },
    )
}

/// Faster than its limit by so much is no chance: the run itself refuses what is 2 % and its intervals faster.
const MOST: f64 = 1.05;

/// What was counted of a measurement's algorithm.
fn counted<'a>(record: &'a Record) -> impl Fn(&Measurement) -> Option<&'a Executed> {
    let of = |e: &'a Executed| ((&e.library, &e.algorithm, e.direction, e.model, e.tier), e);
    let by_case: BTreeMap<_, &Executed> = record.executed.iter().map(of).collect();
    move |m| by_case.get(&(&m.library, &m.algorithm, m.direction, m.model, m.tier)).copied()
}

pub(crate) fn check_speeds(record: &Record, findings: &mut Findings) {
    let Some(core) = record.limits.core.as_ref().filter(|core| core.unread.is_empty()) else {
        let has_cycles = |m: &&Measurement| m.state == State::Measured && m.cycles_per_op.is_some();
        if record.measurements.iter().any(|m| has_cycles(&m)) {
            findings.unchecked("limits: the record has none of its core");
        }
        return;
    };
    let counted = counted(record);
    for (at, m) in
        record.measurements.iter().enumerate().filter(|(_, m)| m.state == State::Measured)
    {
        let seen = counted(m).and_then(|e| e.seen(m.size));
        if let Some(what) = beaten(record, core, m, seen) {
            findings.of_case(Code::ImpossibleSpeed, at, m, || what);
        }
    }
}

fn beaten(record: &Record, core: &Core, m: &Measurement, seen: Option<Seen>) -> Option<String> {
    let stated = m.limit_fraction.filter(|fraction| *fraction > MOST);
    if let (Some(fraction), true) = (stated, m.limit_basis != Some(Basis::KnownMethods)) {
        return Some(format!("it is at {fraction:.2} of its limit"));
    }
    let cycles = m.cycles_per_op.filter(|_| m.threads == 1)?.median;
    let algorithm = Algorithm::find(&m.algorithm).ok()?;
    let operation = Operation {
        algorithm,
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        size: m.size,
        footprint: m.footprint,
        in_place: m.in_place || m.model == Model::Stream,
        several: in_flight(record, m) > 1,
    };
    let least = proven(core, &operation, seen).filter(|least| least.cycles / cycles > MOST);
    if let Some(least) = least {
        let least = least.cycles;
        return Some(format!(
            "it takes {cycles:.2} core cycles, and this core needs {least:.2} at least"
        ));
    }
    let best = limit(core, &operation).ok()?.cycles;
    match m.limit_cycles_per_op {
        None => Some("its limit is missing".to_owned()),
        Some(stated) if !is_close(stated, best, 1e-6) => {
            Some(format!("its limit is {stated:.2} cycles, and follows from the core as {best:.2}"))
        }
        _ if best / cycles > MOST && m.remarks.is_empty() => {
            Some(format!("it is at {:.2} of its limit, and no remark says so", best / cycles))
        }
        _ => None,
    }
}

/// Most messages in work at once.
fn in_flight(record: &Record, m: &Measurement) -> u32 {
    let same =
        record.libraries.iter().filter(|l| (&l.path, &l.id) == (&m.library.path, &m.library.id));
    let mut own = same
        .flat_map(|l| &l.calls)
        .filter(|c| c.algorithm == m.algorithm && c.direction == m.direction);
    own.find_map(|c| c.in_flight).unwrap_or(1)
}
