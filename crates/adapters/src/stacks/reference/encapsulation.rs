//! ML-KEM-768 (FIPS 203) by `RustCrypto`, alone and beside X25519: of X25519MLKEM768's key, ciphertext and secret
//! the part of ML-KEM comes first (draft-ietf-tls-ecdhe-mlkem).

use crate::stacks::reference::agreement::random;
#[allow(deprecated, reason = "libraries still read this form")]
use ml_kem::ExpandedKeyEncoding as _;
use ml_kem::array::Array;
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
use ml_kem::{Decapsulate as _, KeyExport as _, Seed};
use record::tls::Scheme;
use x25519_dalek::{PublicKey, StaticSecret};

/// Bytes of ML-KEM-768's ciphertext (FIPS 203, table 3).
const CIPHERTEXT: usize = 1088;
/// Bytes of its encapsulation key.
const KEY: usize = 1184;
/// Bytes of its decapsulation key, expanded.
const EXPANDED: usize = 2400;

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
        let (of_kem, rest) = ciphertext.split_at_checked(CIPHERTEXT)?;
        let of_kem: [u8; CIPHERTEXT] = of_kem.try_into().ok()?;
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
    let (of_kem, rest) = public.split_at_checked(KEY)?;
    let of_kem: [u8; KEY] = of_kem.try_into().ok()?;
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
    let key = EncapsulationKey::new(&fixed::<KEY>(public).into()).expect("a key of our own");
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
    key.decapsulate(&fixed::<CIPHERTEXT>(ciphertext).into()).to_vec()
}

/// The same of an expanded key.
#[allow(deprecated, reason = "libraries still read this form")]
pub(crate) fn expanded_decapsulate(key: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = DecapsulationKey::from_expanded_bytes(&fixed::<EXPANDED>(key).into());
    let key = key.expect("a key of our own");
    key.decapsulate(&fixed::<CIPHERTEXT>(ciphertext).into()).to_vec()
}

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("as long as the standard says")
}

#[cfg(test)]
mod tests {
    use super::*;

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
