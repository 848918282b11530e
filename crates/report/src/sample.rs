//! A small made-up record for tests: two libraries and a baseline, all four states.

use model::{Algorithm, Direction, Footprint, Model, Tier};
use record::{
    Check, ClassCount, Clock, Cpu, Disturbances, Estimate, Evidence, Executed, ExecutedSize,
    FunctionCount, Host, Kernel, Library, LibraryId, Limits, Measurement, Plan, Record, Samples,
    Share, State, Stopped, Tool,
};

const SIZES: [usize; 4] = [16, 256, 8192, 65_536];

pub(crate) fn record() -> Record {
    let algorithms = ["aes-128-gcm", "aes-128-ctr", "aes-128-ecb", "aes-256-xts", "aes-128-ccm"];
    Record {
        format_version: record::FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: "0.1.0".to_owned(),
            command: vec!["ciphermark".to_owned()],
        },
        started: "2026-11-20T12:00:00Z".to_owned(),
        measuring_seconds: 61.25,
        host: host(),
        libraries: libraries(),
        plan: Plan {
            suite: Some("quick".to_owned()),
            algorithms: algorithms.map(str::to_owned).to_vec(),
            sizes: SIZES.to_vec(),
            models: vec![Model::Message],
            directions: vec![Direction::Encrypt, Direction::Decrypt],
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
        measurements: measurements(),
        fits: Vec::new(),
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
        calls: Vec::new(),
        instructions: None,
        tiers: Vec::new(),
        confinement: None,
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
    let mut all = Vec::new();
    // A message costs so many nanoseconds plus so much a byte.
    let mut add = |library: &LibraryId, algorithm: &str, direction, fixed: f64, each: f64| {
        all.extend(SIZES.map(|size| case(library, algorithm, direction, size, fixed, each)));
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
        limited_by: known.then_some(bound::Bound::AesUnits),
        limit_basis: known.then_some(bound::Basis::Proven),
        per_thread: Vec::new(),
        key_setup: None,
        latency_ns: None,
        precision: Some(spread),
        stopped: Some(if size < 1000 { Stopped::Budget } else { Stopped::Precision }),
        samples: 40,
        samples_disturbed: 2,
        processes: 3,
        disturbed: Disturbances::default(),
        contended: false,
        checks: vec![Check { name: "round-trip".to_owned(), count: 300 }],
        evidence: Evidence {
            clock: "tsc".to_owned(),
            cycles: "imul-chain".to_owned(),
            outputs_checked: 42,
            calls_succeeded: 4200,
            instructions: None,
        },
        raw: Samples::default(),
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

/// What one of the cases executed.
pub(crate) fn executed() -> Executed {
    Executed {
        library: id("openssl", "3.0.22", "/usr/lib/libcrypto.so.3"),
        algorithm: "aes-128-gcm".to_owned(),
        direction: Direction::Encrypt,
        model: Model::Message,
        tier: Tier::Native,
        source: Some("single-step".to_owned()),
        reason: None,
        per_byte: Some(0.25),
        per_message: Some(400.0),
        sizes: vec![
            ExecutedSize { size: 1024, instructions: 656 },
            ExecutedSize { size: 4096, instructions: 1424 },
        ],
        slope_sizes: Vec::new(),
        uncounted: Vec::new(),
        classes: vec![
            class("aes-round", Some(512), 0.15625, 40.0),
            class("scalar", None, 0.09375, 360.0),
        ],
        memory_reads: Some(Share { per_byte: 0.0625, per_message: 120.0 }),
        memory_writes: Some(Share { per_byte: 0.03125, per_message: 60.0 }),
        instruction_sets: vec!["avx512f".to_owned(), "vaes".to_owned()],
        functions: vec![FunctionCount {
            function: Some("aes_gcm_encrypt".to_owned()),
            object: "libcrypto.so.3".to_owned(),
            per_byte: 0.25,
            per_message: 300.0,
        }],
        excepted: None,
        pmu: None,
    }
}

fn class(class: &str, width: Option<u16>, per_byte: f64, per_message: f64) -> ClassCount {
    ClassCount { class: class.to_owned(), width, per_byte, per_message }
}
