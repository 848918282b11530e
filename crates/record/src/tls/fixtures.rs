//! Rows that nobody measured: for tests, here and in other crates.

use crate::tls::document::{BareCost, Cost, Plan, Row, Run, RunKind, Stack};
use crate::tls::words::{Operation, Primitive, Scheme, Suite, Temperature, Version};
use crate::tls::{Case, Protection, Subject};
use crate::{Host, Noise, State, Tool};
use base::model::Tier;

/// A stack, from `name@version`.
pub fn stack(label: &str) -> Stack {
    let (name, version) = label.split_once('@').unwrap_or((label, ""));
    Stack {
        label: label.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        ..Stack::default()
    }
}

/// A cost of so many nanoseconds, to one per cent.
pub fn cost(ns: f64) -> Cost {
    Cost {
        median_ns: ns,
        low_ns: ns * 0.99,
        high_ns: ns * 1.01,
        mean_ns: ns,
        max_ns: ns * 1.1,
        setup_ns: 0.0,
        cycles: None,
    }
}

/// A hot row that costs both parts so much; none is one that the stack does not offer.
pub fn row(stack: &str, subject: Subject, costs: Option<[Cost; 2]>) -> Row {
    let state = if costs.is_some() { State::Measured } else { State::Unsupported };
    Row {
        reason: costs.is_none().then(|| "NO_CIPHER|MATCH\u{1b}[31m".to_owned()),
        costs,
        samples: 30,
        operations: 30,
        processes: 6,
        ..Row::blank(stack, subject, Temperature::Hot, state)
    }
}

/// A handshake that takes both ends so many µs, ± 1 %.
pub fn handshake(stack: &str, case: Case, us: Option<f64>) -> Row {
    row(stack, Subject::Handshake(case), us.map(|us| [cost(us * 1000.0); 2]))
}

/// Records of TLS 1.3 that take so many nanoseconds to send, a quarter more to receive, and half in the bare cipher.
pub fn record_row(suite: Suite, size: u32, ns: Option<f64>) -> Row {
    let protection = Protection { version: Version::Tls13, suite };
    let costs = ns.map(|ns| [cost(ns), cost(ns * 1.25)]);
    let mut row = row("some@1.0", Subject::Records { protection, size }, costs);
    row.overhead_bytes = ns.map(|_| 22);
    let half = ns.map(|ns| ns / 2.0);
    let bare = half.map(|ns| BareCost { median_ns: ns, low_ns: ns, high_ns: ns, contended: false });
    (row.bare.encrypt, row.bare.decrypt) = (bare, bare);
    row
}

/// A primitive that takes so many µs, and a tenth less alone.
pub fn primitive_row(stack: &str, scheme: Scheme, operation: Operation, us: Option<f64>) -> Row {
    let size = (operation == Operation::Digest).then_some(1400);
    let costs = us.map(|us| [cost(us * 1000.0), cost(us * 900.0)]);
    let mut row = row(stack, Subject::Primitive(Primitive { scheme, operation, size }), costs);
    row.checks.extend(us.map(|_| "known answer".to_owned()));
    row
}

const PLAN: Plan =
    Plan { precision: 0.02, budget_seconds: 120.0, seed: 1, cpu: 0, tier: Tier::Native };

pub fn run(kind: RunKind, stacks: &[&str], rows: Vec<Row>) -> Run {
    Run {
        kind,
        tool: Tool { name: "ciphermark".to_owned(), ..Tool::default() },
        started: "2026-11-21T00:00:00Z".to_owned(),
        seconds: 9.0,
        host: Host::default(),
        span: kind.span().to_owned(),
        plan: PLAN,
        stacks: stacks.iter().map(|label| stack(label)).collect(),
        noise: Noise { samples: 70, clean: 60, shield: "none".to_owned(), ..Noise::default() },
        rows,
    }
}
