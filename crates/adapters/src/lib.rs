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
mod gnutls;
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

struct Family {
    /// How its files are called on a system, up to the version behind it.
    files: &'static [&'static str],
    /// What its objects export themselves.
    symbol: &'static str,
    /// Attaches a loaded object; the name, if given, in the place of the adapter's own.
    attach: fn(SharedObject, Option<&str>) -> Attached,
}

const fn family(
    files: &'static [&'static str],
    symbol: &'static str,
    attach: fn(SharedObject, Option<&str>) -> Attached,
) -> Family {
    Family { files, symbol, attach }
}

/// OpenSSL's, which alone has providers.
const EVP: &str = "EVP_CIPHER_CTX_new";
const WOLFSSL: &str = "wc_AesInit";

/// What may well export another library's symbols: adapters, and wolfSSL, which has OpenSSL's names for compatibility.
const BEFORE_ALL: [&str; 2] = [contract::raw::SYMBOL, WOLFSSL];

/// The families, in the order in which their libraries are listed. The first whose symbol an object exports is taken, after
/// [`BEFORE_ALL`]: one that has zlib within exports its symbols, too.
const FAMILIES: &[Family] = &[
    family(&["libcrypto.so"], EVP, evp::attach),
    family(&["libgcrypt.so"], "gcry_cipher_open", gcrypt::attach),
    family(&["libwolfssl.so"], WOLFSSL, wolfssl::attach),
    family(&["libsodium.so"], "sodium_init", sodium::attach),
    family(&["libbotan-2.so", "libbotan-3.so"], "botan_cipher_init", botan::attach),
    family(&["libtomcrypt.so"], "register_cipher", tomcrypt::attach),
    family(&["libmbedcrypto.so"], "mbedtls_aes_setkey_enc", mbedtls::attach),
    family(&["libgnutls.so"], "gnutls_aead_cipher_encrypt", gnutls::attach),
    family(&["libnettle.so"], "nettle_gcm_aes256_encrypt", nettle::attach),
    family(&["libaegis.so"], "aegis256x4_encrypt_detached", aegis::attach),
    family(&["libxxhash.so"], "XXH3_64bits", xxhash::attach),
    family(&["libz.so"], "zlibVersion", zlib::attach),
    family(&[], contract::raw::SYMBOL, attached::attach),
];

/// How the families' files are called, up to the version behind it.
pub fn file_names() -> Vec<&'static str> {
    FAMILIES.iter().flat_map(|family| family.files).copied().collect()
}

/// Loads a shared object and attaches it with the adapter that its exported symbols call for.
///
/// [`base::model::KERNEL_PATH`] stands for the running kernel, which has no file.
///
/// `name` overrides the name that the adapter would give the library (`--library NAME=PATH`).
pub fn load(path: &Path, name: Option<&str>) -> Result<Box<dyn Library>, LoadError> {
    if path.as_os_str() == base::model::KERNEL_PATH {
        return Ok(Box::new(composite::Composing(kernel::attach(name)?)));
    }
    attach(path, SharedObject::open(path)?, name)
}

/// As [`load`], but what is loaded is a copy of the file, in which a tier has changed what it must.
/// The library's identity stays the file's.
pub fn load_copy(
    path: &Path,
    copy: &Path,
    name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    attach(path, SharedObject::open_as(path, copy)?, name)
}

fn attach(path: &Path, object: SharedObject, name: Option<&str>) -> Attached {
    let first = FAMILIES.iter().filter(|family| BEFORE_ALL.contains(&family.symbol));
    let Some(family) = first.chain(FAMILIES).find(|family| object.defines(family.symbol)) else {
        return Err(LoadError::no_family(path, FAMILIES.iter().map(|family| family.symbol)));
    };
    let is_provider = name.is_some_and(|name| base::model::provider_of(name).is_some());
    if is_provider && family.symbol != EVP {
        let why = "a name with ':' is a provider's, and only OpenSSL 3 on has them";
        return Err(object.unusable(why));
    }
    Ok(Box::new(composite::Composing((family.attach)(object, name)?)))
}
