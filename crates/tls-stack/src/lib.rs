//! TLS stacks at run time: loaded by path, without headers, both ends of a connection in memory.
//!
//! This crate holds `unsafe` code: it calls C functions of libraries that it has just loaded.
//! [`load`] finds the family by the symbols that are exported; [`connect`] drives a handshake of any
//! of them and times each end's calls apart.

mod bench;
mod connect;
mod heap;
mod keys;
mod loader;
mod openssl;
mod transfer;

pub use bench::{Bench, End, Stack, Step, Trouble};
pub use connect::{Connection, Ticks, connect, establish};
pub use heap::live_bytes;
pub use keys::{Keys, dh_parameters, keys};
pub use transfer::{Batch, Line, NoLine};

use std::path::Path;

/// Loads a stack. `crypto` is the file of its primitives, where that is another one; it is loaded first,
/// so that the stack is bound to it and to no other of its name.
///
/// # Errors
/// In one line, what the file is not.
pub fn load(path: &Path, crypto: Option<&Path>) -> Result<Box<dyn Stack>, String> {
    let crypto = crypto.map(loader::SharedObject::open).transpose()?;
    let object = loader::SharedObject::open(path)?;
    let crypto = crypto.unwrap_or(object);
    if object.has("SSL_CTX_new") {
        return Ok(Box::new(openssl::OpenSsl::attach(object, crypto)?));
    }
    Err(format!("'{}' is no TLS stack that ciphermark knows", path.display()))
}

/// One test at a time: the heap that is weighed is the whole process's.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
