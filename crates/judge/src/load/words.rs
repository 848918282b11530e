//! The words of load: regimes, servers, units, each with its name.

use record::named;
use record::tls::Case;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

named! {
    /// How close connections follow one another. It changes what each costs: a core that has slept, and
    /// caches that hold other data, make everything dearer; system calls that serve several connections
    /// at once make it cheaper.
    Regime {
        /// One connection every 5 ms, the server asleep in between.
        Low = "low",
        /// One connection at a time, back to back.
        Steady = "steady",
        /// Twenty connections at a time: the server never sleeps.
        Saturated = "saturated",
    }
}

named! {
    /// The server that a point was measured on.
    Role {
        /// The real one (nginx) without TLS.
        RealPlain = "real-plain",
        /// A minimal one of our own without TLS.
        MinimalPlain = "minimal-plain",
        /// The same with TLS.
        MinimalTls = "minimal-tls",
        /// The real one with TLS: the two configurations that its own code for TLS is calibrated with, a full
        /// handshake and a resumption. Points that the model is judged by are never of a calibration.
        RealTls = "real-tls",
    }
}

named! {
    /// What a point's CPU time is divided by.
    Unit {
        /// A connection with exactly one request: from before it is made until after it is closed.
        Connection = "connection",
        /// One more request over a connection that is open; making and closing lie outside.
        Request = "request",
    }
}

named! {
    /// Version of HTTP.
    Http {
        /// RFC 9112.
        Http1 = "1.1",
        /// RFC 9113.
        Http2 = "2",
    }
}

named! {
    /// Mozilla's recommended configurations (Server Side TLS).
    Profile {
        /// TLS 1.3 only.
        Modern = "modern",
        /// TLS 1.2 and 1.3.
        Intermediate = "intermediate",
        /// For very old clients.
        Old = "old",
        /// What `intermediate` was in 2016.
        Intermediate2016 = "intermediate-2016",
    }
}

/// What a connection does besides moving data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// No TLS.
    Plain,
    /// A handshake that succeeds; of requests: what was negotiated before them.
    Handshake {
        /// What was negotiated.
        case: Case,
        /// Tickets that the server gives after a full handshake of TLS 1.3; null as the stack does it.
        tickets: Option<u8>,
    },
    /// The server refuses the client's first message (no common version or suite), no request follows.
    RefusedHello,
    /// The client ends it after the server's flight (a chain that it does not trust), no request follows.
    Abandoned {
        /// What would have been negotiated.
        case: Case,
    },
}

impl Work {
    /// What was negotiated.
    #[must_use]
    pub fn case(&self) -> Option<Case> {
        match self {
            Self::Handshake { case, .. } | Self::Abandoned { case } => Some(*case),
            Self::Plain | Self::RefusedHello => None,
        }
    }
}
