//! How much of one thing alone makes a rise: handshakes of each kind, bytes of each suite, requests.

use crate::load::form::{Form, Interval};
use crate::load::handshakes::Key;
use crate::load::logs::{BYTES, CIPHER, CURVE, DH, ERRORS, HTTP, KEY, PROTOCOL, REQUESTS, REUSED};
use crate::load::requests::{RecordKey, RequestKey};
use crate::load::why::{Amount, Asked, Rate, Verdict};
use crate::load::words::{Http, Role};
use record::tls::{Case, Certificate, Exchange, Kind, Suite, Version};

const V12: Version = Version::Tls12;
const V13: Version = Version::Tls13;

/// The handshakes that servers are configured for, well or badly, and what tells each in the log.
#[rustfmt::skip]
const HANDSHAKES: &[(Version, Exchange, Certificate, Kind, &[&str])] = &[
    (V13, Exchange::X25519, Certificate::P256, Kind::Full, &[REUSED, CURVE, KEY]),
    (V13, Exchange::X25519, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE, KEY]),
    (V13, Exchange::X25519, Certificate::Rsa4096, Kind::Full, &[REUSED, KEY]),
    (V12, Exchange::P256, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE, KEY]),
    (V12, Exchange::P384, Certificate::Rsa2048, Kind::Full, &[REUSED, CURVE]),
    (V12, Exchange::P256, Certificate::Rsa4096, Kind::Full, &[REUSED, KEY]),
    (V12, Exchange::P384, Certificate::Rsa4096, Kind::Full, &[REUSED, CURVE, KEY]),
    (V12, Exchange::Rsa, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, KEY]),
    (V12, Exchange::Ffdhe2048, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::OwnDh2048, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::Ffdhe4096, Certificate::Rsa2048, Kind::Full, &[REUSED, CIPHER, DH]),
    (V12, Exchange::Ffdhe4096, Certificate::Rsa4096, Kind::Full, &[REUSED, CIPHER, DH, KEY]),
    (V12, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedTicket, &[REUSED, PROTOCOL]),
    (V13, Exchange::X25519, Certificate::Rsa2048, Kind::ResumedPsk, &[REUSED, PROTOCOL]),
];

/// What handshakes add to connections that were there before, and connections that were not.
pub(crate) fn handshakes(asked: &Asked<'_>) -> Vec<Rate> {
    let mut rates: Vec<Rate> = HANDSHAKES
        .iter()
        .filter_map(|(version, exchange, certificate, kind, decided_by)| {
            let case = Case::usual(*version, *exchange, *certificate, *kind);
            let key = Key { regime: asked.regime, case, tickets: None, aes_hardware: true };
            let mut form = asked.prices.handshakes.price(key)?.form;
            if let Some(own) = asked.prices.own_code(asked.regime, kind.is_resumed()) {
                form = form.plus(&own.form, 1.0);
            }
            let what = match kind {
                Kind::Full => format!("full handshakes, TLS {version} {exchange} {certificate}"),
                kind => format!("handshakes, TLS {version} {kind}"),
            };
            Some(of_connections(asked, what, Amount::Handshakes, &form, decided_by))
        })
        .collect();
    let plain = asked.prices.requests.connection(asked.prices.server, asked.regime, Http::Http1);
    if let Some((_, form)) = plain {
        let what = "more connections without TLS, one request each".to_owned();
        rates.push(of_connections(asked, what, Amount::Connections, &form, &[REQUESTS]));
    }
    if let Some(form) = asked.prices.refused(asked.regime) {
        let what = "connections refused at the first message".to_owned();
        rates.push(of_connections(asked, what, Amount::Connections, &form, &[ERRORS]));
    }
    let each = |r: &Rate| r.each_cpu_us.value;
    rates.sort_by(|a, b| each(b).total_cmp(&each(a)));
    rates
}

fn of_connections(
    asked: &Asked<'_>,
    what: String,
    counted: Amount,
    form: &Form,
    decided_by: &[&str],
) -> Rate {
    let each = asked.cost(form);
    let known = asked
        .spec
        .map(|s| s.traffic.connections_per_s + s.traffic.abandoned_per_s + s.traffic.refused_per_s);
    rate(asked, what, counted, each, known, decided_by)
}

/// Sizes that requests are looked at.
const SIZES: [u64; 3] = [1024, 16_384, 102_400];

/// Everything that grows with bytes or requests.
pub(crate) fn bytes_and_requests(asked: &Asked<'_>) -> Vec<Rate> {
    let base = RecordKey {
        version: V13,
        suite: Suite::Aes128Gcm,
        record_bytes: 16_384,
        aes_hardware: true,
    };
    let mut rates = Vec::new();
    for suite in Suite::ALL {
        let version = if suite.is_aead() { V13 } else { V12 };
        if let Some(form) = per_byte(asked, RecordKey { suite: *suite, version, ..base }) {
            let what = format!("{suite}: encrypting and sending");
            rates.push(of_bytes(asked, what, &form, &[BYTES, CIPHER]));
        }
    }
    let differences = [
        ("AES-256 instead of AES-128", RecordKey { suite: Suite::Aes256Gcm, ..base }),
        ("no AES instructions", RecordKey { aes_hardware: false, ..base }),
        ("records of 4 KiB instead of 16", RecordKey { record_bytes: 4096, ..base }),
    ];
    let usual = per_byte(asked, base);
    for (what, key) in differences {
        if let Some((other, usual)) = per_byte(asked, key).zip(usual.as_ref()) {
            rates.push(of_bytes(
                asked,
                what.to_owned(),
                &other.plus(usual, -1.0),
                &[BYTES, CIPHER],
            ));
        }
    }
    rates.extend(SIZES.iter().filter_map(|bytes| sendfile(asked, *bytes)));
    rates.extend(SIZES.iter().filter_map(|bytes| http2(asked, *bytes)));
    rates
}

/// What a byte of a long response costs; none where the suite is not calibrated.
fn per_byte(asked: &Asked<'_>, key: RecordKey) -> Option<Form> {
    let at = |bytes| {
        let price = asked.prices.requests.tls(asked.regime, key, bytes)?;
        // Another regime's costs will do here, another suite's will not.
        let stands_in = price.remarks.iter().any(|r| !r.contains(" load "));
        (!stands_in).then_some(price.form)
    };
    let (near, far) = (at(16_384)?, at(102_400)?);
    Some(far.plus(&near, -1.0).times(1.0 / (102_400.0 - 16_384.0)))
}

fn of_bytes(asked: &Asked<'_>, what: String, form: &Form, decided_by: &[&str]) -> Rate {
    let each = asked.cost(form);
    rate(asked, what, Amount::Bytes, each, asked.most_bytes_per_s, decided_by)
}

fn plain(asked: &Asked<'_>, http: Http, sendfile: bool, bytes: u64) -> Option<Form> {
    let key =
        RequestKey { role: asked.prices.server, regime: asked.regime, http, sendfile, tls: None };
    let price = asked.prices.requests.price(key, bytes)?;
    let stands_in = price.remarks.iter().any(|r| r.contains("sendfile") || r.contains("HTTP/"));
    (!stands_in).then_some(price.form)
}

fn requests_known(asked: &Asked<'_>) -> Option<f64> {
    asked.spec.map(|s| s.traffic.connections_per_s * s.traffic.requests_per_connection)
}

fn sendfile(asked: &Asked<'_>, bytes: u64) -> Option<Rate> {
    if asked.prices.server != Role::RealPlain {
        return None;
    }
    let lost = plain(asked, Http::Http1, false, bytes)?
        .plus(&plain(asked, Http::Http1, true, bytes)?, -1.0);
    let what = format!("sendfile lost, responses of {} KiB", bytes / 1024);
    Some(rate(
        asked,
        what,
        Amount::Requests,
        asked.cost(&lost),
        requests_known(asked),
        &[BYTES, HTTP],
    ))
}

fn http2(asked: &Asked<'_>, bytes: u64) -> Option<Rate> {
    let added = plain(asked, Http::Http2, false, bytes)?
        .plus(&plain(asked, Http::Http1, false, bytes)?, -1.0);
    let what = format!("HTTP/2 instead of HTTP/1.1, responses of {} KiB", bytes / 1024);
    Some(rate(asked, what, Amount::Requests, asked.cost(&added), requests_known(asked), &[HTTP]))
}

fn rate(
    asked: &Asked<'_>,
    what: String,
    counted: Amount,
    each: Interval,
    known: Option<f64>,
    decided_by: &[&str],
) -> Rate {
    let needed = asked.needed(each);
    let (verdict, reason) = match (needed, known) {
        (None, _) => {
            (Verdict::Cannot, "costs nothing that could be told from nothing, or less".to_owned())
        }
        (Some(needed), Some(known)) if needed.low > known => (
            Verdict::Cannot,
            format!("needs at least {:.1} times what there is", needed.low / known.max(1e-9)),
        ),
        (Some(needed), Some(known)) if needed.high >= known => {
            (Verdict::Fits, "about as many as there are".to_owned())
        }
        (Some(needed), Some(known)) => {
            let share = needed.value / known * 100.0;
            (Verdict::More, format!("{share:.1} % of what there is would do"))
        }
        (Some(_), None) => (Verdict::Possible, "at this rate".to_owned()),
    };
    Rate {
        what,
        counted,
        each_cpu_us: each,
        needed_per_s: needed,
        verdict,
        reason,
        decided_by: decided_by.iter().map(|e| (*e).to_owned()).collect(),
    }
}
