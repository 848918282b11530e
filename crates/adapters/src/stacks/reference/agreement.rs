//! The other side of an agreement (x25519-dalek, ring, num-bigint), and ML-KEM-768 (FIPS 203) by
//! `RustCrypto`, alone and beside X25519.

#[allow(deprecated, reason = "libraries still read this form")]
use ml_kem::ExpandedKeyEncoding as _;
use ml_kem::array::Array;
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
use ml_kem::{Decapsulate as _, KeyExport as _, Seed};
use num_bigint::BigUint;
use rand::Rng as _;
use record::tls::Scheme;
use ring::agreement::{
    ECDH_P256, ECDH_P384, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral,
};
use ring::rand::SystemRandom;
use x25519_dalek::{PublicKey, StaticSecret};

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

// ML-KEM-768 (FIPS 203) by `RustCrypto`, alone and beside X25519: of X25519MLKEM768's key, ciphertext and secret
// the part of ML-KEM comes first (draft-ietf-tls-ecdhe-mlkem).

/// Bytes of ML-KEM-768's ciphertext (FIPS 203, table 3).
const KEM_CIPHERTEXT: usize = 1088;
/// Bytes of its encapsulation key.
const KEM_KEY: usize = 1184;
/// Bytes of its decapsulation key, expanded.
const KEM_EXPANDED: usize = 2400;

/// Who holds a private key.
pub struct Receiver {
    key: DecapsulationKey,
    x25519: Option<StaticSecret>,
}

impl Receiver {
    /// With a new key.
    #[must_use]
    pub fn new(kem: Scheme) -> Self {
        let seed: Seed = random::<64>().into();
        let x25519 = (kem == Scheme::X25519Mlkem768).then(|| StaticSecret::from(random::<32>()));
        Self { key: DecapsulationKey::from_seed(seed), x25519 }
    }

    /// What a sender is given.
    #[must_use]
    pub fn public(&self) -> Vec<u8> {
        let mut public = self.key.encapsulation_key().to_bytes().to_vec();
        if let Some(secret) = &self.x25519 {
            public.extend_from_slice(PublicKey::from(secret).as_bytes());
        }
        public
    }

    /// The secret in a ciphertext; `None` where its length is wrong. A changed ciphertext gives another
    /// secret (FIPS 203 6.3, implicit rejection).
    #[must_use]
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let (of_kem, rest) = ciphertext.split_at_checked(KEM_CIPHERTEXT)?;
        let of_kem: [u8; KEM_CIPHERTEXT] = of_kem.try_into().ok()?;
        let mut secret = self.key.decapsulate(&Array::from(of_kem)).to_vec();
        match (&self.x25519, rest) {
            (None, []) => {}
            (Some(own), other) => {
                let other: [u8; 32] = other.try_into().ok()?;
                secret.extend_from_slice(own.diffie_hellman(&other.into()).as_bytes());
            }
            (None, _) => return None,
        }
        Some(secret)
    }
}

/// A ciphertext for the holder of a key, and the secret in it; `None` where that is no key of the scheme.
#[must_use]
pub fn encapsulate(kem: Scheme, public: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (of_kem, rest) = public.split_at_checked(KEM_KEY)?;
    let of_kem: [u8; KEM_KEY] = of_kem.try_into().ok()?;
    let key = EncapsulationKey::new(&Array::from(of_kem)).ok()?;
    let (ciphertext, secret) = key.encapsulate_deterministic(&random::<32>().into());
    let (mut ciphertext, mut secret) = (ciphertext.to_vec(), secret.to_vec());
    match (kem, rest) {
        (Scheme::Mlkem768, []) => {}
        (Scheme::X25519Mlkem768, other) => {
            let other: [u8; 32] = other.try_into().ok()?;
            let own = StaticSecret::from(random::<32>());
            ciphertext.extend_from_slice(PublicKey::from(&own).as_bytes());
            secret.extend_from_slice(own.diffie_hellman(&other.into()).as_bytes());
        }
        _ => return None,
    }
    Some((ciphertext, secret))
}

/// The ciphertext for the holder of ML-KEM-768's key that is made with this message.
pub(crate) fn encapsulate_with(public: &[u8], message: [u8; 32]) -> Vec<u8> {
    let key = EncapsulationKey::new(&fixed::<KEM_KEY>(public).into()).expect("a key of our own");
    key.encapsulate_deterministic(&message.into()).0.to_vec()
}

/// The expanded key of a seed.
#[allow(deprecated, reason = "libraries still read this form")]
pub(crate) fn expanded(seed: &[u8]) -> Vec<u8> {
    DecapsulationKey::from_seed(fixed::<64>(seed).into()).to_expanded_bytes().to_vec()
}

/// What the key of a seed finds in a ciphertext, valid or not.
pub(crate) fn from_seed(seed: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_seed(fixed::<64>(seed).into());
    key.decapsulate(&fixed::<KEM_CIPHERTEXT>(ciphertext).into()).to_vec()
}

/// The same of an expanded key.
#[allow(deprecated, reason = "libraries still read this form")]
pub(crate) fn expanded_decapsulate(key: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_expanded_bytes(&fixed::<KEM_EXPANDED>(key).into());
    let key = key.expect("a key of our own");
    key.decapsulate(&fixed::<KEM_CIPHERTEXT>(ciphertext).into()).to_vec()
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("as long as the standard says")
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

    #[test]
    fn what_was_put_in_comes_out_and_of_a_changed_ciphertext_something_else() {
        for (kem, lengths) in
            [(Scheme::Mlkem768, [1184, 1088, 32]), (Scheme::X25519Mlkem768, [1216, 1120, 64])]
        {
            let receiver = Receiver::new(kem);
            let public = receiver.public();
            let (mut ciphertext, secret) = encapsulate(kem, &public).unwrap();
            assert_eq!([public.len(), ciphertext.len(), secret.len()], lengths, "{kem:?}");
            assert_eq!(receiver.decapsulate(&ciphertext).unwrap(), secret, "{kem:?}");
            for at in [0, 500, 1087] {
                ciphertext[at] ^= 1;
                assert_ne!(receiver.decapsulate(&ciphertext).unwrap(), secret, "{kem:?} {at}");
                ciphertext[at] ^= 1;
            }
            assert_eq!(receiver.decapsulate(&ciphertext[1..]), None);
            assert_eq!(encapsulate(kem, &public[1..]), None);
        }
    }
}
