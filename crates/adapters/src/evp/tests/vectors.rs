//! Published vectors for each mode but CCM: neither NIST SP 800-38C nor RFC 3610 has one with a
//! 12-byte nonce and a 16-byte tag. CCM is held against the reference implementation alone.

use super::*;

struct Vector {
    algorithm: &'static str,
    key: &'static str,
    nonce: &'static str,
    aad: &'static str,
    plain: &'static str,
    cipher: &'static str,
    tag: &'static str,
}

/// NIST SP 800-38A appendix F: key of AES-128 and the first two blocks.
const SP800_38A_KEY: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const SP800_38A_IV: &str = "000102030405060708090a0b0c0d0e0f";
const SP800_38A_PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51";

const fn sp800_38a(algorithm: &'static str, nonce: &'static str, cipher: &'static str) -> Vector {
    let (key, plain) = (SP800_38A_KEY, SP800_38A_PLAIN);
    Vector { algorithm, key, nonce, aad: "", plain, cipher, tag: "" }
}

const VECTORS: &[Vector] = &[
    // F.1.1, F.2.1, F.3.13, F.4.1, F.5.1
    sp800_38a(
        "aes-128-ecb",
        "",
        "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf",
    ),
    sp800_38a(
        "aes-128-cbc",
        SP800_38A_IV,
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
    ),
    sp800_38a(
        "aes-128-cfb",
        SP800_38A_IV,
        "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b",
    ),
    sp800_38a(
        "aes-128-ofb",
        SP800_38A_IV,
        "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825",
    ),
    sp800_38a(
        "aes-128-ctr",
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",
        "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff",
    ),
    // IEEE 1619-2007, annex B, vector 2
    Vector {
        algorithm: "aes-128-xts",
        key: "1111111111111111111111111111111122222222222222222222222222222222",
        nonce: "33333333330000000000000000000000",
        aad: "",
        plain: "4444444444444444444444444444444444444444444444444444444444444444",
        cipher: "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0",
        tag: "",
    },
    // McGrew and Viega, "The Galois/Counter Mode of Operation", test case 4, which NIST SP 800-38D
    // refers to
    Vector {
        algorithm: "aes-128-gcm",
        key: "feffe9928665731c6d6a8f9467308308",
        nonce: "cafebabefacedbaddecaf888",
        aad: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        plain: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
        cipher: "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
                 21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
        tag: "5bc94fbc3221a5db94fae95ae7121a47",
    },
    // RFC 7253 appendix A, the vectors with nonces …01 and …03
    Vector {
        algorithm: "aes-128-ocb",
        key: "000102030405060708090a0b0c0d0e0f",
        nonce: "bbaa99887766554433221101",
        aad: "0001020304050607",
        plain: "0001020304050607",
        cipher: "6820b3657b6f615a",
        tag: "5725bda0d3b4eb3a257c9af1f8f03009",
    },
    Vector {
        algorithm: "aes-128-ocb",
        key: "000102030405060708090a0b0c0d0e0f",
        nonce: "bbaa99887766554433221103",
        aad: "",
        plain: "0001020304050607",
        cipher: "45dd69f8f5aae724",
        tag: "14054cd1f35d82760b2cd00d2f99bfa9",
    },
    // RFC 8439 §2.8.2
    Vector {
        algorithm: "chacha20-poly1305",
        key: "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
        nonce: "070000004041424344454647",
        aad: "50515253c0c1c2c3c4c5c6c7",
        plain: "4c616469657320616e642047656e746c656d656e206f662074686520636c6173\
                73206f66202739393a204966204920636f756c64206f6666657220796f75206f\
                6e6c79206f6e652074697020666f7220746865206675747572652c2073756e73\
                637265656e20776f756c642062652069742e",
        cipher: "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6\
                 3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36\
                 92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
                 3ff4def08e4b7a9de576d26586cec64b6116",
        tag: "1ae10b594f09e26a7e902ecbd0600691",
    },
];

fn bytes_of(text: &str) -> Vec<u8> {
    hex::decode(text).expect("the vectors are in hexadecimal")
}

#[test]
fn published_vectors_come_out() {
    let library = library();
    for v in VECTORS {
        let algorithm = Algorithm::find(v.algorithm).unwrap();
        let sealed = Sealed {
            nonce: bytes_of(v.nonce),
            aad: bytes_of(v.aad),
            plain: bytes_of(v.plain),
            cipher: bytes_of(v.cipher),
            tag: bytes_of(v.tag),
        };
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            if let Some(mut session) = open(&*library, algorithm, direction, &bytes_of(v.key)) {
                sealed.check(&mut session);
            }
        }
    }
}
