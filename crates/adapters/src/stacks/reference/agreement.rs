//! The other side of an agreement.

use num_bigint::BigUint;
use rand::Rng as _;
use ring::agreement::{
    ECDH_P256, ECDH_P384, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral,
};
use ring::rand::SystemRandom;

/// What is agreed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// RFC 7748.
    X25519,
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// Integers modulo a prime.
    Field(Field),
}

/// A finite field and a generator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub(crate) prime: BigUint,
    pub(crate) generator: BigUint,
}

impl Field {
    /// Bits of the prime.
    #[must_use]
    pub fn bits(&self) -> u64 {
        self.prime.bits()
    }
}

/// Bytes of the private exponent in a finite field: short, because it protects nothing, and what the
/// other side computes takes as long whatever it is.
const EXPONENT_BYTES: usize = 32;

/// One side, with a new private key.
pub struct Partner {
    public: Vec<u8>,
    secret: Secret,
}

enum Secret {
    X25519(x25519_dalek::StaticSecret),
    Nist(&'static ring::agreement::Algorithm, EphemeralPrivateKey),
    Field(Field, BigUint),
}

impl Partner {
    /// A new one; `None` where the system has no random numbers.
    #[must_use]
    pub fn new(agreement: &Agreement) -> Option<Self> {
        match agreement {
            Agreement::X25519 => {
                let secret = x25519_dalek::StaticSecret::from(random::<32>());
                let public = x25519_dalek::PublicKey::from(&secret).as_bytes().to_vec();
                Some(Self { public, secret: Secret::X25519(secret) })
            }
            Agreement::P256 => Self::nist(&ECDH_P256),
            Agreement::P384 => Self::nist(&ECDH_P384),
            Agreement::Field(field) => {
                let exponent = BigUint::from_bytes_be(&random::<EXPONENT_BYTES>());
                let public = field.generator.modpow(&exponent, &field.prime).to_bytes_be();
                Some(Self { public, secret: Secret::Field(field.clone(), exponent) })
            }
        }
    }

    fn nist(curve: &'static ring::agreement::Algorithm) -> Option<Self> {
        let private = EphemeralPrivateKey::generate(curve, &SystemRandom::new()).ok()?;
        let public = private.compute_public_key().ok()?.as_ref().to_vec();
        Some(Self { public, secret: Secret::Nist(curve, private) })
    }

    /// What the other side is sent: the point as TLS has it (RFC 8446 4.2.8.2), or the number without
    /// leading zeros.
    #[must_use]
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// The secret that this side shares with the holder of a public key; `None` where that is none. Of
    /// a finite field without leading zeros, as TLS 1.2 has it (RFC 5246 8.1.2).
    #[must_use]
    pub fn agree(self, other: &[u8]) -> Option<Vec<u8>> {
        match self.secret {
            Secret::X25519(secret) => {
                let other: [u8; 32] = other.try_into().ok()?;
                Some(secret.diffie_hellman(&other.into()).as_bytes().to_vec())
            }
            Secret::Nist(curve, private) => {
                let other = UnparsedPublicKey::new(curve, other);
                agree_ephemeral(private, &other, <[u8]>::to_vec).ok()
            }
            Secret::Field(field, exponent) => {
                let other = BigUint::from_bytes_be(other);
                let in_field = other > BigUint::from(1_u8) && other < &field.prime - 1_u8;
                in_field.then(|| other.modpow(&exponent, &field.prime).to_bytes_be())
            }
        }
    }
}

/// Random bytes for test keys.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_share_a_secret_and_a_third_does_not() {
        let small = Field { prime: BigUint::from(0xffff_fffb_u32), generator: 2_u8.into() };
        for agreement in
            [Agreement::X25519, Agreement::P256, Agreement::P384, Agreement::Field(small)]
        {
            let [one, two, three] = [0; 3].map(|_| Partner::new(&agreement).unwrap());
            let publics = [one.public().to_vec(), two.public().to_vec()];
            let secret = one.agree(&publics[1]).unwrap();
            assert_eq!(secret, two.agree(&publics[0]).unwrap(), "{agreement:?}");
            assert_ne!(secret, three.agree(&publics[0]).unwrap(), "{agreement:?}");
        }
    }

    #[test]
    fn what_is_no_public_key_is_not_taken() {
        let mut point = Partner::new(&Agreement::P256).unwrap().public().to_vec();
        point[64] ^= 1;
        assert_eq!(Partner::new(&Agreement::P256).unwrap().agree(&point), None);
        let field = Field { prime: 23_u8.into(), generator: 5_u8.into() };
        assert_eq!(Partner::new(&Agreement::Field(field)).unwrap().agree(&[1]), None);
    }
}
