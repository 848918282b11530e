//! Mbed TLS 2 to 4, PSA among it.

use crate::layout::{DECRYPT, ENCRYPT, MAC, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Aad, Begin, End, Last, Update, Whole},
    Family, Function,
    Name::{Fixed, Listed},
    function as f, whole,
};

pub const FAMILY: Family = Family {
    marks: &["mbedtls_sha256_update", "mbedtls_gcm_setkey", "psa_hash_compute"],
    functions: FUNCTIONS,
};
/// What has other arguments in version 2 (from 2.7 on) than later.
pub const TWO: Family = Family {
    marks: &["mbedtls_sha256_update_ret"],
    functions: &[
        f("mbedtls_gcm_starts", 6, Begin).cipher(NEITHER).toward_at(1).aad(5),
        f("mbedtls_gcm_update", 4, Update).cipher(NEITHER).bytes(1).moves(2, 3),
        f("mbedtls_gcm_finish", 3, End).cipher(NEITHER).tag(2),
    ],
};
pub const LATER: Family = Family {
    marks: &["mbedtls_gcm_update_ad"],
    functions: &[
        f("mbedtls_gcm_starts", 4, Begin).cipher(NEITHER).toward_at(1),
        f("mbedtls_gcm_update_ad", 3, Aad).cipher(NEITHER).aad(2),
        f("mbedtls_gcm_update", 6, Update).cipher(NEITHER).bytes(2).moves(1, 3),
        f("mbedtls_gcm_finish", 6, End).cipher(NEITHER).tag(5),
    ],
};

const GCM: &[(u32, &str)] = &[(128, "aes-128-gcm"), (192, "aes-192-gcm"), (256, "aes-256-gcm")];
const CCM: &[(u32, &str)] = &[(128, "aes-128-ccm"), (192, "aes-192-ccm"), (256, "aes-256-ccm")];
const AES: &[(u32, &str)] = &[(128, "aes-128"), (192, "aes-192"), (256, "aes-256")];
/// PSA's numbers of algorithms.
const PSA: &[(u32, &str)] = &[
    (0x0550_0200, "aes-gcm"),
    (0x0550_0100, "aes-ccm"),
    (0x0510_0500, "chacha20-poly1305"),
    (0x0200_0003, "md5"),
    (0x0200_0005, "sha1"),
    (0x0200_0009, "sha256"),
    (0x0200_000a, "sha384"),
    (0x0200_000b, "sha512"),
];

const fn key(name: &'static str, arguments: u8, names: &'static [(u32, &'static str)]) -> Function {
    f(name, arguments, Begin).cipher(NEITHER).named(Listed(arguments - 1, names)).key(arguments - 2)
}
const fn begin(name: &'static str, arguments: u8, what: &'static str) -> Function {
    f(name, arguments, Begin).digest().named(Fixed(what))
}
const fn digest(name: &'static str, arguments: u8, what: &'static str) -> Function {
    f(name, arguments, Whole).digest().named(Fixed(what)).bytes(1)
}

const FUNCTIONS: &[Function] = &[
    key("mbedtls_gcm_setkey", 4, GCM),
    f("mbedtls_gcm_crypt_and_tag", 11, Last)
        .cipher(NEITHER)
        .toward_at(1)
        .bytes(2)
        .aad(6)
        .tag(9)
        .moves(7, 8),
    f("mbedtls_gcm_auth_decrypt", 10, Last).cipher(DECRYPT).bytes(1).aad(5).tag(7).moves(8, 9),
    key("mbedtls_ccm_setkey", 4, CCM),
    f("mbedtls_ccm_encrypt_and_tag", 10, Last).cipher(ENCRYPT).bytes(1).aad(5).tag(9).moves(6, 7),
    f("mbedtls_ccm_auth_decrypt", 10, Last).cipher(DECRYPT).bytes(1).aad(5).tag(9).moves(6, 7),
    f("mbedtls_chachapoly_setkey", 2, Begin)
        .cipher(NEITHER)
        .named(Fixed("chacha20-poly1305"))
        .key(1),
    f("mbedtls_chachapoly_encrypt_and_tag", 8, Last).cipher(ENCRYPT).bytes(1).aad(4).moves(5, 6),
    f("mbedtls_chachapoly_auth_decrypt", 8, Last).cipher(DECRYPT).bytes(1).aad(4).moves(6, 7),
    key("mbedtls_aes_setkey_enc", 3, AES),
    key("mbedtls_aes_setkey_dec", 3, AES),
    f("mbedtls_aes_crypt_ecb", 4, Last).cipher(NEITHER).toward_at(1).constant(16).moves(2, 3),
    f("mbedtls_aes_crypt_cbc", 6, Last).cipher(NEITHER).toward_at(1).bytes(2).moves(4, 5),
    f("mbedtls_aes_crypt_ctr", 7, Last).cipher(NEITHER).bytes(1).moves(5, 6),
    f("mbedtls_cipher_setkey", 4, Begin).cipher(NEITHER).named(Fixed("cipher")).key(1),
    f("mbedtls_cipher_update", 5, Update).cipher(NEITHER).bytes(2).moves(1, 3),
    f("mbedtls_cipher_finish", 3, End).cipher(NEITHER),
    f("mbedtls_cipher_auth_encrypt_ext", 11, Last).cipher(ENCRYPT).bytes(6).aad(4),
    f("mbedtls_cipher_auth_decrypt_ext", 11, Last).cipher(DECRYPT).bytes(6).less(16).aad(4),
    begin("mbedtls_sha1_starts", 1, "sha1"),
    begin("mbedtls_sha1_starts_ret", 1, "sha1"),
    begin("mbedtls_sha256_starts", 2, "sha256"),
    begin("mbedtls_sha256_starts_ret", 2, "sha256"),
    begin("mbedtls_sha512_starts", 2, "sha512"),
    begin("mbedtls_sha512_starts_ret", 2, "sha512"),
    f("mbedtls_sha1_update", 3, Update).digest().bytes(2),
    f("mbedtls_sha256_update", 3, Update).digest().bytes(2),
    f("mbedtls_sha512_update", 3, Update).digest().bytes(2),
    f("mbedtls_sha1_update_ret", 3, Update).digest().bytes(2),
    f("mbedtls_sha256_update_ret", 3, Update).digest().bytes(2),
    f("mbedtls_sha512_update_ret", 3, Update).digest().bytes(2),
    f("mbedtls_sha1_finish", 2, End).digest(),
    f("mbedtls_sha256_finish", 2, End).digest(),
    f("mbedtls_sha512_finish", 2, End).digest(),
    f("mbedtls_sha1_finish_ret", 2, End).digest(),
    f("mbedtls_sha256_finish_ret", 2, End).digest(),
    f("mbedtls_sha512_finish_ret", 2, End).digest(),
    digest("mbedtls_sha1", 3, "sha1"),
    digest("mbedtls_sha256", 4, "sha256"),
    digest("mbedtls_sha512", 4, "sha512"),
    digest("mbedtls_sha1_ret", 3, "sha1"),
    digest("mbedtls_sha256_ret", 4, "sha256"),
    digest("mbedtls_sha512_ret", 4, "sha512"),
    whole("mbedtls_md_hmac", 6, MAC, "hmac").key(1).bytes(4),
    whole("mbedtls_pk_sign", 9, SIGN, "public key"),
    whole("mbedtls_pk_verify", 6, VERIFY, "public key"),
    whole("mbedtls_ctr_drbg_random", 3, RANDOM, "random").bytes(2),
    f("psa_aead_encrypt", 11, Whole).cipher(ENCRYPT).named(Listed(1, PSA)).key(0).bytes(7).aad(5),
    f("psa_aead_decrypt", 11, Whole)
        .cipher(DECRYPT)
        .named(Listed(1, PSA))
        .key(0)
        .bytes(7)
        .less(16)
        .aad(5),
    f("psa_hash_compute", 6, Whole).digest().named(Listed(0, PSA)).bytes(2),
    whole("psa_generate_random", 2, RANDOM, "random").bytes(1),
];
