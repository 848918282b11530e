//! The words: versions, key exchanges, groups, certificates, signatures, each with its name and its number.
//!
//! Numbers are those of IANA's registry "Transport Layer Security (TLS) Parameters".

use serde::{Deserialize, Serialize};

/// An enumeration whose values have names, the same on the command line, in files and in tables.
#[doc(hidden)]
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)*
        }

        impl $name {
            /// All of them, in the order of tables.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

named! {
    /// Version of the protocol.
    Version {
        /// RFC 5246.
        Tls12 = "1.2",
        /// RFC 8446.
        Tls13 = "1.3",
    }
}

impl Version {
    /// As on the wire.
    #[must_use]
    pub fn number(self) -> u16 {
        match self {
            Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }

    /// The version of a number.
    #[must_use]
    pub fn of_number(number: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|v| v.number() == number)
    }
}

named! {
    /// How the ends agree on a secret, as it is asked for.
    Exchange {
        /// The client encrypts the secret with the server's RSA key (TLS 1.2, RFC 5246 7.4.7.1).
        Rsa = "rsa",
        /// Finite field of RFC 7919, 2048 bits.
        Ffdhe2048 = "ffdhe2048",
        /// Finite field of RFC 7919, 4096 bits.
        Ffdhe4096 = "ffdhe4096",
        /// A finite field of 2048 bits of the server's own, as `openssl dhparam` makes it.
        OwnDh2048 = "own-dh-2048",
        /// Elliptic curve P-256.
        P256 = "p256",
        /// Elliptic curve P-384.
        P384 = "p384",
        /// Curve25519 (RFC 7748).
        X25519 = "x25519",
        /// X25519 beside ML-KEM-768 (TLS 1.3).
        X25519Mlkem768 = "x25519mlkem768",
    }
}

impl Exchange {
    /// The group that must be negotiated; none for RSA and for a field of the server's own.
    #[must_use]
    pub fn group(self) -> Option<Group> {
        match self {
            Self::Rsa => None,
            Self::Ffdhe2048 => Some(Group::Ffdhe2048),
            Self::Ffdhe4096 => Some(Group::Ffdhe4096),
            Self::OwnDh2048 => Some(Group::OwnDh { bits: 2048 }),
            Self::P256 => Some(Group::P256),
            Self::P384 => Some(Group::P384),
            Self::X25519 => Some(Group::X25519),
            Self::X25519Mlkem768 => Some(Group::X25519Mlkem768),
        }
    }

    /// Whether TLS 1.2 negotiates it by a suite that begins with DHE.
    #[must_use]
    pub fn is_finite_field(self) -> bool {
        matches!(self, Self::Ffdhe2048 | Self::Ffdhe4096 | Self::OwnDh2048)
    }

    /// Whether a version of the protocol has it.
    #[must_use]
    pub fn exists_in(self, version: Version) -> bool {
        match version {
            Version::Tls12 => self != Self::X25519Mlkem768,
            Version::Tls13 => !matches!(self, Self::Rsa | Self::OwnDh2048),
        }
    }
}

/// The group that was negotiated, by what the wire shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
    /// Curve25519.
    X25519,
    /// X25519 beside ML-KEM-768.
    X25519Mlkem768,
    /// RFC 7919, 2048 bits.
    Ffdhe2048,
    /// RFC 7919, 3072 bits.
    Ffdhe3072,
    /// RFC 7919, 4096 bits.
    Ffdhe4096,
    /// A finite field of no RFC.
    OwnDh {
        /// Bits of its prime.
        bits: u32,
    },
    /// Any other, by its number.
    Other(u16),
}

/// A group with its number, its name here and its name in OpenSSL.
type KnownGroup = (Group, u16, &'static str, &'static str);

impl Group {
    const KNOWN: [KnownGroup; 8] = [
        (Self::P256, 23, "p256", "P-256"),
        (Self::P384, 24, "p384", "P-384"),
        (Self::P521, 25, "p521", "P-521"),
        (Self::X25519, 29, "x25519", "X25519"),
        (Self::X25519Mlkem768, 0x11ec, "x25519mlkem768", "X25519MLKEM768"),
        (Self::Ffdhe2048, 256, "ffdhe2048", "ffdhe2048"),
        (Self::Ffdhe3072, 257, "ffdhe3072", "ffdhe3072"),
        (Self::Ffdhe4096, 258, "ffdhe4096", "ffdhe4096"),
    ];

    fn known(self) -> Option<&'static KnownGroup> {
        Self::KNOWN.iter().find(|(group, ..)| *group == self)
    }

    /// By its number in the registry "TLS Supported Groups".
    #[must_use]
    pub fn of_number(number: u16) -> Self {
        let known = Self::KNOWN.iter().find(|(_, n, ..)| *n == number);
        known.map_or(Self::Other(number), |(group, ..)| *group)
    }

    /// By its name here or in OpenSSL, in letters of any case.
    #[must_use]
    pub fn of_name(text: &str) -> Option<Self> {
        let is_it = |name: &str| name.eq_ignore_ascii_case(text);
        let known = Self::KNOWN.iter().find(|(.., name, openssl)| is_it(name) || is_it(openssl));
        known.map(|(group, ..)| *group)
    }

    /// OpenSSL's name; none of others than it lists by name.
    #[must_use]
    pub fn openssl(self) -> Option<&'static str> {
        self.known().map(|(.., openssl)| *openssl)
    }

    /// Its number; none for a field of one's own.
    #[must_use]
    pub fn number(self) -> Option<u16> {
        match self {
            Self::Other(number) => Some(number),
            known => known.known().map(|(_, number, ..)| *number),
        }
    }
}

impl std::fmt::Display for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, self.known()) {
            (_, Some((.., name, _))) => f.pad(name),
            (Self::OwnDh { bits }, _) => f.pad(&format!("own-dh-{bits}")),
            _ => f.pad(&format!("group {:#06x}", self.number().unwrap_or_default())),
        }
    }
}

named! {
    /// What the server, and a client that is asked for it, proves itself with. The chain is a leaf and
    /// an intermediate on the wire and a root that the other end has, all of the same kind.
    Certificate {
        /// RSA, 2048 bits.
        Rsa2048 = "rsa-2048",
        /// RSA, 3072 bits.
        Rsa3072 = "rsa-3072",
        /// RSA, 4096 bits.
        Rsa4096 = "rsa-4096",
        /// ECDSA over P-256.
        P256 = "p256",
        /// ECDSA over P-384.
        P384 = "p384",
        /// Ed25519 (RFC 8032).
        Ed25519 = "ed25519",
    }
}

impl Certificate {
    /// Whether its key is of RSA.
    #[must_use]
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096)
    }

    /// The signature that both ends are asked to use with it.
    #[must_use]
    pub fn signature(self) -> Signature {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => Signature(0x0804),
            Self::P256 => Signature(0x0403),
            Self::P384 => Signature(0x0503),
            Self::Ed25519 => Signature(0x0807),
        }
    }
}

/// A signature scheme, by its number (RFC 8446 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(pub u16);

impl Signature {
    const NAMES: [(u16, &'static str); 14] = [
        (0x0201, "rsa_pkcs1_sha1"),
        (0x0203, "ecdsa_sha1"),
        (0x0401, "rsa_pkcs1_sha256"),
        (0x0501, "rsa_pkcs1_sha384"),
        (0x0601, "rsa_pkcs1_sha512"),
        (0x0403, "ecdsa_secp256r1_sha256"),
        (0x0503, "ecdsa_secp384r1_sha384"),
        (0x0603, "ecdsa_secp521r1_sha512"),
        (0x0804, "rsa_pss_rsae_sha256"),
        (0x0805, "rsa_pss_rsae_sha384"),
        (0x0806, "rsa_pss_rsae_sha512"),
        (0x0807, "ed25519"),
        (0x0808, "ed448"),
        (0x0301, "rsa_pkcs1_sha224"),
    ];

    /// Whether a certificate's key can make it.
    #[must_use]
    pub fn is_of(self, certificate: Certificate) -> bool {
        let of_rsa = matches!(self.0, 0x0804..=0x0806) || self.0 & 0xff == 1;
        match certificate {
            Certificate::Ed25519 => self.0 == 0x0807,
            rsa if rsa.is_rsa() => of_rsa,
            _ => self.0 & 0xff == 3 && self.0 < 0x0700,
        }
    }
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match Self::NAMES.iter().find(|(n, _)| *n == self.0) {
            Some((_, name)) => f.pad(name),
            None => f.pad(&format!("{:#06x}", self.0)),
        }
    }
}

named! {
    /// How a connection begins.
    Kind {
        /// Everything from the start.
        Full = "full",
        /// The client guessed another group, and is asked again (RFC 8446 2.1).
        HelloRetry = "hello-retry",
        /// Resumed from the server's cache (RFC 5246 7.3).
        ResumedId = "resumed-id",
        /// Resumed from a ticket that the client kept (RFC 5077).
        ResumedTicket = "resumed-ticket",
        /// Resumed by a pre-shared key, with a new key exchange (RFC 8446 2.2, psk_dhe_ke).
        ResumedPsk = "resumed-psk",
    }
}

impl Kind {
    /// Whether an earlier connection's secret is used.
    #[must_use]
    pub fn is_resumed(self) -> bool {
        matches!(self, Self::ResumedId | Self::ResumedTicket | Self::ResumedPsk)
    }

    /// Whether a version of the protocol has it.
    #[must_use]
    pub fn exists_in(self, version: Version) -> bool {
        match self {
            Self::Full => true,
            Self::HelloRetry | Self::ResumedPsk => version == Version::Tls13,
            Self::ResumedId | Self::ResumedTicket => version == Version::Tls12,
        }
    }
}

named! {
    /// What lies between two steps of a handshake.
    Temperature {
        /// Nothing: the next step follows at once, everything is in the caches.
        Hot = "hot",
        /// A pause of 100 µs: the core has slept.
        Idle = "idle",
        /// A pause, and the core's own caches hold other data.
        Cold = "cold",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_what_they_name() {
        assert_eq!(serde_json::to_value(Exchange::OwnDh2048).unwrap(), "own-dh-2048");
        assert_eq!(Group::of_number(29).to_string(), "x25519");
        assert_eq!(Group::of_number(30), Group::Other(30));
    }

    #[test]
    fn a_signature_belongs_to_the_key_that_can_make_it() {
        for certificate in Certificate::ALL {
            assert!(certificate.signature().is_of(*certificate), "{certificate}");
        }
        assert!(!Signature(0x0403).is_of(Certificate::Rsa2048));
        assert!(!Signature(0x0807).is_of(Certificate::P256));
        assert!(Signature(0x0401).is_of(Certificate::Rsa4096));
    }
}
