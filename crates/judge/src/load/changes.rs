//! Changes of configuration, for the better and for the worse: which saves most, and what each leaves in
//! nginx's log.

use crate::load::formula::{Alternative, Sum, sum};
use crate::load::inputs::Prices;
use crate::load::negotiate::usual_clients;
use crate::load::spec::{Http, Profile, Regime, Spec};
use record::tls::{Certificate, Exchange, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change that could be made, or could have been.
pub(crate) struct Change {
    pub(crate) text: String,
    pub(crate) note: Option<&'static str>,
    /// The configuration afterwards.
    pub(crate) spec: Spec,
    /// What shows whether it was made.
    pub(crate) evidence: &'static [&'static str],
}

/// Changes of one specification.
struct Changes<'a> {
    spec: &'a Spec,
    all: Vec<Change>,
}

impl Changes<'_> {
    fn add(
        &mut self,
        text: impl Into<String>,
        evidence: &'static [&'static str],
        edit: impl FnOnce(&mut Spec),
    ) {
        self.noted(text, None, evidence, edit);
    }

    /// What changes nothing is no change.
    fn noted(
        &mut self,
        text: impl Into<String>,
        note: Option<&'static str>,
        evidence: &'static [&'static str],
        edit: impl FnOnce(&mut Spec),
    ) {
        let mut spec = self.spec.clone();
        edit(&mut spec);
        if spec != *self.spec {
            self.all.push(Change { text: text.into(), note, spec, evidence });
        }
    }
}

/// Changes that should save.
pub(crate) fn improvements(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: Vec::new() };
    if spec.server.tls {
        smaller_certificates(&mut changes);
        more_resumption(&mut changes);
        cheaper_exchange(&mut changes);
        cheaper_records(&mut changes);
        fewer_connections(&mut changes);
        changes.add("no TLS at all", &[PROTOCOL], |s| s.server.tls = false);
    }
    changes.all
}

/// What the present settings save already: what losing each of them would cost.
pub(crate) fn losses(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: Vec::new() };
    if !spec.server.tls {
        return changes.all;
    }
    if spec.resumption.share > 0.0 || spec.clients.iter().any(|c| c.resumed_share > Some(0.0)) {
        changes.add("resumption lost", &[REUSED], |s| resume(s, 0.0));
    }
    changes.add("no AES instructions", &[CIPHER, BYTES], |s| s.server.aes_hardware = false);
    if spec.server.record_bytes > 4096 {
        changes.add("records of 4 KiB", &[BYTES], |s| s.server.record_bytes = 4096);
    }
    changes.all
}

/// Changes that should cost.
pub(crate) fn worsenings(spec: &Spec) -> Vec<Change> {
    let mut changes = Changes { spec, all: losses(spec) };
    if !spec.server.tls {
        changes.add("TLS", &[PROTOCOL], |s| s.server.tls = true);
        return changes.all;
    }
    changes
        .add("P-384 as the only group", &[CURVE], |s| s.server.groups = Some("P-384".to_owned()));
    for large in [Certificate::Rsa3072, Certificate::Rsa4096] {
        changes.add(format!("a certificate of {large}"), &[KEY], |s| {
            s.server.certificates = vec![large]
        });
    }
    for field in [Exchange::Ffdhe2048, Exchange::OwnDh2048, Exchange::Ffdhe4096] {
        changes
            .add(format!("DHE offered with {field}"), &[CIPHER, DH], |s| s.server.dh = Some(field));
    }
    changes.add("AES-256-GCM before everything else", &[CIPHER], |s| prefer(s, "AES256"));
    changes.add("client certificates from everyone", &[PROTOCOL], |s| {
        s.server.client_auth_share = 1.0
    });
    let rate = spec.traffic.connections_per_s;
    changes.add("as many connections again that the client abandons", &[ERRORS], |s| {
        s.traffic.abandoned_per_s += rate
    });
    changes.add("as many connections again that are refused", &[ERRORS], |s| {
        s.traffic.refused_per_s += rate
    });
    changes.add("no keep-alive: a connection for each request", &[REQUESTS], |s| {
        s.traffic.connections_per_s *= s.traffic.requests_per_connection;
        s.traffic.requests_per_connection = 1.0;
    });
    http(&mut changes);
    changes.all
}

fn smaller_certificates(changes: &mut Changes<'_>) {
    let has = changes.spec.server.certificates.clone();
    if let Some(rsa) =
        has.iter().copied().find(|c| c.is_rsa()).filter(|_| !has.contains(&Certificate::P256))
    {
        changes.add("an ECDSA certificate (P-256) beside that of RSA", &[KEY, CIPHER], |s| {
            s.server.certificates = vec![Certificate::P256, rsa];
        });
    }
    let smaller = [
        (Certificate::Rsa3072, Certificate::Rsa2048),
        (Certificate::Rsa4096, Certificate::Rsa2048),
        (Certificate::P384, Certificate::P256),
    ];
    for (large, small) in smaller {
        changes.add(format!("a certificate of {small} instead of {large}"), &[KEY], |s| {
            for certificate in s.server.certificates.iter_mut().filter(|c| **c == large) {
                *certificate = small;
            }
        });
    }
    changes.add("no client certificates", &[PROTOCOL], |s| s.server.client_auth_share = 0.0);
}

fn resume(spec: &mut Spec, share: f64) {
    spec.resumption.share = share;
    spec.clients.iter_mut().for_each(|c| c.resumed_share = None);
}

fn more_resumption(changes: &mut Changes<'_>) {
    const GOOD: f64 = 0.7;
    if changes.spec.resumption.share < GOOD {
        let note = "a share that returning visitors reach; tickets or a shared cache, and keys that outlive reloads";
        changes.noted("resumption working, 70 % of connections", Some(note), &[REUSED], |s| {
            resume(s, GOOD)
        });
    }
    changes.add("one ticket instead of two (TLS 1.3)", &[PROTOCOL], |s| s.server.tickets = Some(1));
}

fn cheaper_exchange(changes: &mut Changes<'_>) {
    changes.add("groups X25519 and P-256 only", &[CURVE], |s| {
        s.server.groups = Some("X25519:P-256".to_owned());
    });
    if changes.spec.server.dh.is_some() {
        changes.add("no DHE suites", &[CIPHER], |s| s.server.dh = None);
        changes.add("the named group ffdhe2048 for DHE", &[CIPHER, DH], |s| {
            s.server.dh = Some(Exchange::Ffdhe2048);
        });
    }
    changes.add("TLS 1.2 only", &[PROTOCOL], |s| s.server.versions = Some(vec![Version::Tls12]));
    let is_old = changes.spec.server.profile == Some(Profile::Intermediate2016);
    let has_13 = match &changes.spec.server.versions {
        Some(versions) => versions.contains(&Version::Tls13),
        None => !is_old,
    };
    if !has_13 {
        changes.add("TLS 1.3 too", &[PROTOCOL], |s| {
            s.server.versions = Some(vec![Version::Tls12, Version::Tls13]);
            if is_old {
                s.server.ciphersuites =
                    Some("TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384".to_owned());
            }
        });
    }
}

/// Puts AES-GCM of some key length first.
fn prefer(spec: &mut Spec, bits: &str) {
    let own = spec.server.ciphers.clone().unwrap_or_else(|| "DEFAULT".to_owned());
    let (first, second) = match bits {
        "AES128" => ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"),
        _ => ("TLS_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"),
    };
    spec.server.ciphers = Some(format!("ECDHE+AESGCM+{bits}:{own}"));
    spec.server.ciphersuites = Some(format!("{first}:{second}:TLS_CHACHA20_POLY1305_SHA256"));
    spec.server.prefer_server_ciphers = Some(true);
}

fn cheaper_records(changes: &mut Changes<'_>) {
    changes.add("AES-128-GCM before everything else", &[CIPHER], |s| prefer(s, "AES128"));
    changes.add("AES instructions in use", &[CIPHER, BYTES], |s| s.server.aes_hardware = true);
    changes.add("records of 16 KiB", &[BYTES], |s| s.server.record_bytes = 16_384);
}

fn fewer_connections(changes: &mut Changes<'_>) {
    http(changes);
    let note = "the same requests over half the connections";
    changes.noted("keep-alive twice as long", Some(note), &[REQUESTS], |s| {
        s.traffic.connections_per_s /= 2.0;
        s.traffic.requests_per_connection *= 2.0;
    });
    changes.add("no connections that fail", &[ERRORS], |s| {
        (s.traffic.refused_per_s, s.traffic.abandoned_per_s) = (0.0, 0.0);
    });
    if changes.spec.clients.len() > 1 {
        changes.add("only today's browsers as clients", &[PROTOCOL, CIPHER], |s| {
            s.clients = usual_clients()
        });
    }
}

fn http(changes: &mut Changes<'_>) {
    if changes.spec.traffic.http == Http::Http1 {
        let note = "a visitor's connections become one, with all its requests";
        changes.noted("HTTP/2", Some(note), &[HTTP], |s| {
            let t = &mut s.traffic;
            t.http = Http::Http2;
            t.connections_per_s /= t.connections_per_visit;
            t.requests_per_connection *= t.connections_per_visit;
            t.connections_per_visit = 1.0;
        });
    } else {
        let note = "six connections for each visitor, as browsers make them";
        changes.noted("HTTP/1.1", Some(note), &[HTTP], |s| {
            let t = &mut s.traffic;
            t.http = Http::Http1;
            let connections = t.requests_per_connection.min(6.0);
            t.connections_per_s *= connections;
            t.requests_per_connection /= connections;
            t.connections_per_visit = connections;
        });
    }
}

// Which change of configuration saves most: the same sum for each, and the difference with its own interval.

/// Prices all changes that make sense for a specification, the most saving first; those without a price last.
pub(crate) fn alternatives(
    spec: &Spec,
    prices: &Prices,
    regime: Regime,
    base: &Sum,
) -> Vec<Alternative> {
    let now = base.total();
    let total = prices.figures.eval(&now).value;
    let one = |change: Change| {
        let then = sum(&change.spec, prices, regime);
        let cost = then.as_ref().map(Sum::total).ok();
        let saved = cost.as_ref().map(|cost| prices.figures.eval(&now.plus(cost, -1.0)));
        Alternative {
            change: change.text,
            cpu_us_per_s: cost.map(|cost| prices.figures.eval(&cost)),
            saves_us_per_s: saved,
            saves_share: saved.filter(|_| total != 0.0).map(|saved| saved.value / total),
            note: match then {
                Ok(then) if then.traffic.refused > base.traffic.refused => {
                    Some("some clients can no longer connect".to_owned())
                }
                Ok(_) => change.note.map(str::to_owned),
                Err(why) => Some(why.to_string()),
            },
        }
    };
    let changes = improvements(spec).into_iter().chain(losses(spec));
    let mut all: Vec<_> = changes.map(one).collect();
    let saving = |a: &Alternative| a.saves_us_per_s.map_or(f64::NEG_INFINITY, |s| s.value);
    all.sort_by(|a, b| saving(b).total_cmp(&saving(a)));
    all
}

// What tells explanations apart: nginx's log variables and other looks (nginx.org: ngx_http_ssl_module,
// ngx_http_core_module, ngx_http_v2_module).

/// A log variable, or another look, and what it decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// What to log or to look at.
    pub look_at: String,
    /// What it tells.
    pub tells: String,
}

pub(crate) const REUSED: &str = "$ssl_session_reused";
pub(crate) const CIPHER: &str = "$ssl_cipher";
pub(crate) const CURVE: &str = "$ssl_curve";
pub(crate) const PROTOCOL: &str = "$ssl_protocol";
pub(crate) const BYTES: &str = "$bytes_sent";
pub(crate) const RECEIVED: &str = "$request_length";
pub(crate) const REQUESTS: &str = "$connection_requests";
pub(crate) const HTTP: &str = "$server_protocol";
pub(crate) const ERRORS: &str = "error_log at level info";
pub(crate) const KEY: &str = "the certificate's key";
pub(crate) const DH: &str = "the file of ssl_dhparam";

const ALL: [(&str, &str); 11] = [
    (
        REUSED,
        "`r` of a resumed connection, `.` of a full handshake: the number of full handshakes is the load",
    ),
    (CIPHER, "DHE or ECDHE, static RSA, ECDSA or RSA (TLS 1.2), CBC or AEAD"),
    (
        CURVE,
        "the group of the key exchange (nginx 1.21.5 and later): P-384 where P-256 or X25519 was meant",
    ),
    (PROTOCOL, "1.2 or 1.3: the kind of resumption, and who is still old"),
    (REQUESTS, "1 in most lines: a handshake for each request, keep-alive does not work"),
    (BYTES, "bytes in all: bulk encryption is this times a fraction of a nanosecond"),
    (RECEIVED, "bytes received: uploads are decrypted as well"),
    (HTTP, "HTTP/2.0 or HTTP/1.1"),
    (
        ERRORS,
        "handshakes that failed: scanners pay a handshake and leave no line in the access log",
    ),
    (
        KEY,
        "`openssl x509 -noout -text`: RSA of 2048, 3072 or 4096 bits, or ECDSA; no log variable has it",
    ),
    (DH, "`openssl dhparam -noout -text`: bits, and whether it is a named group"),
];

/// All of it.
pub(crate) fn all_evidence() -> Vec<Evidence> {
    let one = |(look_at, tells): &(&str, &str)| Evidence {
        look_at: (*look_at).to_owned(),
        tells: (*tells).to_owned(),
    };
    ALL.iter().map(one).collect()
}
