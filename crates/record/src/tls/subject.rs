//! What a visit is about.

use crate::tls::case::Case;
use crate::tls::primitive::Primitive;
use crate::tls::suite::Suite;
use crate::tls::words::{Certificate, Exchange, Kind, Version};
use serde::{Deserialize, Serialize};

/// What is sampled, at both ends apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// Handshakes.
    Handshake(Case),
    /// Records of application data over one open connection: the server sends, the client receives.
    Records {
        /// What protects them.
        protection: Protection,
        /// Bytes of data in each.
        size: u32,
    },
    /// One of the operations under a handshake: whole in the server's place, the library's call alone in
    /// the client's.
    Primitive(Primitive),
}

/// What protects records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct Protection {
    /// Version of the protocol.
    pub version: Version,
    /// The suite.
    pub suite: Suite,
}

/// Most bytes of data in a record (RFC 8446 5.1).
pub const LARGEST_RECORD: usize = 1 << 14;

impl Protection {
    /// Everything that exists, of some versions and suites; all of them where none is named.
    #[must_use]
    pub fn all(versions: &[Version], suites: &[Suite]) -> Vec<Self> {
        let of = |version: &Version| {
            let version = *version;
            Suite::ALL.iter().map(move |suite| Self { version, suite: *suite })
        };
        let kept = |p: &Self| {
            (versions.is_empty() || versions.contains(&p.version))
                && (suites.is_empty() || suites.contains(&p.suite))
                && p.case().exists()
        };
        Version::ALL.iter().rev().flat_map(of).filter(kept).collect()
    }

    /// The connection that the records go over: how it began makes no difference to them.
    #[must_use]
    pub fn case(self) -> Case {
        Case {
            version: self.version,
            exchange: Exchange::X25519,
            certificate: Certificate::P256,
            kind: Kind::Full,
            client_auth: false,
            suite: self.suite,
        }
    }
}

impl Suite {
    /// The name of the suite's cipher among ciphermark's algorithms; of suites with CBC it is the cipher
    /// without the HMAC.
    #[must_use]
    pub fn cipher(self) -> &'static str {
        let name = self.name();
        name.split_once('+').map_or(name, |(cipher, _)| cipher)
    }

    /// Whether the cipher authenticates as well.
    #[must_use]
    pub fn is_aead(self) -> bool {
        !self.name().contains('+')
    }
}

impl std::fmt::Display for Protection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TLS {} {}", self.version, self.suite)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_have_their_suites_and_all_ciphers_have_a_name() {
        let all = Protection::all(&[], &[]);
        let of = |version| all.iter().filter(|p| p.version == version).count();
        assert_eq!((of(Version::Tls13), of(Version::Tls12)), (4, Suite::ALL.len()));
        for suite in Suite::ALL {
            assert!(base::model::Algorithm::find(suite.cipher()).is_ok(), "{suite}");
        }
        assert_eq!(Suite::Aes256CbcSha384.cipher(), "aes-256-cbc");
        assert!(Suite::Aes128Ccm.is_aead() && !Suite::Aes128CbcSha1.is_aead());
    }

    #[test]
    fn what_is_named_is_kept_as_far_as_it_exists() {
        let kept = Protection::all(&[Version::Tls13], &[Suite::Aes128CbcSha1, Suite::Aes256Gcm]);
        assert_eq!(
            kept.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["TLS 1.3 aes-256-gcm"]
        );
    }
}
