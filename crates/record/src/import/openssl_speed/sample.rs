//! A record for tests: two libraries, two algorithms, two sizes, both directions in one of them.

use crate::{Estimate, Measurement, Record, State};
use base::model::{Direction, Model};

pub(crate) fn record() -> Record {
    let mut record = crate::sample::record();
    record.tool.version = "0.1.0".to_owned();
    let measured = |m: &&Measurement| m.state == State::Measured;
    let template = record.measurements.iter().find(measured).unwrap().clone();
    let case = |library: (&str, &str), algorithm: &str, direction, size: usize, ns: f64| {
        let mut m = template.clone();
        (m.library.name, m.library.version) = (library.0.to_owned(), library.1.to_owned());
        (m.algorithm, m.direction, m.size) = (algorithm.to_owned(), direction, size);
        m.model = Model::Stream;
        m.ns_per_op = Some(Estimate { median: ns, low: ns, high: ns });
        m.mb_per_s = Some(size as f64 / ns * 1e3);
        m
    };
    let (openssl, gcrypt) = (("openssl", "3.0.22"), ("libgcrypt", "1.10.1"));
    record.measurements = vec![
        case(openssl, "aes-128-gcm", Direction::Encrypt, 16, 52.75),
        case(openssl, "aes-128-gcm", Direction::Encrypt, 8192, 1001.25),
        case(openssl, "aes-128-ctr", Direction::Encrypt, 16, 31.5),
        case(openssl, "aes-128-ctr", Direction::Encrypt, 8192, 901.0),
        case(openssl, "aes-128-ctr", Direction::Decrypt, 8192, 902.0),
        case(gcrypt, "des-ede3-cbc", Direction::Encrypt, 65_536, 2_345_678.9),
    ];
    record
}
