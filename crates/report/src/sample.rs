//! Made-up records for tests: a small one, two libraries and a baseline in all four states, and the committed
//! sample of the format with what it lacks.

use base::model::{Algorithm, Direction, RawSample, Tier};
use record::fixtures::sample as committed;
use record::{
    Clock, Cpu, Disturbances, Estimate, Executed, Host, Imported, Kernel, KeySetup, LeakVerdict,
    Leaks, Library, LibraryId, Measurement, Plan, Record, Samples, State, Stopped,
};

const SIZES: [usize; 4] = [16, 256, 8192, 65_536];

pub(crate) fn record() -> Record {
    let algorithms = ["aes-128-gcm", "aes-128-ctr", "aes-128-ecb", "aes-256-xts", "aes-128-ccm"];
    let committed = committed();
    Record {
        measuring_seconds: 61.25,
        host: host(),
        libraries: libraries(),
        plan: Plan {
            algorithms: algorithms.map(str::to_owned).to_vec(),
            sizes: SIZES.to_vec(),
            directions: vec![Direction::Encrypt, Direction::Decrypt],
            ..committed.plan
        },
        noise: None,
        executed: Vec::new(),
        leaks: Vec::new(),
        measurements: measurements(),
        ..committed
    }
}

fn host() -> Host {
    Host {
        cpu: Cpu { name: "Example CPU 9000".to_owned(), ..Cpu::default() },
        clock: Clock {
            source: "tsc".to_owned(),
            multiplication_cycles: Some(3.0),
            cycles_reason: None,
            core_ghz_median: Some(3.0),
            core_ghz_range: Some((2.98, 3.02)),
            ..Clock::default()
        },
        kernel: Kernel { release: "6.1.0".to_owned(), ..Kernel::default() },
        hypervisor: Some("KVM".to_owned()),
        ..Host::default()
    }
}

fn libraries() -> Vec<Library> {
    let library = |name: &str, version: &str, path: &str, error: Option<&str>| Library {
        name: name.to_owned(),
        version: version.to_owned(),
        path: path.to_owned(),
        id: "build-id:00112233445566778899aabbccddeeff".to_owned(),
        build: Vec::new(),
        error: error.map(str::to_owned),
        ..committed().libraries.remove(0)
    };
    vec![
        library("openssl", "3.0.22", "/usr/lib/libcrypto.so.3", None),
        library("libgcrypt", "1.10.1", "/usr/lib/libgcrypt.so.20", None),
        library("mine", "", "/opt/libmine.so", Some("is for aarch64, this machine is x86_64")),
    ]
}

fn id(name: &str, version: &str, path: &str) -> LibraryId {
    let id = "build-id:00112233445566778899aabbccddeeff".to_owned();
    LibraryId { name: name.to_owned(), version: version.to_owned(), path: path.to_owned(), id }
}

fn measurements() -> Vec<Measurement> {
    use Direction::{Copy, Decrypt, Digest, Encrypt};
    let openssl = id("openssl", "3.0.22", "/usr/lib/libcrypto.so.3");
    let gcrypt = id("libgcrypt", "1.10.1", "/usr/lib/libgcrypt.so.20");
    let baselines = id("baselines", "0.1.0", "/opt/libciphermark_baselines.so");
    let template = committed().measurements.remove(0);
    let mut all = Vec::new();
    // A message costs so many nanoseconds plus so much a byte.
    let mut add = |library: &LibraryId, algorithm: &str, direction, fixed: f64, each: f64| {
        all.extend(
            SIZES.map(|size| case(&template, library, algorithm, direction, size, fixed, each)),
        );
    };
    add(&openssl, "aes-128-gcm", Encrypt, 90.0, 0.0712);
    add(&openssl, "aes-128-ctr", Encrypt, 40.0, 0.1312);
    add(&openssl, "aes-128-ecb", Encrypt, 20.0, 0.1212);
    add(&openssl, "aes-256-xts", Encrypt, 60.0, 0.0651);
    add(&openssl, "aes-128-ccm", Encrypt, 3000.0, 0.801);
    add(&gcrypt, "aes-128-gcm", Encrypt, 200.0, 0.1611);
    add(&gcrypt, "aes-128-ctr", Encrypt, 150.0, 0.0601);
    add(&gcrypt, "aes-128-ecb", Encrypt, 100.0, 0.2);
    add(&gcrypt, "aes-256-xts", Encrypt, 100.0, 0.07);
    add(&gcrypt, "aes-128-ccm", Encrypt, 100.0, 0.8);
    add(&openssl, "aes-128-gcm", Decrypt, 95.0, 0.0708);
    add(&gcrypt, "aes-128-gcm", Decrypt, 210.0, 0.1599);
    add(&baselines, "memcpy", Copy, 2.0, 0.0102);
    add(&baselines, "xxh3-64", Digest, 3.0, 0.0301);
    add(&baselines, "null", Copy, 1.9, 0.0);
    for m in &mut all {
        damage(m);
    }
    all
}

fn case(
    template: &Measurement,
    library: &LibraryId,
    algorithm: &str,
    direction: Direction,
    size: usize,
    fixed_ns: f64,
    ns_each: f64,
) -> Measurement {
    let ns = fixed_ns + ns_each * size as f64;
    // 3 GHz; larger messages are measured more precisely.
    let spread = if size < 1000 { 0.02 } else { 0.004 };
    let estimate = |median: f64| Estimate {
        median,
        low: median * (1.0 - spread),
        high: median * (1.0 + spread),
    };
    // Of one algorithm no limit is known.
    let known = algorithm != "aes-256-xts" && size > 16;
    Measurement {
        library: library.clone(),
        algorithm: algorithm.to_owned(),
        direction,
        size,
        warning: Algorithm::find(algorithm).unwrap().warning().map(str::to_owned),
        ns_per_op: Some(estimate(ns)),
        cycles_per_op: Some(estimate(ns * 3.0)),
        ns_per_byte: Some(ns / size as f64),
        mb_per_s: Some(size as f64 / ns * 1000.0),
        cycles_per_byte: Some(ns * 3.0 / size as f64),
        instructions_per_byte: None,
        instructions_per_message: None,
        limit_fraction: known.then_some(0.5),
        limit_cycles_per_op: known.then_some(ns * 1.5),
        limited_by: known.then_some(base::analysis::bound::Bound::AesUnits),
        limit_basis: known.then_some(base::analysis::bound::Basis::Proven),
        precision: Some(spread),
        stopped: Some(if size < 1000 { Stopped::Budget } else { Stopped::Precision }),
        disturbed: Disturbances::default(),
        raw: Samples::default(),
        ..template.clone()
    }
}

/// Gives some cases the other states.
fn damage(m: &mut Measurement) {
    let gcrypt = m.library.name == "libgcrypt";
    let (state, reason) = match (m.algorithm.as_str(), m.size) {
        ("aes-128-ccm", _) if gcrypt => (State::Unsupported, "the library does not offer it"),
        ("aes-128-ecb", 16) if gcrypt => (State::Unsupported, "not offered at this size"),
        ("aes-256-xts", _) if gcrypt => {
            (State::Refused, "round trip: byte 8191 differs from the plaintext, at an odd address")
        }
        ("aes-128-ccm", 65_536) => (State::Failed, "the worker died of SIGSEGV"),
        _ => return,
    };
    m.state = state;
    m.reason = Some(reason.to_owned());
    m.ns_per_op = None;
    m.cycles_per_op = None;
    m.ns_per_byte = None;
    m.mb_per_s = None;
    m.cycles_per_byte = None;
    m.precision = None;
    m.limit_fraction = None;
    m.limit_cycles_per_op = None;
    m.limited_by = None;
    m.limit_basis = None;
    m.stopped = None;
    m.checks.clear();
}

pub(crate) fn executed() -> Executed {
    Executed {
        library: id("openssl", "3.0.22", "/usr/lib/libcrypto.so.3"),
        slope_sizes: Vec::new(),
        uncounted: Vec::new(),
        excepted: None,
        pmu: None,
        ..committed().executed.remove(0)
    }
}

/// Verdicts on both libraries: one of each word, and one at another tier.
pub(crate) fn leaks() -> Vec<Leaks> {
    let openssl = id("openssl", "3.0.22", "/usr/lib/libcrypto.so.3");
    let gcrypt = id("libgcrypt", "1.10.1", "/usr/lib/libgcrypt.so.20");
    let committed = committed().leaks.remove(0);
    let of = |library: &LibraryId, algorithm: &str, verdict| {
        let mut leaks = Leaks {
            library: library.clone(),
            algorithm: algorithm.to_owned(),
            verdict,
            reason: (verdict == LeakVerdict::NotJudged).then(|| "step limit".to_owned()),
            ..committed.clone()
        };
        leaks.findings.iter_mut().for_each(|f| f.compared = verdict == LeakVerdict::Depends);
        if matches!(verdict, LeakVerdict::SameTrace | LeakVerdict::NotJudged) {
            leaks.findings.clear();
        }
        leaks
    };
    let mut all = vec![
        of(&openssl, "aes-128-gcm", LeakVerdict::SameTrace),
        of(&openssl, "aes-128-ccm", LeakVerdict::SameTrace),
        of(&openssl, "aes-256-xts", LeakVerdict::NotJudged),
        of(&openssl, "aes-128-gcm", LeakVerdict::Depends),
        of(&gcrypt, "aes-128-gcm", LeakVerdict::Depends),
        of(&gcrypt, "aes-128-ecb", LeakVerdict::Depends),
        of(&gcrypt, "aes-128-ctr", LeakVerdict::MayDepend),
    ];
    all[3].tier = Tier::Baseline;
    // More was seen of the table in one of them.
    all[5].findings[0].bytes = Some(4096);
    all[5].findings[0].lines = Some(64);
    all
}

/// The record with raw samples: twelve processes of five each for a measured case, at 3 GHz and the nanoseconds an
/// operation that `ns` makes of the sample's own.
pub(crate) fn with_samples(ns: impl Fn(&Measurement, f64) -> f64) -> Record {
    let mut record = record();
    record.host.clock.ticks_per_second = 1e9;
    for m in record.measurements.iter_mut().filter(|m| m.state == State::Measured) {
        let own = m.ns_per_op.unwrap();
        let ns = ns(m, own.median);
        let [median, low, high] = [own.median, own.low, own.high].map(|v| v * ns / own.median);
        m.ns_per_op = Some(Estimate { median, low, high });
        for process in 0..12 {
            let scatter = 1.0 + 0.001 * f64::from(process % 3);
            let ticks = (ns * 1000.0 * scatter).round() as u64;
            let sample =
                RawSample { ops: 1000, ..base::model::fixtures::sample(process, ticks, 3.0) };
            (0..5).for_each(|_| m.raw.push(&sample, true));
        }
    }
    record
}

pub(crate) fn unpainted(painted: &str) -> String {
    let mut parts = painted.split('\u{1b}');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |plain, part| plain + part.split_once('m').unwrap().1)
}

pub(crate) fn full_record() -> Record {
    let mut record = committed();
    record.host.cpu.name = "Example CPU".to_owned();
    let first = &mut record.measurements[0];
    first.key_setup = Some(KeySetup { ns: 12.5, cycles: Some(37.5) });
    first.limit_fraction = Some(0.5);
    let mut imported = first.clone();
    imported.state = State::Imported;
    imported.checks.clear();
    imported.imported =
        Some(Imported { source: "elsewhere".to_owned(), machine: Some("theirs".to_owned()) });
    record.measurements.push(imported);
    record
}

pub(crate) fn full_measurements() -> Vec<Measurement> {
    full_record().measurements
}
