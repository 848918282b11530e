//! The keys and certificates that handshakes are made with: public test keys, made once by
//! `scripts/tls-test-keys`. Anybody has them; they protect nothing. And private keys for the judge of what
//! depends on them: they differ in what is secret, and in public as little as can be. Those of ML-KEM-768
//! have the same matrix, those of RSA in pairs the same modulus.

use crate::stacks::reference::{
    INTEGER, SEQUENCE, agreement_answer, encapsulate_with, expanded, expanded_decapsulate,
    from_seed, integer_of, wrapped,
};
use crate::stacks::{End, reference};
use base64::Engine as _;
use num_bigint::BigUint;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use record::tls::{Case, Certificate, Exchange, Group, Kind, Operation, Scheme, Version};
use sha3::{Digest as _, Sha3_256};
use std::ops::Range;

/// One kind of certificate, in PEM.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    /// Leaf and intermediate.
    pub chain: &'static str,
    pub key: &'static str,
    pub(crate) public: &'static str,
    /// The root that the other end trusts.
    pub root: &'static str,
}

macro_rules! keys {
    ($name:literal) => {
        Keys {
            chain: include_str!(concat!("../../keys/", $name, ".chain.pem")),
            key: include_str!(concat!("../../keys/", $name, ".key.pem")),
            public: include_str!(concat!("../../keys/", $name, ".public.pem")),
            root: include_str!(concat!("../../keys/", $name, ".root.pem")),
        }
    };
}

pub fn keys(certificate: Certificate) -> Keys {
    match certificate {
        Certificate::Rsa2048 => keys!("rsa-2048"),
        Certificate::Rsa3072 => keys!("rsa-3072"),
        Certificate::Rsa4096 => keys!("rsa-4096"),
        Certificate::P256 => keys!("p256"),
        Certificate::P384 => keys!("p384"),
        Certificate::Ed25519 => keys!("ed25519"),
        Certificate::Mldsa44 => keys!("mldsa44"),
        Certificate::Mldsa65 => keys!("mldsa65"),
        Certificate::Mldsa87 => keys!("mldsa87"),
    }
}

/// The file of DH parameters that a server is given for a key exchange, in PEM; none where it needs none.
pub fn dh_parameters(exchange: Exchange) -> Option<&'static str> {
    match exchange {
        Exchange::Ffdhe2048 => Some(include_str!("../../keys/ffdhe2048.pem")),
        Exchange::Ffdhe4096 => Some(include_str!("../../keys/ffdhe4096.pem")),
        Exchange::OwnDh2048 => Some(include_str!("../../keys/own-dh-2048.pem")),
        _ => None,
    }
}

/// The groups that an end takes, the first of them the client's guess.
pub(crate) fn groups(case: &Case, end: End) -> Vec<Group> {
    // DHE of TLS 1.2 takes the server's file as long as the client knows no field of RFC 7919.
    let has_file = case.version == Version::Tls12 && case.exchange.is_finite_field();
    let wanted = case.exchange.group().filter(|_| !has_file).unwrap_or(Group::X25519);
    let mut list = vec![wanted];
    if case.kind == Kind::HelloRetry && end == End::Client {
        list.insert(0, Group::X25519);
    }
    // In TLS 1.2 the curve of a certificate must be among them (RFC 8422 5.1.1).
    let of_certificate = match case.certificate {
        Certificate::P256 => Some(Group::P256),
        Certificate::P384 => Some(Group::P384),
        _ => None,
    };
    let missing = |curve: &Group| case.version == Version::Tls12 && !list.contains(curve);
    let missing = of_certificate.filter(missing);
    list.extend(missing);
    list
}

/// The private key that a scheme signs with, in PEM, and its public key without what stands around it: a certificate's
/// where handshakes have one, else one of its own.
pub(crate) fn signing_key(scheme: Scheme) -> Option<(&'static str, Vec<u8>)> {
    macro_rules! own {
        ($name:literal) => {
            (
                include_str!(concat!("../../keys/", $name, ".key.pem")),
                include_str!(concat!("../../keys/", $name, ".public.pem")),
            )
        };
    }
    let (key, public) = match scheme {
        Scheme::EcdsaP521 => own!("p521"),
        Scheme::Ed448 => own!("ed448"),
        Scheme::Mldsa44 => own!("mldsa44"),
        Scheme::Mldsa65 => own!("mldsa65"),
        Scheme::Mldsa87 => own!("mldsa87"),
        _ => {
            let Keys { key, public, .. } = keys(scheme.certificate()?);
            (key, public)
        }
    };
    let info = reference::pem(public).expect("our own files are PEM");
    Some((key, reference::public_key(&info).expect("our own files hold public keys").to_vec()))
}

/// The seed in a private key of ML-DSA, which is all that its PKCS #8 holds (RFC 9881 6).
pub(crate) fn seed(pem: &str) -> Vec<u8> {
    let der = reference::pem(pem).expect("our own files are PEM");
    der[der.len() - 32..].to_vec()
}

/// A published signature with the scheme's own key, in PEM; none where there is none.
pub(crate) fn known_signature(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::Mldsa44 => Some(include_str!("../../keys/known-mldsa44.signature.pem")),
        Scheme::Mldsa65 => Some(include_str!("../../keys/known-mldsa65.signature.pem")),
        Scheme::Mldsa87 => Some(include_str!("../../keys/known-mldsa87.signature.pem")),
        _ => None,
    }
}

/// The private key of a known answer, in PEM; none where there is no answer.
pub(crate) fn known_key(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::X25519 => Some(include_str!("../../keys/known-x25519.key.pem")),
        Scheme::P256 => Some(include_str!("../../keys/known-p256.key.pem")),
        Scheme::P384 => Some(include_str!("../../keys/known-p384.key.pem")),
        Scheme::P521 => Some(include_str!("../../keys/known-p521.key.pem")),
        Scheme::X448 => Some(include_str!("../../keys/known-x448.key.pem")),
        Scheme::Ed25519 => Some(include_str!("../../keys/known-ed25519.key.pem")),
        Scheme::Ed448 => Some(include_str!("../../keys/known-ed448.key.pem")),
        _ => None,
    }
}

/// The parameters of a finite field, in PEM; none of what is over none.
pub(crate) fn field_parameters(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::Ffdhe2048 => dh_parameters(Exchange::Ffdhe2048),
        Scheme::Ffdhe3072 => Some(include_str!("../../keys/ffdhe3072.pem")),
        Scheme::Ffdhe4096 => dh_parameters(Exchange::Ffdhe4096),
        Scheme::OwnDh2048 => dh_parameters(Exchange::OwnDh2048),
        _ => None,
    }
}

/// A private key with what it is used on. All of one scheme are read from as many bytes, so that reading them allocates
/// the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secret {
    /// The key in PEM (PKCS #8); empty where only its own bytes are read.
    pub pem: String,
    /// The key's own bytes: of X25519, and of ML-KEM the seed or the expanded key.
    pub raw: Vec<u8>,
    /// The other side's public key, or the ciphertext; of signatures nothing.
    pub input: Vec<u8>,
    /// What must come out, where that is known beforehand.
    pub output: Option<Vec<u8>>,
    /// What the key looks like in a library's memory, as far as it can be followed from there.
    pub images: Vec<Vec<u8>>,
    /// Of keys with one number the same is public, as far as execution may depend on it.
    pub public: u64,
}

/// The schemes with a private key whose use can be judged, each with what is done.
pub const PRIVATE: [(Scheme, Operation); 7] = [
    (Scheme::X25519, Operation::Agree),
    (Scheme::P256, Operation::Agree),
    (Scheme::EcdsaP256, Operation::Sign),
    (Scheme::Ed25519, Operation::Sign),
    (Scheme::Rsa2048Pss, Operation::Sign),
    (Scheme::Rsa2048Pkcs1, Operation::Sign),
    (Scheme::Mlkem768, Operation::Decapsulate),
];

/// What keys are made from: the same ones each time.
const SEED: u64 = 1;

/// So many keys of a scheme, or as many as there are, always the same ones. `seeds` says that a library reads no
/// other form of an ML-KEM key.
pub fn secrets(scheme: Scheme, count: usize, seeds: bool) -> Vec<Secret> {
    let mut random = StdRng::seed_from_u64(SEED);
    let mut bytes = || {
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        bytes
    };
    match scheme {
        Scheme::X25519 => (0..count).map(|number| x25519(number, bytes())).collect(),
        Scheme::P256 => (0..count).map(|number| p256(number, bytes())).collect(),
        Scheme::EcdsaP256 => (0..count).map(|_| named(Scheme::P256, &bytes())).collect(),
        Scheme::Ed25519 => (0..count).map(|_| followed(named(scheme, &bytes()))).collect(),
        Scheme::Rsa2048Pss | Scheme::Rsa2048Pkcs1 => rsa_keys(count),
        Scheme::Mlkem768 => kem_keys(count, seeds, &mut bytes),
        _ => Vec::new(),
    }
}

/// With the key's own bytes as what is in memory.
fn followed(secret: Secret) -> Secret {
    Secret { images: vec![secret.raw.clone()], ..secret }
}

/// The key of a known answer with other bytes.
fn named(of: Scheme, bytes: &[u8; 32]) -> Secret {
    let known = known_key(of).and_then(reference::pem).expect("our own files are PEM");
    let head = &known[..known.len() - bytes.len()];
    Secret { pem: pem(&[head, &bytes[..]].concat()), raw: bytes.to_vec(), ..Secret::default() }
}

/// Nearly all bits are zero in the second and one in the third: the first and last are always the same (RFC 7748 5).
fn x25519(number: usize, random: [u8; 32]) -> Secret {
    let bytes = match number {
        1 => [0; 32],
        2 => [0xff; 32],
        _ => random,
    };
    let peer = agreement_answer(Scheme::X25519).expect("there is one of X25519").peer;
    let of_peer = <[u8; 32]>::try_from(&peer[..]).expect("the answer is of 32 bytes");
    let shared = x25519_dalek::StaticSecret::from(bytes).diffie_hellman(&of_peer.into());
    let output = Some(shared.as_bytes().to_vec());
    followed(Secret { input: peer, output, ..named(Scheme::X25519, &bytes) })
}

/// The first is the known answer's.
fn p256(number: usize, random: [u8; 32]) -> Secret {
    let answer = agreement_answer(Scheme::P256).expect("there is one of P-256");
    let private = <[u8; 32]>::try_from(&answer.private[..]).expect("the answer is of 32 bytes");
    let is_known = number == 0;
    let key = named(Scheme::P256, if is_known { &private } else { &random });
    Secret { input: answer.peer, output: is_known.then_some(answer.secret), ..key }
}

/// A private key in PEM (RFC 7468 10).
fn pem(der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("base64 is ASCII"))
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN PRIVATE KEY-----\n{lines}\n-----END PRIVATE KEY-----\n")
}

// Keys of ML-KEM-768 with the same matrix, which is public, and ciphertexts that are valid, or wrong in one bit each.
//
// From one key follow others: (s, t) times a power of X is a key to the same matrix, since t = As + e. In the domain of
// the transform that is a number for each pair of coefficients (FIPS 203 4.3.1).

const PRIME: u32 = 3329;
/// A primitive root of unity of order 256.
const ROOT: u32 = 17;
/// Bytes of three polynomials, whose coefficients have 12 bits.
const VECTOR: usize = 1152;
/// The expanded key (FIPS 203 7.1): s; t and the seed of the matrix; their digest; what refusals are made from.
const KEM_PUBLIC: Range<usize> = VECTOR..2 * VECTOR + 32;
const KEM_DIGEST: Range<usize> = KEM_PUBLIC.end..KEM_PUBLIC.end + 32;
const REFUSAL: Range<usize> = KEM_DIGEST.end..KEM_DIGEST.end + 32;

/// Version, `AlgorithmIdentifier` (2.16.840.1.101.3.4.4.2) and the beginning of the key: OCTET STRING.
const KEM_BEFORE: &[u8] = b"\x02\x01\x00\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x02";
const KEM_OCTET_STRING: u8 = 0x04;

/// Every other one is another key with one ciphertext, which is valid for the first. Between them is the first key with
/// ciphertexts of which one coefficient is off by one: it decrypts to the same, so that the ciphertext that is made
/// again differs at that place only, wherever a comparison would end.
fn kem_keys(count: usize, seeds: bool, bytes: &mut impl FnMut() -> [u8; 32]) -> Vec<Secret> {
    let seed = [bytes(), bytes()].concat();
    let first = expanded(&seed);
    let ciphertext = encapsulate_with(&first[KEM_PUBLIC], bytes());
    let mut of = |number: usize| {
        let own = if number == 0 { seed.clone() } else { [bytes(), bytes()].concat() };
        let mut turned = turned(&first, 2 * number as u32);
        turned[REFUSAL].copy_from_slice(&own[32..]);
        if seeds { of_seed(&own, &ciphertext) } else { of_expanded(&turned, &ciphertext) }
    };
    let refused = |number: usize| {
        let mut ciphertext = ciphertext.clone();
        ciphertext[place(number, count / 2)] ^= 1;
        if seeds { of_seed(&seed, &ciphertext) } else { of_expanded(&first, &ciphertext) }
    };
    let each =
        |number: usize| if number.is_multiple_of(2) { of(number / 2) } else { refused(number / 2) };
    (0..count).map(each).collect()
}

/// The first bytes of each part are the lowest bits of a coefficient: every fifth of 960, then each (FIPS 203 4.2.1).
fn place(number: usize, of: usize) -> usize {
    const LAST: usize = 1087;
    let at = LAST * number / of.saturating_sub(1).max(1);
    if at < 960 { at / 5 * 5 } else { at }
}

fn of_seed(seed: &[u8], ciphertext: &[u8]) -> Secret {
    let output = Some(from_seed(seed, ciphertext));
    let images = images(&expanded(seed));
    Secret { raw: seed.to_vec(), input: ciphertext.to_vec(), output, images, ..Secret::default() }
}

fn of_expanded(key: &[u8], ciphertext: &[u8]) -> Secret {
    let inner = wrapped(KEM_OCTET_STRING, &wrapped(KEM_OCTET_STRING, key));
    Secret {
        pem: pem(&wrapped(SEQUENCE, &[KEM_BEFORE, &inner].concat())),
        raw: key.to_vec(),
        input: ciphertext.to_vec(),
        output: Some(expanded_decapsulate(key, ciphertext)),
        images: images(key),
        public: 0,
    }
}

/// s as it is written and as words of 16 bits, and what refusals are made from.
fn images(key: &[u8]) -> Vec<Vec<u8>> {
    let words = key[..VECTOR].as_chunks::<3>().0.iter().flat_map(|three| {
        let pair = coefficients(*three);
        pair.map(|x| (x as u16).to_le_bytes()).concat()
    });
    vec![key[..VECTOR].to_vec(), words.collect(), key[REFUSAL].to_vec()]
}

fn coefficients(three: [u8; 3]) -> [u32; 2] {
    let [a, b, c] = three.map(u32::from);
    [a | (b & 15) << 8, b >> 4 | c << 4]
}

/// The key times X to an even power.
fn turned(key: &[u8], power: u32) -> Vec<u8> {
    let mut turned = key.to_vec();
    turn(&mut turned[..VECTOR], power / 2);
    turn(&mut turned[KEM_PUBLIC][..VECTOR], power / 2);
    let digest = Sha3_256::digest(&turned[KEM_PUBLIC]);
    turned[KEM_DIGEST].copy_from_slice(&digest);
    turned
}

/// Multiplies each pair of coefficients by the square of X there, so often.
fn turn(vector: &mut [u8], times: u32) {
    for (number, three) in vector.as_chunks_mut::<3>().0.iter_mut().enumerate() {
        let place = (number % 128) as u32;
        let square = power(ROOT, 2 * (place.reverse_bits() >> 25) + 1);
        let factor = power(square, times);
        let pair = coefficients(*three).map(|x| x * factor % PRIME);
        three[0] = pair[0] as u8;
        three[1] = (pair[0] >> 8 | pair[1] << 4) as u8;
        three[2] = (pair[1] >> 4) as u8;
    }
}

fn power(base: u32, exponent: u32) -> u32 {
    (0..exponent).fold(1, |product, _| product * base % PRIME)
}

// RSA keys in pairs: both of a pair have the same modulus, which is public, and the primes in either order, so that
// every number of the private key but the exponent, which is used only without the primes, is another.

/// Primes of 1024 bits, the two highest of them set; worth nothing, as all our keys.
const PRIMES: &str = include_str!("../../keys/primes-1024.txt");

const PUBLIC_EXPONENT: u32 = 65_537;

/// `AlgorithmIdentifier` of rsaEncryption (RFC 8017 A.1).
const RSA_ALGORITHM: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
const OCTET_STRING: u8 = 0x04;

fn rsa_keys(count: usize) -> Vec<Secret> {
    let prime = |line: &str| BigUint::parse_bytes(line.as_bytes(), 16).expect("our own primes");
    let primes: Vec<BigUint> = PRIMES.lines().map(prime).collect();
    let all = (0..primes.len()).flat_map(|i| (i + 1..primes.len()).map(move |j| (i, j)));
    let pairs = all.filter_map(|(i, j)| {
        let one = numbers(&primes[i], &primes[j])?;
        let other = numbers(&primes[j], &primes[i])?;
        // A number of another length would be allocated in another size.
        one.iter().zip(&other).all(|(a, b)| a.len() == b.len()).then_some([one, other])
    });
    let keys = pairs.enumerate().flat_map(|(public, pair)| {
        pair.map(|numbers| Secret {
            pem: pem(&encoded(&numbers)),
            public: public as u64,
            ..Secret::default()
        })
    });
    keys.take(count).collect()
}

/// The numbers of `RSAPrivateKey` (RFC 8017 A.1.2) behind its version, in DER.
fn numbers(p: &BigUint, q: &BigUint) -> Option<[Vec<u8>; 8]> {
    let one = BigUint::from(1_u8);
    let exponent = BigUint::from(PUBLIC_EXPONENT);
    let private = exponent.modinv(&((p - &one) * (q - &one)))?;
    let numbers = [
        p * q,
        exponent,
        private.clone(),
        p.clone(),
        q.clone(),
        &private % (p - &one),
        &private % (q - &one),
        q.modinv(p)?,
    ];
    Some(numbers.map(|number| integer_of(&number.to_bytes_be())))
}

fn encoded(numbers: &[Vec<u8>; 8]) -> Vec<u8> {
    let version = wrapped(INTEGER, &[0]);
    let key = wrapped(SEQUENCE, &[&version[..], &numbers.concat()].concat());
    let key = wrapped(OCTET_STRING, &key);
    wrapped(SEQUENCE, &[&version[..], RSA_ALGORITHM, &key].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_have_as_many_bits_as_their_names_say() {
        for (scheme, bits) in [
            (Scheme::Ffdhe2048, 2048),
            (Scheme::Ffdhe3072, 3072),
            (Scheme::Ffdhe4096, 4096),
            (Scheme::OwnDh2048, 2048),
        ] {
            let der = crate::stacks::reference::pem(field_parameters(scheme).unwrap()).unwrap();
            assert_eq!(
                crate::stacks::reference::finite_field(&der).unwrap().bits(),
                bits,
                "{scheme}"
            );
        }
    }

    #[test]
    fn each_kind_has_a_chain_of_two_a_key_and_a_root() {
        for certificate in Certificate::ALL {
            let Keys { chain, key, root, .. } = keys(*certificate);
            assert_eq!(chain.matches("BEGIN CERTIFICATE").count(), 2, "{certificate}");
            assert_eq!(root.matches("BEGIN CERTIFICATE").count(), 1, "{certificate}");
            assert_eq!(key.matches("BEGIN PRIVATE KEY").count(), 1, "{certificate}");
        }
    }

    #[test]
    fn all_keys_of_a_scheme_are_of_one_length_and_no_two_are_the_same() {
        for (scheme, operation) in PRIVATE {
            assert!(scheme.operations().contains(&operation), "{scheme}");
            for seeds in [false, true] {
                let keys = secrets(scheme, 6, seeds);
                assert_eq!(keys.len(), 6, "{scheme}");
                for (at, key) in keys.iter().enumerate() {
                    let lengths = |of: &Secret| (of.pem.len(), of.raw.len(), of.input.len());
                    assert_eq!(lengths(key), lengths(&keys[0]), "{scheme}");
                    let same = |other: &Secret| {
                        (&other.raw, &other.pem, &other.input) == (&key.raw, &key.pem, &key.input)
                    };
                    assert!(!keys[..at].iter().any(same), "{scheme} {at}");
                }
            }
        }
        assert!(secrets(Scheme::Sha256, 2, false).is_empty());
    }

    #[test]
    fn a_turned_key_is_one_to_the_same_matrix() {
        let first = expanded(&[7; 64]);
        for power in [2, 30, 256] {
            let turned = turned(&first, power);
            assert_eq!(
                turned[KEM_PUBLIC][VECTOR..],
                first[KEM_PUBLIC][VECTOR..],
                "the seed of the matrix"
            );
            assert_ne!(turned[..VECTOR], first[..VECTOR]);
            let ciphertext = encapsulate_with(&turned[KEM_PUBLIC], [3; 32]);
            let secret = expanded_decapsulate(&turned, &ciphertext);
            // The key that is not turned refuses it, and so gives another secret.
            assert_ne!(secret, expanded_decapsulate(&first, &ciphertext));
            let again = super::turned(&turned, 512 - power);
            assert_eq!(again, first, "X to the 512th is one");
            let with_other_refusal = {
                let mut key = turned.clone();
                key[REFUSAL].fill(1);
                key
            };
            assert_eq!(
                secret,
                expanded_decapsulate(&with_other_refusal, &ciphertext),
                "it was valid"
            );
        }
    }

    #[test]
    fn the_first_ciphertext_is_valid_for_the_first_key_only() {
        let mut number = 0;
        let mut bytes = || {
            number += 1;
            [number; 32]
        };
        for seeds in [false, true] {
            let keys = kem_keys(8, seeds, &mut bytes);
            let outputs: std::collections::BTreeSet<_> =
                keys.iter().map(|key| &key.output).collect();
            assert_eq!(outputs.len(), 8);
            for (at, key) in keys.iter().enumerate().skip(1) {
                let same = (key.input == keys[0].input, key.raw == keys[0].raw);
                assert_eq!(same, (at % 2 == 0, at % 2 == 1), "{at}");
            }
        }
        assert_eq!((0..4).map(|n| place(n, 4)).collect::<Vec<_>>(), [0, 360, 720, 1087]);
    }

    #[test]
    fn there_are_six_keys_in_pairs_of_one_length() {
        let keys = rsa_keys(100);
        let publics: Vec<u64> = keys.iter().map(|key| key.public).collect();
        assert_eq!(publics, [0, 0, 1, 1, 2, 2]);
        assert!(keys.iter().all(|key| key.pem.len() == keys[0].pem.len()));
    }

    #[test]
    fn the_numbers_of_a_key_are_what_the_standard_makes_of_its_primes() {
        let (p, q) = (BigUint::from(1_000_003_u32), BigUint::from(999_983_u32));
        let of =
            |der: &Vec<u8>| BigUint::from_bytes_be(crate::stacks::reference::integer(der).unwrap());
        let [n, e, d, first, second, dp, dq, inverse] = numbers(&p, &q).unwrap().each_ref().map(of);
        assert_eq!((&n, &first, &second), (&(&p * &q), &p, &q));
        let message = BigUint::from(123_456_u32);
        assert_eq!(message.modpow(&e, &n).modpow(&d, &n), message);
        // By the primes (RFC 8017 5.1.2).
        let secret = message.modpow(&e, &n);
        let (one, other) = (secret.modpow(&dp, &p), secret.modpow(&dq, &q));
        let h = (one + &p - &other % &p) * inverse % &p;
        assert_eq!(other + q * h, message);
    }
}
