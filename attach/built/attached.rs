//! The build script of every attached object: writes down what is being built.

fn main() {
    built::write();
}
