//! The attached objects that come with the program. They are no dependencies of it, so a test run
//! alone does not build them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Once;

const OBJECTS: [&str; 3] =
    ["libciphermark_baselines.so", "libciphermark_rustcrypto.so", "libciphermarkmeter.so"];

/// Builds the objects beside the program where they are missing.
pub fn ensure(program: &Path) {
    static BUILT: Once = Once::new();
    BUILT.call_once(|| {
        let profile = program.parent().expect("the program lies in its profile's directory");
        if OBJECTS.iter().any(|object| !profile.join(object).is_file()) {
            build(profile, &["ciphermark-baselines", "ciphermark-rustcrypto", "ciphermark-meter"]);
        }
        for object in OBJECTS {
            assert!(profile.join(object).is_file(), "{object} is not beside the program");
        }
    });
}

/// The object of a package that only some tests need, built where it is missing.
pub fn object(program: &Path, package: &str) -> PathBuf {
    let profile = program.parent().expect("the program lies in its profile's directory");
    let object = profile.join(format!("lib{}.so", package.replace('-', "_")));
    if !object.is_file() {
        build(profile, &[package]);
    }
    object
}

fn build(profile: &Path, packages: &[&str]) {
    let target = profile.parent().expect("a profile's directory lies in the target directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.arg("build").args(packages.iter().flat_map(|package| ["-p", package]));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let manifest = super::repository("Cargo.toml");
    let status =
        cargo.arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", target).status();
    assert!(status.unwrap().success(), "the attached objects cannot be built");
}
