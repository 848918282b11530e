//! What connections and requests cost without TLS, and what TLS adds to a request: lines through the sizes that
//! were measured.

use crate::load::calibration::{Calibration, Point, Served};
use crate::load::form::Form;
use crate::load::words::{Http, Regime, Role, Unit};
use record::State;
use record::tls::{Suite, Version};

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
        for axis in AXES {
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
    fn difference(&self, from: RequestKey, to: RequestKey, axis: Axis, bytes: u64) -> Option<Form> {
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
enum Axis {
    Http,
    Sendfile,
    Suite,
    Record,
    Aes,
    Version,
    Regime,
}

const AXES: [Axis; 7] =
    [Axis::Suite, Axis::Record, Axis::Aes, Axis::Version, Axis::Http, Axis::Sendfile, Axis::Regime];

impl Axis {
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
    let weight = |axis: Axis| match axis {
        Axis::Version => 1,
        Axis::Regime => 2,
        Axis::Suite => 4,
        _ => 8,
    };
    AXES.iter().filter(|a| a.set(*key, wanted) != *key).map(|a| weight(*a)).sum()
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
