//! Writes down what is being built.

/// In the lock for compiling ring, which other objects have, and for other systems.
const UNUSED: &[&str] = &["cc", "ring", "windows-sys", "wasi", "js-sys", "wasm-bindgen"];

fn main() {
    built::write(Some("rustls"), UNUSED);
}
