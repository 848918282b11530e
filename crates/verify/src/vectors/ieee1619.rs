//! IEEE 1619, annex B: XTS-AES, ciphertext stealing included.
//!
//! Vector 1 is left out: its two keys are equal, which FIPS 140 forbids and libraries refuse.

use super::{Vector, bytes, cipher_example};
use model::Algorithm;

/// One vector of the annex.
struct Published {
    number: u32,
    /// Data key, then tweak key.
    key: &'static str,
    /// Data unit sequence number, least significant byte first, without its high zeros.
    unit: &'static str,
    plaintext: Plaintext,
    ciphertext: &'static str,
}

/// How the plaintext is made.
enum Plaintext {
    /// So many times the same byte.
    Same(u8, usize),
    /// So many bytes counting up from 0, modulo 256.
    Counting(usize),
}

const VECTORS: &[Published] = &[
    Published {
        number: 2,
        key: "11111111111111111111111111111111\
            22222222222222222222222222222222",
        unit: "3333333333",
        plaintext: Plaintext::Same(0x44, 32),
        ciphertext: "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
    },
    Published {
        number: 3,
        key: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0\
            22222222222222222222222222222222",
        unit: "3333333333",
        plaintext: Plaintext::Same(0x44, 32),
        ciphertext: "af85336b597afc1a900b2eb21ec949d292df4c047e0b21532186a5971a227a89",
    },
    Published {
        number: 4,
        key: "27182818284590452353602874713526\
            31415926535897932384626433832795",
        unit: "00",
        plaintext: Plaintext::Counting(512),
        ciphertext: "27a7479befa1d476489f308cd4cfa6e2a96e4bbe3208ff25287dd3819616e89c\
            c78cf7f5e543445f8333d8fa7f56000005279fa5d8b5e4ad40e736ddb4d35412\
            328063fd2aab53e5ea1e0a9f332500a5df9487d07a5c92cc512c8866c7e860ce\
            93fdf166a24912b422976146ae20ce846bb7dc9ba94a767aaef20c0d61ad0265\
            5ea92dc4c4e41a8952c651d33174be51a10c421110e6d81588ede82103a252d8\
            a750e8768defffed9122810aaeb99f9172af82b604dc4b8e51bcb08235a6f434\
            1332e4ca60482a4ba1a03b3e65008fc5da76b70bf1690db4eae29c5f1badd03c\
            5ccf2a55d705ddcd86d449511ceb7ec30bf12b1fa35b913f9f747a8afd1b130e\
            94bff94effd01a91735ca1726acd0b197c4e5b03393697e126826fb6bbde8ecc\
            1e08298516e2c9ed03ff3c1b7860f6de76d4cecd94c8119855ef5297ca67e9f3\
            e7ff72b1e99785ca0a7e7720c5b36dc6d72cac9574c8cbbc2f801e23e56fd344\
            b07f22154beba0f08ce8891e643ed995c94d9a69c9f1b5f499027a78572aeebd\
            74d20cc39881c213ee770b1010e4bea718846977ae119f7a023ab58cca0ad752\
            afe656bb3c17256a9f6e9bf19fdd5a38fc82bbe872c5539edb609ef4f79c203e\
            bb140f2e583cb2ad15b4aa5b655016a8449277dbd477ef2c8d6c017db738b18d\
            eb4a427d1923ce3ff262735779a418f20a282df920147beabe421ee5319d0568",
    },
    Published {
        number: 10,
        key: "2718281828459045235360287471352662497757247093699959574966967627\
            3141592653589793238462643383279502884197169399375105820974944592",
        unit: "ff",
        plaintext: Plaintext::Counting(512),
        ciphertext: "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b\
            5d31e276f8fe4a8d66b317f9ac683f44680a86ac35adfc3345befecb4bb188fd\
            5776926c49a3095eb108fd1098baec70aaa66999a72a82f27d848b21d4a741b0\
            c5cd4d5fff9dac89aeba122961d03a757123e9870f8acf1000020887891429ca\
            2a3e7a7d7df7b10355165c8b9a6d0a7de8b062c4500dc4cd120c0f7418dae3d0\
            b5781c34803fa75421c790dfe1de1834f280d7667b327f6c8cd7557e12ac3a0f\
            93ec05c52e0493ef31a12d3d9260f79a289d6a379bc70c50841473d1a8cc81ec\
            583e9645e07b8d9670655ba5bbcfecc6dc3966380ad8fecb17b6ba02469a020a\
            84e18e8f84252070c13e9f1f289be54fbc481457778f616015e1327a02b140f1\
            505eb309326d68378f8374595c849d84f4c333ec4423885143cb47bd71c5edae\
            9be69a2ffeceb1bec9de244fbe15992b11b77c040f12bd8f6a975a44a0f90c29\
            a9abc3d4d893927284c58754cce294529f8614dcd2aba991925fedc4ae74ffac\
            6e333b93eb4aff0479da9a410e4450e0dd7ae4c6e2910900575da401fc07059f\
            645e8b7e9bfdef33943054ff84011493c27b3429eaedb4ed5376441a77ed4385\
            1ad77f16f541dfd269d50d6a5f14fb0aab1cbb4c1550be97f7ab4066193c4caa\
            773dad38014bd2092fa755c824bb5e54c4f36ffda9fcea70b9c6e693e148c151",
    },
    Published {
        number: 15,
        key: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0\
            bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
        unit: "9a78563412",
        plaintext: Plaintext::Counting(17),
        ciphertext: "6c1625db4671522d3d7599601de7ca09ed",
    },
    Published {
        number: 16,
        key: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0\
            bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
        unit: "9a78563412",
        plaintext: Plaintext::Counting(18),
        ciphertext: "d069444b7a7e0cab09e24447d24deb1fedbf",
    },
    Published {
        number: 17,
        key: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0\
            bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
        unit: "9a78563412",
        plaintext: Plaintext::Counting(19),
        ciphertext: "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
    },
    Published {
        number: 18,
        key: "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0\
            bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
        unit: "9a78563412",
        plaintext: Plaintext::Counting(20),
        ciphertext: "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac",
    },
];

/// The annex's vectors for a key length.
pub(super) fn vectors(algorithm: &Algorithm) -> Vec<Vector> {
    VECTORS
        .iter()
        .filter(|published| published.key.len() == 2 * algorithm.key_len)
        .map(|published| {
            let mut tweak = bytes(published.unit);
            tweak.resize(algorithm.nonce_len, 0);
            let plaintext = match published.plaintext {
                Plaintext::Same(byte, len) => vec![byte; len],
                Plaintext::Counting(len) => (0..len).map(|n| n as u8).collect(),
            };
            Vector {
                name: format!("IEEE 1619 vector {}", published.number),
                key: bytes(published.key),
                example: cipher_example(tweak, plaintext, bytes(published.ciphertext)),
                forged: false,
            }
        })
        .collect()
}
