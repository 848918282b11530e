//! SHA-2 (FIPS 180-4) and HMAC (RFC 2104), by `RustCrypto`.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256, Sha384};

/// Which of the two that TLS 1.3 has (RFC 8446 B.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    /// SHA-256.
    Sha256,
    /// SHA-384.
    Sha384,
}

/// The digest of some bytes.
#[must_use]
pub fn digest(kind: Digest, bytes: &[u8]) -> Vec<u8> {
    match kind {
        Digest::Sha256 => Sha256::digest(bytes).to_vec(),
        Digest::Sha384 => Sha384::digest(bytes).to_vec(),
    }
}

/// Their HMAC with a key of any length.
#[must_use]
pub fn hmac(kind: Digest, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    match kind {
        Digest::Sha256 => {
            let keyed = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
            keyed.chain_update(bytes).finalize().into_bytes().to_vec()
        }
        Digest::Sha384 => {
            let keyed = Hmac::<Sha384>::new_from_slice(key).expect("HMAC takes keys of any length");
            keyed.chain_update(bytes).finalize().into_bytes().to_vec()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::reference::known::{digest_answer, hmac_answer};

    #[test]
    fn the_standards_own_answers_come_out() {
        for kind in [Digest::Sha256, Digest::Sha384] {
            let (input, answer) = digest_answer(kind);
            assert_eq!(digest(kind, input), answer);
            let (key, input, answer) = hmac_answer(kind);
            assert_eq!(hmac(kind, key, input), answer);
        }
    }
}
