//! What a handshake adds to a plain connection: the minimal TLS server's connection less the minimal plain
//! server's, of the same regime and response.
//!
//! A handshake that was not measured itself is put together from differences that were: it costs what a measured one
//! costs that differs in one thing only, plus what that one thing made different elsewhere. That a
//! certificate's or a key exchange's part does not depend on the other is what measurements show; that the regime adds
//! nearly the same to each handshake, too (docs/TLS-LOAD.md). Primitives are never added up.

use crate::load::calibration::{Calibration, Point};
use crate::load::form::Form;
use crate::load::words::{Http, Regime, Role, Unit, Work};
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
enum Axis {
    Regime,
    Exchange,
    Certificate,
    ClientAuth,
    Retry,
}

const AXES: [Axis; 5] =
    [Axis::Exchange, Axis::Certificate, Axis::ClientAuth, Axis::Retry, Axis::Regime];

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

    fn differs(&self, other: &Self, axis: Axis) -> bool {
        self.with(axis, other) != *self
    }

    fn with(mut self, axis: Axis, of: &Self) -> Self {
        match axis {
            Axis::Regime => self.regime = of.regime,
            Axis::Exchange => self.case.exchange = of.case.exchange,
            Axis::Certificate => self.case.certificate = of.case.certificate,
            Axis::ClientAuth => self.case.client_auth = of.case.client_auth,
            Axis::Retry => self.case.kind = of.case.kind,
        }
        self
    }

    fn word(&self, axis: Axis) -> String {
        match axis {
            Axis::Regime => format!("{} load", self.regime),
            Axis::Exchange => self.case.exchange.to_string(),
            Axis::Certificate => self.case.certificate.to_string(),
            Axis::ClientAuth if self.case.client_auth => "client authentication".to_owned(),
            Axis::ClientAuth => "none".to_owned(),
            Axis::Retry => self.case.kind.to_string(),
        }
    }

    /// Whether both are handshakes of the same sort but for one thing.
    fn is_beside(&self, other: &Self, axis: Axis) -> bool {
        let kinds = self.case.kind == other.case.kind
            || axis == Axis::Retry && !self.case.kind.is_resumed() && !other.case.kind.is_resumed();
        self.case.version == other.case.version
            && self.case.suite == other.case.suite
            && self.aes_hardware == other.aes_hardware
            && kinds
            && AXES.iter().all(|a| self.differs(other, *a) == (*a == axis))
    }

    /// In how many things they differ: the fewer, the better may one stand for the other.
    fn distance(&self, other: &Self) -> usize {
        AXES.iter().filter(|a| self.differs(other, **a)).count()
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
        for axis in AXES {
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
    fn pairs(&self, wanted: &Key, axis: Axis) -> Vec<(&Measured, &Measured)> {
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
