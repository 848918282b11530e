//! For build scripts of attached objects: writes down what is being built. The crates' versions
//! as Cargo.lock has them, the compiler and what it may use of the CPU. Nothing of it is written by
//! hand, so nothing of it can be wrong.
#![forbid(unsafe_code)]

mod lock;
mod profile;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

/// Writes `built.rs` into `OUT_DIR`: the constants `VERSION`, that of the crate `library` (without
/// one, the package's own), and `BUILD`, one fact a line. Crates in the lock that the object makes
/// no use of are `unused`.
///
/// # Panics
/// When the environment is not that of a build script, or the lock does not have the crate.
pub fn write(library: Option<&str>, unused: &[&str]) {
    println!("cargo::rerun-if-changed=build.rs");
    let lock = workspace_file("Cargo.lock");
    let crates = lock::linked_crates(&lock, &variable("CARGO_PKG_NAME"), unused);
    let version = match library {
        Some(library) => crates.get(library).map(|v| (*v).to_owned()),
        None => Some(variable("CARGO_PKG_VERSION")),
    };
    let version = version.expect("the manifest names the library's crate");

    let mut build = String::new();
    for (name, version) in &crates {
        writeln!(build, "crate {name} {version}").expect("a String takes everything");
    }
    build.push_str(&compiler());
    let source = format!(
        "const VERSION: &std::ffi::CStr = c{version:?};\nconst BUILD: &std::ffi::CStr = c{:?};\n",
        build.trim_end()
    );
    let target = PathBuf::from(variable("OUT_DIR")).join("built.rs");
    fs::write(target, source).expect("OUT_DIR can be written");
}

/// Compiler, optimisation and CPU, one fact a line. The number of codegen units is as telling as
/// the target CPU: it decides whether generic kernels are inlined into their callers.
fn compiler() -> String {
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let rustc = String::from_utf8(rustc.expect("RUSTC runs").stdout).expect("rustc prints text");
    println!("cargo::rerun-if-env-changed=RUSTFLAGS");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<&str> = flags.split('\x1f').filter(|f| !f.is_empty()).collect();
    format!(
        "{}\nprofile {}\nopt-level {}\ncodegen-units {}\ntarget {}\ntarget-cpu {}\ntarget features {}\nrustflags {}\n",
        rustc.trim(),
        profile::settings(),
        variable("OPT_LEVEL"),
        profile::codegen_units(&flags),
        variable("TARGET"),
        profile::codegen_option(&flags, "target-cpu").unwrap_or("default"),
        variable("CARGO_CFG_TARGET_FEATURE"),
        if flags.is_empty() { "none".to_owned() } else { flags.join(" ") },
    )
}

/// A file of the workspace's root, whose packages lie two directories down.
fn workspace_file(name: &str) -> String {
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    // A package with a lock of its own is a workspace of its own.
    let is_whole = package.join("Cargo.lock").is_file();
    let path = if is_whole { package } else { package.join("../..") }.join(name);
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{} is read: {e}", path.display()))
}

fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|e| panic!("cargo sets {name} for build scripts: {e}"))
}
