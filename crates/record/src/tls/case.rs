//! One case: what is to be negotiated.

use crate::tls::suite::{Suite, SuiteCode};
use crate::tls::words::{Certificate, Exchange, Kind, Version};
use serde::{Deserialize, Serialize};

/// One case: what is to be negotiated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct Case {
    /// Version of the protocol.
    pub version: Version,
    /// How the ends agree on a secret.
    pub exchange: Exchange,
    /// What the server proves itself with.
    pub certificate: Certificate,
    /// How the connection begins.
    pub kind: Kind,
    /// Whether the client proves itself too, with a certificate of the same kind.
    pub client_auth: bool,
    /// What protects the records.
    pub suite: Suite,
}

impl Case {
    /// The suite on the wire; none where the protocol has no such combination.
    #[must_use]
    pub fn code(&self) -> Option<SuiteCode> {
        self.suite.code(self.version, self.exchange, self.certificate)
    }

    /// Whether the protocol has it at all, whatever a stack offers.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exchange.exists_in(self.version)
            && self.kind.exists_in(self.version)
            && self.code().is_some()
            // The group that is asked for must be another than the first guess.
            && !(self.kind == Kind::HelloRetry && self.exchange == Exchange::X25519)
    }
}

impl std::fmt::Display for Case {
    /// `1.3 x25519 rsa-2048 full`, with what is not usual behind it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { version, exchange, certificate, kind, client_auth, suite } = self;
        write!(f, "{version} {exchange} {certificate} {kind}")?;
        if *client_auth {
            write!(f, " client-auth")?;
        }
        if *suite != Suite::Aes128Gcm {
            write!(f, " {suite}")?;
        }
        Ok(())
    }
}
