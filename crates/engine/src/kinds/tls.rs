//! Handshakes, records and primitives of TLS stacks.

use super::Pass;
use base::model::RawSample;
use record::tls::{
    Certificate, Exchange, HandshakeSample, Kind, Subject, Temperature, Version, Visit,
};
use std::time::Duration;

/// Clean samples of a process: one more than its median needs, because a quiet rate that is learned later may take
/// one away. What the interval wants is processes: their layouts differ by more than the samples of one.
const CLEAN: usize = 3;

/// Samples of a process after which no more are asked for: where fewer than a third are clean, more of the same
/// would not be either.
const MOST: u32 = 3 * CLEAN as u32;

/// Longest wait for a visit: eight handshakes of 50 ms, on a machine with ten times as much to do.
pub(super) const DEADLINE: Duration = Duration::from_secs(5);

/// What is not hot scatters more, and is held to this at the most.
const COLD_PRECISION: f64 = 0.05;

/// A case of one stack.
#[derive(Clone, Debug)]
pub(crate) struct Tls {
    /// Index of the stack.
    pub(crate) stack: usize,
    pub(crate) subject: Subject,
    pub(crate) temperature: Temperature,
}

/// Samples of both ends, which take turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends(pub(crate) Vec<HandshakeSample>);

impl Ends {
    /// The other end's samples.
    pub(crate) fn others(&self) -> Vec<RawSample> {
        self.0.iter().map(HandshakeSample::client_sample).collect()
    }
}

impl Tls {
    /// The first process takes as many samples as any may: a stack that does something else after some
    /// connections is then found, however few make up a sample.
    pub(super) fn visit(&self, pass: Pass, taken: u32, ops: Option<u32>) -> Visit {
        let lacking = CLEAN.saturating_sub(pass.clean).max(1) as u32;
        let samples = if taken == 0 { MOST } else { lacking };
        Visit { subject: self.subject, temperature: self.temperature, settle_us: 0, samples, ops }
    }

    /// How many of its properties are not the usual ones; of records and primitives none has any.
    pub(super) fn wave(&self) -> u32 {
        let Subject::Handshake(case) = self.subject else { return 0 };
        let usual = [
            case.version == Version::Tls13,
            case.exchange == Exchange::X25519,
            matches!(case.certificate, Certificate::P256 | Certificate::Rsa2048),
            case.kind == Kind::Full,
            !case.client_auth,
            self.temperature == Temperature::Hot,
        ];
        usual.iter().filter(|is_usual| !**is_usual).count() as u32
    }

    pub(super) fn precision(&self, asked: f64) -> f64 {
        match self.temperature {
            Temperature::Hot => asked,
            Temperature::Idle | Temperature::Cold => asked.max(COLD_PRECISION),
        }
    }
}

pub(super) fn is_done(pass: Pass) -> bool {
    pass.clean >= CLEAN || pass.taken >= MOST
}
