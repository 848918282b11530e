//! For tests of attached objects: builds, loads and checks them the way ciphermark does. It fails
//! by panicking, as tests do.

mod agreement;
mod build;
mod offer;
mod stack;

pub use agreement::{Sealed, bytes, open, streams_agree};
pub use build::{Foreign, object, repository};
pub use offer::{Offer, offered, primitives, whole_offer};
pub use stack::{StackOffer, whole_stack};

use contract::{Identity, Library};
use std::path::Path;

/// The object, loaded.
///
/// # Panics
/// When it is no library.
#[must_use]
pub fn load(object: &Path) -> Box<dyn Library> {
    adapters::load(object, None).unwrap_or_else(|e| panic!("{e}"))
}

/// The object of a package in Rust, loaded, which says what it was built from: its crate, and the compiler's settings.
///
/// # Panics
/// When it is no library, or does not say so.
#[must_use]
pub fn built_object(package: &str, name: &str, krate: &str) -> Box<dyn Library> {
    let library = load(&object(package));
    let identity = library.identity();
    assert_eq!(identity.name, name);
    assert_eq!(fact(identity, &format!("crate {krate} ")), identity.version);
    for setting in ["rustc 1.", "profile ", "codegen-units ", "target-cpu ", "target features "] {
        fact(identity, setting);
    }
    let foreign = ["ciphermark", "windows", "wasm", "crate cc "];
    for line in &identity.build {
        assert!(foreign.iter().all(|f| !line.contains(f)), "no part of the library: {line}");
    }
    library
}

/// Demands a name, a version of three numbers, and build lines that begin so.
///
/// # Panics
/// When they are others.
pub fn is_called(identity: &Identity, name: &str, facts: &[&str]) {
    assert_eq!(identity.name, name);
    assert_eq!(identity.version.split('.').count(), 3, "{identity:?}");
    for beginning in facts {
        fact(identity, beginning);
    }
}

/// The build line that begins so, without its beginning.
///
/// # Panics
/// When there is none.
pub fn fact<'a>(identity: &'a Identity, beginning: &str) -> &'a str {
    let found = identity.build.iter().find_map(|line| line.strip_prefix(beginning));
    found.unwrap_or_else(|| panic!("no build line begins with '{beginning}': {identity:#?}"))
}
