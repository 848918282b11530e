//! Records and stores for the tests of this crate: the committed sample, with every state and something in
//! every field; records that are made of it; clusters of PostgreSQL made by hand.

use crate::fixtures::sample as committed;
use crate::{Estimate, FORMAT_VERSION, LibraryId, Measurement, Record, Samples, State};
use base::model::{Direction, Model, RawSample};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub(crate) fn record() -> Record {
    Record { format_version: FORMAT_VERSION.to_owned(), ..committed() }
}

pub(crate) fn samples(count: u32) -> Samples {
    let mut samples = Samples::default();
    for i in 0..count {
        let wobble = f64::from(i).sin() / 100.0;
        let sample = RawSample {
            process: i % 3,
            thread: 0,
            ops: 120,
            ticks: 104_000 + u64::from(i % 97),
            clock_before: 1.234_567_89 + wobble,
            clock_after: 1.234_567_89 - wobble,
            probe_before: 4.987_654_32 + wobble,
            probe_after: 4.987_654_32 - wobble,
            switches: 0,
            migrated: false,
            ..RawSample::default()
        };
        samples.push(&sample, i % 10 != 0);
    }
    samples
}

const PROCESSES: u32 = 8;
const PER_PROCESS: usize = 5;

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
        let ticks = (own * 500.0).round() as u64;
        let sample = RawSample { ops: 1000, ..base::model::fixtures::sample(process, ticks, 2.0) };
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

pub(crate) fn archived() -> Record {
    run("2026-11-20T12:00:00Z", "1.0", 1.0)
}

// A record for tests: two libraries, two algorithms, two sizes, both directions in one of them.

pub(crate) fn two_libraries() -> Record {
    let mut record = record();
    record.tool.version = "0.1.0".to_owned();
    let measured = |m: &&Measurement| m.state == State::Measured;
    let template = record.measurements.iter().find(measured).unwrap().clone();
    let case = |library: (&str, &str), algorithm: &str, direction, size: usize, ns: f64| {
        let mut m = template.clone();
        (m.library.name, m.library.version) = (library.0.to_owned(), library.1.to_owned());
        (m.algorithm, m.direction, m.size) = (algorithm.to_owned(), direction, size);
        m.model = Model::Stream;
        m.ns_per_op = Some(Estimate { median: ns, low: ns, high: ns });
        m.mb_per_s = Some(size as f64 / ns * 1e3);
        m
    };
    let (openssl, gcrypt) = (("openssl", "3.0.22"), ("libgcrypt", "1.10.1"));
    record.measurements = vec![
        case(openssl, "aes-128-gcm", Direction::Encrypt, 16, 52.75),
        case(openssl, "aes-128-gcm", Direction::Encrypt, 8192, 1001.25),
        case(openssl, "aes-128-ctr", Direction::Encrypt, 16, 31.5),
        case(openssl, "aes-128-ctr", Direction::Encrypt, 8192, 901.0),
        case(openssl, "aes-128-ctr", Direction::Decrypt, 8192, 902.0),
        case(gcrypt, "des-ede3-cbc", Direction::Encrypt, 65_536, 2_345_678.9),
    ];
    record
}

/// A control file as version 15 lays it out, as far as it is read here.
pub(crate) fn control_file(state: u32, block_size: u32, checksums: u32) -> Vec<u8> {
    let mut bytes = vec![0; 8192];
    bytes[..8].copy_from_slice(&0x0102_0304_0506_0708_u64.to_le_bytes());
    bytes[8..12].copy_from_slice(&1300_u32.to_le_bytes());
    bytes[16..20].copy_from_slice(&state.to_le_bytes());
    let at = 208;
    bytes[at..at + 8].copy_from_slice(&1_234_567.0_f64.to_le_bytes());
    bytes[at + 8..at + 12].copy_from_slice(&block_size.to_le_bytes());
    bytes[at + 12..at + 16].copy_from_slice(&131_072_u32.to_le_bytes());
    bytes[at + 44..at + 48].copy_from_slice(&checksums.to_le_bytes());
    sign(&mut bytes);
    bytes
}

/// Writes a control file's CRC.
fn sign(bytes: &mut [u8]) {
    let at = 208 + 80;
    let crc = crc32c::crc32c(&bytes[..at]);
    bytes[at..at + 4].copy_from_slice(&crc.to_le_bytes());
}

pub(crate) struct Cluster(TempDir);

impl Cluster {
    pub(crate) fn new(state: u32) -> Self {
        let cluster = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(cluster.path().join("global")).unwrap();
        fs::create_dir_all(cluster.path().join("base/5")).unwrap();
        fs::write(cluster.path().join("PG_VERSION"), "15\n").unwrap();
        fs::write(cluster.path().join("global/pg_control"), control_file(state, 8192, 1)).unwrap();
        cluster
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Makes it another `initdb`'s.
    pub(crate) fn identify(&self, system_identifier: u64) {
        let path = self.path().join("global/pg_control");
        let mut bytes = fs::read(&path).unwrap();
        bytes[..8].copy_from_slice(&system_identifier.to_le_bytes());
        sign(&mut bytes);
        fs::write(path, bytes).unwrap();
    }

    /// A file of so many pages, none of them zero.
    pub(crate) fn file(&self, name: &str, pages: usize) {
        let mut bytes = vec![0; pages * 8192];
        for (i, page) in bytes.chunks_exact_mut(8192).enumerate() {
            page[4] = i as u8 + 1;
            page[100] = name.len() as u8;
        }
        fs::write(self.path().join(name), bytes).unwrap();
    }

    pub(crate) fn zero(&self, name: &str, pages: usize) {
        fs::write(self.path().join(name), vec![0; pages * 8192]).unwrap();
    }
}
