//! GnuTLS's own interface to ciphers, which it uses for records of TLS 1.3 itself. Those of TLS 1.2 it encrypts inside,
//! where only samples see them; ChaCha20 is nettle's.

use crate::layout::{DECRYPT, ENCRYPT, KDF, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Aad, Begin, End, Last, Update, Whole},
    Family, Function, Getter,
    Name::{GnutlsAead, Number},
    free, function as f, whole,
};

pub const FAMILY: Family = Family { marks: &["gnutls_cipher_init"], functions: FUNCTIONS };

const fn update(name: &'static str, arguments: u8, direction: u64) -> Function {
    f(name, arguments, Update).cipher(direction).bytes(2)
}
const fn aead(name: &'static str, direction: u64) -> Function {
    f(name, 10, Last).cipher(direction).named(GnutlsAead(0)).aad(4).tag(5).bytes(7)
}
const fn aead_in_place(name: &'static str, direction: u64) -> Function {
    f(name, 9, Last).cipher(direction).named(GnutlsAead(0)).aad_vectors(3).vectors(5)
}

const FUNCTIONS: &[Function] = &[
    f("gnutls_cipher_init", 4, Begin)
        .cipher(NEITHER)
        .behind(0)
        .named(Number(1, Getter::GnutlsCipherName))
        .key(2),
    f("gnutls_cipher_set_iv", 3, Begin).cipher(NEITHER),
    f("gnutls_cipher_add_auth", 3, Aad).cipher(NEITHER).aad(2),
    update("gnutls_cipher_encrypt", 3, ENCRYPT),
    update("gnutls_cipher_decrypt", 3, DECRYPT),
    update("gnutls_cipher_encrypt2", 5, ENCRYPT).moves(1, 3),
    update("gnutls_cipher_decrypt2", 5, DECRYPT).moves(1, 3),
    f("gnutls_cipher_tag", 3, End).cipher(NEITHER).tag(2),
    free("gnutls_cipher_deinit", 1, "cipher context"),
    f("gnutls_aead_cipher_init", 3, Begin)
        .cipher(NEITHER)
        .behind(0)
        .named(Number(1, Getter::GnutlsCipherName))
        .key(2),
    aead("gnutls_aead_cipher_encrypt", ENCRYPT).moves(6, 8),
    aead("gnutls_aead_cipher_encryptv", ENCRYPT).aad_vectors(3).vectors(6),
    aead_in_place("gnutls_aead_cipher_encryptv2", ENCRYPT),
    aead_in_place("gnutls_aead_cipher_decryptv2", DECRYPT).tag(8),
    aead("gnutls_aead_cipher_decrypt", DECRYPT).moves(6, 8).less(16),
    free("gnutls_aead_cipher_deinit", 1, "cipher context"),
    f("gnutls_hash_init", 2, Begin).digest().behind(0).named(Number(1, Getter::GnutlsDigestName)),
    f("gnutls_hash", 3, Update).digest().bytes(2),
    f("gnutls_hash_output", 2, End).digest(),
    free("gnutls_hash_deinit", 2, "digest context"),
    f("gnutls_hash_fast", 4, Whole).digest().named(Number(0, Getter::GnutlsDigestName)).bytes(2),
    f("gnutls_hmac_init", 4, Begin).mac().behind(0).named(Number(1, Getter::GnutlsMacName)).key(2),
    f("gnutls_hmac", 3, Update).mac().bytes(2),
    f("gnutls_hmac_output", 2, End).mac(),
    free("gnutls_hmac_deinit", 2, "mac context"),
    f("gnutls_hmac_fast", 6, Whole).mac().named(Number(0, Getter::GnutlsMacName)).key(1).bytes(4),
    whole("gnutls_rnd", 3, RANDOM, "random").bytes(2),
    whole("gnutls_pbkdf2", 6, KDF, "pbkdf2").bytes(5),
    whole("gnutls_hkdf_extract", 4, KDF, "hkdf-extract"),
    whole("gnutls_hkdf_expand", 5, KDF, "hkdf-expand").bytes(4),
    whole("gnutls_privkey_sign_data", 5, SIGN, "public key"),
    whole("gnutls_privkey_sign_hash", 5, SIGN, "public key"),
    f("gnutls_privkey_sign_data2", 5, Whole).of(SIGN).named(Number(1, Getter::GnutlsSignName)),
    f("gnutls_privkey_sign_hash2", 5, Whole).of(SIGN).named(Number(1, Getter::GnutlsSignName)),
    f("gnutls_pubkey_verify_data2", 5, Whole).of(VERIFY).named(Number(1, Getter::GnutlsSignName)),
    f("gnutls_pubkey_verify_hash2", 5, Whole).of(VERIFY).named(Number(1, Getter::GnutlsSignName)),
];
