//! RFC 7253, appendix A: the samples with 12-byte nonces and 16-byte tags, and the iterated test,
//! whose result stands for 384 messages under each key length.

use super::{Vector, aead_example, bytes};
use model::Algorithm;

/// The key of the samples.
const KEY: &str = "000102030405060708090a0b0c0d0e0f";
/// The nonce of the samples without its last byte, the sample's number.
const NONCE: &str = "bbaa998877665544332211";

/// Bytes of associated data, bytes of plaintext (both counting up from 0), ciphertext and tag;
/// the index is the sample's number.
const SAMPLES: [(usize, usize, &str); 16] = [
    (0, 0, "785407bfffc8ad9edcc5520ac9111ee6"),
    (8, 8, "6820b3657b6f615a5725bda0d3b4eb3a257c9af1f8f03009"),
    (8, 0, "81017f8203f081277152fade694a0a00"),
    (0, 8, "45dd69f8f5aae72414054cd1f35d82760b2cd00d2f99bfa9"),
    (16, 16, "571d535b60b277188be5147170a9a22c3ad7a4ff3835b8c5701c1ccec8fc3358"),
    (16, 0, "8cf761b6902ef764462ad86498ca6b97"),
    (0, 16, "5ce88ec2e0692706a915c00aeb8b2396f40e1c743f52436bdf06d8fa1eca343d"),
    (
        24,
        24,
        "1ca2207308c87c010756104d8840ce1952f09673a448a122c92c62241051f57356d7f3c9\
        0bb0e07f",
    ),
    (24, 0, "6dc225a071fc1b9f7c69f93b0f1e10de"),
    (
        0,
        24,
        "221bd0de7fa6fe993eccd769460a0af2d6cded0c395b1c3ce725f32494b9f914d85c0b1e\
        b38357ff",
    ),
    (
        32,
        32,
        "bd6f6c496201c69296c11efd138a467abd3c707924b964deaffc40319af5a48540fbba18\
        6c5553c68ad9f592a79a4240",
    ),
    (32, 0, "fe80690bee8a485d11f32965bc9d2a32"),
    (
        0,
        32,
        "2942bfc773bda23cabc6acfd9bfd5835bd300f0973792ef46040c53f1432bcdfb5e1dde3\
        bc18a5f840b52e653444d5df",
    ),
    (
        40,
        40,
        "d5ca91748410c1751ff8a2f618255b68a0a12e093ff454606e59f9c1d0ddc54b65e8628e\
        568bad7aed07ba06a4a69483a7035490c5769e60",
    ),
    (40, 0, "c5cd9d1850c141e358649994ee701b68"),
    (
        0,
        40,
        "4412923493c57d5de0d700f753cce0d1d2d95060122e9f15a5ddbfc5787e50b5cc55ee50\
        7bcb084e479ad363ac366b95a98ca5f3000b1479",
    ),
];

/// The iterated test of one key length.
pub(crate) struct Iterated {
    /// Name of the algorithm.
    pub(crate) algorithm: &'static str,
    /// Output of the test: a tag over everything before.
    pub(crate) output: &'static str,
}

/// The results for 16-byte tags.
pub(crate) const ITERATED: [Iterated; 3] = [
    Iterated { algorithm: "aes-128-ocb", output: "67e944d23256c5e0b6c61fa22fdf1ea2" },
    Iterated { algorithm: "aes-192-ocb", output: "f673f2c3e7174aae7bae986ca9f29e17" },
    Iterated { algorithm: "aes-256-ocb", output: "d90eb8e9c977c88b79dd793d7ffa161c" },
];

impl Iterated {
    /// Zeros, then the tag's length in bits.
    pub(crate) fn key(algorithm: &Algorithm) -> Vec<u8> {
        let mut key = vec![0; algorithm.key_len];
        key[algorithm.key_len - 1] = 128;
        key
    }

    /// The result in bytes.
    pub(crate) fn tag(&self) -> Vec<u8> {
        bytes(self.output)
    }
}

/// The samples, all under a 128-bit key.
pub(super) fn vectors(algorithm: &Algorithm) -> Vec<Vector> {
    let key = bytes(KEY);
    if key.len() != algorithm.key_len {
        return Vec::new();
    }
    let counting = |len: usize| (0..len).map(|n| n as u8).collect::<Vec<u8>>();
    SAMPLES
        .iter()
        .enumerate()
        .map(|(number, (aad_len, len, sealed))| {
            let mut nonce = bytes(NONCE);
            nonce.push(number as u8);
            let mut ciphertext = bytes(sealed);
            let tag = ciphertext.split_off(*len);
            Vector {
                name: format!("RFC 7253 sample {number}"),
                key: key.clone(),
                example: aead_example(nonce, counting(*aad_len), counting(*len), ciphertext, tag),
                forged: false,
            }
        })
        .collect()
}
