//! Nettle and Hogweed. A cipher without a mode of its own has no end: each call is a message.

use crate::layout::{DECRYPT, DERIVE, ENCRYPT, KDF, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Aad, Begin, End, Update, Whole},
    Family, Function,
    Name::Fixed,
    function as f, whole,
};

pub const FAMILY: Family = Family {
    marks: &["nettle_sha256_update", "nettle_rsa_compute_root", "nettle_ecdsa_sign"],
    functions: FUNCTIONS,
};

/// Functions of nettle that differ in their algorithm only.
macro_rules! functions {
    (digests: $($digest:literal as $d:literal),*; macs: $($mac:literal as $m:literal),*;
     blocks: $($block:literal as $b:literal),*; aeads: $($aead:literal as $a:literal set by $iv:literal of $arguments:literal),*;
     $($other:expr,)*) => {
        &[
            $(
                f(concat!("nettle_", $digest, "_init"), 1, Begin).digest().named(Fixed($d)),
                f(concat!("nettle_", $digest, "_update"), 3, Update).digest().named(Fixed($d)).bytes(1),
                f(concat!("nettle_", $digest, "_digest"), 3, End).digest().named(Fixed($d)),
            )*
            $(
                f(concat!("nettle_", $mac, "_set_key"), 3, Begin).mac().named(Fixed($m)).key(2),
                f(concat!("nettle_", $mac, "_update"), 3, Update).mac().named(Fixed($m)).bytes(1),
                f(concat!("nettle_", $mac, "_digest"), 3, End).mac().named(Fixed($m)),
            )*
            $(
                f(concat!("nettle_", $block, "_encrypt"), 4, Whole).cipher(ENCRYPT).named(Fixed($b)).bytes(1),
                f(concat!("nettle_", $block, "_decrypt"), 4, Whole).cipher(DECRYPT).named(Fixed($b)).bytes(1),
            )*
            $(
                f(concat!("nettle_", $aead, "_set_key"), 2, Begin).cipher(NEITHER).named(Fixed($a)).key(1),
                f(concat!("nettle_", $aead, "_", $iv), $arguments, Begin).cipher(NEITHER).named(Fixed($a)),
                f(concat!("nettle_", $aead, "_update"), 3, Aad).cipher(NEITHER).named(Fixed($a)).aad(1),
                f(concat!("nettle_", $aead, "_encrypt"), 4, Update)
                    .cipher(ENCRYPT).named(Fixed($a)).bytes(1).moves(3, 2),
                f(concat!("nettle_", $aead, "_decrypt"), 4, Update)
                    .cipher(DECRYPT).named(Fixed($a)).bytes(1).moves(3, 2),
                f(concat!("nettle_", $aead, "_digest"), 3, End).cipher(NEITHER).named(Fixed($a)),
            )*
            $($other,)*
        ]
    };
}

const fn mode(name: &'static str, direction: u64, what: &'static str) -> Function {
    f(name, 7, Whole).cipher(direction).named(Fixed(what)).bytes(4)
}

const FUNCTIONS: &[Function] = functions! {
    digests: "md5" as "md5", "sha1" as "sha1", "sha224" as "sha224", "sha256" as "sha256", "sha384" as "sha384",
        "sha512" as "sha512", "sha3_256" as "sha3-256", "sha3_512" as "sha3-512";
    macs: "hmac_md5" as "hmac-md5", "hmac_sha1" as "hmac-sha1", "hmac_sha256" as "hmac-sha256",
        "hmac_sha384" as "hmac-sha384", "hmac_sha512" as "hmac-sha512";
    blocks: "aes128" as "aes-128-block", "aes192" as "aes-192-block", "aes256" as "aes-256-block",
        "camellia128" as "camellia-128-block", "des3" as "des-ede3-block", "serpent" as "serpent-block",
        "twofish" as "twofish-block";
    aeads: "gcm_aes128" as "aes-128-gcm" set by "set_iv" of 3, "gcm_aes256" as "aes-256-gcm" set by "set_iv" of 3,
        "chacha_poly1305" as "chacha20-poly1305" set by "set_nonce" of 2;
    mode("nettle_cbc_encrypt", ENCRYPT, "cbc"),
    mode("nettle_cbc_decrypt", DECRYPT, "cbc"),
    mode("nettle_ctr_crypt", NEITHER, "ctr"),
    f("nettle_chacha_crypt", 4, Whole).cipher(NEITHER).named(Fixed("chacha20")).bytes(1),
    whole("nettle_pbkdf2_hmac_sha1", 7, KDF, "pbkdf2-sha1").bytes(5),
    whole("nettle_pbkdf2_hmac_sha256", 7, KDF, "pbkdf2-sha256").bytes(5),
    whole("nettle_pbkdf2", 9, KDF, "pbkdf2").bytes(7),
    whole("nettle_yarrow256_random", 3, RANDOM, "random").bytes(1),
    whole("nettle_rsa_compute_root", 3, SIGN, "rsa"),
    whole("nettle_rsa_compute_root_tr", 6, SIGN, "rsa"),
    whole("nettle_rsa_pkcs1_verify", 4, VERIFY, "rsa"),
    whole("nettle_rsa_pss_sha256_verify_digest", 4, VERIFY, "rsa-pss"),
    whole("nettle_ecdsa_sign", 6, SIGN, "ecdsa"),
    whole("nettle_ecdsa_verify", 4, VERIFY, "ecdsa"),
    whole("nettle_ed25519_sha512_sign", 5, SIGN, "ed25519").bytes(2),
    whole("nettle_ed25519_sha512_verify", 4, VERIFY, "ed25519").bytes(1),
    whole("nettle_curve25519_mul", 3, DERIVE, "x25519"),
    whole("nettle_curve25519_mul_g", 2, DERIVE, "x25519"),
    whole("nettle_ecc_point_mul", 3, DERIVE, "ecdh"),
    whole("nettle_ecc_point_mul_g", 2, DERIVE, "ecdh"),
};
