//! Independent implementations of what a TLS handshake is made of, which a library's primitives are held to;
//! none is ever timed. ring's curves come from `BoringSSL`, so that a mistake that both have would pass: the
//! known answers are from no implementation. The other side of an agreement (x25519-dalek, ring, `RustCrypto`,
//! num-bigint); ML-KEM (FIPS 203), ML-DSA (FIPS 204) and P-521 by `RustCrypto`. Beside them as much of DER as
//! public keys need.

mod curve448;
mod kem;
mod points;

use crate::stacks::keys::{known_signature, signing_key};
use base64::Engine as _;
use hmac::{Hmac, KeyInit, Mac};
pub use kem::{Receiver, encapsulate};
pub(crate) use kem::{
    encapsulate_with, expanded, expanded_decapsulate, from_seed, lengths as kem_lengths,
};
use ml_dsa::{MlDsa44, MlDsa65, MlDsa87, Verifier as _, VerifyingKey};
use num_bigint::BigUint;
use points::{Curve, Point};
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
use sha2::{Digest as _, Sha256, Sha384, Sha512};

// SHA-2 (FIPS 180-4) and HMAC (RFC 2104), by `RustCrypto`.

/// Which of the two that TLS 1.3 has (RFC 8446 B.4), or the one that is signed with P-521 (RFC 8446 4.2.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    Sha256,
    Sha384,
    Sha512,
}

pub fn digest(kind: Digest, bytes: &[u8]) -> Vec<u8> {
    match kind {
        Digest::Sha256 => Sha256::digest(bytes).to_vec(),
        Digest::Sha384 => Sha384::digest(bytes).to_vec(),
        Digest::Sha512 => Sha512::digest(bytes).to_vec(),
    }
}

/// Their HMAC with a key of any length.
pub fn hmac(kind: Digest, key: &[u8], bytes: &[u8]) -> Vec<u8> {
    match kind {
        Digest::Sha256 => keyed::<Hmac<Sha256>>(key, bytes),
        Digest::Sha384 => keyed::<Hmac<Sha384>>(key, bytes),
        Digest::Sha512 => keyed::<Hmac<Sha512>>(key, bytes),
    }
}

fn keyed<M: Mac + KeyInit>(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let keyed = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
    keyed.chain_update(bytes).finalize().into_bytes().to_vec()
}

// Signatures, verified by ring as far as it has them.

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
    match scheme {
        Scheme::EcdsaP521 => points::p521_verifies(key, message, signature),
        Scheme::Ed448 => curve448::ed448_verifies(key, message, signature),
        Scheme::Mldsa44 => lattice_verifies::<MlDsa44>(key, message, signature),
        Scheme::Mldsa65 => lattice_verifies::<MlDsa65>(key, message, signature),
        Scheme::Mldsa87 => lattice_verifies::<MlDsa87>(key, message, signature),
        _ => {
            let key = |algorithm| UnparsedPublicKey::new(algorithm, key);
            let algorithm = algorithm(scheme);
            algorithm.is_some_and(|algorithm| key(algorithm).verify(message, signature).is_ok())
        }
    }
}

/// ML-DSA (FIPS 204) of a message, not of its digest, without a context.
fn lattice_verifies<P: ml_dsa::MlDsaParams>(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = VerifyingKey::<P>::new_from_slice(key).ok();
    let signature = ml_dsa::Signature::<P>::try_from(signature).ok();
    key.zip(signature).is_some_and(|(key, signature)| key.verify(message, &signature).is_ok())
}

/// Who verifies in [`verifies`].
pub fn verifier(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::EcdsaP521 | Scheme::Mldsa44 | Scheme::Mldsa65 | Scheme::Mldsa87 => "RustCrypto",
        Scheme::Ed448 => "RFC 8032 5.2.7 over num-bigint",
        _ => "ring",
    }
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
        // RFC 5903 8.3, the initiator's side.
        Scheme::P521 => [
            "0037ade9319a89f4dabdb3ef411aaccca5123c61acab57b5393dce47608172a095aa\
             85a30fe1c2952c6771d937ba9777f5957b2639bab072462f68c27a57382d4a52",
            "0400d0b3975ac4b799f5bea16d5e13e9af971d5e9b984c9f39728b5e5739735a219b\
             97c356436adc6e95bb0352f6be64a6c2912d4ef2d0433ced2b6171640012d9460f\
             015c68226383956e3bd066e797b623c27ce0eac2f551a10c2c724d9852077b87220b\
             6536c5c408a1d2aebb8e86d678ae49cb57091f4732296579ab44fcd17f0fc56a",
            "01144c7d79ae6956bc8edb8e7c787c4521cb086fa64407f97894e5e6b2d79b04d142\
             7e73ca4baa240a34786859810c06b3c715a3a8cc3151f2bee417996d19f3ddea",
        ],
        // RFC 7748 5.2, the first vector of X448.
        Scheme::X448 => [
            "3d262fddf9ec8e88495266fea19a34d28882acef045104d0d1aae121\
             700a779c984c24f8cdd78fbff44943eba368f54b29259a4f1c600ad3",
            "06fce640fa3487bfda5f6cf2d5263f8aad88334cbd07437f020f08f9\
             814dc031ddbdc38c19c6da2583fa5429db94ada18aa7a7fb4ef8a086",
            "ce3e4ff95a60dc6697da1db1d85e6afbdf79b50a2412d7546d5f239f\
             e14fbaadeb445fc66a01b0779d98223961111e21766282f73dd96b6f",
        ],
        _ => return None,
    }
    .map(bytes);
    Some(AgreementAnswer { private, peer, secret })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignatureAnswer {
    pub public: Vec<u8>,
    pub message: Vec<u8>,
    pub signature: Vec<u8>,
    /// Whether a signer must make the same one; of ML-DSA a random number is part (FIPS 204, algorithm 2).
    pub is_only: bool,
    pub source: &'static str,
}

/// A published signature; none where there is none.
pub fn signature_answer(of: Scheme) -> Option<SignatureAnswer> {
    let (public, message, signature, source) = match of {
        Scheme::Ed25519 => (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac\
             18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            // TEST 3.
            "RFC 8032 7.1",
        ),
        Scheme::Ed448 => (
            "43ba28f430cdff456ae531545f7ecd0ac834a55d9358c0372bfa0c6c\
             6798c0866aea01eb00742802b8438ea4cb82169c235160627b4c3a9480",
            "03",
            "26b8f91727bd62897af15e41eb43c377efb9c610d48f2335cb0bd008\
             7810f4352541b143c4b981b7e18f62de8ccdf633fc1bf037ab7cd779\
             805e0dbcc0aae1cbcee1afb2e027df36bc04dcecbf154336c19f0af7\
             e0a6472905e799f1953d2a0ff3348ab21aa4adafd1d234441cf807c0\
             3a00",
            // "1 octet".
            "RFC 8032 7.4",
        ),
        _ => {
            return Some(SignatureAnswer {
                public: signing_key(of)?.1,
                message: b"Hello world".to_vec(),
                signature: pem(known_signature(of)?)?,
                is_only: false,
                source: "Wycheproof (tcId 1, signed from a seed)",
            });
        }
    };
    let [public, message, signature] = [public, message, signature].map(bytes);
    Some(SignatureAnswer { public, message, signature, is_only: true, source })
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
        Digest::Sha512 => {
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
             2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
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
        Digest::Sha512 => {
            "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554\
             9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737"
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
    /// RFC 7748.
    X448,
    /// P-256.
    P256,
    /// P-384.
    P384,
    /// P-521.
    P521,
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
    X448([u8; curve448::X448]),
    Point(Point),
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
            Agreement::X448 => {
                let secret = random();
                let public = curve448::x448_public(&secret).to_vec();
                Some(Self { public, secret: Secret::X448(secret) })
            }
            Agreement::P521 => {
                let secret = Point::new(Curve::P521);
                Some(Self { public: secret.public(), secret: Secret::Point(secret) })
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
            Secret::X448(secret) => Some(curve448::x448(&secret, other.try_into().ok()?).to_vec()),
            Secret::Point(secret) => secret.agree(other),
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

fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().expect("as long as the standard says")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_own_answers_come_out() {
        for kind in [Digest::Sha256, Digest::Sha384, Digest::Sha512] {
            let (input, answer) = digest_answer(kind);
            assert_eq!(digest(kind, input), answer);
            let (key, input, answer) = hmac_answer(kind);
            assert_eq!(hmac(kind, key, input), answer);
        }
    }

    #[test]
    fn published_signatures_verify_and_with_a_changed_bit_they_do_not() {
        let all =
            Scheme::ALL.iter().filter_map(|scheme| Some((*scheme, signature_answer(*scheme)?)));
        let mut count = 0;
        for (scheme, SignatureAnswer { public, mut message, mut signature, .. }) in all {
            assert!(verifies(scheme, &public, &message, &signature), "{scheme}");
            for at in [10, signature.len() / 2, signature.len() - 2] {
                signature[at] ^= 1;
                assert!(!verifies(scheme, &public, &message, &signature), "{scheme}: {at}");
                signature[at] ^= 1;
            }
            message[0] ^= 1;
            assert!(!verifies(scheme, &public, &message, &signature), "{scheme}");
            assert!(!verifies(scheme, &public[1..], &message, &signature), "{scheme}");
            assert!(!verifies(scheme, &public, &message, &signature[1..]), "{scheme}");
            count += 1;
        }
        assert_eq!(count, 5);
    }

    #[test]
    fn the_answer_of_x25519_comes_out_of_the_reference() {
        let AgreementAnswer { private, peer, secret } = agreement_answer(Scheme::X25519).unwrap();
        let [private, peer]: [[u8; 32]; 2] = [private, peer].map(|b| b.try_into().unwrap());
        let shared = x25519_dalek::StaticSecret::from(private).diffie_hellman(&peer.into());
        assert_eq!(shared.as_bytes().to_vec(), secret);
    }

    #[test]
    fn the_answer_of_x448_comes_out_of_the_reference() {
        let AgreementAnswer { private, peer, secret } = agreement_answer(Scheme::X448).unwrap();
        let [private, peer]: [[u8; 56]; 2] = [private, peer].map(|b| b.try_into().unwrap());
        assert_eq!(curve448::x448(&private, &peer).to_vec(), secret);
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
        for agreement in [
            Agreement::X25519,
            Agreement::X448,
            Agreement::P256,
            Agreement::P384,
            Agreement::P521,
            Agreement::Field(small),
        ] {
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
