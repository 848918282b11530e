//! Python's `cryptography` package, with a build of OpenSSL of its own, as a witness from outside.

use crate::support::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A version with wheels for Python 3.9 and later.
const PACKAGE: &str = "cryptography";
const VERSION: &str = "50.0.2";

#[test]
fn the_same_bytes_as_pythons_cryptography_package() {
    let python = environment();
    let script = repository("tests/python/agree.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(program()).args(libraries()).output().unwrap();
    let (printed, said) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{said}");
    let compared: usize = printed.split(' ').next().unwrap().parse().unwrap();
    assert!(compared > 5000, "{printed}");
}

/// `NAME=PATH` for each library: named so, each is loaded alone.
fn libraries() -> Vec<String> {
    let list = ciphermark(&["list", "libraries", "--json"], b"").with_code(0);
    let all: Vec<Value> = serde_json::from_str(&list.stdout).unwrap();
    let path = |name: &str| text(where_(&all, &[("name", name)])[0], "path").to_owned();
    ["openssl", "libgcrypt", "rustcrypto"].map(|n| format!("{n}={}", path(n))).to_vec()
}

/// The interpreter of a virtual environment with the package, made once and kept.
fn environment() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let python = directory.join("bin/python");
    if installed(&python).as_deref() == Some(VERSION) {
        return python;
    }
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&directory));
    let package = format!("{PACKAGE}=={VERSION}");
    succeed(Command::new(&python).args(["-m", "pip", "install", "--quiet", &package]));
    assert_eq!(installed(&python).as_deref(), Some(VERSION));
    python
}

fn installed(python: &Path) -> Option<String> {
    let ask = format!("import {PACKAGE}; print({PACKAGE}.__version__)");
    let output = Command::new(python).args(["-c", &ask]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn succeed(command: &mut Command) {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|e| panic!("{shown} does not start: {e}"));
    let said = String::from_utf8_lossy(&output.stderr);
    let needed = format!("this test needs Python's package {PACKAGE} {VERSION}");
    assert!(output.status.success(), "{needed}, and {shown} failed: {said}");
}
