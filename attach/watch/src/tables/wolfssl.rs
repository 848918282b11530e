//! wolfCrypt.

use crate::layout::{DECRYPT, DERIVE, DIGEST, ENCRYPT, KDF, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Begin, End, Last, Update, Whole},
    Family, Function,
    Name::{Fixed, Listed},
    function as f, whole,
};

pub const FAMILY: Family =
    Family { marks: &["wc_Sha256Update", "wc_AesGcmEncrypt"], functions: FUNCTIONS };

const GCM: &[(u32, &str)] = &[(16, "aes-128-gcm"), (24, "aes-192-gcm"), (32, "aes-256-gcm")];
const CCM: &[(u32, &str)] = &[(16, "aes-128-ccm"), (24, "aes-192-ccm"), (32, "aes-256-ccm")];
const AES: &[(u32, &str)] = &[(16, "aes-128"), (24, "aes-192"), (32, "aes-256")];
const HMACS: &[(u32, &str)] = &[
    (3, "hmac-md5"),
    (4, "hmac-sha1"),
    (6, "hmac-sha256"),
    (7, "hmac-sha384"),
    (8, "hmac-sha512"),
];

const fn key(name: &'static str, arguments: u8, names: &'static [(u32, &'static str)]) -> Function {
    f(name, arguments, Begin).cipher(NEITHER).named(Listed(2, names)).key(1)
}
const fn sealed(name: &'static str, direction: u64) -> Function {
    f(name, 10, Last).cipher(direction).int(3).tag_int(7).aad_int(9).moves(2, 1)
}
const fn block(name: &'static str, direction: u64) -> Function {
    f(name, 4, Last).cipher(direction).int(3).moves(2, 1)
}
const fn begin(name: &'static str, arguments: u8, what: &'static str) -> Function {
    f(name, arguments, Begin).digest().named(Fixed(what))
}

const FUNCTIONS: &[Function] = &[
    key("wc_AesGcmSetKey", 3, GCM),
    sealed("wc_AesGcmEncrypt", ENCRYPT),
    sealed("wc_AesGcmDecrypt", DECRYPT),
    key("wc_AesCcmSetKey", 3, CCM),
    sealed("wc_AesCcmEncrypt", ENCRYPT),
    sealed("wc_AesCcmDecrypt", DECRYPT),
    key("wc_AesSetKey", 5, AES),
    block("wc_AesCbcEncrypt", ENCRYPT),
    block("wc_AesCbcDecrypt", DECRYPT),
    block("wc_AesCtrEncrypt", NEITHER),
    f("wc_ChaCha20Poly1305_Encrypt", 8, Whole)
        .cipher(ENCRYPT)
        .named(Fixed("chacha20-poly1305"))
        .key(0)
        .int(5)
        .aad_int(3),
    f("wc_ChaCha20Poly1305_Decrypt", 8, Whole)
        .cipher(DECRYPT)
        .named(Fixed("chacha20-poly1305"))
        .key(0)
        .int(5)
        .aad_int(3),
    begin("wc_InitMd5", 1, "md5"),
    begin("wc_InitSha", 1, "sha1"),
    begin("wc_InitSha256", 1, "sha256"),
    begin("wc_InitSha384", 1, "sha384"),
    begin("wc_InitSha512", 1, "sha512"),
    begin("wc_InitSha256_ex", 3, "sha256"),
    begin("wc_InitSha384_ex", 3, "sha384"),
    begin("wc_InitSha512_ex", 3, "sha512"),
    f("wc_Md5Update", 3, Update).digest().int(2),
    f("wc_ShaUpdate", 3, Update).digest().int(2),
    f("wc_Sha256Update", 3, Update).digest().int(2),
    f("wc_Sha384Update", 3, Update).digest().int(2),
    f("wc_Sha512Update", 3, Update).digest().int(2),
    f("wc_Md5Final", 2, End).digest(),
    f("wc_ShaFinal", 2, End).digest(),
    f("wc_Sha256Final", 2, End).digest(),
    f("wc_Sha384Final", 2, End).digest(),
    f("wc_Sha512Final", 2, End).digest(),
    whole("wc_Sha256Hash", 3, DIGEST, "sha256").int(1),
    whole("wc_Sha512Hash", 3, DIGEST, "sha512").int(1),
    f("wc_HmacSetKey", 4, Begin).mac().named(Listed(1, HMACS)).key(2),
    f("wc_HmacUpdate", 3, Update).mac().int(2),
    f("wc_HmacFinal", 2, End).mac(),
    whole("wc_PBKDF2", 8, KDF, "pbkdf2").int(6),
    whole("wc_scrypt", 9, KDF, "scrypt").int(8),
    whole("wc_RNG_GenerateBlock", 3, RANDOM, "random").int(2),
    whole("wc_RsaSSL_Sign", 6, SIGN, "rsa").int(1),
    whole("wc_RsaPSS_Sign", 8, SIGN, "rsa-pss").int(1),
    whole("wc_RsaSSL_Verify", 5, VERIFY, "rsa"),
    whole("wc_ecc_sign_hash", 6, SIGN, "ecdsa").int(1),
    whole("wc_ecc_verify_hash", 6, VERIFY, "ecdsa"),
    whole("wc_ecc_shared_secret", 4, DERIVE, "ecdh"),
    whole("wc_curve25519_shared_secret", 4, DERIVE, "x25519"),
    whole("wc_curve25519_shared_secret_ex", 5, DERIVE, "x25519"),
];
