//! The entrance `records` of the crate `testing`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (testing::entry("records").run)(bytes));
