//! A small record with every state, for the tests of this crate.

use crate::{
    Cache, Check, ClassCount, Clock, Cpu, Disturbances, Estimate, Evidence, Executed, ExecutedSize,
    FORMAT_VERSION, FunctionCount, Host, Leak, LeakKind, LeakVerdict, Leaks, Library, LibraryId,
    Measurement, Noise, Plan, PmuCount, QuietCpu, Record, Samples, Share, State, SteppedOperation,
    Stopped, Tool, UncountedSize,
};
use model::{Direction, Footprint, Model, RawSample, Tier};

pub(crate) fn record() -> Record {
    Record {
        format_version: FORMAT_VERSION.to_owned(),
        tool: Tool {
            name: "ciphermark".to_owned(),
            version: "0.1.0".to_owned(),
            command: vec!["ciphermark".to_owned(), "run".to_owned()],
        },
        started: "2026-11-20T12:00:00Z".to_owned(),
        measuring_seconds: 1.5,
        host: host(),
        libraries: vec![library(None), library(Some("is not an ELF shared object"))],
        plan: Plan {
            suite: Some("quick".to_owned()),
            algorithms: vec!["aes-128-gcm".to_owned()],
            sizes: vec![16, 8192],
            models: vec![Model::Message],
            directions: vec![Direction::Encrypt],
            tiers: vec![Tier::Native],
            footprints: vec![Footprint::Hot],
            threads: vec![1],
            in_place: vec![false],
            precision: 0.01,
            budget_seconds: 60.0,
            seed: 7,
            ..Plan::default()
        },
        noise: Some(noise()),
        executed: vec![executed()],
        leaks: vec![leaks()],
        measurements: vec![
            measured(),
            without_number(State::Unsupported, "the library does not offer it"),
            without_number(State::Refused, "round trip: byte 3 differs"),
            without_number(State::Failed, "the worker died of SIGSEGV"),
        ],
        ..Record::default()
    }
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

fn noise() -> Noise {
    Noise {
        samples: 20,
        clean: 18,
        disturbed: Disturbances { switched: 1, contended: 1, ..Disturbances::default() },
        quiet: vec![QuietCpu { cpu: 1, rate: 5.25 }],
        stolen_seconds: Some(0.0),
        shield: "none".to_owned(),
    }
}

fn host() -> Host {
    let caches = vec![Cache {
        level: 1,
        kind: "Data".to_owned(),
        size_bytes: 32 << 10,
        line_bytes: 64,
        shared_by: "0".to_owned(),
    }];
    Host {
        cpu: Cpu { name: "Test CPU".to_owned(), caches, ..Cpu::default() },
        clock: Clock {
            source: "tsc".to_owned(),
            core_ghz_range: Some((2.9, 3.1)),
            ..Clock::default()
        },
        ..Host::default()
    }
}

fn library(error: Option<&str>) -> Library {
    Library {
        name: "openssl".to_owned(),
        version: if error.is_none() { "3.0.22" } else { "" }.to_owned(),
        path: "/usr/lib/libcrypto.so.3".to_owned(),
        id: "build-id:00ff".to_owned(),
        build: vec!["compiler: gcc".to_owned()],
        error: error.map(str::to_owned),
        calls: Vec::new(),
        instructions: None,
        tiers: Vec::new(),
        confinement: None,
    }
}

fn without_number(state: State, reason: &str) -> Measurement {
    let library = LibraryId {
        name: "openssl".to_owned(),
        version: "3.0.22".to_owned(),
        path: "/usr/lib/libcrypto.so.3".to_owned(),
        id: "build-id:00ff".to_owned(),
    };
    let size = 8192;
    let reason = Some(reason.to_owned());
    Measurement { size, reason, ..Measurement::blank(library, "aes-128-gcm", state) }
}

fn measured() -> Measurement {
    Measurement {
        reason: None,
        ns_per_op: Some(Estimate { median: 1000.0, low: 995.0, high: 1005.0 }),
        cycles_per_op: Some(Estimate { median: 3000.0, low: 2990.0, high: 3010.0 }),
        ns_per_byte: Some(1000.0 / 8192.0),
        mb_per_s: Some(8192.0),
        cycles_per_byte: Some(3000.0 / 8192.0),
        instructions_per_byte: Some(0.25),
        instructions_per_message: Some(400.0),
        precision: Some(10.0 / 3000.0),
        stopped: Some(Stopped::Precision),
        samples: 18,
        samples_disturbed: 2,
        processes: 3,
        disturbed: Disturbances { switched: 1, contended: 1, ..Disturbances::default() },
        contended: false,
        checks: vec![Check { name: "round-trip".to_owned(), count: 300 }],
        evidence: Evidence {
            clock: "tsc".to_owned(),
            cycles: "imul-chain".to_owned(),
            outputs_checked: 20,
            calls_succeeded: 2400,
            instructions: Some("single-step".to_owned()),
        },
        raw: samples(20),
        ..without_number(State::Measured, "")
    }
}

fn leaks() -> Leaks {
    let operation = |operation: &str, size, steps| SteppedOperation {
        operation: operation.to_owned(),
        size,
        steps,
    };
    Leaks {
        library: measured().library,
        algorithm: "aes-128-gcm".to_owned(),
        tier: Tier::Native,
        verdict: LeakVerdict::Depends,
        reason: Some("step limit: encrypt at 8192 bytes".to_owned()),
        secrets: 16,
        operations: vec![operation("key-set-up", None, 642), operation("encrypt", Some(16), 910)],
        findings: vec![Leak {
            kind: LeakKind::Lookup,
            function: Some("AES_encrypt".to_owned()),
            object: "libcrypto.so.3".to_owned(),
            address: 0x1a2b,
            instruction: "mov eax,[rcx+rdx*4]".to_owned(),
            places: 16,
            bytes: Some(1024),
            lines: Some(16),
            operations: vec!["encrypt".to_owned()],
            sizes: vec![16],
            compared: true,
            tainted: true,
        }],
    }
}

fn executed() -> Executed {
    Executed {
        library: measured().library,
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
        slope_sizes: vec![1024, 4096],
        uncounted: vec![UncountedSize {
            size: 1 << 20,
            reason: "about 262544 instructions".to_owned(),
        }],
        classes: vec![
            ClassCount {
                class: "aes-round".to_owned(),
                width: Some(512),
                per_byte: 0.15625,
                per_message: 40.0,
            },
            ClassCount {
                class: "scalar".to_owned(),
                width: None,
                per_byte: 0.09375,
                per_message: 360.0,
            },
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
        excepted: Some("libc.so.6: avx512vl in memmove".to_owned()),
        pmu: Some(PmuCount {
            reason: Some("the CPU's counters are not visible".to_owned()),
            per_byte: None,
            per_message: None,
            difference: None,
        }),
    }
}
