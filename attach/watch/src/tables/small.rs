//! Small libraries: libmcrypt, libaegis.

use crate::layout::{DECRYPT, ENCRYPT, NEITHER};
use crate::table::{
    Does::{Begin, Last, Whole},
    Family, Function,
    Name::{Fixed, Text},
    RESULT, free, function as f,
};

pub const FAMILY: Family =
    Family { marks: &["mcrypt_generic", "aegis128l_encrypt"], functions: FUNCTIONS };

const fn seal(name: &'static str, what: &'static str) -> Function {
    f(name, 8, Whole).cipher(ENCRYPT).named(Fixed(what)).tag(1).bytes(3).aad(5).key(7).moves(2, 0)
}
const fn open(name: &'static str, what: &'static str) -> Function {
    f(name, 8, Whole).cipher(DECRYPT).named(Fixed(what)).bytes(2).tag(3).aad(5).key(7).moves(1, 0)
}

const FUNCTIONS: &[Function] = &[
    f("mcrypt_module_open", 4, Begin).cipher(NEITHER).context(RESULT).named(Text(0)),
    f("mcrypt_generic_init", 4, Begin).cipher(NEITHER).key(1),
    f("mcrypt_generic", 3, Last).cipher(ENCRYPT).int(2),
    f("mdecrypt_generic", 3, Last).cipher(DECRYPT).int(2),
    free("mcrypt_module_close", 1, "cipher context"),
    seal("aegis128l_encrypt", "aegis-128l"),
    seal("aegis128x2_encrypt", "aegis-128x2"),
    seal("aegis128x4_encrypt", "aegis-128x4"),
    seal("aegis256_encrypt", "aegis-256"),
    open("aegis128l_decrypt", "aegis-128l").less(16),
    open("aegis256_decrypt", "aegis-256").less(16),
];
