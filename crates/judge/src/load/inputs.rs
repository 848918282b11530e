//! The documents that a load is calculated from, and the prices in them: what connections and requests cost
//! without TLS, what TLS adds to a request, what a handshake adds to a plain connection (the minimal TLS
//! server's connection less the minimal plain server's, of the same regime and response); and what key
//! exchanges and signatures take by themselves. A handshake that was not measured itself is put together from
//! differences that were: it costs what a measured one costs that differs in one thing only, plus what that
//! one thing made different elsewhere. That a certificate's or a key exchange's part does not depend on the
//! other is what measurements show; that the regime adds nearly the same to each handshake, too
//! (docs/TLS-LOAD.md). Primitives are never added up.

use crate::load::calibration::{Calibration, ChainBytes, Figures, Form, Interval, Point, Served};
use crate::load::negotiate::Picking;
use crate::load::spec::{Http, Regime, Role, Unit, Work};
use record::State;
use record::tls::{
    Case, Certificate, Exchange, Kind, Operation, Protection, Row, Run, Scheme, Stack, Subject,
    Suite, Version,
};
use std::collections::BTreeMap;

/// What other documents know of handshakes. Key exchanges and signatures by themselves are only for telling the
/// parts of a measured handshake apart, never for adding one up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandshakeParts {
    /// Making a key and computing the secret, in µs.
    pub exchange_us: BTreeMap<Exchange, Interval>,
    pub sign_us: BTreeMap<Certificate, Interval>,
    /// Bytes that the library holds for an open connection of a server, by what was negotiated.
    pub memory_bytes: BTreeMap<Case, f64>,
    /// What documents have that were given and are of another build.
    pub left_out: Vec<&'static str>,
}

impl HandshakeParts {
    /// Takes the memory of connections over from a run of `tls handshake`, if it has the stack.
    pub fn add_memory(&mut self, run: &Run, of: &Stack) {
        let Some(stack) = run.stacks.iter().find(|s| is_same(s, of)) else {
            return self.left_out.push("handshakes");
        };
        for row in run.rows.iter().filter(|r| r.stack == stack.label) {
            if let Some((case, bytes)) = row.case().zip(row.memory.and_then(|m| m.server)) {
                self.memory_bytes.insert(*case, bytes as f64);
            }
        }
    }

    /// The memory of a connection, or of one that is like it: how it began changes little.
    pub(crate) fn memory(&self, case: Case) -> Option<f64> {
        let like = |c: &Case| {
            (c.version != case.version, c.kind != case.kind, c.certificate != case.certificate)
        };
        let exact = self.memory_bytes.get(&case);
        let near = || self.memory_bytes.iter().min_by_key(|(c, _)| like(c)).map(|(_, b)| b);
        exact.or_else(near).copied()
    }
}

/// Whether two documents mean the same stack: the same files, for builds of one version differ.
pub(crate) fn is_same(a: &Stack, b: &Stack) -> bool {
    (&a.id, &a.crypto_id) == (&b.id, &b.crypto_id)
}

#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    pub calibration: &'a Calibration,
    /// A run of `tls records`: tells the cipher and the HMAC apart from the rest of a record.
    pub records: Option<&'a Run>,
    /// What runs of `tls primitives` and `tls handshake` of the same stack know.
    pub parts: Option<&'a HandshakeParts>,
}

#[derive(Clone, Debug)]
pub(crate) struct Prices {
    pub(crate) figures: Figures,
    pub(crate) handshakes: Handshakes,
    pub(crate) requests: Requests,
    /// The server whose plain costs count.
    pub(crate) server: Role,
    pub(crate) picking: Picking,
    pub(crate) exchange: BTreeMap<Exchange, Form>,
    pub(crate) sign: BTreeMap<Certificate, Form>,
    records: Vec<RecordFigure>,
    points: Vec<Point>,
    chains: Vec<ChainBytes>,
}

/// What the real server's own code takes for a connection with TLS.
#[derive(Clone, Debug)]
pub(crate) struct OwnCode {
    pub(crate) form: Form,
    pub(crate) note: String,
    /// Whether that is a full connection in the place of one that resumes, or the reverse.
    pub(crate) stands_in: bool,
}

impl OwnCode {
    /// What calibrations from before it was measured lack.
    pub(crate) const LACKS_RESUMED: &str = "the calibration has no resumed connection to the real server: its own code \
        is priced as for a full one, so that connections that resume are some tens of µs too dear; `tls calibrate` \
        measures it";
}

#[derive(Clone, Debug)]
struct RecordFigure {
    protection: Protection,
    size: u32,
    cipher: Form,
    added: Form,
}

impl Prices {
    pub(crate) fn of(inputs: &Inputs<'_>) -> Self {
        let mut figures = Figures::of(inputs.calibration);
        let requests = Requests::of(inputs.calibration);
        let real = !requests.regimes(Role::RealPlain).is_empty();
        let server = if real { Role::RealPlain } else { Role::MinimalPlain };
        let none = HandshakeParts::default();
        let parts = inputs.parts.unwrap_or(&none);
        let exchange = parts.exchange_us.iter().map(|(k, v)| (*k, figures.push(*v))).collect();
        let sign = parts.sign_us.iter().map(|(k, v)| (*k, figures.push(*v))).collect();
        let of = &inputs.calibration.stack;
        let records =
            inputs.records.map(|d| record_figures(d, of, &mut figures)).unwrap_or_default();
        let handshakes = Handshakes::of(inputs.calibration);
        let points = inputs.calibration.points.clone();
        let chains = inputs.calibration.chains.clone();
        let picking = Picking::of(&of.name, &of.version);
        Self {
            figures,
            handshakes,
            requests,
            server,
            picking,
            exchange,
            sign,
            records,
            points,
            chains,
        }
    }

    pub(crate) fn regimes(&self) -> Vec<Regime> {
        self.requests.regimes(self.server)
    }

    pub(crate) fn chain_bytes(&self, certificate: Certificate) -> Option<u32> {
        self.chains.iter().find(|c| c.certificate == certificate).map(|c| c.bytes)
    }

    /// A connection whose first message the server refuses.
    pub(crate) fn refused(&self, regime: Regime) -> Option<Form> {
        self.point(regime, |p| p.role == Role::MinimalTls && p.served.work == Work::RefusedHello)
    }

    /// A connection that the client ends after the server's flight.
    pub(crate) fn abandoned(&self, regime: Regime, case: Case) -> Option<Form> {
        let is_it = |p: &Point| match p.served.work {
            Work::Abandoned { case: of } => {
                let suite = case.suite;
                p.role == Role::MinimalTls && Case { suite, ..of } == case
            }
            _ => false,
        };
        self.point(regime, is_it)
    }

    /// What the real server's own code adds to a connection with TLS, one that resumes or one that does not: what it
    /// costs beyond the same server's plain connection and the handshake's price, in the configuration that was
    /// calibrated.
    pub(crate) fn own_code(&self, regime: Regime, resumed: bool) -> Option<OwnCode> {
        let is_it = |p: &Point| p.role == Role::RealTls && p.unit == Unit::Connection;
        let kind = |p: &Point| p.served.work.case().map(|c| c.kind);
        let resumes = |p: &Point| kind(p).is_some_and(Kind::is_resumed);
        let near = |p: &(usize, &Point)| (resumes(p.1) != resumed, p.1.regime != regime, kind(p.1));
        let measured = self.points.iter().enumerate().filter(|(_, p)| p.median_us().is_some());
        let (at, point) = measured.filter(|(_, p)| is_it(p)).min_by_key(near)?;
        let case = point.served.work.case()?;
        let aes_hardware = point.served.aes_hardware;
        let key = Key { regime: point.regime, case, tickets: None, aes_hardware };
        let handshake = self.handshakes.price(key)?;
        let http = point.served.http;
        let (_, plain) = self.requests.connection(Role::RealPlain, point.regime, http)?;
        let form = Form::of(at).plus(&plain, -1.0).plus(&handshake.form, -1.0);
        let of = if point.regime == regime { "" } else { ", of another regime" };
        let note = format!("calibrated with {case}{of}");
        Some(OwnCode { form, note, stands_in: resumes(point) != resumed })
    }

    fn point(&self, regime: Regime, is_it: impl Fn(&Point) -> bool) -> Option<Form> {
        let measured = self.points.iter().enumerate().filter(|(_, p)| p.median_us().is_some());
        let found = measured.filter(|(_, p)| is_it(p)).min_by_key(|(_, p)| p.regime != regime);
        found.map(|(at, _)| Form::of(at))
    }

    /// The cipher alone over a response in records, and the HMAC of suites with CBC: what the stack adds there
    /// beyond what it adds to AES-128-GCM. `None` without a document that has it.
    pub(crate) fn cipher(
        &self,
        version: Version,
        suite: Suite,
        record: u32,
        bytes: u64,
    ) -> Option<(Form, Form)> {
        let of = |suite, part: fn(&RecordFigure) -> &Form| {
            let protection = Protection { version, suite };
            let rows: Vec<_> = self.records.iter().filter(|r| r.protection == protection).collect();
            let whole = bytes / u64::from(record);
            let rest = (bytes % u64::from(record)) as u32;
            let full = figure_at(&rows, record, part)?.times(whole as f64);
            let rest = if rest == 0 { Form::default() } else { figure_at(&rows, rest, part)? };
            Some(full.plus(&rest, 1.0))
        };
        let cipher = of(suite, |r| &r.cipher)?;
        let hash = if suite.is_aead() {
            Form::default()
        } else {
            of(suite, |r| &r.added)?.plus(&of(Suite::Aes128Gcm, |r| &r.added)?, -1.0)
        };
        Some((cipher, hash))
    }
}

fn figure_at(rows: &[&RecordFigure], size: u32, part: fn(&RecordFigure) -> &Form) -> Option<Form> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|r| r.size);
    let right = rows.iter().position(|r| r.size >= size).unwrap_or(rows.len().saturating_sub(1));
    match (rows.get(right.saturating_sub(1)), rows.get(right)) {
        (Some(low), Some(high)) if low.size < high.size => {
            let share = (f64::from(size) - f64::from(low.size)) / f64::from(high.size - low.size);
            Some(part(low).times(1.0 - share).plus(part(high), share))
        }
        (_, found) => found.map(|r| part(r).clone()),
    }
}

fn record_figures(run: &Run, of: &Stack, figures: &mut Figures) -> Vec<RecordFigure> {
    let Some(stack) = run.stacks.iter().find(|s| is_same(s, of)) else { return Vec::new() };
    let rows = run.rows.iter().filter(|r| r.stack == stack.label);
    rows.filter_map(|row| {
        let (protection, size) = row.records()?;
        let (send, bare) = (row.cost()?, row.bare.encrypt?);
        // Of a busy core both are bounds: nothing is told apart by them.
        if row.contended || bare.contended {
            return None;
        }
        let us = |median: f64, low: f64, high: f64| Interval {
            value: median / 1e3,
            low: low / 1e3,
            high: high / 1e3,
        };
        let send = figures.push(us(send.median_ns, send.low_ns, send.high_ns));
        let cipher = figures.push(us(bare.median_ns, bare.low_ns, bare.high_ns));
        let added = send.plus(&cipher, -1.0);
        Some(RecordFigure { protection, size, cipher, added })
    })
    .collect()
}

impl HandshakeParts {
    /// Takes key exchanges and signatures of a server over from a run of `tls primitives`, if it has the stack: whole
    /// operations, as a handshake has them.
    pub fn add_primitives(&mut self, run: &Run, of: &Stack) {
        let Some(stack) = run.stacks.iter().find(|s| is_same(s, of)) else {
            return self.left_out.push("primitives");
        };
        let rows: Vec<_> = run.rows.iter().filter(|r| r.stack == stack.label).collect();
        for exchange in Exchange::ALL {
            if let Some(us) = exchange_us(*exchange, &rows) {
                self.exchange_us.insert(*exchange, us);
            }
        }
        for certificate in Certificate::ALL {
            let signs = |s: &&Scheme| {
                s.certificate() == Some(*certificate) && (!certificate.is_rsa() || s.is_pss())
            };
            let scheme = Scheme::ALL.iter().find(signs);
            if let Some(us) = scheme.and_then(|s| of_row(*s, Operation::Sign, &rows)) {
                self.sign_us.insert(*certificate, us);
            }
        }
    }
}

/// What a server computes of a key exchange: a key and the secret, or a secret for the client's key.
fn exchange_us(exchange: Exchange, rows: &[&Row]) -> Option<Interval> {
    let scheme = Scheme::ALL.iter().copied().find(|s| s.name() == exchange.name())?;
    if exchange == Exchange::X25519Mlkem768 {
        return of_row(scheme, Operation::Encapsulate, rows);
    }
    let key = of_row(scheme, Operation::Generate, rows)?;
    let secret = of_row(scheme, Operation::Agree, rows)?;
    Some(Interval {
        value: key.value + secret.value,
        low: key.low + secret.low,
        high: key.high + secret.high,
    })
}

/// The mean, which is what a load is a sum of, with the relative interval of the median.
fn of_row(scheme: Scheme, operation: Operation, rows: &[&Row]) -> Option<Interval> {
    let is_it = |row: &&&Row| match row.subject {
        Subject::Primitive(of) => (of.scheme, of.operation) == (scheme, operation),
        _ => false,
    };
    let cost = rows.iter().find(is_it).filter(|row| !row.contended)?.cost()?;
    let us = |ns: f64| cost.mean_ns / 1e3 * ns / cost.median_ns;
    Some(Interval { value: us(cost.median_ns), low: us(cost.low_ns), high: us(cost.high_ns) })
}

/// Everything that a handshake's cost depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) regime: Regime,
    pub(crate) case: Case,
    pub(crate) tickets: Option<u8>,
    pub(crate) aes_hardware: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Price {
    pub(crate) form: Form,
    /// Empty where it was measured itself.
    pub(crate) composed: String,
}

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
        // Many differences lead to the same handshake: from one that leads nowhere they do not go on again.
        let mut dead = Vec::new();
        (0..=4).find_map(|steps| self.within(wanted, steps, &mut dead))
    }

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

    fn within(&self, wanted: Key, steps: usize, dead: &mut Vec<(Key, usize)>) -> Option<Price> {
        if steps == 0 {
            return self.itself(wanted);
        }
        if dead.contains(&(wanted, steps)) {
            return None;
        }
        for axis in HANDSHAKE_AXES {
            for (p, r) in self.pairs(&wanted, axis) {
                let Some(rest) = self.within(wanted.with(axis, &r.0), steps - 1, dead) else {
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
        dead.push((wanted, steps));
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

    pub(crate) fn price(&self, wanted: RequestKey, bytes: u64) -> Option<RequestPrice> {
        let of_role = self.series.iter().filter(|s| s.key.role == wanted.role);
        let best = of_role.min_by_key(|s| distance(&s.key, &wanted))?;
        let mut price = RequestPrice { form: cost_at(&best.sizes, bytes), remarks: Vec::new() };
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
        Some(cost_at(&p.sizes, bytes).plus(&cost_at(&r.sizes, bytes), -1.0))
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
fn cost_at(sizes: &[(u64, Form)], bytes: u64) -> Form {
    let [first, .., last] = sizes else { return sizes[0].1.clone() };
    let right = sizes.iter().position(|(n, _)| *n >= bytes).unwrap_or(sizes.len() - 1).max(1);
    let ((a, low), (b, high)) = (&sizes[right - 1], &sizes[right]);
    debug_assert!(first.0 < last.0 && a < b);
    let part = (bytes as f64 - *a as f64) / (*b as f64 - *a as f64);
    low.times(1.0 - part).plus(high, part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::tls::{Cost, Primitive, RunKind, fixtures};

    fn row(scheme: Scheme, operation: Operation, us: f64) -> Row {
        let cost = fixtures::cost(us * 1e3);
        let cost = Cost { mean_ns: cost.median_ns * 1.1, ..cost };
        let subject = Subject::Primitive(Primitive { scheme, operation, size: None });
        fixtures::row("openssl@3.0.22", subject, Some([cost; 2]))
    }

    #[test]
    fn documents_of_another_build_of_the_same_version_are_left_out_and_that_is_said() {
        let calibration = crate::load::sample::calibration();
        let rows = vec![
            row(Scheme::X25519, Operation::Generate, 30.0),
            row(Scheme::X25519, Operation::Agree, 40.0),
        ];
        let mut run = fixtures::run(RunKind::Primitives, &["openssl@3.0.22"], rows);
        let mut parts = HandshakeParts::default();
        parts.add_primitives(&run, &calibration.stack);
        assert!(parts.exchange_us.is_empty());
        let inputs = Inputs { calibration: &calibration, records: Some(&run), parts: Some(&parts) };
        let remarks = crate::load::whole(&inputs);
        let is_said = |what: &str| remarks.iter().any(|r| r.starts_with(&format!("the {what} ")));
        assert!(is_said("primitives") && is_said("records"), "{remarks:?}");
        run.stacks[0].id.clone_from(&calibration.stack.id);
        parts.add_primitives(&run, &calibration.stack);
        assert_eq!(parts.exchange_us.len(), 1);
    }

    #[test]
    fn records_of_a_busy_core_tell_no_cipher_apart() {
        let stack = crate::load::sample::calibration().stack;
        let mut row = fixtures::record_row(Suite::Aes128Gcm, 16_384, Some(4000.0));
        row.stack.clone_from(&stack.label);
        let figures = |row: &Row| {
            let mut run = fixtures::run(RunKind::Records, &[], vec![row.clone()]);
            run.stacks = vec![stack.clone()];
            record_figures(&run, &stack, &mut Figures::of(&crate::load::sample::calibration()))
                .len()
        };
        assert_eq!(figures(&row), 1);
        row.bare.encrypt.as_mut().unwrap().contended = true;
        assert_eq!(figures(&row), 0);
    }

    #[test]
    fn a_server_generates_and_agrees_or_encapsulates_and_the_mean_counts() {
        let rows = [
            row(Scheme::X25519, Operation::Generate, 30.0),
            row(Scheme::X25519, Operation::Agree, 40.0),
            row(Scheme::X25519Mlkem768, Operation::Generate, 500.0),
            row(Scheme::X25519Mlkem768, Operation::Encapsulate, 90.0),
        ];
        let mut of_busy_core = rows.clone();
        of_busy_core[1].contended = true;
        let of_busy_core: Vec<_> = of_busy_core.iter().collect();
        assert_eq!(exchange_us(Exchange::X25519, &of_busy_core), None, "a bound is no price");
        let rows: Vec<_> = rows.iter().collect();
        let x25519 = exchange_us(Exchange::X25519, &rows).unwrap();
        assert!((x25519.value - 77.0).abs() < 1e-9 && x25519.low < x25519.value, "{x25519:?}");
        let hybrid = exchange_us(Exchange::X25519Mlkem768, &rows).unwrap();
        assert!((hybrid.value - 99.0).abs() < 1e-9, "{hybrid:?}");
        assert_eq!(exchange_us(Exchange::P256, &rows), None);
        assert_eq!(exchange_us(Exchange::Rsa, &rows), None);
    }
}
