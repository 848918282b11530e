//! Signatures, verified by ring.

use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};

/// Which (RFC 8446 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// `rsa_pss_rsae_sha256`
    RsaPss,
    /// `rsa_pkcs1_sha256`
    RsaPkcs1,
    /// `ecdsa_secp256r1_sha256`
    EcdsaP256,
    /// `ecdsa_secp384r1_sha384`
    EcdsaP384,
    /// `ed25519`
    Ed25519,
}

impl Scheme {
    fn algorithm(self) -> &'static dyn VerificationAlgorithm {
        match self {
            Self::RsaPss => &RSA_PSS_2048_8192_SHA256,
            Self::RsaPkcs1 => &RSA_PKCS1_2048_8192_SHA256,
            Self::EcdsaP256 => &ECDSA_P256_SHA256_ASN1,
            Self::EcdsaP384 => &ECDSA_P384_SHA384_ASN1,
            Self::Ed25519 => &ED25519,
        }
    }
}

/// Whether a signature is that of a message. The key is what [`crate::public_key`] finds.
#[must_use]
pub fn verifies(scheme: Scheme, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    UnparsedPublicKey::new(scheme.algorithm(), key).verify(message, signature).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::ed25519_answer;

    #[test]
    fn the_standards_own_signature_verifies_and_a_changed_bit_does_not() {
        let (_, key, message, mut signature) = ed25519_answer();
        assert!(verifies(Scheme::Ed25519, &key, &message, &signature));
        signature[10] ^= 1;
        assert!(!verifies(Scheme::Ed25519, &key, &message, &signature));
    }
}
