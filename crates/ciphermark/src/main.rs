//! The executable of `ciphermark`.
#![forbid(unsafe_code)]
fn main() -> std::process::ExitCode {
    ciphermark::main()
}
