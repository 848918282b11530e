//! Writes down what is being built.

/// The crate whose version stands for the family: most algorithms run on it.
const LIBRARY: &str = "aes";

/// In the lock for random keys, which nothing here makes, and for finding out a CPU's features
/// where the instruction `cpuid` does not exist.
const UNUSED: &[&str] = &["getrandom", "rand_core", "libc"];

fn main() {
    built::write(Some(LIBRARY), UNUSED);
}
