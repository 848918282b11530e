//! `libcrypto`: OpenSSL 1.1 to 4, LibreSSL, BoringSSL, AWS-LC.

use crate::layout::{
    CIPHER, DECRYPT, DERIVE, ENCRYPT, FETCH, KDF, KEY, KEYGEN, NEITHER, NEW, OPEN, RANDOM, SEAL,
    SETTING, SIGN, VERIFY,
};
use crate::table::{
    Does::{Begin, Control, Copy, Each, End, Last, New, Reset, Set, Update, Whole},
    Family, Function, NONE,
    Name::{Aead, AeadKind, Cipher, Digest, Fixed, Hmac, Kdf, Key, KeyOf, Mac, Over, Text},
    RESULT, free, function as f, whole,
};

pub const FAMILY: Family = Family {
    marks: &["EVP_DigestUpdate", "EVP_EncryptUpdate", "EVP_AEAD_CTX_seal"],
    functions: FUNCTIONS,
};

const fn new(name: &'static str, arguments: u8, of: &'static str) -> Function {
    f(name, arguments, New).of(NEW).named(Fixed(of))
}
const fn dup(name: &'static str) -> Function {
    f(name, 1, Copy).context(RESULT).moves(0, NONE)
}
const fn init(name: &'static str, arguments: u8, direction: u64, key: u8) -> Function {
    f(name, arguments, Begin).cipher(direction).named(Cipher(1, 0)).key(key)
}
/// `EVP_…Update`: without an output, the input is associated data.
const fn update(name: &'static str, direction: u64) -> Function {
    f(name, 5, Update).cipher(direction).named(Cipher(NONE, 0)).int(4).moves(3, 1)
}
const fn end(name: &'static str, direction: u64) -> Function {
    f(name, 3, End).cipher(direction)
}
const fn digest(name: &'static str, arguments: u8) -> Function {
    f(name, arguments, Begin).digest().named(Digest(1, 0))
}
const fn low(name: &'static str, arguments: u8, what: &'static str) -> Function {
    f(name, arguments, Begin).digest().named(Fixed(what))
}
const fn fetch(name: &'static str) -> Function {
    f(name, 3, Whole).of(FETCH).named(Text(1))
}
const fn hash(name: &'static str, what: &'static str) -> Function {
    f(name, 3, Whole).digest().named(Fixed(what)).bytes(1)
}
const fn sign(name: &'static str, arguments: u8, of: u64) -> Function {
    f(name, arguments, Begin).of(of)
}
const fn sealed(name: &'static str, arguments: u8, direction: u64) -> Function {
    f(name, arguments, Whole).cipher(direction).named(Aead(0))
}

const CIPHER_CONTEXT: &str = "cipher context";
const DIGEST_CONTEXT: &str = "digest context";
const KEY_CONTEXT: &str = "key context";
const MAC_CONTEXT: &str = "mac context";

const FUNCTIONS: &[Function] = &[
    // ciphers
    new("EVP_CIPHER_CTX_new", 0, CIPHER_CONTEXT),
    free("EVP_CIPHER_CTX_free", 1, CIPHER_CONTEXT),
    f("EVP_CIPHER_CTX_reset", 1, Reset),
    f("EVP_CIPHER_CTX_cleanup", 1, Reset),
    f("EVP_CIPHER_CTX_copy", 2, Copy),
    dup("EVP_CIPHER_CTX_dup"),
    init("EVP_EncryptInit", 4, ENCRYPT, 2),
    init("EVP_DecryptInit", 4, DECRYPT, 2),
    init("EVP_EncryptInit_ex", 5, ENCRYPT, 3),
    init("EVP_DecryptInit_ex", 5, DECRYPT, 3),
    init("EVP_EncryptInit_ex2", 5, ENCRYPT, 2),
    init("EVP_DecryptInit_ex2", 5, DECRYPT, 2),
    init("EVP_CipherInit", 5, NEITHER, 2).toward_at(4),
    init("EVP_CipherInit_ex", 6, NEITHER, 3).toward_at(5),
    init("EVP_CipherInit_ex2", 6, NEITHER, 2).toward_at(4),
    update("EVP_EncryptUpdate", ENCRYPT),
    update("EVP_DecryptUpdate", DECRYPT),
    update("EVP_CipherUpdate", NEITHER),
    end("EVP_EncryptFinal", ENCRYPT),
    end("EVP_DecryptFinal", DECRYPT),
    end("EVP_CipherFinal", NEITHER),
    end("EVP_EncryptFinal_ex", ENCRYPT),
    end("EVP_DecryptFinal_ex", DECRYPT),
    end("EVP_CipherFinal_ex", NEITHER),
    f("EVP_Cipher", 4, Each).cipher(NEITHER).named(Cipher(NONE, 0)).int(3).moves(2, 1),
    f("EVP_CIPHER_CTX_ctrl", 4, Control),
    f("EVP_CIPHER_CTX_set_key_length", 2, Set),
    f("EVP_CIPHER_CTX_set_params", 2, Set),
    f("EVP_CIPHER_CTX_get_params", 2, Set),
    whole("EVP_CIPHER_CTX_set_padding", 2, SETTING, "padding"),
    fetch("EVP_CIPHER_fetch"),
    // digests
    new("EVP_MD_CTX_new", 0, DIGEST_CONTEXT),
    new("EVP_MD_CTX_create", 0, DIGEST_CONTEXT),
    free("EVP_MD_CTX_free", 1, DIGEST_CONTEXT),
    free("EVP_MD_CTX_destroy", 1, DIGEST_CONTEXT),
    f("EVP_MD_CTX_reset", 1, Reset),
    f("EVP_MD_CTX_cleanup", 1, Reset),
    f("EVP_MD_CTX_copy", 2, Copy),
    f("EVP_MD_CTX_copy_ex", 2, Copy),
    dup("EVP_MD_CTX_dup"),
    digest("EVP_DigestInit", 2),
    digest("EVP_DigestInit_ex", 3),
    digest("EVP_DigestInit_ex2", 3),
    f("EVP_DigestUpdate", 3, Update).digest().named(Digest(NONE, 0)).bytes(2),
    f("EVP_DigestFinal", 3, End).digest(),
    f("EVP_DigestFinal_ex", 3, End).digest(),
    f("EVP_DigestFinalXOF", 3, End).digest(),
    f("EVP_DigestSqueeze", 3, End).digest(),
    f("EVP_Digest", 6, Whole).digest().named(Digest(4, NONE)).bytes(1),
    f("EVP_Q_digest", 7, Whole).digest().named(Text(1)).bytes(4),
    fetch("EVP_MD_fetch"),
    hash("MD5", "md5"),
    hash("SHA1", "sha1"),
    hash("SHA224", "sha224"),
    hash("SHA256", "sha256"),
    hash("SHA384", "sha384"),
    hash("SHA512", "sha512"),
    low("MD5_Init", 1, "md5"),
    low("SHA1_Init", 1, "sha1"),
    low("SHA224_Init", 1, "sha224"),
    low("SHA256_Init", 1, "sha256"),
    low("SHA384_Init", 1, "sha384"),
    low("SHA512_Init", 1, "sha512"),
    f("MD5_Update", 3, Update).digest().named(Fixed("md5")).bytes(2),
    f("SHA1_Update", 3, Update).digest().named(Fixed("sha1")).bytes(2),
    f("SHA224_Update", 3, Update).digest().bytes(2),
    f("SHA256_Update", 3, Update).digest().bytes(2),
    f("SHA384_Update", 3, Update).digest().bytes(2),
    f("SHA512_Update", 3, Update).digest().bytes(2),
    f("MD5_Final", 2, End).digest().context(1),
    f("SHA1_Final", 2, End).digest().context(1),
    f("SHA224_Final", 2, End).digest().context(1),
    f("SHA256_Final", 2, End).digest().context(1),
    f("SHA384_Final", 2, End).digest().context(1),
    f("SHA512_Final", 2, End).digest().context(1),
    // message authentication codes
    f("HMAC", 7, Whole).mac().named(Hmac(0, NONE)).key(1).bytes(4),
    new("HMAC_CTX_new", 0, MAC_CONTEXT),
    free("HMAC_CTX_free", 1, MAC_CONTEXT),
    f("HMAC_CTX_reset", 1, Reset),
    f("HMAC_CTX_copy", 2, Copy),
    f("HMAC_Init", 4, Begin).mac().named(Hmac(3, 0)).key(1),
    f("HMAC_Init_ex", 5, Begin).mac().named(Hmac(3, 0)).key(1),
    f("HMAC_Update", 3, Update).mac().named(Hmac(NONE, 0)).bytes(2),
    f("HMAC_Final", 3, End).mac(),
    f("CMAC_Init", 5, Begin).mac().named(Fixed("cmac")).key(1),
    f("CMAC_Update", 3, Update).mac().bytes(2),
    f("CMAC_Final", 3, End).mac(),
    new("EVP_MAC_CTX_new", 1, MAC_CONTEXT),
    free("EVP_MAC_CTX_free", 1, MAC_CONTEXT),
    dup("EVP_MAC_CTX_dup"),
    f("EVP_MAC_init", 4, Begin).mac().named(Mac(0)).key(1),
    f("EVP_MAC_update", 3, Update).mac().named(Mac(0)).bytes(2),
    f("EVP_MAC_final", 4, End).mac(),
    f("EVP_MAC_finalXOF", 3, End).mac(),
    f("EVP_Q_mac", 12, Whole).mac().named(Text(1)).key(5).bytes(8),
    fetch("EVP_MAC_fetch"),
    // AEAD of BoringSSL and what came of it
    f("EVP_AEAD_CTX_new", 4, Whole).of(KEY).named(AeadKind(0)),
    f("EVP_AEAD_CTX_init", 6, Whole).of(KEY).named(AeadKind(1)),
    f("EVP_AEAD_CTX_init_with_direction", 6, Whole).of(KEY).named(AeadKind(1)),
    sealed("EVP_AEAD_CTX_seal", 10, ENCRYPT).bytes(7).aad(9).moves(6, 1),
    sealed("EVP_AEAD_CTX_open", 10, DECRYPT).bytes(7).less(16).aad(9).moves(6, 1),
    sealed("EVP_AEAD_CTX_seal_scatter", 13, ENCRYPT).bytes(8).aad(12).moves(7, 1),
    sealed("EVP_AEAD_CTX_open_gather", 10, DECRYPT).bytes(5).aad(9).moves(4, 1),
    // signatures and keys
    sign("EVP_DigestSignInit", 5, SIGN).named(Key(4)),
    sign("EVP_DigestSignInit_ex", 7, SIGN).named(Key(5)),
    sign("EVP_DigestVerifyInit", 5, VERIFY).named(Key(4)),
    sign("EVP_DigestVerifyInit_ex", 7, VERIFY).named(Key(5)),
    f("EVP_DigestSignUpdate", 3, Update).of(SIGN).bytes(2),
    f("EVP_DigestVerifyUpdate", 3, Update).of(VERIFY).bytes(2),
    f("EVP_DigestSignFinal", 3, End).of(SIGN).moves(NONE, 1),
    f("EVP_DigestVerifyFinal", 3, End).of(VERIFY),
    f("EVP_DigestSign", 5, Last).of(SIGN).bytes(4).moves(NONE, 1),
    f("EVP_DigestVerify", 5, Last).of(VERIFY).bytes(4),
    f("EVP_SignFinal", 4, Whole).of(SIGN).named(Key(3)),
    f("EVP_SignFinal_ex", 6, Whole).of(SIGN).named(Key(3)),
    f("EVP_VerifyFinal", 4, Whole).of(VERIFY).named(Key(3)),
    f("EVP_VerifyFinal_ex", 6, Whole).of(VERIFY).named(Key(3)),
    sign("EVP_PKEY_sign_init", 1, SIGN).named(KeyOf(0)),
    sign("EVP_PKEY_verify_init", 1, VERIFY).named(KeyOf(0)),
    sign("EVP_PKEY_verify_recover_init", 1, VERIFY).named(KeyOf(0)),
    sign("EVP_PKEY_derive_init", 1, DERIVE).named(KeyOf(0)),
    sign("EVP_PKEY_encrypt_init", 1, SEAL).named(KeyOf(0)),
    sign("EVP_PKEY_decrypt_init", 1, OPEN).named(KeyOf(0)),
    sign("EVP_PKEY_encapsulate_init", 2, SEAL).named(KeyOf(0)),
    sign("EVP_PKEY_decapsulate_init", 2, OPEN).named(KeyOf(0)),
    f("EVP_PKEY_sign", 5, Last).of(SIGN).named(KeyOf(0)).bytes(4).moves(NONE, 1),
    f("EVP_PKEY_verify", 5, Last).of(VERIFY).named(KeyOf(0)).bytes(4),
    f("EVP_PKEY_verify_recover", 5, Last).of(VERIFY).named(KeyOf(0)).bytes(4).moves(NONE, 1),
    f("EVP_PKEY_derive", 3, Last).of(DERIVE).named(KeyOf(0)).moves(NONE, 1),
    f("EVP_PKEY_encrypt", 5, Last).of(SEAL).named(KeyOf(0)).bytes(4).moves(NONE, 1),
    f("EVP_PKEY_decrypt", 5, Last).of(OPEN).named(KeyOf(0)).bytes(4).moves(NONE, 1),
    f("EVP_PKEY_encapsulate", 5, Last).of(SEAL).named(KeyOf(0)).moves(NONE, 1),
    f("EVP_PKEY_decapsulate", 5, Last).of(OPEN).named(KeyOf(0)).moves(NONE, 1),
    new("EVP_PKEY_CTX_new", 2, KEY_CONTEXT),
    new("EVP_PKEY_CTX_new_id", 2, KEY_CONTEXT),
    new("EVP_PKEY_CTX_new_from_pkey", 3, KEY_CONTEXT),
    new("EVP_PKEY_CTX_new_from_name", 3, KEY_CONTEXT),
    free("EVP_PKEY_CTX_free", 1, KEY_CONTEXT),
    whole("EVP_PKEY_keygen", 2, KEYGEN, "key"),
    whole("EVP_PKEY_generate", 2, KEYGEN, "key"),
    whole("EVP_PKEY_paramgen", 2, KEYGEN, "parameters"),
    whole("RSA_generate_key_ex", 4, KEYGEN, "rsa"),
    whole("EC_KEY_generate_key", 1, KEYGEN, "ec"),
    whole("RSA_sign", 6, SIGN, "rsa").int(2),
    whole("RSA_verify", 6, VERIFY, "rsa").int(2),
    whole("RSA_public_encrypt", 5, SEAL, "rsa").int(0),
    whole("RSA_private_decrypt", 5, OPEN, "rsa").int(0),
    whole("RSA_private_encrypt", 5, SIGN, "rsa").int(0),
    whole("RSA_public_decrypt", 5, VERIFY, "rsa").int(0),
    whole("ECDSA_sign", 6, SIGN, "ecdsa").int(2),
    whole("ECDSA_verify", 6, VERIFY, "ecdsa").int(2),
    whole("ECDSA_do_sign", 3, SIGN, "ecdsa").int(1),
    whole("ECDSA_do_verify", 4, VERIFY, "ecdsa").int(1),
    whole("ED25519_sign", 4, SIGN, "ed25519").bytes(2),
    whole("ED25519_verify", 4, VERIFY, "ed25519").bytes(1),
    whole("ECDH_compute_key", 5, DERIVE, "ecdh"),
    whole("X25519", 3, DERIVE, "x25519"),
    whole("DH_compute_key", 3, DERIVE, "dh"),
    // derivation and random bytes
    f("EVP_KDF_derive", 4, Whole).of(KDF).named(Kdf(0)).bytes(2),
    fetch("EVP_KDF_fetch"),
    f("PKCS5_PBKDF2_HMAC", 8, Whole).of(KDF).named(Over("pbkdf2-", 5)).int(6),
    whole("PKCS5_PBKDF2_HMAC_SHA1", 7, KDF, "pbkdf2-sha1").int(5),
    whole("EVP_PBE_scrypt", 10, KDF, "scrypt").bytes(9),
    f("EVP_BytesToKey", 8, Whole).of(KDF).named(Over("bytestokey-", 1)),
    f("HKDF", 9, Whole).of(KDF).named(Over("hkdf-", 2)).bytes(1),
    whole("RAND_status", 0, RANDOM, "random"),
    whole("RAND_poll", 0, RANDOM, "random"),
    whole("RAND_bytes", 2, RANDOM, "random").int(1),
    whole("RAND_priv_bytes", 2, RANDOM, "random").int(1),
    whole("RAND_pseudo_bytes", 2, RANDOM, "random").int(1),
    whole("RAND_bytes_ex", 4, RANDOM, "random").bytes(2),
    whole("RAND_priv_bytes_ex", 4, RANDOM, "random").bytes(2),
    // the functions below EVP
    whole("AES_set_encrypt_key", 3, KEY, "aes"),
    whole("AES_set_decrypt_key", 3, KEY, "aes"),
    whole("AES_encrypt", 3, CIPHER, "aes-block").toward(ENCRYPT).constant(16),
    whole("AES_decrypt", 3, CIPHER, "aes-block").toward(DECRYPT).constant(16),
    whole("AES_cbc_encrypt", 6, CIPHER, "aes-cbc").bytes(2).toward_at(5),
    whole("AES_wrap_key", 5, CIPHER, "aes-wrap").toward(ENCRYPT).int(4),
    whole("AES_unwrap_key", 5, CIPHER, "aes-wrap").toward(DECRYPT).int(4),
];
