//! Attaches crypto libraries at run time: by path, with local symbols, nothing linked in.
//!
//! This crate holds `unsafe` code: it calls C functions of libraries that it has just loaded.
//! One module per library family; [`load`] finds the family by the symbols that are exported.

mod aegis;
mod attached;
mod botan;
mod composite;
mod derivation;
mod essiv;
mod evp;
mod family;
mod gcrypt;
mod kernel;
mod mbedtls;
mod nettle;
mod random;
mod rc4;
pub mod runtime;
mod sodium;
pub mod stacks;
#[cfg(test)]
mod testing;
mod tomcrypt;
mod wolfssl;
mod wrap;
mod xxhash;
mod zlib;

use contract::Library;
pub use contract::loader::LoadError;
use contract::loader::SharedObject;
use family::Attached;
use std::path::Path;

/// Attaches a loaded object; the name, if given, in the place of the adapter's own.
type Attach = fn(SharedObject, Option<&str>) -> Attached;

/// The families, each with a symbol that its objects export themselves. The first that fits is
/// taken: the adapter interface comes first, because such an object may well export another
/// library's symbols; libraries that come with OpenSSL's names for compatibility stand before EVP.
const FAMILIES: &[(&str, Attach)] = &[
    (contract::raw::SYMBOL, attached::attach),
    ("wc_AesInit", wolfssl::attach),
    ("EVP_CIPHER_CTX_new", evp::attach),
    ("gcry_cipher_open", gcrypt::attach),
    ("botan_cipher_init", botan::attach),
    ("sodium_init", sodium::attach),
    ("aegis256x4_encrypt_detached", aegis::attach),
    ("nettle_gcm_aes256_encrypt", nettle::attach),
    ("register_cipher", tomcrypt::attach),
    ("XXH3_64bits", xxhash::attach),
    ("mbedtls_aes_setkey_enc", mbedtls::attach),
    ("zlibVersion", zlib::attach),
];

/// Loads a shared object and attaches it with the adapter that its exported symbols call for.
///
/// [`base::model::KERNEL_PATH`] stands for the running kernel, which has no file.
///
/// `name` overrides the name that the adapter would give the library (`--library NAME=PATH`).
///
/// # Errors
/// [`LoadError`] says in one line what the file is not.
pub fn load(path: &Path, name: Option<&str>) -> Result<Box<dyn Library>, LoadError> {
    if path.as_os_str() == base::model::KERNEL_PATH {
        return Ok(Box::new(composite::Composing(kernel::attach(name)?)));
    }
    attach(path, SharedObject::open(path)?, name)
}

/// As [`load`], but what is loaded is a copy of the file, in which a tier has changed what it must.
/// The library's identity stays the file's.
///
/// # Errors
/// As [`load`].
pub fn load_copy(
    path: &Path,
    copy: &Path,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    attach(path, SharedObject::open_as(path, copy)?, name)
}

fn attach(path: &Path, object: SharedObject, name: Option<&str>) -> Attached {
    match FAMILIES.iter().find(|(symbol, _)| object.defines(symbol)) {
        Some((symbol, attach)) => {
            if name.is_some_and(|name| base::model::provider_of(name).is_some())
                && *symbol != "EVP_CIPHER_CTX_new"
            {
                return Err(object
                    .unusable("a name with ':' is a provider's, and only OpenSSL 3 on has them"));
            }
            let library = attach(object, name)?;
            Ok(Box::new(composite::Composing(library)))
        }
        None => Err(LoadError::no_family(path, FAMILIES.iter().map(|(symbol, _)| *symbol))),
    }
}
