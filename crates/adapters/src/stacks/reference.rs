//! Independent implementations of what a TLS handshake is made of, which a library's primitives are held to;
//! none is ever timed. ring's curves come from `BoringSSL`, so that a mistake that both have would pass: the
//! known answers are from no implementation. The other side of an agreement (x25519-dalek, ring, num-bigint),
//! and ML-KEM-768 (FIPS 203) by `RustCrypto`, alone and beside X25519. Beside them as much of DER as public
//! keys need.

use base64::Engine as _;
use hmac::{Hmac, KeyInit as _, Mac as _};
#[allow(deprecated, reason = "libraries still read this form")]
use ml_kem::ExpandedKeyEncoding as _;
use ml_kem::array::Array;
use ml_kem::ml_kem_768::{DecapsulationKey, EncapsulationKey};
use ml_kem::{Decapsulate as _, KeyExport as _, Seed};
use num_bigint::BigUint;
use rand::Rng as _;
use record::tls::Scheme;
use ring::agreement::{
    ECDH_P256, ECDH_P384, EphemeralPrivateKey, UnparsedPublicKey as AgreementUnparsedPublicKey,
    agree_ephemeral,
};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, UnparsedPublicKey, VerificationAlgorithm,
};
use sha2::{Digest as _, Sha256, Sha384};
use x25519_dalek::{PublicKey, StaticSecret};

// SHA-2 (FIPS 180-4) and HMAC (RFC 2104), by `RustCrypto`.

/// Which of the two that TLS 1.3 has (RFC 8446 B.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    Sha256,
    Sha384,
}

/// The digest of some bytes.
pub fn digest(kind: Digest, bytes: &[u8]) -> Vec<u8> {
    match kind {
        Digest::Sha256 => Sha256::digest(bytes).to_vec(),
        Digest::Sha384 => Sha384::digest(bytes).to_vec(),
    }
}

/// Their HMAC with a key of any length.
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

// Signatures, verified by ring.

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

/// Whether a signature is that of a message. The key is what [`public_key`] finds.
pub fn verifies(scheme: Scheme, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let verifies = |algorithm| UnparsedPublicKey::new(algorithm, key).verify(message, signature);
    algorithm(scheme).is_some_and(|algorithm| verifies(algorithm).is_ok())
}

/// Two private keys that agree: one of them, the other's public key, and what they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementAnswer {
    /// The private key's own bytes.
    pub private: Vec<u8>,
    /// The other side's public key.
    pub peer: Vec<u8>,
    pub secret: Vec<u8>,
}

/// The standard's answer; none where there is none.
pub fn agreement_answer(of: Scheme) -> Option<AgreementAnswer> {
    let [private, peer, secret] = match of {
        // RFC 7748 5.2, the first vector.
        Scheme::X25519 => [
            "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
            "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552",
        ],
        // RFC 5903 8.1, the initiator's side.
        Scheme::P256 => [
            "c88f01f510d9ac3f70a292daa2316de544e9aab8afe84049c62a9c57862d1433",
            "04d12dfb5289c8d4f81208b70270398c342296970a0bccb74c736fc7554494bf63\
             56fbf3ca366cc23e8157854c13c58d6aac23f046ada30f8353e74f33039872ab",
            "d6840f6b42f6edafd13116e0e12565202fef8e9ece7dce03812464d04b9442de",
        ],
        // RFC 5903 8.2, the initiator's side.
        Scheme::P384 => [
            "099f3c7034d4a2c699884d73a375a67f7624ef7c6b3c0f160647b67414dce655\
             e35b538041e649ee3faef896783ab194",
            "04e558dbef53eecde3d3fccfc1aea08a89a987475d12fd950d83cfa41732bc509d\
             0d1ac43a0336def96fda41d0774a3571dcfbec7aacf3196472169e838430367f\
             66eebe3c6e70c416dd5f0c68759dd1fff83fa40142209dff5eaad96db9e6386c",
            "11187331c279962d93d604243fd592cb9d0a926f422e47187521287e7156c5c4\
             d603135569b9e9d09cf5d4a270f59746",
        ],
        _ => return None,
    }
    .map(bytes);
    Some(AgreementAnswer { private, peer, secret })
}

/// Private key, public key, message and signature of Ed25519 (RFC 8032 7.1, TEST 3).
pub fn ed25519_answer() -> (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>) {
    (
        bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"),
        bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"),
        bytes("af82"),
        bytes(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    )
}

/// Bytes and their digest: "abc", the first example of NIST's "Cryptographic Standards and Guidelines:
/// Examples with Intermediate Values" for FIPS 180-4.
pub fn digest_answer(of: Digest) -> (&'static [u8], Vec<u8>) {
    let answer = match of {
        Digest::Sha256 => "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        Digest::Sha384 => {
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
             8086072ba1e7cc2358baeca134c825a7"
        }
    };
    (b"abc", bytes(answer))
}

/// Key, bytes and their HMAC (RFC 4231 4.3, test case 2).
pub fn hmac_answer(of: Digest) -> (&'static [u8], &'static [u8], Vec<u8>) {
    let answer = match of {
        Digest::Sha256 => "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        Digest::Sha384 => {
            "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e\
             8e2240ca5e69e2c78b3239ecfab21649"
        }
    };
    (b"Jefe", b"what do ya want for nothing?", bytes(answer))
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    hex::decode(hexadecimal).expect("our own vectors are of hexadecimal digits")
}

pub(crate) const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;
pub(crate) const SEQUENCE: u8 = 0x30;

/// What a PEM file holds (RFC 7468); of several, the first.
pub fn pem(text: &str) -> Option<Vec<u8>> {
    let lines = text.lines().skip_while(|line| !line.starts_with("-----BEGIN")).skip(1);
    let body: String = lines.take_while(|line| !line.starts_with('-')).collect();
    base64::engine::general_purpose::STANDARD.decode(body).ok()
}

/// The first element of a tag: its content, and what follows it.
fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
        let length = bytes
            .iter()
            .try_fold(0_usize, |sum, b| sum.checked_mul(256).map(|sum| sum + usize::from(*b)));
        (length?, rest)
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}

/// An element of a tag with this content.
pub(crate) fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        short @ ..0x80 => out.push(short as u8),
        long => {
            let bytes = long.to_be_bytes();
            let from = bytes.iter().position(|b| *b != 0).unwrap_or(bytes.len());
            out.push(0x80 | (bytes.len() - from) as u8);
            out.extend_from_slice(&bytes[from..]);
        }
    }
    out.extend_from_slice(content);
    out
}

/// The key in a `SubjectPublicKeyInfo` (RFC 5280 4.1): a point, the bytes of a key, `RSAPublicKey`, or
/// for DH an [`integer`].
pub fn public_key(info: &[u8]) -> Option<&[u8]> {
    let (body, _) = element(info, SEQUENCE)?;
    let (_, rest) = element(body, SEQUENCE)?;
    let (bits, _) = element(rest, BIT_STRING)?;
    bits.split_first().filter(|(unused, _)| **unused == 0).map(|(_, key)| key)
}

/// The same `SubjectPublicKeyInfo` with another key; of DH, a number.
pub fn with_public_key(info: &[u8], key: &[u8]) -> Option<Vec<u8>> {
    let (body, _) = element(info, SEQUENCE)?;
    let (_, rest) = element(body, SEQUENCE)?;
    let algorithm = &body[..body.len() - rest.len()];
    let is_number = public_key(info).and_then(integer).is_some();
    let key = if is_number { integer_of(key) } else { key.to_vec() };
    let bits = wrapped(BIT_STRING, &[&[0], &key[..]].concat());
    Some(wrapped(SEQUENCE, &[algorithm, &bits].concat()))
}

/// An element that is a positive number.
pub(crate) fn integer_of(number: &[u8]) -> Vec<u8> {
    wrapped(INTEGER, &signed(number))
}

/// A positive number has a zero before a first byte that would make it negative.
fn signed(number: &[u8]) -> Vec<u8> {
    let zero: &[u8] = if number.first().is_some_and(|b| *b >= 0x80) { &[0] } else { &[] };
    [zero, number].concat()
}

/// A positive number without leading zeros, where the whole is one.
pub fn integer(der: &[u8]) -> Option<&[u8]> {
    let (number, rest) = element(der, INTEGER)?;
    let from = number.iter().position(|b| *b != 0)?;
    rest.is_empty().then_some(&number[from..])
}

/// Prime and generator of `DHParameter` (PKCS #3, 9): what a PEM file of DH parameters holds.
pub fn finite_field(parameters: &[u8]) -> Option<Field> {
    let (body, _) = element(parameters, SEQUENCE)?;
    let (prime, rest) = element(body, INTEGER)?;
    let (generator, _) = element(rest, INTEGER)?;
    let [prime, generator] = [prime, generator].map(BigUint::from_bytes_be);
    Some(Field { prime, generator })
}

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
    pub fn public(&self) -> &[u8] {
        &self.public
    }

    /// The secret that this side shares with the holder of a public key; `None` where that is none. Of
    /// a finite field without leading zeros, as TLS 1.2 has it (RFC 5246 8.1.2).
    pub fn agree(self, other: &[u8]) -> Option<Vec<u8>> {
        match self.secret {
            Secret::X25519(secret) => {
                let other: [u8; 32] = other.try_into().ok()?;
                Some(secret.diffie_hellman(&other.into()).as_bytes().to_vec())
            }
            Secret::Nist(curve, private) => {
                let other = AgreementUnparsedPublicKey::new(curve, other);
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
    pub fn new(kem: Scheme) -> Self {
        let seed: Seed = random::<64>().into();
        let x25519 = (kem == Scheme::X25519Mlkem768).then(|| StaticSecret::from(random::<32>()));
        Self { key: DecapsulationKey::from_seed(seed), x25519 }
    }

    /// What a sender is given.
    pub fn public(&self) -> Vec<u8> {
        let mut public = self.key.encapsulation_key().to_bytes().to_vec();
        if let Some(secret) = &self.x25519 {
            public.extend_from_slice(PublicKey::from(secret).as_bytes());
        }
        public
    }

    /// The secret in a ciphertext; `None` where its length is wrong. A changed ciphertext gives another
    /// secret (FIPS 203 6.3, implicit rejection).
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
    use super::{digest_answer, ed25519_answer, hmac_answer, *};

    #[test]
    fn the_standards_own_answers_come_out() {
        for kind in [Digest::Sha256, Digest::Sha384] {
            let (input, answer) = digest_answer(kind);
            assert_eq!(digest(kind, input), answer);
            let (key, input, answer) = hmac_answer(kind);
            assert_eq!(hmac(kind, key, input), answer);
        }
    }

    #[test]
    fn the_standards_own_signature_verifies_and_a_changed_bit_does_not() {
        let (_, key, message, mut signature) = ed25519_answer();
        assert!(verifies(Scheme::Ed25519, &key, &message, &signature));
        signature[10] ^= 1;
        assert!(!verifies(Scheme::Ed25519, &key, &message, &signature));
    }

    #[test]
    fn the_answer_of_x25519_comes_out_of_the_reference() {
        let AgreementAnswer { private, peer, secret } = agreement_answer(Scheme::X25519).unwrap();
        let [private, peer]: [[u8; 32]; 2] = [private, peer].map(|b| b.try_into().unwrap());
        let shared = x25519_dalek::StaticSecret::from(private).diffie_hellman(&peer.into());
        assert_eq!(shared.as_bytes().to_vec(), secret);
    }

    #[test]
    fn a_key_that_is_put_in_comes_out() {
        let algorithm = wrapped(SEQUENCE, &wrapped(0x06, &[0x2b, 0x65, 0x6e]));
        let info = |key: &[u8]| {
            let bits = wrapped(BIT_STRING, &[&[0], key].concat());
            wrapped(SEQUENCE, &[&algorithm[..], &bits].concat())
        };
        let (one, two) = ([7; 32], [9; 32]);
        assert_eq!(public_key(&info(&one)), Some(&one[..]));
        assert_eq!(with_public_key(&info(&one), &two), Some(info(&two)));
        // A number of 200 bytes, the first of which has its highest bit set.
        let number = [0x80; 200];
        let der = wrapped(INTEGER, &signed(&number));
        assert_eq!(der[..4], [INTEGER, 0x81, 201, 0]);
        let with = with_public_key(&info(&wrapped(INTEGER, &[5])), &number).unwrap();
        assert_eq!(public_key(&with).and_then(integer), Some(&number[..]));
    }

    #[test]
    fn what_is_cut_short_is_none() {
        let whole = wrapped(SEQUENCE, &[wrapped(INTEGER, &[23]), wrapped(INTEGER, &[5])].concat());
        assert_eq!(finite_field(&whole).unwrap().bits(), 5);
        for end in 0..whole.len() {
            assert_eq!(finite_field(&whole[..end]), None, "{end}");
        }
        assert_eq!(element(&[SEQUENCE, 0x89, 1, 1, 1, 1, 1, 1, 1, 1, 1], SEQUENCE), None);
    }

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
