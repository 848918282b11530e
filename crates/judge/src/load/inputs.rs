//! The documents that a load is calculated from, and what key exchanges and signatures take by themselves.

use crate::load::calibration::{Calibration, ChainBytes, Figures, Form, Interval, Point};
use crate::load::negotiate::Picking;
use crate::load::prices::{Handshakes, Key, Requests};
use crate::load::spec::{Regime, Role, Unit, Work};
use record::tls::{
    Case, Certificate, Document, Exchange, Kind, Operation, PrimitiveRow, PrimitivesDocument,
    Protection, RecordsDocument, Scheme, Stack, Suite, Version,
};
use std::collections::BTreeMap;

/// What other documents know of handshakes. Key exchanges and signatures by themselves are only for telling the
/// parts of a measured handshake apart, never for adding one up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandshakeParts {
    /// Making a key and computing the secret, in µs.
    pub exchange_us: BTreeMap<Exchange, Interval>,
    /// Signing, in µs.
    pub sign_us: BTreeMap<Certificate, Interval>,
    /// Bytes that the library holds for an open connection of a server, by what was negotiated.
    pub memory_bytes: BTreeMap<Case, f64>,
}

impl HandshakeParts {
    /// Takes the memory of connections over from a run of `tls handshake`, if it has the stack.
    pub fn add_memory(&mut self, document: &Document, of: &Stack) {
        let Some(stack) = document.stacks.iter().find(|s| is_same(s, of)) else { return };
        for row in document.rows.iter().filter(|r| r.stack == stack.label) {
            if let Some(bytes) = row.memory.and_then(|m| m.server) {
                self.memory_bytes.insert(row.case, bytes as f64);
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

/// Whether two documents mean the same stack.
pub(crate) fn is_same(a: &Stack, b: &Stack) -> bool {
    a.id == b.id || a.name == b.name && a.version == b.version
}

/// Documents of measurements.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// The calibration.
    pub calibration: &'a Calibration,
    /// A run of `tls records`: tells the cipher and the HMAC apart from the rest of a record.
    pub records: Option<&'a RecordsDocument>,
    /// What runs of `tls primitives` and `tls handshake` of the same stack know.
    pub parts: Option<&'a HandshakeParts>,
}

/// Everything that can be priced.
#[derive(Clone, Debug)]
pub(crate) struct Prices {
    pub(crate) figures: Figures,
    pub(crate) handshakes: Handshakes,
    pub(crate) requests: Requests,
    /// The server whose plain costs count.
    pub(crate) server: Role,
    /// How the stack picks groups.
    pub(crate) picking: Picking,
    exchange: BTreeMap<Exchange, Form>,
    sign: BTreeMap<Certificate, Form>,
    records: Vec<RecordFigure>,
    points: Vec<Point>,
    chains: Vec<ChainBytes>,
}

/// What the real server's own code takes for a connection with TLS.
#[derive(Clone, Debug)]
pub(crate) struct OwnCode {
    pub(crate) form: Form,
    /// What it was calibrated with.
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

/// What one record costs to send.
#[derive(Clone, Debug)]
struct RecordFigure {
    protection: Protection,
    size: u32,
    /// The bare cipher.
    cipher: Form,
    /// What the stack adds to it.
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

    /// Regimes that can be priced.
    pub(crate) fn regimes(&self) -> Vec<Regime> {
        self.requests.regimes(self.server)
    }

    /// Bytes of the calibrated chain.
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

    pub(crate) fn exchange(&self, exchange: Exchange) -> Option<&Form> {
        self.exchange.get(&exchange)
    }

    pub(crate) fn sign(&self, certificate: Certificate) -> Option<&Form> {
        self.sign.get(&certificate)
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
            let full = at(&rows, record, part)?.times(whole as f64);
            let rest = if rest == 0 { Form::default() } else { at(&rows, rest, part)? };
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

fn at(rows: &[&RecordFigure], size: u32, part: fn(&RecordFigure) -> &Form) -> Option<Form> {
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

fn record_figures(
    document: &RecordsDocument,
    of: &Stack,
    figures: &mut Figures,
) -> Vec<RecordFigure> {
    let Some(stack) = document.stacks.iter().find(|s| is_same(s, of)) else { return Vec::new() };
    let rows = document.rows.iter().filter(|r| r.stack == stack.label);
    rows.filter_map(|row| {
        let (send, bare) = (row.send?, row.bare.encrypt?);
        let us = |median: f64, low: f64, high: f64| Interval {
            value: median / 1e3,
            low: low / 1e3,
            high: high / 1e3,
        };
        let send = figures.push(us(send.median_ns, send.low_ns, send.high_ns));
        let cipher = figures.push(us(bare.median_ns, bare.low_ns, bare.high_ns));
        let added = send.plus(&cipher, -1.0);
        Some(RecordFigure { protection: row.protection, size: row.size, cipher, added })
    })
    .collect()
}

impl HandshakeParts {
    /// Takes key exchanges and signatures of a server over from a run of `tls primitives`, if it has the stack: whole
    /// operations, as a handshake has them.
    pub fn add_primitives(&mut self, document: &PrimitivesDocument, of: &Stack) {
        let Some(stack) = document.stacks.iter().find(|s| is_same(s, of)) else { return };
        let rows: Vec<_> = document.rows.iter().filter(|r| r.stack == stack.label).collect();
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
fn exchange_us(exchange: Exchange, rows: &[&PrimitiveRow]) -> Option<Interval> {
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
fn of_row(scheme: Scheme, operation: Operation, rows: &[&PrimitiveRow]) -> Option<Interval> {
    let is_it =
        |r: &&&PrimitiveRow| r.primitive.scheme == scheme && r.primitive.operation == operation;
    let cost = rows.iter().find(is_it)?.whole?;
    let us = |ns: f64| cost.mean_ns / 1e3 * ns / cost.median_ns;
    Some(Interval { value: us(cost.median_ns), low: us(cost.low_ns), high: us(cost.high_ns) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row as the file has it; only what is read from it differs from case to case.
    fn row(scheme: &str, operation: &str, us: f64) -> PrimitiveRow {
        let ns = us * 1e3;
        let cost = format!(
            r#"{{"median_ns":{ns},"low_ns":{},"high_ns":{},"mean_ns":{},"max_ns":{ns},"setup_ns":0,"cycles":null}}"#,
            ns * 0.99,
            ns * 1.01,
            ns * 1.1
        );
        let text = format!(
            r#"{{"stack":"openssl@3.0.22","primitive":{{"scheme":"{scheme}","operation":"{operation}","size":null}},
            "state":"measured","reason":null,"checks":[],"whole":{cost},"call":null,"samples":1,"operations":1,
            "processes":1,"disturbed":{},"contended":false,"stopped":null}}"#,
            serde_json::to_string(&record::Disturbances::default()).unwrap()
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_server_generates_and_agrees_or_encapsulates_and_the_mean_counts() {
        let rows = [
            row("x25519", "generate", 30.0),
            row("x25519", "agree", 40.0),
            row("x25519mlkem768", "generate", 500.0),
            row("x25519mlkem768", "encapsulate", 90.0),
        ];
        let rows: Vec<_> = rows.iter().collect();
        let x25519 = exchange_us(Exchange::X25519, &rows).unwrap();
        assert!((x25519.value - 77.0).abs() < 1e-9 && x25519.low < x25519.value, "{x25519:?}");
        let hybrid = exchange_us(Exchange::X25519Mlkem768, &rows).unwrap();
        assert!((hybrid.value - 99.0).abs() < 1e-9, "{hybrid:?}");
        assert_eq!(exchange_us(Exchange::P256, &rows), None);
        assert_eq!(exchange_us(Exchange::Rsa, &rows), None);
    }
}
