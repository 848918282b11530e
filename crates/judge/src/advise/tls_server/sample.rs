//! A made-up run of handshakes for tests: a fast stack with ML-KEM and a slow one without.

use crate::advise::tls_server::question::Question;
use record::tls::{
    Bare, Case, Certificate, Document, Exchange, Kind, Protection, RecordRow, RecordsDocument,
    Suite, Temperature, Version, fixtures,
};
use record::{Disturbances, State};

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

/// The fast stack: ECDSA 80 µs with ML-KEM, 70 without, 90 in TLS 1.2; RSA ten times that; resumed 50.
pub(crate) fn document() -> Document {
    let mut handshakes = Vec::new();
    for (label, factor) in [("fast@1.0", 1.0), ("slow@1.0", 2.0)] {
        for (certificate, times) in [(Certificate::P256, 1.0), (Certificate::Rsa2048, 10.0)] {
            for (version, exchange, us) in [
                (Version::Tls13, Exchange::X25519Mlkem768, 80.0),
                (Version::Tls13, Exchange::X25519, 70.0),
                (Version::Tls12, Exchange::P256, 90.0),
            ] {
                let case = Case::usual(version, exchange, certificate, Kind::Full);
                let has_none = factor > 1.0 && exchange == Exchange::X25519Mlkem768;
                handshakes.push(fixtures::handshake(
                    label,
                    case,
                    (!has_none).then_some(us * factor * times),
                ));
                if version == Version::Tls13 {
                    let again = Case { kind: Kind::ResumedPsk, ..case };
                    handshakes.push(fixtures::handshake(
                        label,
                        again,
                        (!has_none).then_some(50.0 * factor),
                    ));
                }
            }
        }
    }
    fixtures::document(&["fast@1.0", "slow@1.0"], handshakes)
}

/// A run of records in which a stack does not have a suite of TLS 1.2.
pub(crate) fn lacking(stack: &str, suite: Suite) -> RecordsDocument {
    let row = RecordRow {
        stack: stack.to_owned(),
        protection: Protection { version: Version::Tls12, suite },
        size: 1400,
        state: State::Unsupported,
        reason: Some("no cipher match".to_owned()),
        negotiated: None,
        overhead_bytes: None,
        send: None,
        receive: None,
        bare: Bare::default(),
        samples: 0,
        records: 0,
        processes: 0,
        disturbed: Disturbances::default(),
        contended: false,
        stopped: None,
    };
    fixtures::run(&[stack], "made up", vec![row])
}
