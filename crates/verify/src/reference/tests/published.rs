//! Vectors that the standards print.

use super::*;

const KEYS: [(u32, &str); 3] = [
    (128, "2b7e151628aed2a6abf7158809cf4f3c"),
    (192, "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b"),
    (256, "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"),
];
const PLAIN: &str = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51\
                     30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710";
const IV: &str = "000102030405060708090a0b0c0d0e0f";
const COUNTER: &str = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/// One mode's example vectors of NIST SP 800-38A, appendix F, for the three key lengths.
fn sp_800_38a(mode: &str, nonce: &str, expected: [&str; 3]) {
    for ((bits, key), cipher) in KEYS.into_iter().zip(expected) {
        let reference = reference(&format!("aes-{bits}-{mode}"), key);
        check(&reference, [nonce, "", PLAIN, cipher, ""]);
        if reference.algorithm().sizes.allows(1) {
            prefixes(&reference, nonce, cipher);
        }
    }
}

/// A message that ends anywhere is the start of a longer one: partial segments use as much of the
/// last key stream block as they need (and so does OpenSSL).
fn prefixes(reference: &Reference, nonce: &str, cipher: &str) {
    let [nonce, plain, cipher] = [nonce, PLAIN, cipher].map(bytes);
    for len in 0..plain.len() {
        let made = encrypt(reference, &nonce, b"", &plain[..len]).0;
        assert_eq!(made, cipher[..len], "{len} bytes of {reference:?}");
        let back = decrypt(reference, &nonce, b"", &made, b"").unwrap();
        assert_eq!(back, plain[..len], "{len} bytes of {reference:?}");
    }
}

#[test]
fn ecb_gives_the_vectors_of_sp_800_38a_f_1() {
    sp_800_38a(
        "ecb",
        "",
        [
            "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf\
             43b1cd7f598ece23881b00e3ed0306887b0c785e27e8ad3f8223207104725dd4",
            "bd334f1d6e45f25ff712a214571fa5cc974104846d0ad3ad7734ecb3ecee4eef\
             ef7afd2270e2e60adce0ba2face6444e9a4b41ba738d6c72fb16691603c18e0e",
            "f3eed1bdb5d2a03c064b5a7e3db181f8591ccb10d410ed26dc5ba74a31362870\
             b6ed21b99ca6f4f9f153e7b1beafed1d23304b7a39f9f3ff067d8d8f9e24ecc7",
        ],
    );
}

#[test]
fn cbc_gives_the_vectors_of_sp_800_38a_f_2() {
    sp_800_38a(
        "cbc",
        IV,
        [
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2\
             73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7",
            "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a\
             571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd",
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d\
             39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b",
        ],
    );
}

#[test]
fn cfb_gives_the_vectors_of_sp_800_38a_f_3() {
    sp_800_38a(
        "cfb",
        IV,
        [
            "3b3fd92eb72dad20333449f8e83cfb4ac8a64537a0b3a93fcde3cdad9f1ce58b\
             26751f67a3cbb140b1808cf187a4f4dfc04b05357c5d1c0eeac4c66f9ff7f2e6",
            "cdc80d6fddf18cab34c25909c99a417467ce7f7f81173621961a2b70171d3d7a\
             2e1e8a1dd59b88b1c8e60fed1efac4c9c05f9f9ca9834fa042ae8fba584b09ff",
            "dc7e84bfda79164b7ecd8486985d386039ffed143b28b1c832113c6331e5407b\
             df10132415e54b92a13ed0a8267ae2f975a385741ab9cef82031623d55b1e471",
        ],
    );
}

#[test]
fn ofb_gives_the_vectors_of_sp_800_38a_f_4() {
    sp_800_38a(
        "ofb",
        IV,
        [
            "3b3fd92eb72dad20333449f8e83cfb4a7789508d16918f03f53c52dac54ed825\
             9740051e9c5fecf64344f7a82260edcc304c6528f659c77866a510d9c1d6ae5e",
            "cdc80d6fddf18cab34c25909c99a4174fcc28b8d4c63837c09e81700c1100401\
             8d9a9aeac0f6596f559c6d4daf59a5f26d9f200857ca6c3e9cac524bd9acc92a",
            "dc7e84bfda79164b7ecd8486985d38604febdc6740d20b3ac88f6ad82a4fb08d\
             71ab47a086e86eedf39d1c5bba97c4080126141d67f37be8538f5a8be740e484",
        ],
    );
}

#[test]
fn ctr_gives_the_vectors_of_sp_800_38a_f_5() {
    sp_800_38a(
        "ctr",
        COUNTER,
        [
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff\
             5ae4df3edbd5d35e5b4f09020db03eab1e031dda2fbe03d1792170a0f3009cee",
            "1abc932417521ca24f2b0459fe7e6e0b090339ec0aa6faefd5ccc2c6f4ce8e94\
             1e36b26bd1ebc670d1bd1d665620abf74f78a7f6d29809585a97daec58c6b050",
            "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5\
             2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6",
        ],
    );
}

#[test]
fn all_128_bits_of_the_ctr_counter_count() {
    let (_, key) = KEYS[0];
    let ctr = reference("aes-128-ctr", key);
    let ecb = reference("aes-128-ecb", key);
    let made = encrypt(&ctr, &[0xff; 16], b"", &[0; 32]).0;
    assert_eq!(made[..16], encrypt(&ecb, b"", b"", &[0xff; 16]).0);
    assert_eq!(made[16..], encrypt(&ecb, b"", b"", &[0; 16]).0);
}

/// IEEE 1619-2018, annex B: vectors 2 and 15 to 18, the latter with a stolen ciphertext.
#[test]
fn xts_gives_the_vectors_of_ieee_1619() {
    let whole = reference(
        "aes-128-xts",
        "1111111111111111111111111111111122222222222222222222222222222222",
    );
    let plain = "44".repeat(32);
    let cipher = "c454185e6a16936e39334038acef838bfb186fff7480adc4289382ecd6d394f0";
    check(&whole, ["33333333330000000000000000000000", "", &plain, cipher, ""]);

    let stealing = reference(
        "aes-128-xts",
        "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
    );
    let tweak = "9a785634120000000000000000000000";
    let plain = "000102030405060708090a0b0c0d0e0f10111213";
    for cipher in [
        "6c1625db4671522d3d7599601de7ca09ed",
        "d069444b7a7e0cab09e24447d24deb1fedbf",
        "e5df1351c0544ba1350b3363cd8ef4beedbf9d",
        "9d84c813f719aa2c7be3f66171c7c5c2edbf9dac",
    ] {
        check(&stealing, [tweak, "", &plain[..cipher.len()], cipher, ""]);
    }
}

/// Test cases 4, 10 and 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega), appendix B.
#[test]
fn gcm_gives_the_vectors_of_its_specification() {
    let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308";
    let plain = "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
                 1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39";
    for (name, key_len, cipher, tag) in [
        (
            "aes-128-gcm",
            16,
            "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e\
             21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091",
            "5bc94fbc3221a5db94fae95ae7121a47",
        ),
        (
            "aes-192-gcm",
            24,
            "3980ca0b3c00e841eb06fac4872a2757859e1ceaa6efd984628593b40ca1e19c\
             7d773d00c144c525ac619d18c84a3f4718e2448b2fe324d9ccda2710",
            "2519498e80f1478f37ba55bd6d27618c",
        ),
        (
            "aes-256-gcm",
            32,
            "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
             8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662",
            "76fc6ece0f4e1768cddf8853bb2d551b",
        ),
    ] {
        let aad = "feedfacedeadbeeffeedfacedeadbeefabaddad2";
        let nonce = "cafebabefacedbaddecaf888";
        check(&reference(name, &key[..key_len * 2]), [nonce, aad, plain, cipher, tag]);
    }
}

/// RFC 7253, appendix A: the samples with the fixed key.
#[test]
fn ocb_gives_the_samples_of_rfc_7253() {
    let ocb = reference("aes-128-ocb", "000102030405060708090a0b0c0d0e0f");
    let data = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627";
    for (last, aad_len, len, cipher, tag) in [
        ("00", 0, 0, "", "785407bfffc8ad9edcc5520ac9111ee6"),
        ("01", 8, 8, "6820b3657b6f615a", "5725bda0d3b4eb3a257c9af1f8f03009"),
        ("02", 8, 0, "", "81017f8203f081277152fade694a0a00"),
        ("03", 0, 8, "45dd69f8f5aae724", "14054cd1f35d82760b2cd00d2f99bfa9"),
        (
            "0f",
            0,
            40,
            "4412923493c57d5de0d700f753cce0d1d2d95060122e9f15a5ddbfc5787e50b5cc55ee507bcb084e",
            "479ad363ac366b95a98ca5f3000b1479",
        ),
    ] {
        let nonce = format!("bbaa998877665544332211{last}");
        check(&ocb, [&nonce, &data[..aad_len * 2], &data[..len * 2], cipher, tag]);
    }
}

/// RFC 7253, appendix A: the algorithm that condenses 384 messages into one tag.
#[test]
fn ocb_gives_the_condensed_results_of_rfc_7253() {
    for (key_len, expected) in [
        (16, "67e944d23256c5e0b6c61fa22fdf1ea2"),
        (24, "f673f2c3e7174aae7bae986ca9f29e17"),
        (32, "d90eb8e9c977c88b79dd793d7ffa161c"),
    ] {
        let mut key = vec![0; key_len];
        key[key_len - 1] = 128;
        let algorithm = Algorithm::find(&format!("aes-{}-ocb", key_len * 8)).unwrap();
        let ocb = Reference::new(algorithm, &key);
        let nonce = |n: u32| [[0; 8].as_slice(), &n.to_be_bytes()].concat();
        let mut all = Vec::new();
        for i in 0..128_u32 {
            let s = vec![0; i as usize];
            for (n, aad, plain) in
                [(3 * i + 1, &s[..], &s[..]), (3 * i + 2, &[], &s), (3 * i + 3, &s, &[])]
            {
                let (cipher, tag) = encrypt(&ocb, &nonce(n), aad, plain);
                all.extend([cipher, tag].concat());
            }
        }
        assert_eq!(encrypt(&ocb, &nonce(385), &all, b"").1, bytes(expected), "{key_len} bytes");
    }
}

/// RFC 8439 §2.8.2.
#[test]
fn chacha20_poly1305_gives_the_vector_of_rfc_8439() {
    let aead = reference(
        "chacha20-poly1305",
        "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f",
    );
    let plain = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for \
                 the future, sunscreen would be it.";
    let cipher = "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6\
                  3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36\
                  92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc\
                  3ff4def08e4b7a9de576d26586cec64b6116";
    let nonce = "070000004041424344454647";
    let aad = "50515253c0c1c2c3c4c5c6c7";
    let plain = hex::encode(plain);
    check(&aead, [nonce, aad, &plain, cipher, "1ae10b594f09e26a7e902ecbd0600691"]);
}

/// The values of xxHash's own sanity check (`tests/sanity_test.c`), whose input is the high
/// bytes of a multiplicative sequence: one for each of the algorithm's ranges of length.
#[test]
fn xxh3_gives_the_values_of_its_own_sanity_check() {
    let xxh3 = reference("xxh3-64", "");
    let input: Vec<u8> =
        std::iter::successors(Some(2_654_435_761_u64), |x| Some(x.wrapping_mul(PRIME64)))
            .map(|x| (x >> 56) as u8)
            .take(2048)
            .collect();
    const PRIME64: u64 = 11_400_714_785_074_694_797;
    for (len, expected) in [
        (0, "2d06800538d394c2"),
        (1, "c44bdff4074eecdb"),
        (6, "27b56a84cd2d7325"),
        (403, "cdeb804d65c6dea4"),
        (2048, "dd59e2c3a5f038e0"),
    ] {
        let mut tag = [0; 8];
        xxh3.encrypt(b"", b"", &input[..len], &mut [], &mut tag);
        assert_eq!(hex::encode(tag), expected, "{len} bytes");
        assert!(xxh3.decrypt(b"", b"", &input[..len], &mut [], &tag));
        tag[7] ^= 1;
        assert!(!xxh3.decrypt(b"", b"", &input[..len], &mut [], &tag));
    }
}
