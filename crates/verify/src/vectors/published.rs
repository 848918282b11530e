//! The vectors of standards: `published.json`, each with where it is published.

use super::Vector;
use crate::example::Example;
use base::model::Algorithm;
use serde::Deserialize;
use std::sync::LazyLock;

static PUBLISHED: LazyLock<Vec<Published>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("published.json")).expect("a test reads the file")
});

/// One vector of the file; byte strings are in hexadecimal.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Published {
    algorithm: String,
    source: String,
    #[serde(default)]
    key: String,
    #[serde(default)]
    nonce: String,
    aad: Option<Bytes>,
    message: Bytes,
    #[serde(default)]
    ciphertext: String,
    #[serde(default)]
    tag: String,
}

/// Bytes as the standards write them.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bytes {
    Hex(String),
    Text(String),
    /// The same bytes so many times.
    Repeated(String, usize),
    /// 00 01 02 … modulo 256.
    Counting(usize),
    /// So many bytes of the generator of xxHash's sanity checks.
    Xxhash(usize),
}

impl Bytes {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Hex(digits) => bytes(digits),
            Self::Text(text) => text.as_bytes().to_vec(),
            Self::Repeated(digits, times) => bytes(digits).repeat(*times),
            Self::Counting(len) => (0..*len).map(|n| n as u8).collect(),
            Self::Xxhash(len) => xxhash_input(*len),
        }
    }
}

/// The vectors that standards have of an algorithm.
pub(super) fn vectors(algorithm: &Algorithm) -> impl Iterator<Item = Vector> {
    let own = PUBLISHED.iter().filter(|published| published.algorithm == algorithm.name);
    own.map(|published| Vector {
        name: published.source.clone(),
        key: bytes(&published.key),
        example: Example {
            nonce: bytes(&published.nonce),
            aad: published.aad.as_ref().map(Bytes::bytes).unwrap_or_default(),
            plaintext: published.message.bytes(),
            ciphertext: bytes(&published.ciphertext),
            tag: bytes(&published.tag),
            source: "the vector",
            writes_output: algorithm.writes_output(),
        },
        forged: false,
    })
}

fn bytes(digits: &str) -> Vec<u8> {
    hex::decode(digits).expect("a test reads the file")
}

/// The high bytes of the powers of a prime (xxHash, `tests/sanity_test.c`).
fn xxhash_input(len: usize) -> Vec<u8> {
    const FIRST: u64 = 2_654_435_761;
    const FACTOR: u64 = 11_400_714_785_074_694_797;
    std::iter::successors(Some(FIRST), |n| Some(n.wrapping_mul(FACTOR)))
        .map(|n| (n >> 56) as u8)
        .take(len)
        .collect()
}
