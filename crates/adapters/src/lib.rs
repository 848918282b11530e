//! Attaches crypto libraries at run time: by path, with local symbols, nothing linked in.
//!
//! This crate holds `unsafe` code: it calls C functions of libraries that it has just loaded.
//! One module per library family; [`load`] finds the family by the symbols that are exported.

mod attached;
mod evp;
mod gcrypt;
mod loader;

pub use loader::LoadError;

use contract::Library;
use loader::SharedObject;
use std::path::Path;

/// Loads a shared object and attaches it with the adapter that its exported symbols call for:
/// the adapter interface first, because such an object may well export other libraries' symbols.
///
/// `name` overrides the name that the adapter would give the library (`--library NAME=PATH`).
///
/// # Errors
/// [`LoadError`] says in one line what the file is not.
pub fn load(path: &Path, name: Option<&str>) -> Result<Box<dyn Library>, LoadError> {
    let object = SharedObject::open(path)?;
    if object.defines(contract::raw::SYMBOL) {
        attached::attach(object, name)
    } else if object.defines("EVP_CIPHER_CTX_new") {
        evp::attach(object, name)
    } else if object.defines("gcry_cipher_open") {
        gcrypt::attach(object, name)
    } else {
        Err(LoadError::no_family(path))
    }
}
