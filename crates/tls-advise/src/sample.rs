//! A made-up run of handshakes for tests: a fast stack with ML-KEM and a slow one without.

use crate::question::Question;
use record::{Disturbances, Host, State};
use tls::{
    Case, Certificate, Cost, Document, Exchange, Handshake, Kind, Noise, Plan, Stack, Suite,
    Temperature, Version,
};

pub(crate) fn question(clients: &[&str]) -> Question {
    let texts: Vec<String> = clients.iter().map(|c| (*c).to_owned()).collect();
    Question {
        clients: Question::clients(&texts).unwrap(),
        certificates: vec![Certificate::Rsa2048, Certificate::P256],
        resumed_share: 0.0,
        post_quantum: true,
        bytes_per_connection: 0,
        temperature: Temperature::Hot,
    }
}

fn row(stack: &str, case: Case, us: Option<f64>) -> Handshake {
    let cost = us.map(|us| Cost {
        median_ns: us * 1000.0,
        low_ns: us * 990.0,
        high_ns: us * 1010.0,
        mean_ns: us * 1000.0,
        max_ns: us * 1100.0,
        setup_ns: 0.0,
        cycles: None,
        cycles_precision: None,
    });
    Handshake {
        stack: stack.to_owned(),
        case,
        temperature: Temperature::Hot,
        state: if us.is_some() { State::Measured } else { State::Unsupported },
        reason: us.is_none().then(|| "no such group".to_owned()),
        negotiated: None,
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

/// The fast stack: ECDSA 80 µs with ML-KEM, 70 without, 90 in TLS 1.2; RSA ten times that; resumed 50.
pub(crate) fn document() -> Document {
    let stack = |label: &str| Stack {
        label: label.to_owned(),
        name: label.to_owned(),
        version: "1.0".to_owned(),
        path: String::new(),
        id: String::new(),
        crypto_path: String::new(),
        crypto_id: String::new(),
        bare_path: String::new(),
        build: Vec::new(),
    };
    let mut handshakes = Vec::new();
    for (label, factor) in [("fast@1.0", 1.0), ("slow@1.0", 2.0)] {
        for (certificate, times) in [(Certificate::P256, 1.0), (Certificate::Rsa2048, 10.0)] {
            for (version, exchange, us) in [
                (Version::Tls13, Exchange::X25519Mlkem768, 80.0),
                (Version::Tls13, Exchange::X25519, 70.0),
                (Version::Tls12, Exchange::P256, 90.0),
            ] {
                let kind = Kind::Full;
                let (client_auth, suite) = (false, Suite::Aes128Gcm);
                let case = Case { version, exchange, certificate, kind, client_auth, suite };
                let has_none = factor > 1.0 && exchange == Exchange::X25519Mlkem768;
                handshakes.push(row(label, case, (!has_none).then_some(us * factor * times)));
                if version == Version::Tls13 {
                    let again = Case { kind: Kind::ResumedPsk, ..case };
                    handshakes.push(row(label, again, (!has_none).then_some(50.0 * factor)));
                }
            }
        }
    }
    Document {
        format_version: tls::FORMAT_VERSION.to_owned(),
        kind: "tls-handshakes".to_owned(),
        started: "2026-11-21T00:00:00Z".to_owned(),
        seconds: 9.0,
        command: Vec::new(),
        host: Host::default(),
        span: String::new(),
        plan: Plan { precision: 0.02, budget_seconds: 120.0, seed: 1, cpu: 0 },
        stacks: vec![stack("fast@1.0"), stack("slow@1.0")],
        noise: Noise::default(),
        handshakes,
    }
}
