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
    pub fn number(self) -> u16 {
        match self {
            Self::Tls12 => 0x0303,
            Self::Tls13 => 0x0304,
        }
    }

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
    pub fn is_finite_field(self) -> bool {
        matches!(self, Self::Ffdhe2048 | Self::Ffdhe4096 | Self::OwnDh2048)
    }

    /// Whether a version of the protocol has it.
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
    pub fn of_number(number: u16) -> Self {
        let known = Self::KNOWN.iter().find(|(_, n, ..)| *n == number);
        known.map_or(Self::Other(number), |(group, ..)| *group)
    }

    /// By its name here or in OpenSSL, in letters of any case.
    pub fn of_name(text: &str) -> Option<Self> {
        let is_it = |name: &str| name.eq_ignore_ascii_case(text);
        let known = Self::KNOWN.iter().find(|(.., name, openssl)| is_it(name) || is_it(openssl));
        known.map(|(group, ..)| *group)
    }

    /// OpenSSL's name; none of others than it lists by name.
    pub fn openssl(self) -> Option<&'static str> {
        self.known().map(|(.., openssl)| *openssl)
    }

    /// Its number; none for a field of one's own.
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
        /// ML-DSA-44 (FIPS 204; TLS 1.3).
        Mldsa44 = "mldsa44",
        /// ML-DSA-65.
        Mldsa65 = "mldsa65",
        /// ML-DSA-87.
        Mldsa87 = "mldsa87",
    }
}

impl Certificate {
    /// Those that clients of today take: all but ML-DSA's.
    pub fn classic() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|certificate| !certificate.is_post_quantum())
    }

    /// Whether it is of ML-DSA.
    pub fn is_post_quantum(self) -> bool {
        matches!(self, Self::Mldsa44 | Self::Mldsa65 | Self::Mldsa87)
    }

    /// Whether its key is of RSA.
    pub fn is_rsa(self) -> bool {
        matches!(self, Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096)
    }

    /// The signature that both ends are asked to use with it.
    pub fn signature(self) -> Signature {
        match self {
            Self::Rsa2048 | Self::Rsa3072 | Self::Rsa4096 => Signature(0x0804),
            Self::P256 => Signature(0x0403),
            Self::P384 => Signature(0x0503),
            Self::Ed25519 => Signature(0x0807),
            Self::Mldsa44 => Signature(0x0904),
            Self::Mldsa65 => Signature(0x0905),
            Self::Mldsa87 => Signature(0x0906),
        }
    }
}

/// A signature scheme, by its number (RFC 8446 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature(pub u16);

impl Signature {
    const NAMES: [(u16, &'static str); 17] = [
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
        (0x0904, "mldsa44"),
        (0x0905, "mldsa65"),
        (0x0906, "mldsa87"),
    ];

    /// What it is called when a certificate's key makes it. In TLS 1.2 a key of any curve signs with any digest, and the
    /// numbers name no curve (RFC 8446 4.2.3).
    pub fn name_by(self, certificate: Certificate) -> String {
        let name = self.to_string();
        match name.strip_prefix("ecdsa_secp").and_then(|curve| curve.split_once('_')) {
            Some((_, digest)) if self != certificate.signature() => format!("ecdsa_{digest}"),
            _ => name,
        }
    }

    /// Whether a certificate's key can make it.
    pub fn is_of(self, certificate: Certificate) -> bool {
        let of_rsa = matches!(self.0, 0x0804..=0x0806) || self.0 & 0xff == 1;
        match certificate {
            Certificate::Ed25519 => self.0 == 0x0807,
            mldsa if mldsa.is_post_quantum() => self == mldsa.signature(),
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
    pub fn is_resumed(self) -> bool {
        matches!(self, Self::ResumedId | Self::ResumedTicket | Self::ResumedPsk)
    }

    /// Whether a version of the protocol has it.
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

// What protects the records: suites, their numbers, and OpenSSL's names.

named! {
    /// What protects the records.
    Suite {
        /// AES-128 in GCM.
        Aes128Gcm = "aes-128-gcm",
        /// AES-256 in GCM.
        Aes256Gcm = "aes-256-gcm",
        /// ChaCha20-Poly1305.
        Chacha20Poly1305 = "chacha20-poly1305",
        /// AES-128 in CCM.
        Aes128Ccm = "aes-128-ccm",
        /// AES-128 in CBC with HMAC-SHA-1 (TLS 1.2).
        Aes128CbcSha1 = "aes-128-cbc+sha1",
        /// AES-256 in CBC with HMAC-SHA-1 (TLS 1.2).
        Aes256CbcSha1 = "aes-256-cbc+sha1",
        /// AES-128 in CBC with HMAC-SHA-256 (TLS 1.2).
        Aes128CbcSha256 = "aes-128-cbc+sha256",
        /// AES-256 in CBC with HMAC-SHA-384 (TLS 1.2).
        Aes256CbcSha384 = "aes-256-cbc+sha384",
    }
}

/// How a suite is called by OpenSSL and its kin, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteCode {
    /// Number on the wire.
    pub number: u16,
    /// OpenSSL's name.
    pub openssl: &'static str,
}

impl Suite {
    /// The suite of a version, a key exchange and a certificate; none where there is no such suite.
    pub fn code(
        self,
        version: Version,
        exchange: Exchange,
        certificate: Certificate,
    ) -> Option<SuiteCode> {
        if version == Version::Tls13 {
            return self.code_13();
        }
        if certificate.is_post_quantum() {
            return None;
        }
        let row = SUITES_12.iter().find(|(suite, ..)| *suite == self)?;
        let (_, ecdhe_ecdsa, ecdhe_rsa, dhe, rsa) = row;
        let (number, openssl) = match exchange {
            Exchange::Rsa if certificate.is_rsa() => (*rsa)?,
            e if e.is_finite_field() && certificate.is_rsa() => (*dhe)?,
            Exchange::P256 | Exchange::P384 | Exchange::X25519 if certificate.is_rsa() => {
                (*ecdhe_rsa)?
            }
            Exchange::P256 | Exchange::P384 | Exchange::X25519 => (*ecdhe_ecdsa)?,
            _ => return None,
        };
        Some(SuiteCode { number, openssl })
    }

    fn code_13(self) -> Option<SuiteCode> {
        let (number, openssl) = match self {
            Self::Aes128Gcm => (0x1301, "TLS_AES_128_GCM_SHA256"),
            Self::Aes256Gcm => (0x1302, "TLS_AES_256_GCM_SHA384"),
            Self::Chacha20Poly1305 => (0x1303, "TLS_CHACHA20_POLY1305_SHA256"),
            Self::Aes128Ccm => (0x1304, "TLS_AES_128_CCM_SHA256"),
            _ => return None,
        };
        Some(SuiteCode { number, openssl })
    }

    /// The name of a suite by its number, as far as it is one of these.
    pub fn name_of(number: u16) -> String {
        let of_13 = Self::ALL.iter().filter_map(|s| s.code_13());
        let of_12 = SUITES_12.iter().flat_map(|(_, a, b, c, d)| [a, b, c, d]);
        let of_12 = of_12.flatten().map(|(number, openssl)| SuiteCode { number: *number, openssl });
        let known = of_13.chain(of_12).find(|code| code.number == number);
        known.map_or_else(|| format!("{number:#06x}"), |code| code.openssl.to_owned())
    }
}

/// A number and OpenSSL's name.
type Code = Option<(u16, &'static str)>;

/// The suites of TLS 1.2: ECDHE with ECDSA (Ed25519 too: RFC 8422 5.10), ECDHE with RSA, DHE with RSA, RSA.
#[rustfmt::skip]
const SUITES_12: [(Suite, Code, Code, Code, Code); 8] = [
    (Suite::Aes128Gcm, Some((0xc02b, "ECDHE-ECDSA-AES128-GCM-SHA256")), Some((0xc02f, "ECDHE-RSA-AES128-GCM-SHA256")),
        Some((0x009e, "DHE-RSA-AES128-GCM-SHA256")), Some((0x009c, "AES128-GCM-SHA256"))),
    (Suite::Aes256Gcm, Some((0xc02c, "ECDHE-ECDSA-AES256-GCM-SHA384")), Some((0xc030, "ECDHE-RSA-AES256-GCM-SHA384")),
        Some((0x009f, "DHE-RSA-AES256-GCM-SHA384")), Some((0x009d, "AES256-GCM-SHA384"))),
    (Suite::Chacha20Poly1305, Some((0xcca9, "ECDHE-ECDSA-CHACHA20-POLY1305")), Some((0xcca8, "ECDHE-RSA-CHACHA20-POLY1305")),
        Some((0xccaa, "DHE-RSA-CHACHA20-POLY1305")), None),
    (Suite::Aes128Ccm, Some((0xc0ac, "ECDHE-ECDSA-AES128-CCM")), None,
        Some((0xc09e, "DHE-RSA-AES128-CCM")), Some((0xc09c, "AES128-CCM"))),
    (Suite::Aes128CbcSha1, Some((0xc009, "ECDHE-ECDSA-AES128-SHA")), Some((0xc013, "ECDHE-RSA-AES128-SHA")),
        Some((0x0033, "DHE-RSA-AES128-SHA")), Some((0x002f, "AES128-SHA"))),
    (Suite::Aes256CbcSha1, Some((0xc00a, "ECDHE-ECDSA-AES256-SHA")), Some((0xc014, "ECDHE-RSA-AES256-SHA")),
        Some((0x0039, "DHE-RSA-AES256-SHA")), Some((0x0035, "AES256-SHA"))),
    (Suite::Aes128CbcSha256, Some((0xc023, "ECDHE-ECDSA-AES128-SHA256")), Some((0xc027, "ECDHE-RSA-AES128-SHA256")),
        Some((0x0067, "DHE-RSA-AES128-SHA256")), Some((0x003c, "AES128-SHA256"))),
    (Suite::Aes256CbcSha384, Some((0xc024, "ECDHE-ECDSA-AES256-SHA384")), Some((0xc028, "ECDHE-RSA-AES256-SHA384")),
        None, None),
];
// What a handshake is made of: key generation, agreement, signatures, encapsulation, digests.

named! {
    /// What is done.
    Operation {
        /// Making a key pair for one handshake, and its public key's bytes.
        Generate = "generate",
        /// Computing the secret that is shared with the holder of another public key.
        Agree = "agree",
        /// Signing what a server signs in TLS 1.3 (RFC 8446 4.4.3).
        Sign = "sign",
        /// Verifying it.
        Verify = "verify",
        /// Making a secret and a ciphertext of it for the holder of a key (FIPS 203).
        Encapsulate = "encapsulate",
        /// Taking the secret out of the ciphertext.
        Decapsulate = "decapsulate",
        /// Computing a digest, or an HMAC.
        Digest = "digest",
    }
}

named! {
    /// What it is done with.
    Scheme {
        /// Curve25519 (RFC 7748).
        X25519 = "x25519",
        /// Curve448 (RFC 7748).
        X448 = "x448",
        /// ECDH over P-256.
        P256 = "p256",
        /// ECDH over P-384.
        P384 = "p384",
        /// ECDH over P-521.
        P521 = "p521",
        /// Finite field of RFC 7919, 2048 bits.
        Ffdhe2048 = "ffdhe2048",
        /// 3072 bits.
        Ffdhe3072 = "ffdhe3072",
        /// 4096 bits.
        Ffdhe4096 = "ffdhe4096",
        /// A finite field of 2048 bits of the server's own.
        OwnDh2048 = "own-dh-2048",
        /// ML-KEM-512 (FIPS 203).
        Mlkem512 = "mlkem512",
        /// ML-KEM-768 (FIPS 203).
        Mlkem768 = "mlkem768",
        /// ML-KEM-1024.
        Mlkem1024 = "mlkem1024",
        /// X25519 beside ML-KEM-768.
        X25519Mlkem768 = "x25519mlkem768",
        /// P-256 beside ML-KEM-768.
        Secp256r1Mlkem768 = "secp256r1mlkem768",
        /// P-384 beside ML-KEM-1024.
        Secp384r1Mlkem1024 = "secp384r1mlkem1024",
        /// RSA of 2048 bits, PSS with SHA-256 (`rsa_pss_rsae_sha256`).
        Rsa2048Pss = "rsa-2048-pss",
        /// RSA of 2048 bits, PKCS #1 v1.5 with SHA-256 (`rsa_pkcs1_sha256`).
        Rsa2048Pkcs1 = "rsa-2048-pkcs1",
        /// 3072 bits, PSS.
        Rsa3072Pss = "rsa-3072-pss",
        /// 3072 bits, PKCS #1 v1.5.
        Rsa3072Pkcs1 = "rsa-3072-pkcs1",
        /// 4096 bits, PSS.
        Rsa4096Pss = "rsa-4096-pss",
        /// 4096 bits, PKCS #1 v1.5.
        Rsa4096Pkcs1 = "rsa-4096-pkcs1",
        /// ECDSA over P-256 with SHA-256.
        EcdsaP256 = "ecdsa-p256",
        /// ECDSA over P-384 with SHA-384.
        EcdsaP384 = "ecdsa-p384",
        /// ECDSA over P-521 with SHA-512.
        EcdsaP521 = "ecdsa-p521",
        /// Ed25519 (RFC 8032).
        Ed25519 = "ed25519",
        /// Ed448 (RFC 8032).
        Ed448 = "ed448",
        /// ML-DSA-44 (FIPS 204).
        Mldsa44 = "mldsa44",
        /// ML-DSA-65.
        Mldsa65 = "mldsa65",
        /// ML-DSA-87.
        Mldsa87 = "mldsa87",
        /// SHA-256.
        Sha256 = "sha256",
        /// SHA-384.
        Sha384 = "sha384",
        /// HMAC with SHA-256.
        HmacSha256 = "hmac-sha256",
        /// HMAC with SHA-384.
        HmacSha384 = "hmac-sha384",
    }
}

impl Scheme {
    /// What can be done with it.
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Self::X25519
            | Self::X448
            | Self::P256
            | Self::P384
            | Self::P521
            | Self::Ffdhe2048
            | Self::Ffdhe3072
            | Self::Ffdhe4096
            | Self::OwnDh2048 => &[Operation::Generate, Operation::Agree],
            Self::Mlkem512
            | Self::Mlkem768
            | Self::Mlkem1024
            | Self::X25519Mlkem768
            | Self::Secp256r1Mlkem768
            | Self::Secp384r1Mlkem1024 => {
                &[Operation::Generate, Operation::Encapsulate, Operation::Decapsulate]
            }
            Self::EcdsaP521 | Self::Ed448 | Self::Mldsa44 | Self::Mldsa65 | Self::Mldsa87 => {
                &[Operation::Sign, Operation::Verify]
            }
            _ if self.certificate().is_some() => &[Operation::Sign, Operation::Verify],
            _ => &[Operation::Digest],
        }
    }

    /// The kind of certificate whose key signs; none where no handshake here has one.
    pub fn certificate(self) -> Option<Certificate> {
        match self {
            Self::Rsa2048Pss | Self::Rsa2048Pkcs1 => Some(Certificate::Rsa2048),
            Self::Rsa3072Pss | Self::Rsa3072Pkcs1 => Some(Certificate::Rsa3072),
            Self::Rsa4096Pss | Self::Rsa4096Pkcs1 => Some(Certificate::Rsa4096),
            Self::EcdsaP256 => Some(Certificate::P256),
            Self::EcdsaP384 => Some(Certificate::P384),
            Self::Ed25519 => Some(Certificate::Ed25519),
            _ => None,
        }
    }

    /// Whether RSA is padded as PSS.
    pub fn is_pss(self) -> bool {
        matches!(self, Self::Rsa2048Pss | Self::Rsa3072Pss | Self::Rsa4096Pss)
    }
}

/// One row: an operation of a scheme, of digests with the bytes that go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, schemars::JsonSchema)]
pub struct Primitive {
    /// What it is done with.
    pub scheme: Scheme,
    /// What is done.
    pub operation: Operation,
    /// Bytes that are digested; null where the operation has no size.
    pub size: Option<u32>,
}

impl Primitive {
    /// Everything that exists of some schemes and operations, digests of each size; all where none is
    /// named.
    pub fn all(schemes: &[Scheme], operations: &[Operation], sizes: &[u32]) -> Vec<Self> {
        let mut all = Vec::new();
        for scheme in Scheme::ALL.iter().copied() {
            if !schemes.is_empty() && !schemes.contains(&scheme) {
                continue;
            }
            for operation in scheme.operations().iter().copied() {
                if !operations.is_empty() && !operations.contains(&operation) {
                    continue;
                }
                match operation {
                    Operation::Digest => all.extend(sizes.iter().map(|size| Self {
                        scheme,
                        operation,
                        size: Some(*size),
                    })),
                    _ => all.push(Self { scheme, operation, size: None }),
                }
            }
        }
        all
    }
}

impl std::fmt::Display for Primitive {
    /// `rsa-2048-pss sign`, `sha256 1400 B`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.size {
            Some(size) => write!(f, "{} {size} B", self.scheme),
            None => write!(f, "{} {}", self.scheme, self.operation),
        }
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

    #[test]
    fn a_signature_of_another_digest_names_no_curve_that_its_key_is_not_of() {
        assert_eq!(Signature(0x0403).name_by(Certificate::P256), "ecdsa_secp256r1_sha256");
        assert_eq!(Signature(0x0603).name_by(Certificate::P256), "ecdsa_sha512");
        assert_eq!(Signature(0x0403).name_by(Certificate::P384), "ecdsa_sha256");
        assert_eq!(Signature(0x0806).name_by(Certificate::Rsa2048), "rsa_pss_rsae_sha512");
    }

    #[test]
    fn suites_exist_where_the_registry_has_them() {
        let code = |s: Suite, e, c| s.code(Version::Tls12, e, c).map(|c| c.number);
        assert_eq!(code(Suite::Aes128Gcm, Exchange::X25519, Certificate::Ed25519), Some(0xc02b));
        assert_eq!(code(Suite::Aes128Gcm, Exchange::Rsa, Certificate::Rsa2048), Some(0x009c));
        assert_eq!(code(Suite::Aes128Gcm, Exchange::Rsa, Certificate::P256), None);
        assert_eq!(code(Suite::Aes128Ccm, Exchange::P256, Certificate::Rsa2048), None);
        let code = |s: Suite| s.code(Version::Tls13, Exchange::X25519, Certificate::P256);
        assert_eq!(code(Suite::Aes256Gcm).map(|c| c.number), Some(0x1302));
        assert_eq!(code(Suite::Aes128CbcSha1), None);
    }

    #[test]
    fn numbers_lead_back_to_names() {
        assert_eq!(Suite::name_of(0xc02f), "ECDHE-RSA-AES128-GCM-SHA256");
        assert_eq!(Suite::name_of(0x9999), "0x9999");
    }

    #[test]
    fn each_scheme_has_its_operations_and_only_digests_have_sizes() {
        let all = Primitive::all(&[], &[], &[64, 1400]);
        let of = |operation| all.iter().filter(|p| p.operation == operation).count();
        assert_eq!((of(Operation::Generate), of(Operation::Agree)), (15, 9));
        assert_eq!((of(Operation::Sign), of(Operation::Verify)), (14, 14));
        assert_eq!((of(Operation::Encapsulate), of(Operation::Decapsulate)), (6, 6));
        assert_eq!(of(Operation::Digest), 4 * 2);
        for p in &all {
            assert_eq!(p.size.is_some(), p.operation == Operation::Digest, "{p}");
        }
    }

    #[test]
    fn what_is_named_is_kept_as_far_as_it_exists() {
        let kept = Primitive::all(&[Scheme::Rsa2048Pss, Scheme::Sha256], &[Operation::Sign], &[64]);
        let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
        assert_eq!(kept, ["rsa-2048-pss sign"]);
        let kept = Primitive::all(&[Scheme::Sha384], &[], &[64]);
        assert_eq!(kept[0].to_string(), "sha384 64 B");
    }
}
