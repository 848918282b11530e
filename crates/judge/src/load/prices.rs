//! What connections and requests cost without TLS, what TLS adds to a request, and what a handshake adds to a
//! connection: measured, or put together from differences that were.
//!
//! What a handshake adds to a plain connection: the minimal TLS server's connection less the minimal plain
//! server's, of the same regime and response.
//!
//! A handshake that was not measured itself is put together from differences that were: it costs what a measured one
//! costs that differs in one thing only, plus what that one thing made different elsewhere. That a
//! certificate's or a key exchange's part does not depend on the other is what measurements show; that the regime adds
//! nearly the same to each handshake, too (docs/TLS-LOAD.md). Primitives are never added up.

use crate::load::calibration::{Calibration, Form, Point, Served};
use crate::load::spec::{Http, Regime, Role, Unit, Work};
use record::State;
use record::tls::{Case, Certificate, Exchange, Kind, Suite, Version};

/// Everything that a handshake's cost depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) regime: Regime,
    pub(crate) case: Case,
    pub(crate) tickets: Option<u8>,
    pub(crate) aes_hardware: bool,
}

/// A price and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Price {
    pub(crate) form: Form,
    /// Empty where it was measured itself.
    pub(crate) composed: String,
}

/// One that was measured.
type Measured = (Key, Form);

/// All handshakes that were measured.
#[derive(Clone, Debug)]
pub(crate) struct Handshakes {
    measured: Vec<Measured>,
    unsupported: Vec<Case>,
}

/// One thing in which handshakes can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HandshakeAxis {
    Regime,
    Exchange,
    Certificate,
    ClientAuth,
    Retry,
}

const HANDSHAKE_AXES: [HandshakeAxis; 5] = [
    HandshakeAxis::Exchange,
    HandshakeAxis::Certificate,
    HandshakeAxis::ClientAuth,
    HandshakeAxis::Retry,
    HandshakeAxis::Regime,
];

impl Key {
    /// What makes no difference is made the same: a resumption of TLS 1.2 needs no key exchange, and no resumption a
    /// certificate.
    pub(crate) fn plain(mut self) -> Self {
        if self.case.kind.is_resumed() {
            self.case.certificate = Certificate::Rsa2048;
            self.case.client_auth = false;
            self.tickets = None;
            if self.case.version == Version::Tls12 {
                self.case.exchange = Exchange::X25519;
            }
        }
        if self.case.version == Version::Tls12 {
            self.tickets = None;
        }
        self
    }

    fn differs(&self, other: &Self, axis: HandshakeAxis) -> bool {
        self.with(axis, other) != *self
    }

    fn with(mut self, axis: HandshakeAxis, of: &Self) -> Self {
        match axis {
            HandshakeAxis::Regime => self.regime = of.regime,
            HandshakeAxis::Exchange => self.case.exchange = of.case.exchange,
            HandshakeAxis::Certificate => self.case.certificate = of.case.certificate,
            HandshakeAxis::ClientAuth => self.case.client_auth = of.case.client_auth,
            HandshakeAxis::Retry => self.case.kind = of.case.kind,
        }
        self
    }

    fn word(&self, axis: HandshakeAxis) -> String {
        match axis {
            HandshakeAxis::Regime => format!("{} load", self.regime),
            HandshakeAxis::Exchange => self.case.exchange.to_string(),
            HandshakeAxis::Certificate => self.case.certificate.to_string(),
            HandshakeAxis::ClientAuth if self.case.client_auth => {
                "client authentication".to_owned()
            }
            HandshakeAxis::ClientAuth => "none".to_owned(),
            HandshakeAxis::Retry => self.case.kind.to_string(),
        }
    }

    /// Whether both are handshakes of the same sort but for one thing.
    fn is_beside(&self, other: &Self, axis: HandshakeAxis) -> bool {
        let kinds = self.case.kind == other.case.kind
            || axis == HandshakeAxis::Retry
                && !self.case.kind.is_resumed()
                && !other.case.kind.is_resumed();
        self.case.version == other.case.version
            && self.case.suite == other.case.suite
            && self.aes_hardware == other.aes_hardware
            && kinds
            && HANDSHAKE_AXES.iter().all(|a| self.differs(other, *a) == (*a == axis))
    }

    /// In how many things they differ: the fewer, the better may one stand for the other.
    fn distance(&self, other: &Self) -> usize {
        HANDSHAKE_AXES.iter().filter(|a| self.differs(other, **a)).count()
            + usize::from(self.case.version != other.case.version)
            + usize::from(self.case.suite != other.case.suite)
            + usize::from(self.aes_hardware != other.aes_hardware)
            + 4 * usize::from(self.case.kind.is_resumed() != other.case.kind.is_resumed())
    }
}

impl Handshakes {
    pub(crate) fn of(calibration: &Calibration) -> Self {
        let points = &calibration.points;
        let is_ours = |p: &Point| p.role == Role::MinimalTls && p.unit == Unit::Connection;
        let mut measured: Vec<Measured> = Vec::new();
        for (at, point) in points.iter().enumerate().filter(|(_, p)| is_ours(p)) {
            let Some((key, plain)) = key(point).zip(plain_beside(points, point)) else { continue };
            let form = Form::of(at).plus(&Form::of(plain), -1.0);
            if point.state == State::Measured && !measured.iter().any(|(k, _)| *k == key) {
                measured.push((key, form));
            }
        }
        let has_none = |p: &&Point| is_ours(p) && p.state == State::Unsupported;
        let unsupported = points.iter().filter(has_none).filter_map(|p| p.served.work.case());
        Self { unsupported: unsupported.collect(), measured }
    }

    /// Whether the stack has no such key exchange.
    pub(crate) fn lacks(&self, exchange: Exchange) -> bool {
        self.unsupported.iter().any(|c| c.exchange == exchange)
            && !self.measured.iter().any(|(k, _)| k.case.exchange == exchange)
    }

    /// The price; `None` where nothing that was measured leads to it.
    pub(crate) fn price(&self, wanted: Key) -> Option<Price> {
        let wanted = wanted.plain();
        (0..=4).find_map(|steps| self.within(wanted, steps))
    }

    /// Tickets: what one more costs.
    pub(crate) fn ticket(&self, regime: Regime) -> Option<Form> {
        let count = |k: &Key| k.tickets.map(f64::from);
        let mut of = self.measured.iter().filter(|(k, _)| k.tickets.is_some());
        let (a, form_a) = of.clone().find(|(k, _)| k.regime == regime).or_else(|| of.next())?;
        let same = |k: &Key| Key { tickets: None, ..*k } == Key { tickets: None, ..*a };
        let other = self
            .measured
            .iter()
            .find(|(k, _)| same(k) && k.tickets.is_none_or(|n| Some(n) != a.tickets));
        let (b, form_b) = other?;
        // The stacks' own number after a full handshake of TLS 1.3 is two (SSL_CTX_set_num_tickets(3)).
        let (a, b) = (count(a)?, count(b).unwrap_or(2.0));
        Some(form_a.plus(form_b, -1.0).times(1.0 / (a - b)))
    }

    fn within(&self, wanted: Key, steps: usize) -> Option<Price> {
        if steps == 0 {
            return self.itself(wanted);
        }
        for axis in HANDSHAKE_AXES {
            for (p, r) in self.pairs(&wanted, axis) {
                let Some(rest) = self.within(wanted.with(axis, &r.0), steps - 1) else {
                    continue;
                };
                let form = rest.form.plus(&p.1, 1.0).plus(&r.1, -1.0);
                let difference = format!("{} instead of {}", p.0.word(axis), r.0.word(axis));
                let composed = if rest.composed.is_empty() {
                    format!("by difference: {difference}")
                } else {
                    format!("{}, {difference}", rest.composed)
                };
                return Some(Price { form, composed });
            }
        }
        None
    }

    /// Measured itself, or with another suite, number of tickets or AES code, which matter little to a handshake.
    fn itself(&self, wanted: Key) -> Option<Price> {
        let Key { tickets, aes_hardware, .. } = wanted;
        let same = |k: &Key| {
            let case = Case { suite: wanted.case.suite, ..k.case };
            Key { case, tickets, aes_hardware, ..*k } == wanted
        };
        let rank = |k: &Key| {
            let suite = k.case.suite != wanted.case.suite;
            let aes = k.aes_hardware != aes_hardware;
            (k.tickets != tickets, aes, suite, k.case.suite != Suite::Aes128Gcm)
        };
        let (key, form) =
            self.measured.iter().filter(|(k, _)| same(k)).min_by_key(|(k, _)| rank(k))?;
        let composed = match (key.case.suite == wanted.case.suite, key.aes_hardware) {
            (_, true) if !aes_hardware => "with AES hardware".to_owned(),
            (false, _) => format!("with {}", key.case.suite),
            _ => String::new(),
        };
        Some(Price { form: form.clone(), composed })
    }

    /// Pairs that differ in one thing only, the first of which has it as wanted; those most like it first.
    fn pairs(&self, wanted: &Key, axis: HandshakeAxis) -> Vec<(&Measured, &Measured)> {
        let has = |k: &Key| !k.differs(wanted, axis) && k.tickets.is_none();
        let beside = |p: &Key, r: &Key| p.is_beside(r, axis) && r.tickets.is_none();
        let mut pairs: Vec<_> = self
            .measured
            .iter()
            .filter(|p| has(&p.0))
            .flat_map(|p| {
                let others = self.measured.iter().filter(move |r| beside(&p.0, &r.0));
                others.map(move |r| (p, r))
            })
            .collect();
        pairs.sort_by_key(|(p, _)| p.0.distance(wanted));
        pairs
    }
}

fn key(point: &Point) -> Option<Key> {
    let Work::Handshake { case, tickets } = point.served.work else { return None };
    let aes_hardware = point.served.aes_hardware;
    Some(Key { regime: point.regime, case, tickets, aes_hardware }.plain())
}

/// The plain connection to the minimal server, of the same regime and response.
fn plain_beside(points: &[Point], tls: &Point) -> Option<usize> {
    points.iter().position(|p| {
        p.role == Role::MinimalPlain
            && p.unit == Unit::Connection
            && p.state == State::Measured
            && p.regime == tls.regime
            && p.served.http == Http::Http1
            && p.served.response_bytes == tls.served.response_bytes
    })
}

/// The resumption of a full handshake; `tls12` is how those of TLS 1.2 resume.
#[must_use]
pub fn resumed(full: Case, tls12: Kind) -> Case {
    let kind = match full.version {
        Version::Tls12 => tls12,
        Version::Tls13 => Kind::ResumedPsk,
    };
    Case { kind, client_auth: false, ..full }
}

/// What a request over an open connection depends on, beside the size of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) role: Role,
    pub(crate) regime: Regime,
    pub(crate) http: Http,
    pub(crate) sendfile: bool,
    pub(crate) tls: Option<RecordKey>,
}

/// What records depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordKey {
    pub(crate) version: Version,
    pub(crate) suite: Suite,
    pub(crate) record_bytes: u32,
    pub(crate) aes_hardware: bool,
}

/// Costs of requests of one kind by the size of the response.
#[derive(Clone, Debug)]
struct Series {
    key: RequestKey,
    sizes: Vec<(u64, Form)>,
}

/// Everything that was measured without a handshake.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    series: Vec<Series>,
    connections: Vec<Connection>,
}

/// A connection with one request and without TLS.
#[derive(Clone, Debug)]
struct Connection {
    role: Role,
    regime: Regime,
    served: Served,
    form: Form,
}

/// A price, and what must be said of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RequestPrice {
    pub(crate) form: Form,
    pub(crate) remarks: Vec<String>,
}

/// Largest response that the model is held to: beyond it the kernel's copies and full socket buffers weigh more
/// than anything that is calibrated.
pub(crate) const LARGEST_RESPONSE: u64 = 131_072;

impl Requests {
    pub(crate) fn of(calibration: &Calibration) -> Self {
        let mut series: Vec<Series> = Vec::new();
        let mut connections = Vec::new();
        for (at, point) in calibration.points.iter().enumerate() {
            if point.state != State::Measured {
                continue;
            }
            let (served, form) = (&point.served, Form::of(at));
            if point.unit == Unit::Connection {
                let Point { role, regime, served, .. } = *point;
                if !matches!(role, Role::MinimalTls | Role::RealTls) {
                    connections.push(Connection { role, regime, served, form });
                }
                continue;
            }
            let key = request_key(point);
            let found = series.iter().position(|s| s.key == key).unwrap_or_else(|| {
                series.push(Series { key, sizes: Vec::new() });
                series.len() - 1
            });
            let sizes = &mut series[found].sizes;
            if !sizes.iter().any(|(n, _)| *n == served.response_bytes) {
                sizes.push((served.response_bytes, form));
                sizes.sort_by_key(|(n, _)| *n);
            }
        }
        Self { series, connections }
    }

    /// Regimes that plain connections to a server were measured in.
    pub(crate) fn regimes(&self, role: Role) -> Vec<Regime> {
        let has = |r: &&Regime| self.connections.iter().any(|c| c.role == role && c.regime == **r);
        Regime::ALL.iter().filter(has).copied().collect()
    }

    /// A plain connection with one request, copied from memory, and the bytes of its response.
    pub(crate) fn connection(&self, role: Role, regime: Regime, http: Http) -> Option<(u64, Form)> {
        let of = self.connections.iter().filter(|c| c.role == role && c.regime == regime);
        // HTTP/1.1 stands in where HTTP/2 was not measured; that is said with its requests.
        let best =
            of.min_by_key(|c| (c.served.http != http, c.served.sendfile, c.served.response_bytes))?;
        Some((best.served.response_bytes, best.form.clone()))
    }

    /// What TLS adds to a request: the minimal server with TLS less the same without.
    pub(crate) fn tls(
        &self,
        regime: Regime,
        records: RecordKey,
        bytes: u64,
    ) -> Option<RequestPrice> {
        let key = RequestKey {
            role: Role::MinimalTls,
            regime,
            http: Http::Http1,
            sendfile: false,
            tls: Some(records),
        };
        let with = self.price(key, bytes)?;
        let key = RequestKey { role: Role::MinimalPlain, tls: None, ..key };
        let without = self.price(key, bytes)?;
        let remarks = with.remarks.into_iter().chain(without.remarks).collect();
        Some(RequestPrice { form: with.form.plus(&without.form, -1.0), remarks })
    }

    /// What one byte more adds to a request of the minimal server with TLS, on the longest of its lines.
    pub(crate) fn per_byte(&self, regime: Regime, records: RecordKey) -> Option<Form> {
        let (near, far) = (self.tls(regime, records, 0)?, self.tls(regime, records, 16_384)?);
        Some(far.form.plus(&near.form, -1.0).times(1.0 / 16_384.0))
    }

    /// One more request.
    pub(crate) fn price(&self, wanted: RequestKey, bytes: u64) -> Option<RequestPrice> {
        let of_role = self.series.iter().filter(|s| s.key.role == wanted.role);
        let best = of_role.min_by_key(|s| distance(&s.key, &wanted))?;
        let mut price = RequestPrice { form: at(&best.sizes, bytes), remarks: Vec::new() };
        let mut key = best.key;
        for axis in REQUEST_AXES {
            let next = axis.set(key, &wanted);
            if next == key {
                continue;
            }
            match self.difference(key, next, axis, bytes) {
                Some(form) => price.form = price.form.plus(&form, 1.0),
                None => price.remarks.push(axis.remark(&key, &wanted)),
            }
            key = next;
        }
        Some(price)
    }

    /// What it makes different to change one thing, from two series that differ in it alone.
    fn difference(
        &self,
        from: RequestKey,
        to: RequestKey,
        axis: RequestAxis,
        bytes: u64,
    ) -> Option<Form> {
        let mut pairs = Vec::new();
        for p in &self.series {
            let r = self.series.iter().find(|r| {
                p.key != r.key
                    && axis.set(r.key, &p.key) == p.key
                    && axis.set(r.key, &from) == r.key
            });
            if axis.set(p.key, &to) == p.key && p.key.role == to.role {
                pairs.extend(r.map(|r| (p, r)));
            }
        }
        let (p, r) = pairs.into_iter().min_by_key(|(p, _)| distance(&p.key, &to))?;
        Some(at(&p.sizes, bytes).plus(&at(&r.sizes, bytes), -1.0))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestAxis {
    Http,
    Sendfile,
    Suite,
    Record,
    Aes,
    Version,
    Regime,
}

const REQUEST_AXES: [RequestAxis; 7] = [
    RequestAxis::Suite,
    RequestAxis::Record,
    RequestAxis::Aes,
    RequestAxis::Version,
    RequestAxis::Http,
    RequestAxis::Sendfile,
    RequestAxis::Regime,
];

impl RequestAxis {
    fn set(self, mut key: RequestKey, of: &RequestKey) -> RequestKey {
        match self {
            Self::Http => key.http = of.http,
            Self::Sendfile => key.sendfile = of.sendfile,
            Self::Regime => key.regime = of.regime,
            of_records => {
                if let (Some(records), Some(wanted)) = (&mut key.tls, of.tls) {
                    match of_records {
                        Self::Suite => records.suite = wanted.suite,
                        Self::Record => records.record_bytes = wanted.record_bytes,
                        Self::Aes => records.aes_hardware = wanted.aes_hardware,
                        _ => records.version = wanted.version,
                    }
                }
            }
        }
        key
    }

    fn remark(self, has: &RequestKey, wanted: &RequestKey) -> String {
        let (of, instead) = match (self, has.tls, wanted.tls) {
            (Self::Http, ..) => (format!("HTTP/{}", wanted.http), format!("HTTP/{}", has.http)),
            (Self::Sendfile, ..) => ("sendfile".to_owned(), "copies".to_owned()),
            (Self::Regime, ..) => {
                (format!("{} load", wanted.regime), format!("{} load", has.regime))
            }
            (Self::Suite, Some(h), Some(w)) => (w.suite.to_string(), h.suite.to_string()),
            (Self::Record, Some(h), Some(w)) => (
                format!("{}-byte records", w.record_bytes),
                format!("{}-byte records", h.record_bytes),
            ),
            (Self::Aes, ..) => ("no AES hardware".to_owned(), "AES hardware".to_owned()),
            _ => ("this version".to_owned(), "another version".to_owned()),
        };
        format!("requests with {of} are not calibrated: priced as those with {instead}")
    }
}

fn request_key(point: &Point) -> RequestKey {
    let served = &point.served;
    let tls = served.work.case().map(|case| RecordKey {
        version: case.version,
        suite: case.suite,
        record_bytes: served.record_bytes.unwrap_or(16_384),
        aes_hardware: served.aes_hardware,
    });
    RequestKey {
        role: point.role,
        regime: point.regime,
        http: served.http,
        sendfile: served.sendfile,
        tls,
    }
}

fn distance(key: &RequestKey, wanted: &RequestKey) -> usize {
    // What weighs more in the cost stands in for another less gladly.
    let weight = |axis: RequestAxis| match axis {
        RequestAxis::Version => 1,
        RequestAxis::Regime => 2,
        RequestAxis::Suite => 4,
        _ => 8,
    };
    REQUEST_AXES.iter().filter(|a| a.set(*key, wanted) != *key).map(|a| weight(*a)).sum()
}

/// Between two sizes on the line through them, beyond the outer ones on the nearest line.
fn at(sizes: &[(u64, Form)], bytes: u64) -> Form {
    let [first, .., last] = sizes else { return sizes[0].1.clone() };
    let right = sizes.iter().position(|(n, _)| *n >= bytes).unwrap_or(sizes.len() - 1).max(1);
    let ((a, low), (b, high)) = (&sizes[right - 1], &sizes[right]);
    debug_assert!(first.0 < last.0 && a < b);
    let part = (bytes as f64 - *a as f64) / (*b as f64 - *a as f64);
    low.times(1.0 - part).plus(high, part)
}
