//! Writes down what is being built.

/// In the lock for compiling AWS-LC.
const UNUSED: &[&str] = &["cc", "cmake", "dunce", "fs_extra"];

fn main() {
    built::write(Some("rustls"), UNUSED);
}
