//! What a handshake is made of: key generation, agreement, signatures, encapsulation, digests.

use crate::named;
use crate::tls::words::Certificate;
use serde::{Deserialize, Serialize};

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
        /// ECDH over P-256.
        P256 = "p256",
        /// ECDH over P-384.
        P384 = "p384",
        /// Finite field of RFC 7919, 2048 bits.
        Ffdhe2048 = "ffdhe2048",
        /// 3072 bits.
        Ffdhe3072 = "ffdhe3072",
        /// 4096 bits.
        Ffdhe4096 = "ffdhe4096",
        /// A finite field of 2048 bits of the server's own.
        OwnDh2048 = "own-dh-2048",
        /// ML-KEM-768 (FIPS 203).
        Mlkem768 = "mlkem768",
        /// X25519 beside ML-KEM-768.
        X25519Mlkem768 = "x25519mlkem768",
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
        /// Ed25519 (RFC 8032).
        Ed25519 = "ed25519",
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
    #[must_use]
    pub fn operations(self) -> &'static [Operation] {
        match self {
            Self::X25519
            | Self::P256
            | Self::P384
            | Self::Ffdhe2048
            | Self::Ffdhe3072
            | Self::Ffdhe4096
            | Self::OwnDh2048 => &[Operation::Generate, Operation::Agree],
            Self::Mlkem768 | Self::X25519Mlkem768 => {
                &[Operation::Generate, Operation::Encapsulate, Operation::Decapsulate]
            }
            _ if self.certificate().is_some() => &[Operation::Sign, Operation::Verify],
            _ => &[Operation::Digest],
        }
    }

    /// The kind of certificate whose key signs.
    #[must_use]
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
    #[must_use]
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
    #[must_use]
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
    fn each_scheme_has_its_operations_and_only_digests_have_sizes() {
        let all = Primitive::all(&[], &[], &[64, 1400]);
        let of = |operation| all.iter().filter(|p| p.operation == operation).count();
        assert_eq!((of(Operation::Generate), of(Operation::Agree)), (9, 7));
        assert_eq!((of(Operation::Sign), of(Operation::Verify)), (9, 9));
        assert_eq!((of(Operation::Encapsulate), of(Operation::Decapsulate)), (2, 2));
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
