//! Writes down what is being built. The crate of XXH3 chooses its SIMD code when it is compiled, so
//! that the target's features are part of the answer to "how fast is XXH3".

/// In the lock for traits of which nothing here makes use.
const UNUSED: &[&str] = &["digest"];

fn main() {
    built::write(None, UNUSED);
}
