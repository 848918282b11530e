//! Writes down what is being built.

/// In the lock for compiling the crate's assembler files, and for finding out a CPU's features
/// where the instruction `cpuid` does not exist.
const UNUSED: &[&str] = &["cc", "libc"];

fn main() {
    built::write(Some("blake3"), UNUSED);
}
