//! The RustCrypto crates as a library that ciphermark loads: `libciphermark_rustcrypto.so`.
//!
//! Which calls are made and what is inside the clock: README.md. This crate holds `unsafe` code in
//! `open` and `table`, where the C interface is met; the modes are safe code.

mod aead;
mod block;
mod mode;
mod open;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod xts;

use contract::raw;

include!(concat!(env!("OUT_DIR"), "/built.rs"));

static ADAPTER: raw::Adapter = raw::Adapter {
    abi: raw::ABI,
    library: c"rustcrypto".as_ptr(),
    version: VERSION.as_ptr(),
    build: BUILD.as_ptr(),
    open: Some(open::open),
};

/// The library, for whoever has loaded this object.
// SAFETY: no other symbol of this name can clash, it is the interface's own.
#[unsafe(no_mangle)]
pub extern "C" fn ciphermark_adapter() -> *const raw::Adapter {
    &raw const ADAPTER
}
