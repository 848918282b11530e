//! Signatures, verified by ring.

use record::tls::Scheme;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};

fn algorithm(scheme: Scheme) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match scheme {
        Scheme::EcdsaP256 => &ECDSA_P256_SHA256_ASN1,
        Scheme::EcdsaP384 => &ECDSA_P384_SHA384_ASN1,
        Scheme::Ed25519 => &ED25519,
        pss if pss.is_pss() => &RSA_PSS_2048_8192_SHA256,
        rsa if rsa.certificate().is_some() => &RSA_PKCS1_2048_8192_SHA256,
        _ => return None,
    })
}

/// Whether a signature is that of a message. The key is what [`crate::stacks::reference::public_key`] finds.
#[must_use]
pub fn verifies(scheme: Scheme, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let verifies = |algorithm| UnparsedPublicKey::new(algorithm, key).verify(message, signature);
    algorithm(scheme).is_some_and(|algorithm| verifies(algorithm).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::reference::known::ed25519_answer;

    #[test]
    fn the_standards_own_signature_verifies_and_a_changed_bit_does_not() {
        let (_, key, message, mut signature) = ed25519_answer();
        assert!(verifies(Scheme::Ed25519, &key, &message, &signature));
        signature[10] ^= 1;
        assert!(!verifies(Scheme::Ed25519, &key, &message, &signature));
    }
}
