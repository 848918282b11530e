//! Samples into the record of a run, at its end or at any moment before: measurements, what follows from
//! several of them together, and how disturbed the run was.

use crate::libraries::Attached;
use crate::plan::{Planned, Request, Screened};
use crate::progress::{CaseProgress, End};
use crate::protocol::{Finding, Offer};
use crate::schedule::Sampled;
use crate::time::Ticking;
use crate::verification::Memory;
use crate::{evidence, limits};
use base::analysis::bound::Core;
use base::analysis::{
    Counted, Estimator, Line, OfAKind, Summary, Ticks, costs_by_process, fit_line, quantile,
    summarise, two_kinds,
};
use base::model::{Algorithm, Kind, Model, QuietRates, RawSample, Tier};
use probe::Clock;
use record::{
    Call, Check, Disturbances, Estimate, Evidence, Executed, Fit, KeySetup, Latencies, Latency,
    Leaks, Measurement, Noise, Plan, ProcessKind, QuietCpu, Record, State, Stopped, ThreadShare,
    Tool,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// All that a record is made from, but for the samples.
pub(crate) struct Recording<'a> {
    pub(crate) request: &'a Request,
    pub(crate) libraries: &'a [Attached],
    pub(crate) planned: &'a [Planned],
    pub(crate) checks: &'a Checks,
    pub(crate) memory: &'a Memory,
    pub(crate) executed: &'a [Executed],
    pub(crate) leaks: &'a [Leaks],
    pub(crate) clock: &'a Clock,
    pub(crate) ticking: &'a RefCell<Ticking>,
    /// The CPU that the run began on.
    pub(crate) cpu: u32,
    pub(crate) cpus_allowed: u32,
    pub(crate) started: &'a str,
    /// Seconds of measuring in earlier parts of the run.
    pub(crate) seconds_before: f64,
}

impl Recording<'_> {
    /// Takes a look at the clock.
    pub(crate) fn look(&self) {
        self.ticking.borrow_mut().look(self.clock);
    }

    pub(crate) fn seconds(&self, sampled: Sampled<'_>) -> f64 {
        self.seconds_before + sampled.time.as_secs_f64()
    }

    pub(crate) fn record(&self, sampled: Sampled<'_>, core: Result<Core, String>) -> Record {
        let Self { request, libraries, planned, clock, .. } = *self;
        let ticks_per_second = self.ticking.borrow_mut().ticks_per_second(clock);
        let quiet = sampled.quiet.clone();
        let rates = Rates::new(clock, ticks_per_second, quiet, request.budget.precision);
        let mut host = host_facts(self.cpu, libraries, &rates, sampled.all_progress);
        host.cpu.cpus_allowed = self.cpus_allowed;
        let mut measurements =
            assemble(planned, sampled.all_progress, libraries, self.checks, self.memory, &rates);
        evidence::tell(&mut measurements, self.executed);
        let facts: Vec<_> = (0..libraries.len())
            .map(|i| record::Library {
                verified: verified(self.checks, i),
                ..library_facts(&libraries[i], request)
            })
            .collect();
        if let Ok(core) = &core {
            limits::hold(&mut measurements, core, self.executed, &facts);
        }
        // Of what is left after the limits: a case that is refused for its speed has no part in
        // others.
        set_key_setup(&mut measurements);
        record::shared(Record {
            format_version: record::FORMAT_VERSION.to_owned(),
            tool: Tool::here(request.command.clone()),
            started: self.started.to_owned(),
            measuring_seconds: self.seconds(sampled),
            host,
            libraries: facts,
            plan: plan_facts(request),
            noise: Some(noise(&sampled)),
            executed: self.executed.to_vec(),
            leaks: self.leaks.to_vec(),
            limits: limits::limits(
                core,
                &request.algorithms,
                &request.directions,
                &request.models,
                &request.tiers,
            ),
            fits: fits(&measurements),
            measurements,
            details: None,
        })
    }
}

// Cases into measurements: what sampling gave, with what turns ticks into time.

/// What verification gave of an algorithm that passed.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    pub(crate) checks: Vec<Check>,
    pub(crate) remarks: Vec<String>,
    /// When an earlier run came to this.
    pub(crate) earlier: Option<String>,
}

pub(crate) type Checks = BTreeMap<(usize, Tier, &'static str), Proof>;

/// When a library was verified, where an earlier run did so: the earliest of its algorithms.
fn verified(checks: &Checks, library: usize) -> Option<String> {
    let own = checks.iter().filter(|((own, _, _), _)| *own == library);
    own.filter_map(|(_, proof)| proof.earlier.clone()).min()
}

/// What turns ticks into time.
pub(crate) struct Rates {
    ticks_per_second: f64,
    quiet: QuietRates,
    source: &'static str,
    /// Smallest step of the workers' clock.
    step_ticks: u64,
    precision: f64,
}

impl Rates {
    pub(crate) fn new(
        clock: &Clock,
        ticks_per_second: f64,
        quiet: QuietRates,
        precision: f64,
    ) -> Self {
        Self {
            ticks_per_second,
            quiet,
            source: clock.source(),
            step_ticks: clock.step_ticks(),
            precision,
        }
    }

    fn nanos(&self, ticks: base::analysis::Estimate) -> Estimate {
        let ns = 1e9 / self.ticks_per_second;
        Estimate { median: ticks.median * ns, low: ticks.low * ns, high: ticks.high * ns }
    }
}

pub(crate) fn host_facts(
    cpu: u32,
    libraries: &[Attached],
    rates: &Rates,
    all_progress: &[CaseProgress],
) -> record::Host {
    let mut host = host::facts(cpu);
    if let Some(ready) = libraries.iter().find_map(|l| l.ready.as_ref()) {
        host.clock.source.clone_from(&ready.clock);
        host.clock.reason.clone_from(&ready.clock_reason);
        host.clock.step_ticks = ready.step_ticks;
        host.clock.overhead_ticks = ready.overhead_ticks;
        host.clock.multiplication_cycles = ready.multiplication_cycles;
        host.clock.cycles_reason.clone_from(&ready.cycles_reason);
    }
    host.clock.ticks_per_second = rates.ticks_per_second;
    core_clock(&mut host, cpu, all_progress.iter().flat_map(|t| &t.samples), &rates.quiet);
    host
}

/// The core clock of a run's clean samples, and the quiet rate of the CPU that took them.
pub(crate) fn core_clock<'a>(
    host: &mut record::Host,
    cpu: u32,
    samples: impl Iterator<Item = &'a RawSample>,
    quiet: &QuietRates,
) {
    let rate = quiet.of(cpu);
    host.clock.quiet_probe = (rate > 0.0).then_some(rate);
    let mut ghz: Vec<f64> = samples
        .filter(|s| s.disturbance(quiet.of(s.cpu)).is_none() && s.clock() > 0.0)
        .map(|s| s.clock() * host.clock.ticks_per_second / 1e9)
        .collect();
    host.clock.core_ghz_median = quantile(&mut ghz, 0.5);
    host.clock.core_ghz_range = quantile(&mut ghz, 0.05).zip(quantile(&mut ghz, 0.95));
}

pub(crate) fn library_facts(library: &Attached, request: &Request) -> record::Library {
    let planned = |o: &&Offer| request.algorithms.iter().any(|a| a.name == o.algorithm);
    let offered = library.offers.iter().filter(|o| !o.models.is_empty());
    let calls = offered.filter(planned).map(|o| Call {
        algorithm: o.algorithm.clone(),
        direction: o.direction,
        functions: o.functions.clone(),
        copies: o.copies,
        allocates: o.allocates,
        rekeying: o.rekeying,
        rekey_functions: o.rekey_functions.clone(),
        in_flight: o.in_flight,
    });
    record::Library { calls: calls.collect(), ..library.facts.clone() }
}

pub(crate) fn plan_facts(request: &Request) -> Plan {
    Plan {
        suite: request.suite.clone(),
        algorithms: request.algorithms.iter().map(|a| a.name.to_owned()).collect(),
        sizes: request.sizes.clone(),
        models: request.models.clone(),
        directions: request.directions.clone(),
        tiers: request.tiers.clone(),
        footprints: request.footprints.clone(),
        threads: request.threads.clone(),
        in_place: request.in_place.clone(),
        latency: request.latency,
        precision: request.budget.precision,
        budget_seconds: request.budget.time.as_secs_f64(),
        seed: request.seed,
        cases: request.cases.clone(),
    }
}

pub(crate) fn assemble(
    planned: &[Planned],
    all_progress: &[CaseProgress],
    libraries: &[Attached],
    checks: &Checks,
    memory: &Memory,
    rates: &Rates,
) -> Vec<Measurement> {
    let mut all_progress = all_progress.iter();
    let mut measurements = Vec::with_capacity(planned.len());
    for plan in planned {
        let mut m = blank(plan, libraries);
        match &plan.verdict {
            Some(finding) => found(&mut m, finding.clone()),
            None => {
                let progress =
                    all_progress.next().expect("every case without a verdict was sampled");
                conclude(&mut m, progress, rates);
            }
        }
        if m.state == State::Measured {
            let (library, tier) = (plan.case.library, plan.case.tier);
            let own =
                |(l, t, a): &(usize, Tier, &str)| (*l, *t, *a) == (library, tier, &*m.algorithm);
            if let Some((_, proof)) = checks.iter().find(|(key, _)| own(key)) {
                m.checks.extend(proof.checks.iter().cloned());
                m.remarks.extend(proof.remarks.iter().cloned());
            }
            let counted = memory.get(&(library, (m.algorithm.clone(), m.direction)));
            m.remarks.extend(counted.into_iter().flatten().cloned());
        }
        measurements.push(m);
    }
    measurements
}

/// Rows of cases that were only looked at.
pub(crate) fn bounds(
    planned: &[Planned],
    libraries: &[Attached],
    screened: &Screened,
) -> Vec<Measurement> {
    let row = |plan: &Planned| {
        let mut m = blank(plan, libraries);
        let seen =
            || Some(screened.bound(&plan.case, Algorithm::find(&plan.case.algorithm).ok()?.name));
        let none = || Finding::left_out(Stopped::Budget, "looked at");
        found(&mut m, plan.verdict.clone().or_else(seen).unwrap_or_else(none));
        m
    };
    planned.iter().map(row).collect()
}

fn blank(plan: &Planned, libraries: &[Attached]) -> Measurement {
    let (case, facts) = (&plan.case, &libraries[plan.case.library].facts);
    let warning = Algorithm::find(&case.algorithm).ok().and_then(Algorithm::warning);
    Measurement {
        direction: case.direction,
        model: case.model,
        model_version: case.model.version(),
        size: case.size,
        tier: case.tier,
        threads: case.threads,
        footprint: case.footprint,
        in_place: case.in_place,
        warning: warning.map(ToOwned::to_owned),
        ..Measurement::blank(facts.identity(), &case.algorithm, State::Failed)
    }
}

fn found(m: &mut Measurement, finding: Finding) {
    m.state = finding.state;
    m.stopped = finding.stopped.or(m.stopped);
    m.at_least_ns = finding.at_least_ns.map(|ns| ns as f64);
    m.reason = Some(finding.why);
}

fn conclude(m: &mut Measurement, progress: &CaseProgress, rates: &Rates) {
    let stopped = match &progress.end {
        Some(End::Found(finding)) => return found(m, finding.clone()),
        Some(End::Stopped(why)) => *why,
        None => Stopped::Interrupted,
    };
    m.stopped = Some(stopped);
    let visits = progress.of_visits(&rates.quiet);
    let best = Estimator::TrimmedMean.best(&visits, &rates.quiet);
    // Without enough clean samples the contended ones count too, which is said.
    let counted = best.as_ref().map_or(Counted::Contended, |(_, counted)| *counted);
    let all_count = counted == Counted::Contended;
    let none = QuietRates::default();
    let quiet = if all_count { &none } else { &rates.quiet };
    let threads = m.threads.max(1) as usize;
    for (visit, samples) in visits.iter().zip(progress.samples.chunks_exact(threads)) {
        let counts = visit.disturbance(quiet.of(visit.cpu)).is_none();
        samples.iter().for_each(|sample| m.raw.push(sample, counts));
    }
    let Some((summary, _)) = best else {
        return found(m, Finding::failed(too_few(&visits, stopped)));
    };
    numbers(m, &summary, rates);
    m.contended = all_count;
    m.per_thread = per_thread(m, progress.subject.cpus(), rates);
    m.latency_ns = latency(&progress.latencies, rates);
    m.evidence = evidence(&progress.samples, rates);
    m.settled = progress.settling.facts(&progress.samples);
    m.kinds = kinds(&visits, quiet, rates);
    if let Some(us) = progress.settling.wanted_us() {
        let needs_ms = f64::from(us) / 1e3;
        m.reason = Some(format!(
            "too few processes had settled: the case gets faster for {needs_ms:.1} ms, and some that had less count too"
        ));
        return;
    }
    // Also asked of cases that stopped as precise: the quiet rate was still being learned then.
    let is_precise = summary.precision() <= rates.precision && summary.is_complete();
    if counted != Counted::Clean || !is_precise {
        let why = match counted {
            Counted::Contended => "; too few quiet samples, so contended ones count too",
            Counted::Sparse => "; few quiet samples in each",
            Counted::Clean => "",
        };
        let (processes, precision) = (summary.processes, summary.precision() * 100.0);
        m.reason = Some(format!(
            "precision not reached: {precision:.1} % over {processes} processes{why}"
        ));
    }
}

/// The kinds in which its processes come.
fn kinds(visits: &[RawSample], quiet: &QuietRates, rates: &Rates) -> Vec<ProcessKind> {
    let clean = visits.iter().filter(|s| s.disturbance(quiet.of(s.cpu)).is_none());
    let clean: Vec<RawSample> = clean.copied().collect();
    let tick_ns = 1e9 / rates.ticks_per_second;
    let has_cycles = clean.iter().all(|s| s.clock() > 0.0);
    let (value, unit): (fn(&RawSample) -> f64, f64) = if has_cycles {
        (RawSample::cycles_per_op, 1.0)
    } else {
        (RawSample::ticks_per_op, tick_ns)
    };
    let kinds = two_kinds(&costs_by_process(&clean, value));
    let kind =
        |kind: OfAKind| ProcessKind { cost: kind.cost * unit, processes: kind.processes as u32 };
    kinds.into_iter().flatten().map(kind).collect()
}

fn per_thread(m: &Measurement, cpus: &[u32], rates: &Rates) -> Vec<ThreadShare> {
    let bytes = m.size as f64;
    let share = |(thread, cpu): (usize, &u32)| {
        let own = m.raw.iter().filter(|(s, counts)| *counts && s.thread as usize == thread);
        let own: Vec<RawSample> = own.map(|(s, _)| s).collect();
        // Whether they count was decided by the visit.
        let summary = summarise(&own, &QuietRates::default())?;
        let ns_per_op = rates.nanos(summary.ticks_per_op).median;
        Some(ThreadShare {
            cpu: *cpu,
            ns_per_op,
            cycles_per_op: summary.cycles_per_op.map(|c| c.median),
            mb_per_s: m.mb_per_s.map(|_| bytes / ns_per_op * 1e3),
        })
    };
    cpus.iter().enumerate().filter_map(share).collect()
}

fn latency(visits: &[Latencies], rates: &Rates) -> Option<Latency> {
    let mut ticks = Ticks::default();
    visits.iter().flat_map(|v| &v.ticks).for_each(|(t, n)| ticks.add(*t, *n));
    let ns = 1e9 / rates.ticks_per_second;
    let percentile = |fraction| ticks.percentile(fraction).map(|t| t as f64 * ns);
    Some(Latency {
        p50: percentile(0.5)?,
        p99: percentile(0.99),
        p99_9: percentile(0.999),
        operations: ticks.operations(),
        disturbed: visits.iter().map(|v| v.disturbed).sum(),
        resolution_ns: rates.step_ticks as f64 * ns,
        ticks: ticks.into_pairs(),
    })
}

fn too_few(samples: &[RawSample], stopped: Stopped) -> String {
    let n = samples.len();
    match stopped {
        Stopped::Interrupted if n == 0 => "interrupted before it was measured".to_owned(),
        Stopped::Interrupted => format!("interrupted after {n} samples, too few for a number"),
        _ => format!("{n} samples in the time budget, too few for a number; raise --budget"),
    }
}

fn numbers(m: &mut Measurement, summary: &Summary, rates: &Rates) {
    let (ns, bytes) = (rates.nanos(summary.ticks_per_op), m.size as f64);
    m.state = State::Measured;
    m.ns_per_op = Some(ns);
    let algorithm = Algorithm::find(&m.algorithm);
    let is_cost = algorithm.as_ref().is_ok_and(|a| a.cost_unit().is_some());
    m.ns_per_byte = Some(ns.median / bytes).filter(|_| !is_cost);
    // The null operation moves no bytes, and what a derivation costs is no number of them.
    if algorithm.is_ok_and(|a| a.kind != Kind::Null) && !is_cost {
        m.mb_per_s = Some(bytes / ns.median * 1e3 * f64::from(m.threads.max(1)));
    }
    m.cycles_per_op =
        summary.cycles_per_op.map(|c| Estimate { median: c.median, low: c.low, high: c.high });
    m.cycles_per_byte = m.cycles_per_op.map(|c| c.median / bytes).filter(|_| !is_cost);
    m.precision = Some(summary.precision());
    m.samples = summary.clean as u64;
    m.samples_disturbed = summary.disturbed.values().sum::<usize>() as u64;
    m.processes = summary.processes as u32;
    for (why, samples) in &summary.disturbed {
        m.disturbed.add(*why, *samples as u64);
    }
}

fn evidence(samples: &[RawSample], rates: &Rates) -> Evidence {
    let cycles = samples.iter().all(|s| s.clock() > 0.0);
    Evidence {
        outputs_checked: samples.len() as u64,
        calls_succeeded: samples.iter().map(|s| u64::from(s.ops)).sum(),
        ..Evidence::of_clock(rates.source, cycles)
    }
}

/// Everything that two cases have in common which differ in their size only.
type Series<'a> = (
    &'a record::LibraryId,
    &'a str,
    base::model::Direction,
    Model,
    base::model::Tier,
    u32,
    base::model::Footprint,
    bool,
);

fn series(m: &Measurement, model: Model) -> Series<'_> {
    let Measurement { library, algorithm, direction, tier, threads, footprint, in_place, .. } = m;
    (library, algorithm, *direction, model, *tier, *threads, *footprint, *in_place)
}

/// Sets what a new key costs, where both models were measured.
pub(crate) fn set_key_setup(measurements: &mut [Measurement]) {
    let setups: Vec<Option<KeySetup>> = {
        let of = |m: &Measurement| Some((m.ns_per_op?.median, m.cycles_per_op.map(|c| c.median)));
        let messages: BTreeMap<_, _> = measurements
            .iter()
            .filter(|m| m.model == Model::Message && m.state == State::Measured)
            .filter_map(|m| Some(((series(m, Model::Message), m.size), of(m)?)))
            .collect();
        let setup = |m: &Measurement| {
            if m.model != Model::Rekey || m.state != State::Measured {
                return None;
            }
            let ((ns, cycles), (less_ns, less_cycles)) =
                (of(m)?, messages.get(&(series(m, Model::Message), m.size))?);
            let cycles = cycles.zip(*less_cycles).map(|(all, less)| all - less);
            Some(KeySetup { ns: ns - less_ns, cycles })
        };
        measurements.iter().map(setup).collect()
    };
    for (m, setup) in measurements.iter_mut().zip(setups) {
        m.key_setup = setup;
    }
}

pub(crate) fn fits(measurements: &[Measurement]) -> Vec<Fit> {
    let mut found: BTreeMap<Series<'_>, BTreeMap<usize, &Measurement>> = BTreeMap::new();
    for m in measurements.iter().filter(|m| m.state == State::Measured) {
        found.entry(series(m, m.model)).or_default().insert(m.size, m);
    }
    found.into_values().filter_map(|sizes| fit(&sizes)).collect()
}

fn fit(sizes: &BTreeMap<usize, &Measurement>) -> Option<Fit> {
    let any = *sizes.values().next()?;
    let line = |time: fn(&Measurement) -> Option<f64>| -> Option<Line> {
        let points: Option<Vec<_>> =
            sizes.iter().map(|(size, m)| Some((*size as f64, time(m)?))).collect();
        fit_line(&points?)
    };
    let ns = line(|m| m.ns_per_op.map(|e| e.median))?;
    let cycles = line(|m| m.cycles_per_op.map(|e| e.median));
    Some(Fit {
        library: any.library.clone(),
        algorithm: any.algorithm.clone(),
        direction: any.direction,
        model: any.model,
        tier: any.tier,
        threads: any.threads,
        footprint: any.footprint,
        in_place: any.in_place,
        sizes: sizes.keys().copied().collect(),
        ns_per_message: ns.intercept,
        ns_per_byte: ns.slope,
        cycles_per_message: cycles.map(|c| c.intercept),
        cycles_per_byte: cycles.map(|c| c.slope),
        residual: ns.residual,
        half_speed_bytes: ns.half_speed(),
        linear: ns.is_linear(),
    })
}

pub(crate) fn noise(sampled: &Sampled<'_>) -> Noise {
    let samples = sampled.all_progress.iter().flat_map(|t| &t.samples);
    let quiet = sampled.quiet.iter().filter(|(_, rate)| *rate > 0.0);
    let mut noise = Noise {
        quiet: quiet.map(|(cpu, rate)| QuietCpu { cpu, rate }).collect(),
        stolen_seconds: sampled.stolen_seconds,
        shield: if sampled.cores_alone && samples.clone().next().is_some() {
            "core-scheduling"
        } else {
            "none"
        }
        .to_owned(),
        ..Noise::default()
    };
    for sample in samples {
        noise.waited_seconds += f64::from(sample.waited_us) / 1e6;
        count_sample(&mut noise, sample, sampled.quiet.of(sample.cpu));
    }
    noise
}

fn count_sample(noise: &mut Noise, sample: &RawSample, quiet: f64) {
    noise.samples += 1;
    match sample.disturbance(quiet) {
        None => noise.clean += 1,
        Some(why) => noise.disturbed.add(why, 1),
    }
}

pub(crate) fn disturbances<'a>(
    samples: impl Iterator<Item = &'a RawSample>,
    quiet: &base::model::QuietRates,
) -> Disturbances {
    let mut noise = Noise::default();
    samples.for_each(|s| count_sample(&mut noise, s, quiet.of(s.cpu)));
    noise.disturbed
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::model::QuietRates;

    #[test]
    fn each_sample_is_counted_once() {
        let clean = RawSample { cpu: 1, ..base::model::fixtures::sample(0, 1, 1.0) };
        let busy = RawSample { probe_after: 4.0, ..clean };
        let both = RawSample { switches: 1, ..busy };
        let quiet = QuietRates::of_one(1, 5.0);
        let counts = disturbances([clean, busy, both].iter(), &quiet);
        assert_eq!((counts.contended, counts.switched, counts.total()), (1, 1, 2));
    }
}
