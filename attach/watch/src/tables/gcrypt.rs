//! libgcrypt. `gcry_md_putc` is a macro that no caller calls: those bytes are not counted.

use crate::layout::{DECRYPT, ENCRYPT, KDF, KEYGEN, NEITHER, OPEN, RANDOM, SEAL, SIGN, VERIFY};
use crate::table::{
    Does::{Aad, Begin, Copy, End, Set, Update, Whole},
    Family, Function, Getter,
    Name::{Fixed, GcryCipher, Listed, Number},
    free, function as f, whole,
};

pub const FAMILY: Family = Family { marks: &["gcry_md_write"], functions: FUNCTIONS };

const fn update(name: &'static str, direction: u64) -> Function {
    f(name, 5, Update).cipher(direction).bytes(4).otherwise(2).moves(3, 1)
}
const fn begin(name: &'static str, arguments: u8) -> Function {
    f(name, arguments, Begin).cipher(NEITHER)
}
const KDFS: &[(u32, &str)] = &[
    (16, "s2k-simple"),
    (17, "s2k-salted"),
    (19, "s2k-iterated"),
    (33, "pbkdf1"),
    (34, "pbkdf2"),
    (48, "scrypt"),
    (64, "argon2"),
];

const FUNCTIONS: &[Function] = &[
    begin("gcry_cipher_open", 4).behind(0).named(GcryCipher(1, 2)),
    begin("gcry_cipher_setkey", 3).key(1),
    begin("gcry_cipher_setiv", 3),
    begin("gcry_cipher_setctr", 3),
    f("gcry_cipher_ctl", 4, Set),
    f("gcry_cipher_authenticate", 3, Aad).cipher(NEITHER).aad(2),
    update("gcry_cipher_encrypt", ENCRYPT),
    update("gcry_cipher_decrypt", DECRYPT),
    f("gcry_cipher_gettag", 3, End).cipher(NEITHER).tag(2),
    f("gcry_cipher_checktag", 3, End).cipher(NEITHER).tag(2),
    free("gcry_cipher_close", 1, "cipher context"),
    f("gcry_md_open", 3, Begin).digest().behind(0).named(Number(1, Getter::GcryMdName)),
    f("gcry_md_enable", 2, Begin).digest().named(Number(1, Getter::GcryMdName)),
    f("gcry_md_setkey", 3, Begin).mac().key(1),
    f("gcry_md_write", 3, Update).digest().bytes(2),
    f("gcry_md_read", 2, End).digest(),
    f("gcry_md_ctl", 4, End).digest(),
    f("gcry_md_extract", 4, End).digest(),
    f("gcry_md_reset", 1, Begin),
    f("gcry_md_copy", 2, Copy).behind(0),
    free("gcry_md_close", 1, "digest context"),
    f("gcry_md_hash_buffer", 4, Whole).digest().named(Number(0, Getter::GcryMdName)).bytes(3),
    f("gcry_md_hash_buffers", 5, Whole).digest().named(Number(0, Getter::GcryMdName)).buffers(3),
    f("gcry_mac_open", 4, Begin).mac().behind(0).named(Fixed("mac")),
    f("gcry_mac_setkey", 3, Begin).mac().key(1),
    f("gcry_mac_setiv", 3, Begin).mac(),
    f("gcry_mac_write", 3, Update).mac().bytes(2),
    f("gcry_mac_read", 3, End).mac(),
    f("gcry_mac_verify", 3, End).mac(),
    free("gcry_mac_close", 1, "mac context"),
    whole("gcry_pk_sign", 3, SIGN, "public key"),
    whole("gcry_pk_verify", 3, VERIFY, "public key"),
    whole("gcry_pk_encrypt", 3, SEAL, "public key"),
    whole("gcry_pk_decrypt", 3, OPEN, "public key"),
    whole("gcry_pk_genkey", 2, KEYGEN, "public key"),
    f("gcry_kdf_derive", 9, Whole).of(KDF).named(Listed(2, KDFS)).bytes(7),
    whole("gcry_randomize", 3, RANDOM, "random").bytes(1),
    whole("gcry_create_nonce", 2, RANDOM, "random").bytes(1),
    whole("gcry_random_bytes", 2, RANDOM, "random").bytes(0),
    whole("gcry_random_bytes_secure", 2, RANDOM, "random").bytes(0),
];
