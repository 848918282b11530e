//! Records, cases and verdicts that nobody measured: for tests, here and in other crates.

use crate::{Estimate, Leak, LeakKind, LeakVerdict, Leaks, LibraryId, Record};
use base::model::Tier;

/// The committed sample of the format, with a row in every state.
///
/// # Panics
/// When this program does not read it.
pub fn sample() -> Record {
    let text = include_str!("../tests/sample.json");
    crate::from_json(text, "sample.json").expect("the sample is of this format")
}

pub fn library(name: &str, version: &str, id: &str) -> LibraryId {
    let [name, version, id] = [name, version, id].map(str::to_owned);
    LibraryId { path: format!("/lib/{name}-{version}-{id}.so"), name, version, id }
}

/// Known to one per cent.
pub fn about(median: f64) -> Estimate {
    Estimate { median, low: median * 0.99, high: median * 1.01 }
}

/// A verdict without places.
pub fn leaks(library: LibraryId, algorithm: &str, verdict: LeakVerdict) -> Leaks {
    Leaks {
        library,
        algorithm: algorithm.to_owned(),
        tier: Tier::Native,
        verdict,
        reason: None,
        secrets: 16,
        operations: Vec::new(),
        findings: Vec::new(),
    }
}

/// A place in a function that encryption comes to, which taint has found, and perhaps comparison, too.
pub fn leak(kind: LeakKind, function: &str, compared: bool) -> Leak {
    Leak {
        kind,
        function: Some(function.to_owned()),
        object: "libmine.so".to_owned(),
        address: 0x1000,
        instruction: "mov eax,[rcx+rdx*4]".to_owned(),
        places: 1,
        bytes: Some(256),
        lines: Some(4),
        operations: vec!["encrypt".to_owned()],
        sizes: vec![16],
        compared,
        tainted: true,
    }
}
