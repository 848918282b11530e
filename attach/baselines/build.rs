//! Writes down what is being built: the checksum crate's version as Cargo.lock has it, the compiler
//! and what it may use of the CPU. The crate chooses its SIMD code when it is compiled, so that the
//! features are part of the answer to "how fast is XXH3".

use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// The crate behind `xxh3-64`.
const CHECKSUM: &str = "xxhash-rust";

fn main() {
    let lock = Path::new(&variable("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let lock = fs::read_to_string(lock).expect("Cargo.lock is in the workspace's root");
    let checksum = locked_version(&lock, CHECKSUM).expect("Cargo.lock has the checksum crate");
    let build = format!("crate {CHECKSUM} {checksum}\n{}", compiler());
    let source = format!("const BUILD: &std::ffi::CStr = c{build:?};\n");
    let target = Path::new(&variable("OUT_DIR")).join("built.rs");
    fs::write(target, source).expect("OUT_DIR can be written");
}

/// Compiler, optimisation and CPU, one fact a line.
fn compiler() -> String {
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = String::from_utf8(rustc.expect("RUSTC runs").stdout).expect("rustc prints text");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\x1f', " ");
    format!(
        "{}\nprofile {}, opt-level {}\ntarget {}\ntarget features {}\nrustflags {}",
        rustc.trim(),
        variable("PROFILE"),
        variable("OPT_LEVEL"),
        variable("TARGET"),
        variable("CARGO_CFG_TARGET_FEATURE"),
        if flags.is_empty() { "none" } else { &flags },
    )
}

fn locked_version<'a>(lock: &'a str, name: &str) -> Option<&'a str> {
    let header = format!("\nname = \"{name}\"\n");
    let package = lock.split("[[package]]").find(|block| block.starts_with(&header))?;
    package.lines().find_map(|l| l.strip_prefix("version = \"")?.strip_suffix('"'))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("cargo sets {name} for build scripts: {e}"))
}
