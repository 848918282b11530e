//! Made-up records for tests: cases with raw samples, one cost a process; the rest is of the committed
//! sample of the format.

use base::model::RawSample;
use record::{Estimate, Executed, LibraryId, Measurement, Record, Samples, State};

/// Samples of a process.
const PER_PROCESS: usize = 5;

fn committed() -> Record {
    let text = include_str!("../../../record/tests/sample.json");
    record::from_json(text, "sample.json").unwrap()
}

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
        size,
        ns_per_op: Some(estimate(mean / 2.0)),
        cycles_per_op: Some(estimate(mean)),
        ns_per_byte: Some(mean / 2.0 / size as f64),
        mb_per_s: Some(size as f64 / mean * 2e3),
        cycles_per_byte: Some(mean / size as f64),
        instructions_per_byte: None,
        instructions_per_message: None,
        raw: raw(costs),
        ..committed().measurements.remove(0)
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
        per_byte: Some(per_byte),
        per_message: Some(per_message),
        sizes: Vec::new(),
        uncounted: Vec::new(),
        ..committed().executed.remove(0)
    }
}

pub(crate) fn record(started: &str, measurements: Vec<Measurement>) -> Record {
    let mut record = committed();
    record.host.clock.ticks_per_second = 1e9;
    record.noise = None;
    record.executed.clear();
    record.leaks.clear();
    Record { started: started.to_owned(), measurements, ..record }
}
