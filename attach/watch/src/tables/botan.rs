//! Botan's C interface. Its C++ interface has no call to a function that a table could name; samples see it.

use crate::layout::{KDF, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Aad, Begin, End, Reset, Set, Update, Whole},
    Family, Function,
    Name::Text,
    free, function as f, whole,
};

pub const FAMILY: Family = Family { marks: &["botan_hash_update"], functions: FUNCTIONS };

const FUNCTIONS: &[Function] = &[
    f("botan_cipher_init", 3, Begin).cipher(NEITHER).away_at(2).behind(0).named(Text(1)),
    f("botan_cipher_set_key", 3, Begin).cipher(NEITHER).key(1),
    f("botan_cipher_start", 3, Begin).cipher(NEITHER),
    f("botan_cipher_set_associated_data", 3, Aad).cipher(NEITHER).aad(2),
    f("botan_cipher_update", 8, Update).cipher(NEITHER).bytes(6).moves(5, 2),
    f("botan_cipher_reset", 1, Set),
    f("botan_cipher_clear", 1, Reset),
    free("botan_cipher_destroy", 1, "cipher context"),
    f("botan_hash_init", 3, Begin).digest().behind(0).named(Text(1)),
    f("botan_hash_update", 3, Update).digest().bytes(2),
    f("botan_hash_final", 2, End).digest(),
    free("botan_hash_destroy", 1, "digest context"),
    f("botan_mac_init", 3, Begin).mac().behind(0).named(Text(1)),
    f("botan_mac_set_key", 3, Begin).mac().key(1),
    f("botan_mac_update", 3, Update).mac().bytes(2),
    f("botan_mac_final", 2, End).mac(),
    free("botan_mac_destroy", 1, "mac context"),
    f("botan_pk_op_sign_create", 4, Begin).of(SIGN).behind(0).named(Text(2)),
    f("botan_pk_op_sign_update", 3, Update).of(SIGN).bytes(2),
    f("botan_pk_op_sign_finish", 4, End).of(SIGN),
    free("botan_pk_op_sign_destroy", 1, "key context"),
    f("botan_pk_op_verify_create", 4, Begin).of(VERIFY).behind(0).named(Text(2)),
    f("botan_pk_op_verify_update", 3, Update).of(VERIFY).bytes(2),
    f("botan_pk_op_verify_finish", 3, End).of(VERIFY),
    free("botan_pk_op_verify_destroy", 1, "key context"),
    f("botan_pwdhash", 10, Whole).of(KDF).named(Text(0)).bytes(5),
    f("botan_pbkdf", 7, Whole).of(KDF).named(Text(0)).bytes(2),
    f("botan_kdf", 9, Whole).of(KDF).named(Text(0)).bytes(2),
    whole("botan_rng_get", 3, RANDOM, "random").bytes(2),
];
