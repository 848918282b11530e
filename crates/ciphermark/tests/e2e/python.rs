//! Python's `cryptography` package, with a build of OpenSSL of its own, as a witness from outside.

use crate::support::*;
use serde_json::Value;
use std::process::Command;

/// A version with wheels for Python 3.9 and later.
const PACKAGE: (&str, &str) = ("cryptography", "50.0.2");

#[test]
#[ignore = "long: packages from PyPI"]
fn the_same_bytes_as_pythons_cryptography_package() {
    let python = python_with("python", &[PACKAGE]);
    let script = repository("tests/python/agree.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(program()).args(libraries()).output().unwrap();
    let (printed, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    let compared: usize = printed.split(' ').next().unwrap().parse().unwrap();
    assert!(compared > 2500, "{printed}");
}

/// `NAME=PATH` for each library: named so, each is loaded alone.
fn libraries() -> Vec<String> {
    let list = ciphermark(&["list", "libraries", "--json"], b"").with_code(0);
    let all: Vec<Value> = serde_json::from_str(&list.stdout).unwrap();
    let path = |name: &str| text(where_(&all, &[("name", name)])[0], "path").to_owned();
    ["openssl", "libgcrypt", "rustcrypto"].map(|n| format!("{n}={}", path(n))).to_vec()
}
