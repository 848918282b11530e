//! `include/ciphermark.h` and `contract::raw` say the same.

use crate::attached::tests::compiler;
use contract::raw;
use contract::raw::{Adapter, Message, Request, Session};
use std::fmt::Write as _;
use std::mem::{offset_of, size_of};
use std::process::{Command, Output};

/// What Rust says of a struct, as C that does not compile where the header says otherwise.
macro_rules! layout {
    ($source:ident, $c:literal, $rust:ty, $($field:ident),+) => {
        writeln!($source, "_Static_assert(sizeof({}) == {}, \"size\");", $c, size_of::<$rust>())
            .unwrap();
        $(writeln!(
            $source,
            "_Static_assert(offsetof({}, {}) == {}, \"offset\");",
            $c, stringify!($field), offset_of!($rust, $field)
        )
        .unwrap();)+
    };
}

fn compile(standard: &str, source: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header.c");
    std::fs::write(&path, source).unwrap();
    let mut command: Command = compiler();
    command.args([standard, "-pedantic", "-fsyntax-only"]).arg(&path);
    command.output().unwrap()
}

fn agreement() -> String {
    let mut source = "#include \"ciphermark.h\"\n".to_owned();
    layout!(source, "cm_request", Request, algorithm, direction, key, key_len, nonce_len, tag_len);
    layout!(source, "cm_message", Message, nonce, aad, aad_len, input, len, output, tag);
    layout!(
        source,
        "cm_session",
        Session,
        state,
        flags,
        message,
        start,
        update,
        finish,
        call,
        close,
        rekey,
        rekey_call,
        drain,
        in_flight
    );
    layout!(source, "cm_adapter", Adapter, abi, library, version, build, open);
    let numbers = [
        ("CIPHERMARK_ABI", raw::ABI as i32),
        ("CM_OK", raw::OK),
        ("CM_REJECTED", raw::REJECTED),
        ("CM_UNSUPPORTED", raw::UNSUPPORTED),
        ("CM_FAILED", raw::FAILED),
        ("CM_IN_PLACE", raw::IN_PLACE as i32),
        ("CM_NEXT_UNIT", raw::NEXT_UNIT as i32),
        ("CM_COPIES", raw::COPIES as i32),
        ("CM_ALLOCATES", raw::ALLOCATES as i32),
        ("CM_MOST_IN_FLIGHT", raw::MOST_IN_FLIGHT as i32),
        ("CM_ENCRYPT", raw::direction_number(base::model::Direction::Encrypt) as i32),
        ("CM_DECRYPT", raw::direction_number(base::model::Direction::Decrypt) as i32),
        ("CM_DIGEST", raw::direction_number(base::model::Direction::Digest) as i32),
        ("CM_COPY", raw::direction_number(base::model::Direction::Copy) as i32),
    ];
    for (name, number) in numbers {
        writeln!(source, "_Static_assert({name} == {number}, \"{name}\");").unwrap();
    }
    writeln!(source, "const cm_adapter *(*entry)(void) = {};", raw::SYMBOL).unwrap();
    source
}

#[test]
fn the_header_and_rust_agree_on_every_offset_and_number() {
    let output = compile("-std=c11", &agreement());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wrong = agreement().replace("CM_REJECTED == 1", "CM_REJECTED == 9");
    assert!(
        !compile("-std=c11", &wrong).status.success(),
        "the compiler looks at what it is given"
    );
}

#[test]
fn the_header_is_c99() {
    let output = compile("-std=c99", "#include \"ciphermark.h\"\nint unused;\n");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
