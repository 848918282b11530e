//! Each target is the entrance of its own name of the crate `testing`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (testing::entry(env!("CARGO_BIN_NAME")).run)(bytes));
