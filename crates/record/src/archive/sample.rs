//! Made-up records: the committed sample of the format with cases of its own.

use crate::{Estimate, LibraryId, Measurement, Record, Samples, State};
use base::model::RawSample;

/// Processes of a case, and samples of each.
const PROCESSES: u32 = 8;
const PER_PROCESS: usize = 5;

fn committed() -> Record {
    let text = include_str!("../../tests/sample.json");
    crate::from_json(text, "sample.json").unwrap()
}

pub(crate) fn library(name: &str, version: &str) -> LibraryId {
    let path = format!("/lib/{name}-{version}.so");
    LibraryId {
        name: name.to_owned(),
        version: version.to_owned(),
        path,
        id: format!("build-id:{version}"),
    }
}

/// A case whose processes differ by some thousandths.
fn case(library: &LibraryId, algorithm: &str, size: usize, cycles: f64) -> Measurement {
    let mut raw = Samples::default();
    for process in 0..PROCESSES {
        let own = cycles * (1.0 + f64::from((process * 7 + size as u32) % 5) / 2000.0);
        let sample = RawSample {
            process,
            ops: 1000,
            ticks: (own * 500.0).round() as u64,
            clock_before: 2.0,
            clock_after: 2.0,
            probe_before: 5.0,
            probe_after: 5.0,
            ..RawSample::default()
        };
        (0..PER_PROCESS).for_each(|_| raw.push(&sample, true));
    }
    let estimate = |cost: f64| Estimate { median: cost, low: cost * 0.99, high: cost * 1.01 };
    Measurement {
        library: library.clone(),
        algorithm: algorithm.to_owned(),
        size,
        ns_per_op: Some(estimate(cycles / 2.0)),
        cycles_per_op: Some(estimate(cycles)),
        ns_per_byte: Some(cycles / 2.0 / size as f64),
        mb_per_s: Some(size as f64 / cycles * 2e3),
        cycles_per_byte: Some(cycles / size as f64),
        raw,
        ..committed().measurements.remove(0)
    }
}

fn without_number(m: Measurement, state: State, reason: &str) -> Measurement {
    Measurement {
        reason: Some(reason.to_owned()),
        ..Measurement {
            direction: m.direction,
            size: m.size,
            ..Measurement::blank(m.library, &m.algorithm, state)
        }
    }
}

/// A run of two libraries, `a` of the version that is given; its costs are multiplied by `factor`.
pub(crate) fn run(started: &str, version: &str, factor: f64) -> Record {
    let mut measurements = Vec::new();
    for (library, factor) in [(library("a", version), factor), (library("b", "1"), 1.0)] {
        for algorithm in ["aes-128-gcm", "aes-256-gcm", "aes-256-ctr", "chacha20-poly1305"] {
            for size in [16, 64, 1024, 8192] {
                let cycles = (300.0 + size as f64 / 2.0) * factor;
                measurements.push(case(&library, algorithm, size, cycles));
            }
        }
        let other = case(&library, "aes-128-ccm", 16, 100.0);
        measurements.push(without_number(
            other.clone(),
            State::Unsupported,
            "it has no such algorithm",
        ));
        let other = Measurement { size: 64, ..other };
        measurements.push(without_number(other, State::Refused, "round trip: differs at byte 3"));
    }
    let mut record = committed();
    record.host.clock.ticks_per_second = 1e9;
    record.noise = None;
    Record { started: started.to_owned(), measurements, ..record }
}

pub(crate) fn record() -> Record {
    run("2026-11-20T12:00:00Z", "1.0", 1.0)
}
