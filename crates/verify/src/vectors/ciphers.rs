//! Published vectors of the ciphers beside AES, in the simplest mode of each.

use super::{Vector, bytes, cipher_example};
use model::Algorithm;

/// Algorithm, where it is published, key, plaintext, ciphertext; the nonce is all zeros.
const PUBLISHED: &[[&str; 5]] = &[
    [
        "camellia-128-ecb",
        "RFC 3713 appendix A",
        "0123456789abcdeffedcba9876543210",
        "0123456789abcdeffedcba9876543210",
        "67673138549669730857065648eabe43",
    ],
    [
        "camellia-192-ecb",
        "RFC 3713 appendix A",
        "0123456789abcdeffedcba98765432100011223344556677",
        "0123456789abcdeffedcba9876543210",
        "b4993401b3e996f84ee5cee7d79b09b9",
    ],
    [
        "camellia-256-ecb",
        "RFC 3713 appendix A",
        "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
        "0123456789abcdeffedcba9876543210",
        "9acc237dff16d76c20ef7c919e3a7509",
    ],
    [
        "aria-128-ecb",
        "RFC 5794 appendix A.1",
        "000102030405060708090a0b0c0d0e0f",
        "00112233445566778899aabbccddeeff",
        "d718fbd6ab644c739da95f3be6451778",
    ],
    [
        "aria-192-ecb",
        "RFC 5794 appendix A.2",
        "000102030405060708090a0b0c0d0e0f1011121314151617",
        "00112233445566778899aabbccddeeff",
        "26449c1805dbe7aa25a468ce263a9e79",
    ],
    [
        "aria-256-ecb",
        "RFC 5794 appendix A.3",
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
        "00112233445566778899aabbccddeeff",
        "f92bd7c79fb72e2f2b8f80c1972d24fc",
    ],
    [
        "sm4-ecb",
        "GB/T 32907-2016 appendix A.1",
        "0123456789abcdeffedcba9876543210",
        "0123456789abcdeffedcba9876543210",
        "681edf34d206965e86b3e94f536e4246",
    ],
    [
        "des-ede3-ecb",
        "NIST SP 800-67 appendix B.1",
        "0123456789abcdef23456789abcdef01456789abcdef0123",
        "5468652071756663 6b2062726f776e20 666f78206a756d70",
        "a826fd8ce53b855f cce21c8112256fe6 68d5c05dd9b6b900",
    ],
    [
        "chacha20",
        "RFC 8439 appendix A.1, test vector 1",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000000\
         0000000000000000000000000000000000000000000000000000000000000000",
        "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7\
         da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586",
    ],
];

/// The published vectors of an algorithm.
pub(super) fn vectors(algorithm: &Algorithm) -> Vec<Vector> {
    let own = PUBLISHED.iter().filter(|[name, ..]| *name == algorithm.name);
    own.map(|[_, source, key, plaintext, ciphertext]| Vector {
        name: (*source).to_owned(),
        key: bytes(key),
        example: cipher_example(vec![0; algorithm.nonce_len], bytes(plaintext), bytes(ciphertext)),
        forged: false,
    })
    .collect()
}
