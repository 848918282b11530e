//! A record for tests.

use crate::{
    Cell, FORMAT_VERSION, KIND, Keying, Medium, Nonces, NsRange, PageStore, PagesRecord,
    ProbeCounts, Tails, Timing, Verified, judge, scheme_facts,
};
use model::{Direction, Tier};
use record::{Library, State, Tool};
use scheme::{Expected, Probe, Recipe, expected, good_practice};

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

/// Two libraries, three schemes, one of them refused in one library.
pub(crate) fn record() -> PagesRecord {
    let names = ["none", "aes-256-xts", "aes-256-gcm"];
    let recipes: Vec<Recipe> =
        good_practice().into_iter().filter(|r| names.contains(&&*r.scheme)).collect();
    let host = serde_json::from_value(serde_json::json!({
        "cpu": {"name": "Test CPU", "vendor": "Test", "family": 1, "model": 1, "stepping": 1,
            "logical_cpus": 2, "features": []},
    }));
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
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                let ns = 200.0 + 900.0 * i as f64 + 500.0 * library as f64;
                cells.push(cell(library, name, direction, ns));
            }
        }
    }
    let probes = (0..2)
        .flat_map(|l| recipes.iter().map(move |r| judge(l, r, as_expected(r))).collect::<Vec<_>>());
    PagesRecord {
        kind: KIND.into(),
        format_version: FORMAT_VERSION.into(),
        tool: Tool { name: "ciphermark".into(), version: "0.1.0".into(), command: Vec::new() },
        started: "2026-11-21T12:00:00Z".into(),
        host: host.unwrap_or_else(|_| Host::default()),
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
        nonces: Nonces::default(),
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

use record::Host;
