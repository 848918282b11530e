//! libsodium.

use crate::layout::{
    DECRYPT, DERIVE, DIGEST, ENCRYPT, KDF, MAC, NEITHER, OPEN, RANDOM, SEAL, SIGN, VERIFY,
};
use crate::table::{
    Does::{Begin, End, Update, Whole},
    Family, Function,
    Name::Fixed,
    function as f, whole,
};

pub const FAMILY: Family =
    Family { marks: &["crypto_secretbox_easy", "crypto_generichash"], functions: FUNCTIONS };

const fn seal(name: &'static str, what: &'static str) -> Function {
    f(name, 9, Whole).cipher(ENCRYPT).named(Fixed(what)).bytes(3).aad(5).key(8).moves(2, 0)
}
const fn open(name: &'static str, what: &'static str) -> Function {
    f(name, 9, Whole).cipher(DECRYPT).named(Fixed(what)).bytes(4).less(16).aad(6).key(8).moves(3, 0)
}
const fn sealed(name: &'static str, what: &'static str) -> Function {
    f(name, 10, Whole).cipher(ENCRYPT).named(Fixed(what)).bytes(4).aad(6).key(9).moves(3, 0)
}
const fn opened(name: &'static str, what: &'static str) -> Function {
    f(name, 9, Whole).cipher(DECRYPT).named(Fixed(what)).bytes(3).aad(6).key(8).moves(2, 0)
}
const BOX: &str = "xsalsa20-poly1305";

const FUNCTIONS: &[Function] = &[
    seal("crypto_aead_chacha20poly1305_encrypt", "chacha20-poly1305"),
    seal("crypto_aead_chacha20poly1305_ietf_encrypt", "chacha20-poly1305"),
    seal("crypto_aead_xchacha20poly1305_ietf_encrypt", "xchacha20-poly1305"),
    seal("crypto_aead_aes256gcm_encrypt", "aes-256-gcm"),
    seal("crypto_aead_aegis128l_encrypt", "aegis-128l"),
    seal("crypto_aead_aegis256_encrypt", "aegis-256"),
    open("crypto_aead_chacha20poly1305_decrypt", "chacha20-poly1305"),
    open("crypto_aead_chacha20poly1305_ietf_decrypt", "chacha20-poly1305"),
    open("crypto_aead_xchacha20poly1305_ietf_decrypt", "xchacha20-poly1305"),
    open("crypto_aead_aes256gcm_decrypt", "aes-256-gcm"),
    open("crypto_aead_aegis128l_decrypt", "aegis-128l").less(32),
    open("crypto_aead_aegis256_decrypt", "aegis-256").less(32),
    sealed("crypto_aead_chacha20poly1305_encrypt_detached", "chacha20-poly1305"),
    sealed("crypto_aead_chacha20poly1305_ietf_encrypt_detached", "chacha20-poly1305"),
    sealed("crypto_aead_xchacha20poly1305_ietf_encrypt_detached", "xchacha20-poly1305"),
    sealed("crypto_aead_aes256gcm_encrypt_detached", "aes-256-gcm"),
    sealed("crypto_aead_aegis128l_encrypt_detached", "aegis-128l"),
    sealed("crypto_aead_aegis256_encrypt_detached", "aegis-256"),
    opened("crypto_aead_chacha20poly1305_decrypt_detached", "chacha20-poly1305"),
    opened("crypto_aead_chacha20poly1305_ietf_decrypt_detached", "chacha20-poly1305"),
    opened("crypto_aead_xchacha20poly1305_ietf_decrypt_detached", "xchacha20-poly1305"),
    opened("crypto_aead_aes256gcm_decrypt_detached", "aes-256-gcm"),
    opened("crypto_aead_aegis128l_decrypt_detached", "aegis-128l"),
    opened("crypto_aead_aegis256_decrypt_detached", "aegis-256"),
    f("crypto_secretbox_detached", 6, Whole)
        .cipher(ENCRYPT)
        .named(Fixed(BOX))
        .key(5)
        .bytes(3)
        .moves(2, 0),
    f("crypto_secretbox_open_detached", 6, Whole)
        .cipher(DECRYPT)
        .named(Fixed(BOX))
        .key(5)
        .bytes(3)
        .moves(1, 0),
    f("crypto_box_easy_afternm", 5, Whole).cipher(ENCRYPT).named(Fixed(BOX)).key(4).bytes(2),
    f("crypto_box_open_easy_afternm", 5, Whole)
        .cipher(DECRYPT)
        .named(Fixed(BOX))
        .key(4)
        .bytes(2)
        .less(16),
    f("crypto_box_detached_afternm", 6, Whole)
        .cipher(ENCRYPT)
        .named(Fixed(BOX))
        .key(5)
        .bytes(3)
        .moves(2, 0),
    f("crypto_box_open_detached_afternm", 6, Whole)
        .cipher(DECRYPT)
        .named(Fixed(BOX))
        .key(5)
        .bytes(3)
        .moves(1, 0),
    f("crypto_secretbox_easy", 5, Whole).cipher(ENCRYPT).named(Fixed(BOX)).key(4).bytes(2),
    f("crypto_secretbox_open_easy", 5, Whole)
        .cipher(DECRYPT)
        .named(Fixed(BOX))
        .key(4)
        .bytes(2)
        .less(16),
    f("crypto_secretbox", 5, Whole).cipher(ENCRYPT).named(Fixed(BOX)).key(4).bytes(2).less(32),
    f("crypto_secretbox_open", 5, Whole).cipher(DECRYPT).named(Fixed(BOX)).key(4).bytes(2).less(32),
    whole("crypto_box_easy", 6, SEAL, "x25519-xsalsa20-poly1305").bytes(2),
    whole("crypto_box_open_easy", 6, OPEN, "x25519-xsalsa20-poly1305").bytes(2).less(16),
    whole("crypto_box_detached", 7, SEAL, "x25519-xsalsa20-poly1305").bytes(3),
    whole("crypto_box_open_detached", 7, OPEN, "x25519-xsalsa20-poly1305").bytes(3),
    whole("crypto_box_beforenm", 3, DERIVE, "x25519"),
    whole("crypto_box_seal", 4, SEAL, "x25519-xsalsa20-poly1305").bytes(2),
    whole("crypto_box_seal_open", 5, OPEN, "x25519-xsalsa20-poly1305").bytes(2).less(48),
    f("crypto_secretstream_xchacha20poly1305_push", 8, Whole)
        .cipher(ENCRYPT)
        .named(Fixed("xchacha20-poly1305-stream"))
        .bytes(4)
        .aad(6),
    f("crypto_secretstream_xchacha20poly1305_pull", 8, Whole)
        .cipher(DECRYPT)
        .named(Fixed("xchacha20-poly1305-stream"))
        .bytes(5)
        .less(17)
        .aad(7),
    f("crypto_stream_chacha20_ietf_xor", 5, Whole)
        .cipher(NEITHER)
        .named(Fixed("chacha20"))
        .key(4)
        .bytes(2),
    f("crypto_stream_xchacha20_xor", 5, Whole)
        .cipher(NEITHER)
        .named(Fixed("xchacha20"))
        .key(4)
        .bytes(2),
    whole("crypto_generichash", 6, DIGEST, "blake2b").bytes(3),
    whole("crypto_generichash_blake2b", 6, DIGEST, "blake2b").bytes(3),
    f("crypto_generichash_blake2b_init", 4, Begin).digest().named(Fixed("blake2b")),
    f("crypto_generichash_blake2b_update", 3, Update).digest().named(Fixed("blake2b")).bytes(2),
    f("crypto_generichash_blake2b_final", 3, End).digest(),
    f("crypto_generichash_init", 4, Begin).digest().named(Fixed("blake2b")),
    f("crypto_generichash_update", 3, Update).digest().named(Fixed("blake2b")).bytes(2),
    f("crypto_generichash_final", 3, End).digest(),
    whole("crypto_hash_sha256", 3, DIGEST, "sha256").bytes(2),
    whole("crypto_hash_sha512", 3, DIGEST, "sha512").bytes(2),
    whole("crypto_hash", 3, DIGEST, "sha512").bytes(2),
    f("crypto_hash_sha256_init", 1, Begin).digest().named(Fixed("sha256")),
    f("crypto_hash_sha256_update", 3, Update).digest().named(Fixed("sha256")).bytes(2),
    f("crypto_hash_sha256_final", 2, End).digest(),
    f("crypto_hash_sha512_init", 1, Begin).digest().named(Fixed("sha512")),
    f("crypto_hash_sha512_update", 3, Update).digest().named(Fixed("sha512")).bytes(2),
    f("crypto_hash_sha512_final", 2, End).digest(),
    whole("crypto_auth", 4, MAC, "hmac-sha512-256").key(3).bytes(2),
    whole("crypto_auth_hmacsha256", 4, MAC, "hmac-sha256").key(3).bytes(2),
    whole("crypto_onetimeauth", 4, MAC, "poly1305").key(3).bytes(2),
    whole("crypto_shorthash", 4, MAC, "siphash24").key(3).bytes(2),
    whole("crypto_sign", 5, SIGN, "ed25519").bytes(3),
    whole("crypto_sign_detached", 5, SIGN, "ed25519").bytes(3),
    whole("crypto_sign_open", 5, VERIFY, "ed25519").bytes(3).less(64),
    whole("crypto_sign_verify_detached", 4, VERIFY, "ed25519").bytes(2),
    whole("crypto_scalarmult", 3, DERIVE, "x25519"),
    whole("crypto_scalarmult_base", 2, DERIVE, "x25519"),
    whole("crypto_scalarmult_curve25519", 3, DERIVE, "x25519"),
    whole("crypto_pwhash", 8, KDF, "argon2").bytes(1),
    whole("crypto_pwhash_str", 5, KDF, "argon2"),
    whole("crypto_pwhash_str_verify", 3, KDF, "argon2"),
    whole("crypto_kdf_derive_from_key", 5, KDF, "blake2b-kdf").bytes(1),
    whole("randombytes_buf", 2, RANDOM, "random").bytes(1),
    whole("randombytes", 2, RANDOM, "random").bytes(1),
];
