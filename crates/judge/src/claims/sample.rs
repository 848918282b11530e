//! A record and a claim for tests: two versions of OpenSSL, and what makes each verdict.

use crate::claims::{BadClaims, Source, parse_source};
use base::model::{Direction, Model, Tier};
use record::{Call, Estimate, Measurement, Record, State};

/// Speeds in MB/s, each known to 1 %.
pub(crate) fn record() -> Record {
    let text = include_str!("../../../record/tests/sample.json");
    let mut record = record::from_json(text, "sample.json").unwrap();
    let gcm = record.measurements.iter().find(|m| m.state == State::Measured).unwrap().clone();
    let gcm = Measurement { limit_fraction: Some(0.5), ..gcm };
    let case = |version: &str, algorithm: &str, mb_per_s: f64| {
        let mut m = gcm.clone();
        if version != m.library.version {
            m.library.version = version.to_owned();
            m.library.path = format!("/opt/{version}/libcrypto.so");
        }
        m.algorithm = algorithm.to_owned();
        let ns = m.size as f64 / mb_per_s * 1e3;
        m.ns_per_op = Some(Estimate { median: ns, low: ns * 0.99, high: ns * 1.01 });
        m.mb_per_s = Some(mb_per_s);
        m.instructions_per_byte = None;
        m
    };
    let mut refused = case("3.0.22", "aes-128-ocb", 1.0);
    refused.state = State::Refused;
    refused.reason = Some("round trip: byte 3 differs".to_owned());
    (refused.ns_per_op, refused.mb_per_s) = (None, None);
    let ctr = || case("3.0.22", "aes-128-ctr", 9000.0);
    record.measurements = vec![
        gcm.clone(),
        ctr(),
        Measurement { tier: Tier::Noaes, ..case("3.0.22", "aes-128-ctr", 600.0) },
        Measurement { direction: Direction::Decrypt, ..case("3.0.22", "aes-128-ctr", 8900.0) },
        Measurement { model: Model::Stream, ..case("3.0.22", "aes-128-ctr", 9500.0) },
        Measurement { threads: 2, ..case("3.0.22", "aes-128-ctr", 17_000.0) },
        Measurement { in_place: true, ..case("3.0.22", "aes-128-ctr", 99_000.0) },
        case("3.0.22", "aes-128-ecb", 9010.0),
        refused,
        case("4.0.1", "aes-128-gcm", 12_000.0),
        case("4.0.1", "aes-128-ctr", 9000.0),
    ];
    record.libraries[0].calls = vec![Call {
        algorithm: "aes-128-gcm".to_owned(),
        direction: Direction::Encrypt,
        functions: None,
        copies: true,
        allocates: false,
        rekeying: None,
        rekey_functions: None,
        in_flight: None,
    }];
    record
}

/// A source of this model with one claim: these lines of TOML.
pub(crate) fn source(model: Model, claim: &str) -> Result<Source, BadClaims> {
    parse_source(&format!(
        "[source]\nid = 'a'\nauthor = 'b|b'\ntitle = 'c'\nurl = 'https://d'\nmachine = 'e'\n\
         model = '{model}'\n[[claim]]\nid = 'a-x'\nsays = '=y'\n{claim}"
    ))
}
