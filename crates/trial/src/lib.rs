//! For tests of attached objects: builds, loads and checks them the way ciphermark does. It fails
//! by panicking, as tests do.
#![forbid(unsafe_code)]

mod build;
mod offer;
mod stack;

pub use build::{Foreign, object, repository};
pub use offer::{Offer, primitives, whole_offer};
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

/// The build line that begins so, without its beginning.
///
/// # Panics
/// When there is none.
pub fn fact<'a>(identity: &'a Identity, beginning: &str) -> &'a str {
    let found = identity.build.iter().find_map(|line| line.strip_prefix(beginning));
    found.unwrap_or_else(|| panic!("no build line begins with '{beginning}': {identity:#?}"))
}
