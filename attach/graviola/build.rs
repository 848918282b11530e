//! Writes down what is being built.

/// In the lock for random keys, which nothing here makes.
const UNUSED: &[&str] = &["getrandom"];

fn main() {
    built::write(Some("graviola"), UNUSED);
}
