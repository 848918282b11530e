//! Keys on NIST's curves that agree more than once, and ECDSA over P-521, by `RustCrypto`: ring's keys agree once, and
//! it has no P-521.

use p521::ecdsa::signature::Verifier as _;
use p521::ecdsa::{DerSignature, VerifyingKey};
use p521::elliptic_curve::sec1::ToSec1Point as _;
use rand::Rng as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Curve {
    P256,
    P384,
    P521,
}

/// A private key.
pub(crate) enum Point {
    P256(p256::SecretKey),
    P384(p384::SecretKey),
    P521(p521::SecretKey),
}

/// The same of each curve.
macro_rules! of_each {
    ($of:expr, $curve:ident, $key:ident => $do:expr) => {
        match $of {
            Point::P256($key) => {
                use p256 as $curve;
                $do
            }
            Point::P384($key) => {
                use p384 as $curve;
                $do
            }
            Point::P521($key) => {
                use p521 as $curve;
                $do
            }
        }
    };
}

impl Curve {
    /// Bytes of a coordinate.
    fn width(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }

    /// Bytes of a point that is not compressed (SEC 1, 2.3.3).
    pub(crate) fn point(self) -> usize {
        1 + 2 * self.width()
    }
}

impl Point {
    /// A key of these bytes; `None` where they are none.
    pub(crate) fn of(curve: Curve, bytes: &[u8]) -> Option<Self> {
        match curve {
            Curve::P256 => p256::SecretKey::from_slice(bytes).ok().map(Self::P256),
            Curve::P384 => p384::SecretKey::from_slice(bytes).ok().map(Self::P384),
            Curve::P521 => p521::SecretKey::from_slice(bytes).ok().map(Self::P521),
        }
    }

    pub(crate) fn new(curve: Curve) -> Self {
        let mut bytes = vec![0; curve.width()];
        loop {
            rand::rng().fill_bytes(&mut bytes);
            if curve == Curve::P521 {
                // Of 521 bits.
                bytes[0] &= 1;
            }
            // Below the order nearly always.
            if let Some(key) = Self::of(curve, &bytes) {
                return key;
            }
        }
    }

    /// The point as TLS has it (RFC 8446 4.2.8.2).
    pub(crate) fn public(&self) -> Vec<u8> {
        of_each!(self, curve, key => {
            let public: curve::PublicKey = key.public_key();
            public.to_sec1_point(false).as_bytes().to_vec()
        })
    }

    /// The secret that it shares with the holder of another; `None` where that is no point of the curve.
    pub(crate) fn agree(&self, other: &[u8]) -> Option<Vec<u8>> {
        of_each!(self, curve, key => {
            let other = curve::PublicKey::from_sec1_bytes(other).ok()?;
            Some(key.diffie_hellman(&other).raw_secret_bytes().to_vec())
        })
    }
}

/// Whether a signature of ECDSA over P-521 with SHA-512 is that of a message.
pub(crate) fn p521_verifies(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = VerifyingKey::from_sec1_bytes(key).ok();
    let signature = DerSignature::try_from(signature).ok();
    key.zip(signature).is_some_and(|(key, signature)| key.verify(message, &signature).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::reference::{AgreementAnswer, agreement_answer};
    use record::tls::Scheme;

    #[test]
    fn the_standards_own_secrets_come_out() {
        for (curve, scheme) in
            [(Curve::P256, Scheme::P256), (Curve::P384, Scheme::P384), (Curve::P521, Scheme::P521)]
        {
            let AgreementAnswer { private, peer, secret } = agreement_answer(scheme).unwrap();
            let own = Point::of(curve, &private).unwrap();
            assert_eq!(own.agree(&peer), Some(secret), "{curve:?}");
            assert_eq!(own.public().len(), curve.point());
        }
    }

    #[test]
    fn a_key_agrees_as_often_as_it_is_asked_and_takes_no_point_beside_the_curve() {
        for curve in [Curve::P256, Curve::P384, Curve::P521] {
            let (own, other) = (Point::new(curve), Point::new(curve));
            let secret = own.agree(&other.public()).unwrap();
            assert_eq!(own.agree(&other.public()).unwrap(), secret);
            assert_eq!(other.agree(&own.public()).unwrap(), secret);
            let mut beside = other.public();
            beside[curve.point() - 1] ^= 1;
            assert_eq!(own.agree(&beside), None, "{curve:?}");
        }
    }
}
