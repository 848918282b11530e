//! One thing that is measured in every round: which server, what is served, how it is asked.

use crate::server::calibrate::{FIRST, own_code};
use crate::server::job::{Ends, Job, MinimalTls};
use crate::server::nginx::{Sessions, Site, SiteTls};
use judge::load::{Http, Regime, Role, Served, Unit, Work};
use record::tls::{Case, Certificate, Exchange, Kind, Version};

/// Bytes of a request where nothing else is said, as in a specification of load.
pub const REQUEST_BYTES: u32 = 500;
/// Bytes of data in a record where nothing else is said.
pub const RECORD_BYTES: u32 = 16_384;
/// Requests that follow one another over a connection that is open: so many that a server's awakening, which
/// belongs to connections, hardly counts.
const BURST: usize = 40;
/// Connections at once when a server is saturated, and the pause at low load.
const AT_ONCE: u32 = 20;
const PAUSE_US: u64 = 5000;
/// Seconds of a slice. Short, because others are busy on a core's sibling for milliseconds at a time, and what meets
/// them does not count; with some ten connections nevertheless, and of a saturated server several by each thread.
const SLICE_SECONDS: f64 = 0.008;
const SATURATED_SLICE_SECONDS: f64 = 0.03;
/// With the pause between connections of low load.
const LOW_SLICE_SECONDS: f64 = 0.02;
/// Connections of a visit at most: more would use up the ports of the loopback, which rest for a second.
const MOST_CONNECTIONS: u64 = 4000;

/// One thing that is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Which server, with or without TLS.
    pub role: Role,
    /// How close connections follow one another.
    pub regime: Regime,
    /// What the CPU time is divided by: of requests, connections are made before and closed after.
    pub unit: Unit,
    /// What is served.
    pub served: Served,
    /// Bytes of the responses of each connection, in order.
    pub responses: Vec<u64>,
    /// Share of the connections that resume.
    pub resumed: f64,
}

impl Cell {
    /// A point of a calibration: connections with one request each, or requests over connections that are open.
    #[must_use]
    pub fn of_point(role: Role, regime: Regime, unit: Unit, served: Served) -> Self {
        let requests = if unit == Unit::Connection { 1 } else { BURST };
        let resumes = served.work.case().is_some_and(|case| case.kind.is_resumed());
        let responses = vec![served.response_bytes; requests];
        Self { role, regime, unit, served, responses, resumed: if resumes { 1.0 } else { 0.0 } }
    }

    /// Whether it is one of the connections that tell what the real server's own code takes, full ones and resumed, and
    /// so a part of every prediction.
    #[must_use]
    pub fn is_in_every_prediction(&self) -> bool {
        let of_own_code = own_code().map(|case| secured(case, FIRST));
        let has_tls = matches!(self.role, Role::RealTls | Role::MinimalTls);
        has_tls && self.unit == Unit::Connection && of_own_code.contains(&self.served)
    }

    /// Whether it is the real server's.
    #[must_use]
    pub fn is_real(&self) -> bool {
        matches!(self.role, Role::RealPlain | Role::RealTls)
    }

    /// The port of the minimal server that it needs; the outer none is none at all, the inner one is plain.
    pub(crate) fn minimal(&self) -> Option<Option<MinimalTls>> {
        let record_bytes = self.served.record_bytes.unwrap_or(RECORD_BYTES);
        let tls = |case, tickets| Some(MinimalTls { case, tickets, record_bytes });
        (!self.is_real()).then(|| match self.served.work {
            Work::Plain => None,
            Work::Handshake { case, tickets } => tls(case, tickets),
            Work::Abandoned { case } => tls(case, None),
            Work::RefusedHello => tls(refusing(), None),
        })
    }

    /// The site of nginx that it needs.
    pub(crate) fn site(&self) -> Option<Site> {
        let tls = |case: Case| SiteTls {
            certificate: case.certificate,
            dh: case.exchange.is_finite_field().then_some(case.exchange),
            group: (case.kind == Kind::HelloRetry).then_some(case.exchange),
            sessions: if case.kind == Kind::ResumedId {
                Sessions::Cache
            } else {
                Sessions::Tickets
            },
            record_bytes: self.served.record_bytes.unwrap_or(RECORD_BYTES),
        };
        let http2 = self.served.http == Http::Http2;
        let site = |tls| Site { tls, http2, sendfile: self.served.sendfile };
        self.is_real().then(|| site(self.served.work.case().map(tls)))
    }

    pub(crate) fn job(&self, port: u16, seconds: f64) -> Job {
        let (tls, ends) = match self.served.work {
            Work::Plain => (None, Ends::Answered),
            Work::Handshake { case, .. } => (Some(case), Ends::Answered),
            Work::Abandoned { case } => (Some(case), Ends::Abandoned),
            Work::RefusedHello => {
                (Some(Case { certificate: Certificate::P256, ..refusing() }), Ends::Refused)
            }
        };
        let (at_once, pause_us, slice_seconds) = match self.regime {
            Regime::Low => (1, PAUSE_US, LOW_SLICE_SECONDS),
            Regime::Steady => (1, 0, SLICE_SECONDS),
            Regime::Saturated => (AT_ONCE, 0, SATURATED_SLICE_SECONDS),
        };
        Job {
            port,
            tls,
            http: self.served.http,
            resumed: self.resumed,
            ends,
            request_bytes: self.served.request_bytes,
            responses: self.responses.clone(),
            held: self.unit == Unit::Request,
            at_once,
            pause_us,
            connections: MOST_CONNECTIONS,
            seconds,
            offers: Vec::new(),
            slice_seconds,
        }
    }
}

/// A server that has no suite in common with a client that wants ECDSA.
fn refusing() -> Case {
    Case::usual(Version::Tls12, Exchange::P256, Certificate::Rsa2048, Kind::Full)
}

/// What is served without TLS, over HTTP/1.1 and without sendfile.
#[must_use]
pub fn plain(response_bytes: u64) -> Served {
    Served {
        work: Work::Plain,
        http: Http::Http1,
        request_bytes: REQUEST_BYTES,
        response_bytes,
        sendfile: false,
        record_bytes: None,
        aes_hardware: true,
    }
}

/// The same with TLS.
#[must_use]
pub fn secured(case: Case, response_bytes: u64) -> Served {
    let work = Work::Handshake { case, tickets: None };
    Served { work, record_bytes: Some(RECORD_BYTES), ..plain(response_bytes) }
}
