//! Made-up records for tests: cases with raw samples, one cost a process.

use model::{Direction, Footprint, Model, RawSample, Tier};
use record::{
    Clock, Cpu, Disturbances, Estimate, Evidence, Executed, Host, LibraryId, Limits, Measurement,
    Plan, Record, Samples, State, Tool,
};

/// Samples of a process.
const PER_PROCESS: usize = 5;

pub(crate) fn library(name: &str, version: &str, id: &str) -> LibraryId {
    let [name, version, id] = [name, version, id].map(str::to_owned);
    LibraryId { path: format!("/lib/{name}-{version}-{id}.so"), name, version, id }
}

/// A measured case of the library `mine@1`; one process for each cost, in cycles an operation.
pub(crate) fn case(algorithm: &str, size: usize, costs: &[f64]) -> Measurement {
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    let estimate = |cost: f64| Estimate { median: cost, low: cost * 0.99, high: cost * 1.01 };
    Measurement {
        library: library("mine", "1", "build-id:00"),
        algorithm: algorithm.to_owned(),
        direction: Direction::Encrypt,
        model: Model::Message,
        model_version: 1,
        size,
        tier: Tier::Native,
        threads: 1,
        footprint: Footprint::Hot,
        in_place: false,
        state: State::Measured,
        reason: None,
        remarks: Vec::new(),
        imported: None,
        warning: None,
        ns_per_op: Some(estimate(mean / 2.0)),
        cycles_per_op: Some(estimate(mean)),
        ns_per_byte: Some(mean / 2.0 / size as f64),
        mb_per_s: Some(size as f64 / mean * 2e3),
        cycles_per_byte: Some(mean / size as f64),
        instructions_per_byte: None,
        instructions_per_message: None,
        limit_fraction: None,
        limit_cycles_per_op: None,
        limited_by: None,
        limit_basis: None,
        per_thread: Vec::new(),
        key_setup: None,
        latency_ns: None,
        precision: Some(0.01),
        stopped: None,
        samples: (costs.len() * PER_PROCESS) as u64,
        samples_disturbed: 0,
        processes: costs.len() as u32,
        disturbed: Disturbances::default(),
        contended: false,
        checks: Vec::new(),
        evidence: Evidence::default(),
        raw: raw(costs),
    }
}

fn raw(costs: &[f64]) -> Samples {
    let mut samples = Samples::default();
    for (process, cost) in costs.iter().enumerate() {
        // A thousand operations, and two cycles a tick.
        let sample = RawSample {
            process: process as u32,
            ops: 1000,
            ticks: (cost * 500.0).round() as u64,
            clock_before: 2.0,
            clock_after: 2.0,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        (0..PER_PROCESS).for_each(|_| samples.push(&sample, true));
    }
    samples
}

/// The case without a number.
pub(crate) fn without_number(mut m: Measurement, state: State, reason: &str) -> Measurement {
    m.state = state;
    m.reason = Some(reason.to_owned());
    (m.ns_per_op, m.cycles_per_op, m.mb_per_s) = (None, None, None);
    (m.ns_per_byte, m.cycles_per_byte, m.precision) = (None, None, None);
    m.raw = Samples::default();
    m
}

/// What a case executed.
pub(crate) fn executed(m: &Measurement, per_byte: f64, per_message: f64) -> Executed {
    Executed {
        library: m.library.clone(),
        algorithm: m.algorithm.clone(),
        direction: m.direction,
        model: m.model,
        tier: m.tier,
        source: Some("single-step".to_owned()),
        reason: None,
        per_byte: Some(per_byte),
        per_message: Some(per_message),
        sizes: Vec::new(),
        slope_sizes: Vec::new(),
        uncounted: Vec::new(),
        classes: Vec::new(),
        memory_reads: None,
        memory_writes: None,
        instruction_sets: Vec::new(),
        functions: Vec::new(),
        excepted: None,
        pmu: None,
    }
}

pub(crate) fn record(started: &str, measurements: Vec<Measurement>) -> Record {
    Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: "0.1.0".to_owned(),
            command: Vec::new(),
        },
        started: started.to_owned(),
        measuring_seconds: 1.0,
        host: Host {
            cpu: Cpu { name: "Example CPU 9000".to_owned(), ..Cpu::default() },
            clock: Clock { ticks_per_second: 1e9, ..Clock::default() },
            ..Host::default()
        },
        libraries: Vec::new(),
        plan: Plan {
            suite: None,
            algorithms: Vec::new(),
            sizes: Vec::new(),
            models: vec![Model::Message],
            directions: vec![Direction::Encrypt],
            tiers: vec![Tier::Native],
            footprints: vec![Footprint::Hot],
            threads: vec![1],
            in_place: vec![false],
            latency: false,
            precision: 0.01,
            budget_seconds: 60.0,
            seed: 7,
        },
        noise: None,
        limits: Limits::default(),
        executed: Vec::new(),
        measurements,
        fits: Vec::new(),
    }
}
