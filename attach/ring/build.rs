//! Writes down what is being built.

/// In the lock for compiling ring, for random keys, which nothing here makes, and for other
/// systems.
const UNUSED: &[&str] =
    &["cc", "getrandom", "libc", "windows-sys", "wasi", "js-sys", "wasm-bindgen"];

fn main() {
    built::write(Some("ring"), UNUSED);
}
