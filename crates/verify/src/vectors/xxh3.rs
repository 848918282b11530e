//! XXH3 with 64 bits of output, seed 0 and the default secret: the sanity checks of the xxHash
//! project, over its own generator of test bytes.

use super::{Example, Vector};

/// Bytes of input and the hash.
const HASHES: [(usize, u64); 13] = [
    (0, 0x2d06_8005_38d3_94c2),
    (1, 0xc44b_dff4_074e_ecdb),
    (6, 0x27b5_6a84_cd2d_7325),
    (12, 0xa713_daf0_dfbb_77e7),
    (24, 0xa3fe_70bf_9d35_10eb),
    (48, 0x397d_a259_ecba_1f11),
    (80, 0xbcde_fbbb_2c47_c90a),
    (195, 0xcd94_217e_e362_ec3a),
    (403, 0xcdeb_804d_65c6_dea4),
    (512, 0x617e_4959_9013_cb6b),
    (2048, 0xdd59_e2c3_a5f0_38e0),
    (2240, 0x6e73_a905_39cf_2948),
    (2367, 0xcb37_aeb9_e5d3_61ed),
];

/// The generator's constants: two primes of XXH32 and XXH64.
const FIRST: u64 = 2_654_435_761;
const FACTOR: u64 = 11_400_714_785_074_694_797;

/// The sanity checks. The digest is the canonical form of the hash: big-endian.
pub(super) fn vectors() -> Vec<Vector> {
    HASHES
        .iter()
        .map(|(len, hash)| Vector {
            name: format!("xxHash sanity check of {len} bytes"),
            key: Vec::new(),
            example: Example {
                nonce: Vec::new(),
                aad: Vec::new(),
                plaintext: input(*len),
                ciphertext: Vec::new(),
                tag: hash.to_be_bytes().to_vec(),
                source: "the vector",
                writes_output: false,
            },
            forged: false,
        })
        .collect()
}

/// The high bytes of powers of a prime, as xxHash's sanity test makes its input.
fn input(len: usize) -> Vec<u8> {
    std::iter::successors(Some(FIRST), |n| Some(n.wrapping_mul(FACTOR)))
        .map(|n| (n >> 56) as u8)
        .take(len)
        .collect()
}
