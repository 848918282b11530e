//! ML-KEM (FIPS 203) by `RustCrypto`, alone and beside a curve (draft-ietf-tls-ecdhe-mlkem): key, ciphertext and secret
//! of both stand one behind the other, in an order that each pair has of its own.

use crate::stacks::reference::{fixed, points, random};
#[allow(deprecated, reason = "libraries still read this form")]
use ml_kem::ExpandedKeyEncoding as _;
use ml_kem::kem::TryKeyInit as _;
use ml_kem::{Decapsulate as _, KeyExport as _, ml_kem_512, ml_kem_768, ml_kem_1024};
use points::{Curve, Point};
use record::tls::Scheme;
use x25519_dalek::{PublicKey, StaticSecret};

/// Which parameters (FIPS 203 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Small,
    Middle,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// Curve25519, behind it.
    X25519,
    /// A curve of NIST's, before it.
    Before(Curve),
}

fn parts(kem: Scheme) -> Option<(Set, Beside)> {
    Some(match kem {
        Scheme::Mlkem512 => (Set::Small, Beside::Nothing),
        Scheme::Mlkem768 => (Set::Middle, Beside::Nothing),
        Scheme::Mlkem1024 => (Set::Large, Beside::Nothing),
        Scheme::X25519Mlkem768 => (Set::Middle, Beside::X25519),
        Scheme::Secp256r1Mlkem768 => (Set::Middle, Beside::Before(Curve::P256)),
        Scheme::Secp384r1Mlkem1024 => (Set::Large, Beside::Before(Curve::P384)),
        _ => return None,
    })
}

impl Set {
    /// Bytes of the encapsulation key and of the ciphertext (FIPS 203, table 3).
    fn lengths(self) -> (usize, usize) {
        match self {
            Self::Small => (800, 768),
            Self::Middle => (1184, 1088),
            Self::Large => (1568, 1568),
        }
    }

    /// A ciphertext for the holder of a key, and the secret in it.
    fn encapsulate(self, public: &[u8], message: [u8; 32]) -> Option<(Vec<u8>, Vec<u8>)> {
        macro_rules! by {
            ($set:ident) => {{
                let key = $set::EncapsulationKey::new_from_slice(public).ok()?;
                let (ciphertext, secret) = key.encapsulate_deterministic(&message.into());
                (ciphertext.to_vec(), secret.to_vec())
            }};
        }
        Some(match self {
            Self::Small => by!(ml_kem_512),
            Self::Middle => by!(ml_kem_768),
            Self::Large => by!(ml_kem_1024),
        })
    }
}

impl Beside {
    /// Bytes of its public key, which is the ciphertext, too.
    fn length(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::X25519 => 32,
            Self::Before(curve) => curve.point(),
        }
    }

    /// Whether it stands before ML-KEM.
    fn is_first(self) -> bool {
        matches!(self, Self::Before(_))
    }

    fn new_key(self) -> Own {
        match self {
            Self::Nothing => Own::Nothing,
            Self::X25519 => Own::X25519(StaticSecret::from(random::<32>())),
            Self::Before(curve) => Own::Point(Point::new(curve)),
        }
    }

    /// The part of ML-KEM and the other one; `None` where the whole is of another length.
    fn split(self, whole: &[u8], of_kem: usize) -> Option<(&[u8], &[u8])> {
        if whole.len() != of_kem + self.length() {
            return None;
        }
        if self.is_first() {
            whole.split_at_checked(self.length()).map(|(other, kem)| (kem, other))
        } else {
            whole.split_at_checked(of_kem)
        }
    }

    fn joined(self, kem: &[u8], other: &[u8]) -> Vec<u8> {
        if self.is_first() { [other, kem].concat() } else { [kem, other].concat() }
    }
}

/// A private key of what is beside.
enum Own {
    Nothing,
    X25519(StaticSecret),
    Point(Point),
}

impl Own {
    fn public(&self) -> Vec<u8> {
        match self {
            Self::Nothing => Vec::new(),
            Self::X25519(own) => PublicKey::from(own).as_bytes().to_vec(),
            Self::Point(own) => own.public(),
        }
    }

    fn agree(&self, other: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Nothing => Some(Vec::new()),
            Self::X25519(own) => {
                let other: [u8; 32] = other.try_into().ok()?;
                Some(own.diffie_hellman(&other.into()).as_bytes().to_vec())
            }
            Self::Point(own) => own.agree(other),
        }
    }
}

enum Lattice {
    Small(Box<ml_kem_512::DecapsulationKey>),
    Middle(Box<ml_kem_768::DecapsulationKey>),
    Large(Box<ml_kem_1024::DecapsulationKey>),
}

macro_rules! of_each {
    ($of:expr, $key:ident => $do:expr) => {
        match $of {
            Lattice::Small($key) => $do,
            Lattice::Middle($key) => $do,
            Lattice::Large($key) => $do,
        }
    };
}

impl Lattice {
    fn new(set: Set) -> Self {
        let seed = random::<64>().into();
        match set {
            Set::Small => Self::Small(Box::new(ml_kem_512::DecapsulationKey::from_seed(seed))),
            Set::Middle => Self::Middle(Box::new(ml_kem_768::DecapsulationKey::from_seed(seed))),
            Set::Large => Self::Large(Box::new(ml_kem_1024::DecapsulationKey::from_seed(seed))),
        }
    }

    fn public(&self) -> Vec<u8> {
        of_each!(self, key => key.encapsulation_key().to_bytes().to_vec())
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        of_each!(self, key => Some(key.decapsulate_slice(ciphertext).ok()?.to_vec()))
    }
}

/// Who holds a private key.
pub struct Receiver {
    set: Set,
    beside: Beside,
    key: Lattice,
    own: Own,
}

impl Receiver {
    /// With a new key; `None` of what is no KEM.
    pub fn new(kem: Scheme) -> Option<Self> {
        let (set, beside) = parts(kem)?;
        Some(Self { set, beside, key: Lattice::new(set), own: beside.new_key() })
    }

    pub fn public(&self) -> Vec<u8> {
        self.beside.joined(&self.key.public(), &self.own.public())
    }

    /// The secret in a ciphertext; `None` where its length is wrong, or a point in it is none of the curve. A changed
    /// ciphertext gives another secret (FIPS 203 6.3, implicit rejection).
    pub fn decapsulate(&self, ciphertext: &[u8]) -> Option<Vec<u8>> {
        let (of_kem, other) = self.beside.split(ciphertext, self.set.lengths().1)?;
        Some(self.beside.joined(&self.key.decapsulate(of_kem)?, &self.own.agree(other)?))
    }
}

/// A ciphertext for the holder of a key, and the secret in it; `None` where that is no key of the scheme.
pub fn encapsulate(kem: Scheme, public: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (set, beside) = parts(kem)?;
    let (of_kem, other) = beside.split(public, set.lengths().0)?;
    let (ciphertext, secret) = set.encapsulate(of_kem, random::<32>())?;
    let own = beside.new_key();
    let shared = own.agree(other)?;
    Some((beside.joined(&ciphertext, &own.public()), beside.joined(&secret, &shared)))
}

/// Bytes of a scheme's public key and of its ciphertext; `None` of what is no KEM.
pub(crate) fn lengths(kem: Scheme) -> Option<(usize, usize)> {
    let (set, beside) = parts(kem)?;
    let (key, ciphertext) = set.lengths();
    Some((key + beside.length(), ciphertext + beside.length()))
}

// ML-KEM-768's keys in the forms that the judge of secrets makes them in.

/// Bytes of ML-KEM-768's ciphertext.
const CIPHERTEXT: usize = 1088;
/// Bytes of its decapsulation key, expanded.
const EXPANDED: usize = 2400;

/// The ciphertext for the holder of ML-KEM-768's key that is made with this message.
pub(crate) fn encapsulate_with(public: &[u8], message: [u8; 32]) -> Vec<u8> {
    Set::Middle.encapsulate(public, message).expect("a key of our own").0
}

/// The expanded key of a seed.
#[allow(deprecated, reason = "libraries still read this form")]
pub(crate) fn expanded(seed: &[u8]) -> Vec<u8> {
    let key = ml_kem_768::DecapsulationKey::from_seed(fixed::<64>(seed).into());
    key.to_expanded_bytes().to_vec()
}

/// What the key of a seed finds in a ciphertext, valid or not.
pub(crate) fn from_seed(seed: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = ml_kem_768::DecapsulationKey::from_seed(fixed::<64>(seed).into());
    key.decapsulate(&fixed::<CIPHERTEXT>(ciphertext).into()).to_vec()
}

/// The same of an expanded key.
#[allow(deprecated, reason = "libraries still read this form")]
pub(crate) fn expanded_decapsulate(key: &[u8], ciphertext: &[u8]) -> Vec<u8> {
    let key = ml_kem_768::DecapsulationKey::from_expanded_bytes(&fixed::<EXPANDED>(key).into());
    let key = key.expect("a key of our own");
    key.decapsulate(&fixed::<CIPHERTEXT>(ciphertext).into()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_comes_out_and_of_a_changed_ciphertext_something_else() {
        for (kem, sizes) in [
            (Scheme::Mlkem512, [800, 768, 32]),
            (Scheme::Mlkem768, [1184, 1088, 32]),
            (Scheme::Mlkem1024, [1568, 1568, 32]),
            (Scheme::X25519Mlkem768, [1216, 1120, 64]),
            (Scheme::Secp256r1Mlkem768, [1249, 1153, 64]),
            (Scheme::Secp384r1Mlkem1024, [1665, 1665, 80]),
        ] {
            let receiver = Receiver::new(kem).unwrap();
            let public = receiver.public();
            let (mut ciphertext, secret) = encapsulate(kem, &public).unwrap();
            assert_eq!([public.len(), ciphertext.len(), secret.len()], sizes, "{kem}");
            assert_eq!(lengths(kem), Some((sizes[0], sizes[1])), "{kem}");
            assert_eq!(receiver.decapsulate(&ciphertext).unwrap(), secret, "{kem}");
            for at in [1, 500, sizes[1] - 1] {
                ciphertext[at] ^= 1;
                assert_ne!(receiver.decapsulate(&ciphertext), Some(secret.clone()), "{kem} {at}");
                ciphertext[at] ^= 1;
            }
            assert_eq!(receiver.decapsulate(&ciphertext[1..]), None);
            assert_eq!(encapsulate(kem, &public[1..]), None);
        }
        assert!(Receiver::new(Scheme::Sha256).is_none());
    }

    /// The first byte of a point says that it is not compressed (SEC 1, 2.3.3).
    #[test]
    fn nists_curves_stand_before_and_x25519_behind() {
        for (kem, at) in [(Scheme::Secp256r1Mlkem768, 0), (Scheme::Secp384r1Mlkem1024, 0)] {
            let public = Receiver::new(kem).unwrap().public();
            assert_eq!(public[at], 4, "{kem}");
            assert_eq!(encapsulate(kem, &public).unwrap().0[at], 4, "{kem}");
        }
        let receiver = Receiver::new(Scheme::X25519Mlkem768).unwrap();
        assert!(receiver.public().ends_with(&receiver.own.public()));
    }
}
