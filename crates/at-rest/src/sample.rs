//! A record for tests.

use crate::{
    Cell, FORMAT_VERSION, KIND, Keying, Medium, NonceRow, NonceVerdict, Nonces, NsRange, PageStore,
    PagesRecord, ProbeCounts, RepeatedNonce, Tails, Timing, Verified, judge, scheme_facts,
};
use model::{Direction, Tier};
use record::{Library, State, Tool};
use scheme::{Expected, Field, Probe, Recipe, expected, good_practice};

fn library(name: &str, version: &str) -> Library {
    Library {
        name: name.into(),
        version: version.into(),
        path: format!("/lib/{name}.so"),
        id: "sha256:00".into(),
        build: Vec::new(),
        error: None,
        calls: Vec::new(),
        instructions: None,
        tiers: Vec::new(),
        confinement: None,
    }
}

fn as_expected(recipe: &Recipe) -> Vec<ProbeCounts> {
    let count = |probe| match expected(recipe, probe) {
        Expected::NotApplicable => ProbeCounts { probe, tried: 0, noticed: 0, effects: Vec::new() },
        Expected::Noticed => ProbeCounts { probe, tried: 200, noticed: 200, effects: Vec::new() },
        Expected::Unnoticed(effect) => {
            ProbeCounts { probe, tried: 200, noticed: 0, effects: vec![(effect, 200)] }
        }
    };
    Probe::ALL.map(count).into()
}

fn cell(library: usize, scheme: &str, direction: Direction, ns: f64) -> Cell {
    Cell {
        library,
        scheme: scheme.into(),
        medium: Medium::Sequential,
        keying: Keying::Reused,
        direction,
        threads: 1,
        state: State::Measured,
        reason: None,
        rounds: 6,
        disturbed_rounds: 0,
        pages: 1536,
        crypto_ns: Some(NsRange { median: ns, low: Some(ns * 0.99), high: Some(ns * 1.01) }),
        crypto_tails: Some(Tails { p50: ns, p99: ns * 1.5, p999: ns * 2.0, max: ns * 9.0 }),
        io_ns: None,
        io_tails: None,
        over_none_ns: None,
        pages_per_s: Some(1e9 / ns),
        core_seconds_per_gib: Some(ns * 131_072.0 / 1e9),
    }
}

/// The same after a read from a file, or before a write to one.
fn beside(cell: Cell, medium: Medium, io: f64) -> Cell {
    Cell {
        medium,
        io_ns: Some(NsRange { median: io, low: Some(io * 0.9), high: Some(io * 1.2) }),
        io_tails: Some(Tails { p50: io, p99: io * 3.0, p999: io * 9.0, max: io * 90.0 }),
        ..cell
    }
}

/// Two states of the store, in which a page changed and its LSN did not.
fn repeated() -> Nonces {
    let rule = |rule: &str, fields, different| NonceRow {
        rule: rule.into(),
        fields,
        key_per_file: false,
        distinct: 2000,
        repeated_same: 0,
        repeated_different: different,
        named: vec![RepeatedNonce {
            page: "base/5/16384 block 7, state 0".into(),
            other: "base/5/16384 block 7, state 1".into(),
        }],
    };
    let verdict = |scheme: &str, rule: &str, verdict: &str| NonceVerdict {
        scheme: scheme.into(),
        rule: rule.into(),
        verdict: verdict.into(),
        collision: (rule == "random").then_some(2.5e-23),
        from_lsn: "repeats".into(),
    };
    Nonces {
        states: 2,
        pages: 2000,
        rules: vec![
            rule("place", vec![Field::Database32, Field::Relation32, Field::Block32], 40),
            rule("block-lsn", vec![Field::Block32, Field::Version64], 3),
        ],
        schemes: vec![
            verdict("none", "none", "none"),
            verdict("aes-256-xts", "place", "by-design"),
            verdict("aes-256-gcm", "random", "random"),
        ],
    }
}

/// Two libraries, three schemes, one of them refused in one library.
pub(crate) fn record() -> PagesRecord {
    let names = ["none", "aes-256-xts", "aes-256-gcm"];
    let recipes: Vec<Recipe> =
        good_practice().into_iter().filter(|r| names.contains(&&*r.scheme)).collect();
    let survey = include_str!("../../record/tests/sample.json");
    let host = record::from_json(survey, "sample").expect("it is tested").host;
    let verified = |library: usize, scheme: &str, state: State| Verified {
        library,
        scheme: scheme.into(),
        state,
        reason: (state != State::Measured).then(|| "page 3: it comes back as another".into()),
        pages: if state == State::Measured { 1000 } else { 0 },
        agreeing: 2,
        digest: Some("00".into()),
        sum_by: None,
    };
    let mut cells = Vec::new();
    for (i, name) in names.iter().enumerate() {
        for library in 0..2 {
            if (library, *name) == (1, "aes-256-xts") {
                continue;
            }
            let ns = 200.0 + 900.0 * i as f64 + 500.0 * library as f64;
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                cells.push(cell(library, name, direction, ns));
            }
            cells.push(beside(cell(library, name, Direction::Decrypt, ns), Medium::Cache, 1700.0));
            cells.push(beside(cell(library, name, Direction::Encrypt, ns), Medium::Log, 125_000.0));
        }
    }
    let probes = (0..2)
        .flat_map(|l| recipes.iter().map(move |r| judge(l, r, as_expected(r))).collect::<Vec<_>>());
    PagesRecord {
        kind: KIND.into(),
        format_version: FORMAT_VERSION.into(),
        tool: Tool { name: "ciphermark".into(), version: "0.1.0".into(), command: Vec::new() },
        started: "2026-11-21T12:00:00Z".into(),
        host,
        store: PageStore {
            kind: "postgres".into(),
            name: "data".into(),
            page_size: 8192,
            pages: 1000,
            files: 30,
            left_out: 2,
            zero_pages: 0,
            without_lsn: 9,
            hole_bytes: 4096,
            checksums: Some(true),
            sha256_before: "ab".into(),
            sha256_after: "ab".into(),
            facts: vec!["PostgreSQL 15".into()],
            snapshots: Vec::new(),
        },
        profile: None,
        tier: Tier::Native,
        seed: 1,
        libraries: vec![library("openssl", "3.0.19"), library("libsodium", "1.0.18")],
        schemes: recipes.iter().map(scheme_facts).collect(),
        verified: vec![
            verified(0, "none", State::Measured),
            verified(0, "aes-256-xts", State::Measured),
            verified(0, "aes-256-gcm", State::Measured),
            verified(1, "aes-256-xts", State::Refused),
            verified(1, "aes-256-gcm", State::Measured),
        ],
        probes: probes.collect(),
        nonces: repeated(),
        timing: Some(Timing {
            rounds: 6,
            seconds: 12.5,
            pages_per_visit: 256,
            window_bytes: 32 << 20,
            clock: "tsc".into(),
            random_source: "getrandom(2), a call for each nonce".into(),
            scratch: Some("ext4".into()),
            quiet_throughput: 5.0,
        }),
        cells,
    }
}

/// The same as a file, for what reads records of pages: `BLESS=1` writes it anew.
#[test]
fn the_committed_sample_is_this_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sample.json");
    let text = crate::to_json(&record());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &text).expect("the repository can be written to");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(found == text, "tests/sample.json is out of date; `BLESS=1 cargo test` writes it anew");
}
