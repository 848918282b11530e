//! The RustCrypto crates as a library that ciphermark loads: `libciphermark_rustcrypto.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
mod aead;
mod block;
mod block_cipher;
mod digest;
mod feedback;
mod open;
mod stream;
#[cfg(test)]
mod tests;
mod xts;

contract::adapter! { c"rustcrypto", open::open }
