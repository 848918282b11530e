//! The attached objects that come with the program. They are no dependencies of it, so a test run
//! alone does not build them.

use std::path::Path;
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
            build(profile);
        }
        for object in OBJECTS {
            assert!(profile.join(object).is_file(), "{object} is not beside the program");
        }
    });
}

fn build(profile: &Path) {
    let target = profile.parent().expect("a profile's directory lies in the target directory");
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "-p", "ciphermark-baselines", "-p", "ciphermark-rustcrypto"]);
    cargo.args(["-p", "ciphermark-meter"]);
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let manifest = super::repository("Cargo.toml");
    let status =
        cargo.arg("--manifest-path").arg(manifest).env("CARGO_TARGET_DIR", target).status();
    assert!(status.unwrap().success(), "the attached objects cannot be built");
}
