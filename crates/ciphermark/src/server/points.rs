//! The points that the model is held to, in parts that take a minute or two each.
//!
//! They were fixed before the first of them was measured. What is calibrated is another thing: a server of our
//! own with the same handshakes, and the real server without TLS.

use crate::server::calibrate::usual;
use crate::server::cell::RECORD_BYTES;
use judge::load::Http;
use record::tls::{Case, Certificate, Exchange, Kind, Suite, Version};

/// A point: what connections to the real server are to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// What it is called.
    pub name: String,
    /// What is negotiated; where some resume, the kind says how.
    pub case: Case,
    /// Share of the connections that are to resume.
    pub resumed: f64,
    /// Version of HTTP.
    pub http: Http,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// Most bytes of data in a record.
    pub record_bytes: u32,
    /// Whether the library sees the CPU's AES instructions.
    pub aes_hardware: bool,
}

/// The parts, in the order in which they are measured.
pub const PARTS: [&str; 8] =
    ["certificates", "exchanges", "resumption", "requests", "mixes", "http2", "no-aes", "mystery"];

/// The points of a part; none where there is no such part.
#[must_use]
pub fn part(name: &str) -> Option<Vec<Planned>> {
    Some(match name {
        "certificates" => certificates(),
        "exchanges" => exchanges(),
        "resumption" => resumption(),
        "requests" => requests(),
        "mixes" => mixes(),
        "http2" => http2(),
        "no-aes" => no_aes(),
        "mystery" => mystery(),
        _ => return None,
    })
}

const K: u64 = 1024;

impl Planned {
    /// A full handshake and one request for one KiB.
    fn full(name: &str, version: Version, exchange: Exchange, certificate: Certificate) -> Self {
        Self {
            name: name.to_owned(),
            case: Case { version, exchange, certificate, ..usual() },
            resumed: 0.0,
            http: Http::Http1,
            responses: vec![K],
            record_bytes: RECORD_BYTES,
            aes_hardware: true,
        }
    }

    fn resuming(mut self, kind: Kind, share: f64) -> Self {
        self.case.kind = kind;
        self.resumed = share;
        self
    }

    fn asking(self, requests: usize, bytes: u64) -> Self {
        Self { responses: vec![bytes; requests], ..self }
    }

    fn with(mut self, suite: Suite) -> Self {
        self.case.suite = suite;
        self
    }

    fn over_http2(self) -> Self {
        Self { http: Http::Http2, ..self }
    }

    fn without_aes(self) -> Self {
        Self { aes_hardware: false, ..self }
    }
}

use Certificate::{Ed25519, P256, P384, Rsa2048, Rsa4096};
use Exchange::{Ffdhe2048, Ffdhe4096, OwnDh2048, X25519};
use Kind::{ResumedId, ResumedPsk, ResumedTicket};
use Version::{Tls12, Tls13};

fn certificates() -> Vec<Planned> {
    let kinds = [Rsa2048, Rsa4096, P256, P384, Ed25519];
    let both =
        kinds.into_iter().flat_map(|certificate| [(Tls13, certificate), (Tls12, certificate)]);
    both.map(|(version, certificate)| {
        Planned::full(&format!("{certificate}, {version}"), version, X25519, certificate)
    })
    .collect()
}

fn exchanges() -> Vec<Planned> {
    let of = |version, exchange: Exchange, certificate: Certificate| {
        let name = format!("{exchange} with {certificate}, {version}");
        Planned::full(&name, version, exchange, certificate)
    };
    vec![
        of(Tls12, Exchange::P256, Rsa2048),
        of(Tls12, Exchange::P384, Rsa2048),
        of(Tls13, Exchange::P384, P256),
        of(Tls12, Exchange::Rsa, Rsa2048),
        of(Tls12, Ffdhe2048, Rsa2048),
        of(Tls12, OwnDh2048, Rsa2048),
        of(Tls12, Ffdhe4096, Rsa4096),
        asked_again(),
    ]
}

/// A client whose key share the server does not take.
fn asked_again() -> Planned {
    let name = "p256 with rsa-2048, 1.3, asked again";
    let mut planned = Planned::full(name, Tls13, Exchange::P256, Rsa2048);
    planned.case.kind = Kind::HelloRetry;
    planned
}

fn resumption() -> Vec<Planned> {
    let of =
        |name, version, kind| Planned::full(name, version, X25519, Rsa2048).resuming(kind, 1.0);
    vec![
        of("all by id, 1.2", Tls12, ResumedId),
        of("all by ticket, 1.2", Tls12, ResumedTicket),
        of("all by PSK, 1.3", Tls13, ResumedPsk),
        of("all by ticket, 1.2, 4 x 4 KiB", Tls12, ResumedTicket).asking(4, 4 * K),
        of("all by PSK, 1.3, 4 x 4 KiB", Tls13, ResumedPsk).asking(4, 4 * K),
    ]
}

fn requests() -> Vec<Planned> {
    let of = |name| Planned::full(name, Tls13, X25519, P256);
    let cbc = Planned::full("20 x 16 KiB, CBC with SHA-384", Tls12, X25519, P256);
    let short = of("20 x 16 KiB, records of 4 KiB").asking(20, 16 * K);
    vec![
        of("20 x 1 KiB").asking(20, K),
        of("20 x 16 KiB").asking(20, 16 * K),
        of("20 x 100 KiB").asking(20, 100 * K),
        of("20 x 100 KiB, AES-256").asking(20, 100 * K).with(Suite::Aes256Gcm),
        of("20 x 100 KiB, ChaCha20").asking(20, 100 * K).with(Suite::Chacha20Poly1305),
        cbc.asking(20, 16 * K).with(Suite::Aes256CbcSha384),
        Planned { record_bytes: 4096, ..short },
        of("3 x 1 MiB").asking(3, K * K),
    ]
}

fn mixes() -> Vec<Planned> {
    let rsa = |name| Planned::full(name, Tls13, X25519, Rsa2048);
    let ecdsa = |name| Planned::full(name, Tls13, X25519, P256);
    let old = |name| Planned::full(name, Tls12, Exchange::P384, Rsa2048);
    let page = vec![30 * K, 4 * K, 9 * K, 60 * K, 2 * K, 15 * K];
    vec![
        rsa("half by PSK, 4 x 16 KiB").resuming(ResumedPsk, 0.5).asking(4, 16 * K),
        ecdsa("three quarters by PSK, 8 x 2 KiB").resuming(ResumedPsk, 0.75).asking(8, 2 * K),
        Planned { responses: page.clone(), ..rsa("a page of 6 files, a third by PSK") }
            .resuming(ResumedPsk, 0.33),
        old("P-384, 1.2, a quarter by ticket, 2 x 8 KiB")
            .resuming(ResumedTicket, 0.25)
            .asking(2, 8 * K),
        Planned {
            responses: page,
            ..Planned::full("a page of 6 files, 1.2, 60 % by id", Tls12, X25519, P256)
        }
        .resuming(ResumedId, 0.6),
        Planned::full("RSA-4096, 40 % by PSK, 3 x 50 KiB", Tls13, X25519, Rsa4096)
            .resuming(ResumedPsk, 0.4)
            .asking(3, 50 * K),
    ]
}

fn http2() -> Vec<Planned> {
    let of = |name, certificate| Planned::full(name, Tls13, X25519, certificate).over_http2();
    vec![
        of("HTTP/2, 12 x 16 KiB", P256).asking(12, 16 * K),
        of("HTTP/2, 1 x 1 KiB", P256),
        of("HTTP/2, 70 % by PSK, 8 x 4 KiB", Rsa2048).resuming(ResumedPsk, 0.7).asking(8, 4 * K),
    ]
}

fn no_aes() -> Vec<Planned> {
    let of = |name| Planned::full(name, Tls13, X25519, P256).without_aes();
    let old = Planned::full("no AES hardware, 1.2, 10 x 16 KiB by ticket", Tls12, X25519, Rsa2048);
    vec![
        of("no AES hardware, 1 x 1 KiB"),
        of("no AES hardware, 5 x 100 KiB").asking(5, 100 * K),
        old.without_aes().resuming(ResumedTicket, 1.0).asking(10, 16 * K),
    ]
}

/// A site that was moved to TLS and HTTP/2 in 2016 and then used five times the CPU: what its visitors may have
/// negotiated before and after, a page of 12 files each. What it cost without TLS stands in the part's
/// calibration. `docs/TLS-VALIDATION.md` says what comes of it.
fn mystery() -> Vec<Planned> {
    let of = |name, exchange, certificate| {
        let page = Planned::full(name, Tls12, exchange, certificate).asking(12, 16 * K);
        page.with(Suite::Aes256Gcm)
    };
    let plain = |name| of(name, Exchange::P256, Rsa2048);
    vec![
        plain("HTTP/1.1, P-256, RSA-2048, AES-256"),
        plain("HTTP/2, P-256, RSA-2048, AES-256").over_http2(),
        plain("HTTP/2, P-256, RSA-2048, AES-128").with(Suite::Aes128Gcm).over_http2(),
        plain("HTTP/2, P-256, RSA-2048, AES-128, 80 % by ticket")
            .with(Suite::Aes128Gcm)
            .over_http2()
            .resuming(ResumedTicket, 0.8),
        of("HTTP/2, P-384, RSA-2048, AES-256", Exchange::P384, Rsa2048).over_http2(),
        of("HTTP/2, P-384, RSA-4096, AES-256", Exchange::P384, Rsa4096).over_http2(),
        of("HTTP/2, own DH 2048, RSA-2048, AES-256", OwnDh2048, Rsa2048).over_http2(),
        of("HTTP/2, DH 4096, RSA-4096, AES-256", Ffdhe4096, Rsa4096).over_http2(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_points_each_under_a_name_of_its_own_and_all_of_them_exist() {
        let all: Vec<Planned> = PARTS.iter().flat_map(|name| part(name).unwrap()).collect();
        // With those that are calibrated with or stand apart left out: 96 over three regimes, 20 in each.
        assert!(3 * (all.len() - 3) >= 96 && all.len() >= 23, "{}", all.len());
        for (at, point) in all.iter().enumerate() {
            assert!(point.case.exists(), "{}", point.name);
            assert!(all[..at].iter().all(|other| other.name != point.name), "{}", point.name);
            assert_eq!(point.case.kind.is_resumed(), point.resumed > 0.0, "{}", point.name);
        }
        assert!(part("nonsense").is_none());
    }
}
