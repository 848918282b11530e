//! Published digests and tags of short messages.

use super::{Vector, bytes};
use crate::example::Example;
use model::Algorithm;

/// The message.
enum Message {
    Text(&'static str),
    /// A byte, so many times.
    Same(u8, usize),
    /// 00 01 02 …
    Counting(usize),
}

use Message::{Counting, Same, Text};

/// Algorithm, where it is published, key, message, digest.
type Published = (&'static str, &'static str, &'static str, Message, &'static str);

const PUBLISHED: &[Published] = &[
    // The examples that NIST publishes with FIPS 180-4 and FIPS 202.
    (
        "sha256",
        "FIPS 180-4 example",
        "",
        Text("abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
    (
        "sha384",
        "FIPS 180-4 example",
        "",
        Text("abc"),
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed\
         8086072ba1e7cc2358baeca134c825a7",
    ),
    (
        "sha512",
        "FIPS 180-4 example",
        "",
        Text("abc"),
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
         2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
    (
        "sha3-256",
        "FIPS 202 example of no bits",
        "",
        Text(""),
        "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
    ),
    (
        "sha3-384",
        "FIPS 202 example of no bits",
        "",
        Text(""),
        "0c63a75b845e4f7d01107d852e4c2485c51a50aaaa94fc61995e71bbee983a2a\
         c3713831264adb47fb6bd1e058d5f004",
    ),
    (
        "sha3-512",
        "FIPS 202 example of no bits",
        "",
        Text(""),
        "a69f73cca23a9ac5c8b567dc185a756e97c982164fe25859e0d1dcc1475c80a6\
         15b2123af1f5f94c11e3e9402c3ac558f500199d95b6d3e301758586281dcd26",
    ),
    (
        "blake2b512",
        "RFC 7693 appendix A",
        "",
        Text("abc"),
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1\
         7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    ),
    (
        "blake3",
        "BLAKE3 test vector of 0 bytes",
        "",
        Counting(0),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    ),
    (
        "blake3",
        "BLAKE3 test vector of 1 byte",
        "",
        Counting(1),
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
    ),
    ("crc32c", "RFC 3720 B.4, zeros", "", Same(0, 32), "8a9136aa"),
    ("crc32c", "RFC 3720 B.4, ones", "", Same(0xff, 32), "62a8ab43"),
    ("crc32c", "RFC 3720 B.4, incrementing", "", Counting(32), "46dd794e"),
    (
        "poly1305",
        "RFC 8439 §2.5.2",
        "85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b",
        Text("Cryptographic Forum Research Group"),
        "a8061dc1305136c6c22b8baf0c0127a9",
    ),
];

/// The published digests of an algorithm.
pub(super) fn vectors(algorithm: &Algorithm) -> Vec<Vector> {
    let own = PUBLISHED.iter().filter(|(name, ..)| *name == algorithm.name);
    own.map(|(_, source, key, message, digest)| Vector {
        name: (*source).to_owned(),
        key: bytes(key),
        example: tagged(
            match message {
                Text(text) => text.as_bytes().to_vec(),
                Same(byte, len) => vec![*byte; *len],
                Counting(len) => (0..*len).map(|n| n as u8).collect(),
            },
            bytes(digest),
        ),
        forged: false,
    })
    .collect()
}

/// A message with its digest and no output.
pub(super) fn tagged(plaintext: Vec<u8>, tag: Vec<u8>) -> Example {
    Example {
        nonce: Vec::new(),
        aad: Vec::new(),
        plaintext,
        ciphertext: Vec::new(),
        tag,
        source: "the vector",
        writes_output: false,
    }
}
