//! Handshakes that nobody measured: for tests, here and in other crates.

use crate::tls::Case;
use crate::tls::document::{Cost, Document, Handshake, Plan, Run, SPAN, Stack};
use crate::tls::words::Temperature;
use crate::{Disturbances, Host, Noise, State, Tool};
use base::model::Tier;

/// A stack, from `name@version`.
pub fn stack(label: &str) -> Stack {
    let (name, version) = label.split_once('@').unwrap_or((label, ""));
    Stack {
        label: label.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        path: String::new(),
        id: String::new(),
        crypto_path: String::new(),
        crypto_id: String::new(),
        bare_path: String::new(),
        build: Vec::new(),
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

/// A hot handshake that takes both ends so many µs, ± 1 %; none is one that the stack does not offer.
pub fn handshake(stack: &str, case: Case, us: Option<f64>) -> Handshake {
    let cost = us.map(|us| cost(us * 1000.0));
    Handshake {
        stack: stack.to_owned(),
        case,
        temperature: Temperature::Hot,
        state: if us.is_some() { State::Measured } else { State::Unsupported },
        reason: us.is_none().then(|| "NO_CIPHER|MATCH\u{1b}[31m".to_owned()),
        negotiated: None,
        unset: None,
        server: cost,
        client: cost,
        first: None,
        bytes: None,
        memory: None,
        samples: 30,
        handshakes: 30,
        processes: 6,
        disturbed: Disturbances::default(),
        contended: false,
        stopped: None,
    }
}

pub(crate) const PLAN: Plan =
    Plan { precision: 0.02, budget_seconds: 120.0, seed: 1, cpu: 0, tier: Tier::Native };

/// A run of handshakes in stacks by their labels.
pub fn document(stacks: &[&str], handshakes: Vec<Handshake>) -> Document {
    run(stacks, SPAN, handshakes)
}

pub fn run<R>(stacks: &[&str], span: &str, rows: Vec<R>) -> Run<R> {
    Run {
        tool: Tool { name: "ciphermark".to_owned(), ..Tool::default() },
        started: "2026-11-21T00:00:00Z".to_owned(),
        seconds: 9.0,
        host: Host::default(),
        span: span.to_owned(),
        plan: PLAN,
        stacks: stacks.iter().map(|label| stack(label)).collect(),
        noise: Noise { samples: 70, clean: 60, shield: "none".to_owned(), ..Noise::default() },
        rows,
    }
}
