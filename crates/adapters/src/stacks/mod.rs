//! TLS stacks at run time: loaded by path, without headers, both ends of a connection in memory.
//!
//! This crate holds `unsafe` code: it calls C functions of libraries that it has just loaded.
//! [`load`] finds the family by the symbols that are exported; [`connect`] drives a handshake of any
//! of them and times each end's calls apart.

mod attached;
mod bench;
mod connect;
mod heap;
mod keys;
mod openssl;
mod primitive;
pub mod reference;
mod secret;
mod transfer;
mod wire;
mod wolfssl;

pub use bench::{Bench, End, Identity, Stack, Step, Trouble};
pub use connect::{Connection, Ticks, connect, establish};
pub use heap::live_bytes;
pub use keys::{Keys, dh_parameters, keys};
pub use openssl::{Flow, Secured, Side, Sockets, Trust};
pub use primitive::{PrivateKeys, Span, Workbench};
pub use secret::{PRIVATE, Secret, secrets};
pub use transfer::{Batch, Line, NoLine};

use contract::loader::SharedObject;
use std::path::Path;

/// Loads a stack. `crypto` is the file of its primitives, where that is another one; it is loaded first,
/// so that the stack is bound to it and to no other of its name.
///
/// # Errors
/// In one line, what the file is not.
pub fn load(path: &Path, crypto: Option<&Path>) -> Result<Box<dyn Stack>, String> {
    let open = |path: &Path| SharedObject::open(path).map_err(|e| e.to_string());
    let crypto = crypto.map(open).transpose()?;
    let object = open(path)?;
    // First, because such an object may well export another's names.
    if object.defines(contract::tls::SYMBOL) {
        return Ok(Box::new(attached::Attached::attach(&object)?));
    }
    // Then wolfSSL, because a build of it may have OpenSSL's names besides.
    if object.has("wolfSSL_CTX_new") {
        return Ok(Box::new(wolfssl::WolfSsl::attach(&object)?));
    }
    if object.has("SSL_CTX_new") {
        let crypto = crypto.as_ref().unwrap_or(&object);
        return Ok(Box::new(openssl::OpenSsl::attach(&object, crypto)?));
    }
    Err(format!("'{}' is no TLS stack that ciphermark knows", path.display()))
}

/// The use of private keys in a library that is loaded already: from its file, or from another that is mapped in its
/// place.
///
/// # Errors
/// [`Trouble::NotOffered`] where no functions for it are known.
pub fn private_keys(
    file: &Path,
    mapped: &Path,
    scheme: record::tls::Scheme,
) -> Result<Box<dyn PrivateKeys>, Trouble> {
    let object = SharedObject::open_as(file, mapped).map_err(|e| Trouble::Failed(e.to_string()))?;
    // The loader answers for what an object depends on as well.
    if object.defines("EVP_CIPHER_CTX_new") {
        return openssl::private_keys(&object, scheme);
    }
    let why = format!("no function of '{}' is known for {scheme}", file.display());
    Err(Trouble::NotOffered(why))
}

/// The C string at the beginning of a buffer that a library has filled.
pub(crate) fn c_text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}

#[cfg(test)]
mod tests;

/// One test at a time: the heap that is weighed is the whole process's.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
